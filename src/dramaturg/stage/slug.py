"""Ids made of titles and names."""

from __future__ import annotations

import unicodedata

_LONGEST = 60


def slug(text: str) -> str:
    """Returns a text as lower-case ASCII words with hyphens between them; empty where it has no such word."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").casefold()
    words = "".join(letter if letter.isalnum() else " " for letter in plain.replace("'", "")).split()
    made = "-".join(words)
    if len(made) > _LONGEST:
        made = made[:_LONGEST].rpartition("-")[0] or made[:_LONGEST]
    return made
