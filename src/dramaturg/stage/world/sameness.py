"""Whether a text only says again what was said: words are compared by triples, scripts without blanks sign by sign."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dramaturg.stage.court.speech import SAME_SHARE, SHORT_WORDS, nearly_same, word_triples

HAN = re.compile(r"[\u3400-\u9fff]")

LEAST_LETTERS = 12
"""A shorter text tells nothing of its language, and may be said again."""

_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


def is_same(text: str, before: str) -> bool:
    """Returns whether two texts say the same, or nearly."""
    one, other = " ".join(text.split()).casefold(), " ".join(before.split()).casefold()
    if one == other:
        return len(one) >= LEAST_LETTERS
    if HAN.search(text):
        return nearly_same(" ".join(HAN.findall(text)), " ".join(HAN.findall(before)))
    return nearly_same(text, before)


def is_copy(text: str, before: str) -> bool:
    """Returns whether one said what another had said; what is short may be said by two."""
    return len(_words(text)) >= SHORT_WORDS and is_same(text, before)


def is_told(text: str, earlier: Iterable[str]) -> bool:
    """Returns whether a text is nearly put together of what other ones said; a short one never is."""
    words = _words(text)
    if len(words) < SHORT_WORDS:
        return False
    triples = word_triples(words)
    known = {triple for told in earlier for triple in word_triples(_words(told))}
    return len(triples & known) >= SAME_SHARE * len(triples)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
