"""Reads what a GGUF file says of itself; no weight is loaded.

Source: the GGUF specification, versions 2 and 3: a header, key-value pairs, tensor infos, then the tensors. Sizes
that a file states are not trusted: each is checked against the bytes that are there before it is used.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast

from dramaturg.errors import ModelFileError

Value: TypeAlias = "int | float | bool | str | tuple[int, ...] | None"
"""A value of a key; None for one that nobody here reads (long arrays, arrays of texts)."""

FileKind = Literal["model", "adapter"]

BASE_DIGESTS_KEY = "dramaturg.base.sha256"
TRAINED_ON_KEY = "dramaturg.trained_on"
TRAINED_FOR_KEY = "dramaturg.trained_for"
"""Keys of Dramaturg's own adapters; each holds a JSON list of texts in one text."""

_MOST_KEYS = 100_000
_MOST_TENSORS = 1_000_000
_MOST_TEXTS = 8_000_000
"""In all arrays of texts together; the largest vocabularies with their merges stay under a fifth of it."""

_MOST_DIMENSIONS = 8
_MOST_BASES = 32
MOST_TEXT_BYTES = 1 << 20
"""A longer text is not read."""

_MOST_INTEGERS = 4096
_MOST_WEIGHTS = 1 << 50
_DEFAULT_ALIGNMENT = 32

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT = 8
_ARRAY = 9
_INTEGERS = frozenset({0, 1, 2, 3, 4, 5, 10, 11})

_QUANTISATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4", 39: "NVFP4", 40: "Q1_0",
}  # fmt: skip
"""``general.file_type`` → name."""

_GUESSED = 1024
"""Bit of ``general.file_type`` for a type that the converter guessed."""

_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 10: (256, 84),
    11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292), 16: (256, 66), 17: (256, 74),
    18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2),
    26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
    40: (64, 36), 41: (128, 18),
}  # fmt: skip
"""Type of a tensor → weights in a block, bytes of a block; a newer type is not checked for its length."""


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """What a GGUF file says of itself.

    Attributes:
        kind: A model, or an adapter (LoRA) for one.
        architecture: For example ``llama``.
        name: As the file says; empty when it does not.
        parameters: Weights in all tensors together.
        quantisation: For example ``Q4_K_M``; empty when the file does not say.
        licence: As the file says; empty when it does not.
        bases: Names of the models that it was made from, as the file says.
        context_tokens: What the model was trained for, or None.
        blocks: Number of layers, or None.
        kv_bytes_per_token: Memory of one token in the key-value cache at 16 bits, or None.
        has_chat_template: Whether the file carries one.
        pre_tokenizer: Which rules split a text before its tokens are found; empty when the file does not say.
        base_digests: Of an adapter of Dramaturg: SHA-256 of each file that it was made for; empty for any other.
        trained_on: Of an adapter of Dramaturg: ids of the scenes, cases and transcripts that it was trained on.
        trained_for: Of an adapter of Dramaturg: purposes of calls, or kinds of faults, that it learnt.
        file_bytes: Size of the file.
    """

    kind: FileKind
    architecture: str
    name: str
    parameters: int
    quantisation: str
    licence: str
    bases: tuple[str, ...]
    context_tokens: int | None
    blocks: int | None
    kv_bytes_per_token: int | None
    has_chat_template: bool
    pre_tokenizer: str
    base_digests: tuple[str, ...]
    trained_on: tuple[str, ...]
    trained_for: tuple[str, ...]
    file_bytes: int


