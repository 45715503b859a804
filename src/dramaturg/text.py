"""Canonical text and hashes: the same value gives the same bytes, everywhere and always."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
"""A value that JSON can hold."""


def canonical_json(value: Json) -> str:
    """Returns JSON with sorted keys, no blanks and no escapes beyond what JSON demands.

    Raises:
        ValueError: The value holds NaN or an infinity.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text: str) -> str:
    """Returns the hex SHA-256 of the text as UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def storable(text: str) -> str:
    """Returns the text as every database and file can hold it: no NUL, no half of a surrogate pair."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def write_atomically(path: Path, text: str) -> None:
    """Writes the text so that a reader sees the old file or the new one, never a part.

    Raises:
        OSError: The folder cannot be written, or the disk is full; the old file is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


_SECRET = re.compile(
    r"\bsk[-_][\w*\-]{6,}"
    r"|\b(?:pk|rk|key|hf|gsk|xai|ghp|glpat)[-_](?=[A-Za-z_\-]*\d)[\w*\-]{12,}"
    r"|(?<=[Bb]earer )[^\s\"']{6,}"
    r"|(?<=://)[^/?#\s@]+(?=@)",
    re.ASCII,
)
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\Z", re.IGNORECASE)
_LEAST_SECRET = 8
"""A shorter value is no key, and may stand in any text."""


def redact(text: str) -> str:
    """Returns the text without what looks like a key or password, and without any key of this process's environment."""
    for name, value in os.environ.items():
        if len(value) >= _LEAST_SECRET and _SECRET_NAME.search(name):
            text = text.replace(value, "…")
    return _SECRET.sub("…", text)
