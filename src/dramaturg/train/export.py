"""The best adapter of a run in the form that others load: PEFT's, merged into the base, or llama.cpp's."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from dramaturg.errors import ContentError, ModelFileError, UserError
from dramaturg.model.gguf import read_gguf
from dramaturg.model.registry import file_digest
from dramaturg.train.adapter import Metadata, Stored, write_gguf_adapter
from dramaturg.train.checkpoint import Checkpoints, RunFacts, read_facts_of
from dramaturg.train.loading import ChatTokens, add_adapter, find_base, load_weights, needed, quiet

Target = Literal["peft", "merged", "gguf"]


def export_peft(out: Path, target: Path) -> None:
    """Writes the adapter as PEFT's library loads it.

    Args:
        out: Folder of the run.
        target: Folder to write.

    Raises:
        UserError: There is no run or checkpoint, or the folder cannot be written.
    """
    facts = read_facts_of(out)
    lora = facts.lora
    first = 0 if lora.last_layers is None else max(0, facts.layers - lora.last_layers)
    config = needed("peft").LoraConfig(
        task_type="CAUSAL_LM",
        base_model_name_or_path=facts.base,
        inference_mode=True,
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets),
        layers_to_transform=list(range(first, facts.layers)) if first else None,
    )
    weights = _best(out)
    with _writing(target):
        target.mkdir(parents=True, exist_ok=True)
        config.save_pretrained(str(target))
        needed("safetensors.torch").save_file(weights, str(target / "adapter_model.safetensors"))


def export_merged(out: Path, target: Path) -> None:
    """Writes the base with the adapter added to its weights, and its tokenizer; see `export_peft`.

    Raises:
        UserError: As there; or the base is not the one that the run began with.
    """
    facts = read_facts_of(out)
    base = find_base(facts.base)
    if base.digest != facts.base_digest:
        raise ModelFileError("is not the base that the run began with", where=facts.base)
    model: Any = add_adapter(load_weights(base, needed("torch").float32, "cpu"), facts.lora)
    needed("peft").set_peft_model_state_dict(model, _best(out))
    merged = model.merge_and_unload()
    if facts.is_gguf:  # the weights are plain numbers by now
        merged.hf_quantizer = None
        del merged.config.quantization_config
    with _writing(target), quiet():
        merged.save_pretrained(str(target))
        ChatTokens(base).tokenizer.save_pretrained(str(target))


def export_gguf(out: Path, target: Path, *, beside: Sequence[Path] = (), stored: Stored = "f16") -> None:
    """Writes the adapter as llama.cpp loads it; see `export_peft`.

    Args:
        out: Folder of the run.
        target: File to write.
        beside: More GGUF files of the same base, in other quantisations, that it may be loaded beside.
        stored: Type of its numbers.

    Raises:
        UserError: As there; or no GGUF file of the base is known, or one is of another model.
    """
    facts = read_facts_of(out)
    digests = [facts.base_digest] if facts.is_gguf else []
    for path in beside:
        _refuse_other_model(path, facts)
        digests.append(file_digest(path))
    if not digests:
        what = "the base is no GGUF file: the adapter must know which it will be loaded beside"
        raise ContentError(what, where=facts.base, allowed="--beside BASE.gguf, made from the same weights")
    weights = {name: tensor.float().numpy() for name, tensor in _best(out).items()}
    metadata = Metadata(f"{out.resolve().name} ({', '.join(facts.kinds)})", _base_name(facts), digests)
    write_gguf_adapter(target, weights, facts, metadata, stored)


def _base_name(facts: RunFacts) -> str:
    return Path(facts.base).name if facts.is_gguf else facts.base


def _refuse_other_model(path: Path, facts: RunFacts) -> None:
    found = read_gguf(path)
    if found.kind != "model" or found.blocks != facts.layers:
        what = f"is no model of {facts.layers} layers, as the base is"
        raise ModelFileError(what, where=str(path), allowed="the same weights as GGUF")


def _best(out: Path) -> dict[str, Any]:
    checkpoints = Checkpoints(out)
    return checkpoints.adapter(checkpoints.best)


@contextmanager
def _writing(target: Path) -> Generator[None]:
    """Says in one line that a folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", where=str(target)) from None