def read_gguf(path: Path) -> GgufFacts:
    """Returns what the file says of itself.

    Raises:
        ModelFileError: It cannot be read, is no GGUF file, is torn, or states sizes that cannot be.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data, str(path)).facts()
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    except ValueError:
        raise ModelFileError("is empty, no GGUF file", where=str(path)) from None


class _Reader:
    """A place in the file that only moves forward, and never past the end."""

    def __init__(self, data: mmap.mmap, where: str) -> None:
        self._data = data
        self._size = len(data)
        self._at = 0
        self._texts = 0
        self._where = where

    def facts(self) -> GgufFacts:
        keys, tensors = self._header()
        values: dict[str, Value] = {}
        for _ in range(keys):
            key = self._text()
            values[key] = self._value(self._number("<I"))
        alignment = _integer(values, "general.alignment") or _DEFAULT_ALIGNMENT
        parameters = self._tensors(tensors, alignment)
        return self._facts(values, parameters)

    def _header(self) -> tuple[int, int]:
        magic = self._data[:4]
        if magic != b"GGUF":
            raise self._wrong("is no GGUF file")
        self._at = 4
        version = self._number("<I")
        if version not in {2, 3}:
            what = "is a big-endian GGUF file" if version in {2 << 24, 3 << 24} else f"has GGUF version {version}"
            raise self._wrong(what, allowed="little-endian, version 2 or 3")
        tensors, keys = self._number("<Q"), self._number("<Q")
        if keys > _MOST_KEYS or tensors > _MOST_TENSORS:
            raise self._wrong(f"states {keys} keys and {tensors} tensors, more than any model has")
        return keys, tensors

    def _tensors(self, count: int, alignment: int) -> int:
        """Returns the number of weights; a file that ends before its last tensor does is refused."""
        parameters = 0
        ends = [0]
        for _ in range(count):
            self._skip(self._number("<Q"))
            dimensions = self._number("<I")
            if dimensions > _MOST_DIMENSIONS:
                raise self._wrong(f"has a tensor of {dimensions} dimensions")
            weights = 1
            for _ in range(dimensions):
                weights *= self._number("<Q")
                if weights > _MOST_WEIGHTS:
                    raise self._wrong("has a tensor larger than any model has")
            parameters += weights
            block, block_bytes = _BLOCKS.get(self._number("<I"), (1, 0))
            ends.append(self._number("<Q") + weights // block * block_bytes)
        start = -(-self._at // alignment) * alignment
        missing = start + max(ends) - self._size if count else 0
        if missing > 0:
            raise self._wrong(f"is torn: {missing} bytes are missing at its end")
        return parameters

    def _facts(self, values: Mapping[str, Value], parameters: int) -> GgufFacts:
        architecture = _text(values, "general.architecture")
        if not architecture:
            raise self._wrong("names no architecture")
        context = _integer(values, f"{architecture}.context_length")
        blocks = _integer(values, f"{architecture}.block_count")
        file_type = _integer(values, "general.file_type")
        return GgufFacts(
            kind="adapter" if _text(values, "general.type") == "adapter" else "model",
            architecture=architecture,
            name=_text(values, "general.name"),
            parameters=parameters,
            quantisation="" if file_type is None else _QUANTISATIONS.get(file_type & ~_GUESSED, ""),
            licence=_text(values, "general.license"),
            bases=tuple(_bases(values)),
            context_tokens=context,
            blocks=blocks,
            kv_bytes_per_token=_kv_bytes_per_token(values, architecture, blocks),
            has_chat_template="tokenizer.chat_template" in values,
            pre_tokenizer=_text(values, "tokenizer.ggml.pre"),
            base_digests=self._list(values, BASE_DIGESTS_KEY),
            trained_on=self._list(values, TRAINED_ON_KEY),
            trained_for=self._list(values, TRAINED_FOR_KEY),
            file_bytes=self._size,
        )

    def _list(self, values: Mapping[str, Value], key: str) -> tuple[str, ...]:
        """Returns a list of texts that stands as JSON in one text; a list that cannot be read is no empty one."""
        if key not in values:
            return ()
        try:
            found: object = json.loads(str(values[key]))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list):
            raise self._wrong(f"has a key {key!r} that is no list of texts")
        return tuple(str(item) for item in cast("list[object]", found))

    def _value(self, kind: int) -> Value:
        if kind in _SCALARS:
            return self._number(_SCALARS[kind])
        if kind == _TEXT:
            return self._text()
        if kind != _ARRAY:
            raise self._wrong(f"has a value of unknown type {kind}")
        kind, count = self._number("<I"), self._number("<Q")
        if kind == _TEXT:
            self._skip_texts(count)
            return None
        if kind not in _SCALARS:
            raise self._wrong(f"has an array of type {kind}")
        if kind in _INTEGERS and count <= _MOST_INTEGERS:
            return tuple(int(self._number(_SCALARS[kind])) for _ in range(count))
        self._skip(count * struct.calcsize(_SCALARS[kind]))
        return None

    def _skip_texts(self, count: int) -> None:
        self._texts += count
        if self._texts > _MOST_TEXTS:
            raise self._wrong(f"states {self._texts} texts in arrays, more than any vocabulary has")
        unpack, data, at, last = struct.Struct("<Q").unpack_from, self._data, self._at, self._size - 8
        for _ in range(count):
            if at > last:
                raise self._torn()
            at += 8 + unpack(data, at)[0]
        self._at = at
        self._skip(0)

    def _text(self) -> str:
        """Returns a text; of an overlong one nothing."""
        length = self._number("<Q")
        start = self._at
        self._skip(length)
        if length > MOST_TEXT_BYTES:
            return ""
        return self._data[start : self._at].decode("utf-8", "replace")

    def _number(self, layout: str) -> int:
        start = self._at
        self._skip(struct.calcsize(layout))
        return struct.unpack_from(layout, self._data, start)[0]

    def _skip(self, length: int) -> None:
        self._at += length
        if self._at > self._size:
            raise self._torn()

    def _torn(self) -> ModelFileError:
        return self._wrong("is torn: it ends inside its own description")

    def _wrong(self, what: str, *, allowed: str = "") -> ModelFileError:
        return ModelFileError(what, where=self._where, allowed=allowed)


def _bases(values: Mapping[str, Value]) -> Iterator[str]:
    """Yields the names of the base models: the end of a repository's address, which is the whole name, or the name."""
    for place in range(min(_integer(values, "general.base_model.count") or 0, _MOST_BASES)):
        head = f"general.base_model.{place}"
        repository = _text(values, f"{head}.repo_url").rstrip("/").rpartition("/")[2]
        name = repository or _text(values, f"{head}.name")
        if name:
            yield name


def _kv_bytes_per_token(values: Mapping[str, Value], architecture: str, blocks: int | None) -> int | None:
    """Returns 2 bytes × layers × heads × (key + value), an upper bound where some layers keep less."""
    heads = _integers(values, f"{architecture}.attention.head_count")
    kv_heads = _integers(values, f"{architecture}.attention.head_count_kv") or heads
    width = _integer(values, f"{architecture}.embedding_length")
    default = width // heads[0] if width and heads and heads[0] > 0 else None
    key = _integer(values, f"{architecture}.attention.key_length") or default
    value = _integer(values, f"{architecture}.attention.value_length") or default
    if not blocks or not kv_heads or key is None or value is None:
        return None
    all_heads = sum(kv_heads) if len(kv_heads) > 1 else kv_heads[0] * blocks
    return 2 * all_heads * (key + value)


def _text(values: Mapping[str, Value], key: str) -> str:
    value = values.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _integer(values: Mapping[str, Value], key: str) -> int | None:
    value = values.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _integers(values: Mapping[str, Value], key: str) -> Sequence[int]:
    value = values.get(key)
    if isinstance(value, tuple):
        return value if min(value, default=0) >= 0 else ()
    number = _integer(values, key)
    return () if number is None else (number,)
