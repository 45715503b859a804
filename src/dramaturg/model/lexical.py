"""How alike texts are by their words alone: no model, every script.

Each text becomes a vector of its words, weighted as BM25 weighs them (rare words count more, repeats ever less, long
texts are not favoured), and the vectors are compared by cosine. Source: Robertson and Zaragoza, "The Probabilistic
Relevance Framework: BM25 and Beyond", 2009, section 3.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

SATURATION = 1.2
LENGTH_SHARE = 0.75

_IN_WORDS = frozenset("LMN")
"""Letters, the marks that belong to them, and numbers, as first letters of Unicode categories."""

_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Japanese syllables
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7af"  # Korean syllables: spaced, but endings cling to words
    "]+"
)


def tokens(text: str) -> list[str]:
    """Returns the words of a text, folded; of scripts without spaces, every pair of neighbouring characters."""
    found: list[str] = []
    folded = unicodedata.normalize("NFKC", text).casefold()
    for word in "".join(sign if unicodedata.category(sign)[0] in _IN_WORDS else " " for sign in folded).split():
        at = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > at:
                found.append(word[at : run.start()])
            found += _pairs(run[0])
            at = run.end()
        if at < len(word):
            found.append(word[at:])
    return found


def lexical_similarities(query: str, texts: Sequence[str]) -> list[float]:
    """Returns for each text how alike it is to the query: 0 without a common word, 1 for the same words.

    Args:
        query: One text.
        texts: Others; with the query, they say how rare a word is.
    """
    counts = [Counter(tokens(text)) for text in (query, *texts)]
    mean_length = sum(count.total() for count in counts) / len(counts)
    documents = Counter(word for count in counts for word in count)
    rarity = {word: math.log1p((len(counts) - n + 0.5) / (n + 0.5)) for word, n in documents.items()}
    first, *others = (_weights(count, rarity, mean_length) for count in counts)
    return [_cosine(first, other) for other in others]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(len(run) - 1, 1))]


def _weights(count: Counter[str], rarity: Mapping[str, float], mean_length: float) -> dict[str, float]:
    if not count:
        return {}
    room = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * count.total() / mean_length)
    return {word: rarity[word] * n * (SATURATION + 1) / (n + room) for word, n in count.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    length = math.hypot(*one.values()) * math.hypot(*other.values())
    if not length:
        return 0.0
    return min(sum(weight * other.get(word, 0.0) for word, weight in one.items()) / length, 1.0)
