"""Ids that a page, a link and a file system can hold."""

from __future__ import annotations

import re

from dramaturg.text import sha256

LONGEST_ANCHOR = 100
"""Characters of an id that becomes an anchor as it is."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def anchor_of(text: str) -> str:
    """Returns an id that a page and a file system can hold: the text where it is safe and short, else with a hash."""
    safe = _UNSAFE.sub("_", text)
    return text if text and safe == text and len(text) <= LONGEST_ANCHOR else f"{safe[:60]}-{sha256(text)[:8]}"
