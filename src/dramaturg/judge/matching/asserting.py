"""Whether a reply asserts what it names, or asks, denies or doubts it."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from dramaturg.judge.matching.lexicon import phrases, single_words
from dramaturg.judge.matching.words import Phrases, Words

Stance: TypeAlias = Literal["asserted", "asked", "denied", "doubted", "open"]

_REACH = 12
_SENTENCE_READ = 200
"""Words of a sentence that are read on either side of a name."""
_TAKEN_UP = 3
"""Words of a question that only takes up a name."""
_TURNS = frozenset("but rather instead sondern sino ma mais bensi 而".split())


def stance(words: Words, plain: str, start: int, end: int) -> Stance:
    """Returns how a reply stands to what it names at a place.

    Args:
        words: The words of the text.
        plain: The text.
        start: Where the name stands in it.
        end: Behind it.
    """
    at = _word_at(words, start)
    if at is None:
        return "asserted"
    sentence = words.sentence[at]
    first, last = at, at
    while first > max(0, at - _SENTENCE_READ) and words.sentence[first - 1] == sentence:
        first -= 1
    while last + 1 < min(len(words.words), at + _SENTENCE_READ) and words.sentence[last + 1] == sentence:
        last += 1
    before = words.words[first:at]
    if any(True for _ in _doubting().find(before)):
        return "doubted"
    if (
        sentence in words.asked
        and not _is_taken_up(words, first, at, last)
        and not _is_tagged(words, at, last)
        and not any(True for _ in _affirming().find(words.words, first, last + 1))
    ):
        return "asked"
    own = words.clause_before(at)
    if _is_denied(own[-_REACH:]) or _is_denied_behind(words, at, last):
        return "denied"
    if _is_alternative(plain, start, end):
        return "open"
    return "asserted"


def _is_taken_up(words: Words, first: int, at: int, last: int) -> bool:
    """Returns whether a question is nothing but somebody's own name for whom it was asked about ("My Meg?")."""
    return last - first < _TAKEN_UP and at > first and words.words[at - 1] in single_words("own")


def _word_at(words: Words, start: int) -> int | None:
    """Returns the index of the word at a place; places and words come from texts of nearly the same length."""
    if start < 0 or not words.starts:
        return None
    low, high = 0, len(words.starts)
    while low < high:
        middle = (low + high) // 2
        if words.starts[middle] <= start:
            low = middle + 1
        else:
            high = middle
    return max(0, low - 1)


def _is_denied(before: Sequence[str]) -> bool:
    words = list(before)
    for turn in _TURNS:
        if turn in words:
            words = words[len(words) - words[::-1].index(turn) :]
    cleared = set[int]()
    for hit in _affirming().find(words):
        cleared.update(range(hit.start, hit.end))
    count = 0
    for hit in _negation().find(words):
        if not cleared.intersection(range(hit.start, hit.end)):
            if count and words[hit.start] in ("pas", "jamais", "point", "non"):
                continue
            count += 1
    return count % 2 == 1


def _is_denied_behind(words: Words, at: int, last: int) -> bool:
    """Returns whether the words behind a name deny it ("Paris? No." does not; "Nolan did not make it" does)."""
    index = at + 1
    while index <= last and words.clause[index] == words.clause[at] and index <= at + 4:
        if words.words[index] in ("not", "never", "nicht", "pas") and words.words[index - 1] in _DENYING_VERBS:
            return True
        index += 1
    return False


_DENYING_VERBS = frozenset(
    "is was did does has had are were would will could can am be do have ist war est etait".split()
)


def _is_tagged(words: Words, at: int, last: int) -> bool:
    """Returns whether a question is a statement with a tag behind it ("It is Paris, is it not?")."""
    start = at + 1
    while start <= last and words.clause[start] == words.clause[at]:
        start += 1
    if start > last:
        return words.words[last] in ("吧",) or tuple(words.words[max(at + 1, last - 2) : last + 1]) in phrases(
            "tag_questions"
        )
    return any(tuple(words.words[index : last + 1]) in phrases("tag_questions") for index in range(start, last + 1))


def _is_alternative(plain: str, start: int, end: int) -> bool:
    """Returns whether a name is one of two that are left open ("Paris or Lyon")."""
    joiners = "|".join(sorted(single_words("alternatives")))
    before = re.search(
        rf"([A-ZÀ-Þ0-9]\w*),?\s+(?:{joiners})\s+(?:in |at |by |the |it was )?\Z", plain[max(0, start - 60) : start]
    )
    behind = re.match(
        rf",?\s+(?:{joiners})\s+(?:else\s+)?(?:maybe |perhaps |in |at |by |the |it was )?([A-ZÀ-Þ0-9]\w*)",
        plain[end : end + 60],
    )
    return before is not None or behind is not None


@functools.cache
def _affirming() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("affirming"), True))


@functools.cache
def _doubting() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("doubting"), True))


@functools.cache
def _negation() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("negation"), True))
