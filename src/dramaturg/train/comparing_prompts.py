"""Reads out of a message what a prompt was filled with: whose turn it is, and who may be named."""

from __future__ import annotations

import functools
import re

from dramaturg.prompts import Prompt

MOST_CHARACTERS = 12_000
"""Of the end of a message that is read; no task is longer."""

_MARK = "\x00"


def filled_with(prompt: Prompt, text: str, *, long: str = "") -> dict[str, str] | None:
    """Returns the values that a prompt at the end of a text was filled with, or None where it does not stand there.

    Args:
        prompt: The prompt.
        text: A message that ends with it.
        long: The variable that may have more than one line; no other may.
    """
    found = _pattern(prompt, long).search(text.strip()[-MOST_CHARACTERS:])
    return None if found is None else found.groupdict()


@functools.lru_cache(maxsize=256)
def _pattern(prompt: Prompt, long: str) -> re.Pattern[str]:
    parts = prompt.fill(**{name: f"{_MARK}{name}{_MARK}" for name in prompt.variables}).split(_MARK)
    seen: set[str] = set()
    pattern = ""
    for place, part in enumerate(parts):
        if place % 2 == 0:
            pattern += re.escape(part)
        elif part in seen:
            pattern += f"(?P={part})"
        else:
            seen.add(part)
            any_sign = r"[\s\S]" if part == long else r"[^\n]"
            pattern += rf"(?P<{part}>{any_sign}+?)"
    return re.compile(rf"{pattern}\s*\Z")
