"""A LoRA adapter as a GGUF file that llama.cpp loads beside its base.

Source: the GGUF specification, and what llama.cpp reads of an adapter: ``lora_a`` and ``lora_b`` beside each tensor,
and alpha. For the llama architecture its files hold the rows of queries and keys in another order than transformers
(pairs of a rotation beside each other instead of half a head apart), so the rows of those adapters are reordered alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dramaturg.errors import ContentError, UserError
from dramaturg.model.gguf import BASE_DIGESTS_KEY, MOST_TEXT_BYTES, TRAINED_FOR_KEY, TRAINED_ON_KEY
from dramaturg.text import canonical_json
from dramaturg.train.checkpoint import RunFacts
from dramaturg.train.loading import needed

Weights = npt.NDArray[np.float32]
Stored = Literal["f16", "f32"]

_ARCHITECTURES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
"""transformers' name → llama.cpp's."""

_REORDERED = frozenset({"llama"})
_NAME = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<part>[AB])\.weight")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What an adapter's file says of itself.

    Attributes:
        name: Of the adapter.
        base_name: Of the base.
        base_digests: SHA-256 of the files that it may be loaded beside.
    """

    name: str
    base_name: str
    base_digests: Sequence[str]


def write_gguf_adapter(
    path: Path, adapter: Mapping[str, Weights], facts: RunFacts, metadata: Metadata, stored: Stored
) -> None:
    """Writes an adapter whole, or not at all.

    Args:
        path: The file.
        adapter: Weights by PEFT's names.
        facts: Of the run.
        metadata: What the file says of itself.
        stored: Type of its numbers.

    Raises:
        ContentError: llama.cpp has no such architecture or layer, or the list of ids is too long for a file.
        UserError: The disk is full, or cannot be written.
    """
    gguf = needed("gguf")
    trained_on = canonical_json(facts.trained_on)
    if len(trained_on.encode("utf-8")) > MOST_TEXT_BYTES:
        raise ContentError(f"{len(facts.trained_on)} ids of scenes and transcripts are too many for a GGUF file")
    architecture = _architecture(facts.architecture)
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = gguf.GGUFWriter(part, architecture)
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", facts.lora.alpha)
        writer.add_name(metadata.name)
        writer.add_base_model_count(1)
        writer.add_base_model_name(0, metadata.base_name)
        writer.add_string(BASE_DIGESTS_KEY, canonical_json(list(metadata.base_digests)))
        writer.add_string(TRAINED_ON_KEY, trained_on)
        writer.add_string(TRAINED_FOR_KEY, canonical_json(facts.purposes))
        for name, weights in _tensors(adapter, facts, architecture):
            writer.add_tensor(name, np.ascontiguousarray(weights, np.float16 if stored == "f16" else np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        part.replace(path)
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", where=str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def _architecture(name: str) -> str:
    found = _ARCHITECTURES.get(name)
    if found is None:
        allowed = f"{', '.join(_ARCHITECTURES)}; or --to merged, and llama.cpp's own converter"
        raise ContentError(f"adapters for {name!r} are not written as GGUF", allowed=allowed)
    return found


def _tensors(adapter: Mapping[str, Weights], facts: RunFacts, architecture: str) -> Iterator[tuple[str, Weights]]:
    gguf: Any = needed("gguf")
    kind = next(kind for kind, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(kind, facts.layers)
    for name, weights in adapter.items():
        found = _NAME.fullmatch(name)
        target = None if found is None else names.get_name(f"{found['layer']}.weight", try_suffixes=(".weight",))
        if found is None or target is None:
            raise ContentError(f"llama.cpp has no place for {name}")
        heads = {"q_proj": facts.heads, "k_proj": facts.kv_heads}.get(found["layer"].rpartition(".")[2])
        if found["part"] == "B" and architecture in _REORDERED and heads:
            weights = _reordered(weights, heads)
        yield f"{target}.lora_{found['part'].lower()}", weights


def _reordered(weights: Weights, heads: int) -> Weights:
    """Returns rows that stood half a head apart beside each other, within each head."""
    rows, rank = weights.shape
    return weights.reshape(heads, 2, rows // heads // 2, rank).swapaxes(1, 2).reshape(rows, rank)
