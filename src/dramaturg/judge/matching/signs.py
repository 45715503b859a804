"""Signs of yes and no in running text, and what decides whether a word can be one."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dramaturg.judge.matching.lexicon import single_words
from dramaturg.judge.matching.words import Words

Side: TypeAlias = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that says yes or no.

    Attributes:
        side: Which.
        at: Index of the word.
        weight: 1 for a particle, 2 for an act or idiom, 3 for a stated conclusion, 0 for nothing.
    """

    side: Side
    at: int
    weight: int


def sides_of(signs: Sequence[Sign]) -> tuple[Side, ...]:
    """Returns the sides of some signs, each once."""
    return tuple(dict.fromkeys(sign.side for sign in signs))


def other(side: Side) -> Side:
    """Returns the other side."""
    return "no" if side == "yes" else "yes"


@functools.lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Returns a word without the usual English endings, to find a verb again in another form."""
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply's words beside those of its message.

    Attributes:
        words: Of the reply.
        message: Of the message.
        asked: Stems of the message's words that carry content.
    """

    words: Words
    message: Words
    asked: frozenset[str]

    def is_asked(self, word: str) -> bool:
        """Returns whether the message holds a word in any of its forms."""
        return stem(word) in self.asked

    def in_condition(self, start: int) -> bool:
        """Returns whether a word stands in a condition."""
        before = self.words.clause_before(start)
        return any(one in ("if", "unless", "si", "se", "wenn", "如", "若") for one in before) and not (
            "even" in before or "as" in before or "not" in before
        )

    def by_other(self, start: int) -> bool:
        """Returns whether somebody else does what a word says."""
        before = self.words.clause_before(start)
        subjects = [one for one in before if one in single_words("other_people") or one in ("i", "we", "me")]
        return (
            bool(subjects) and subjects[-1] in single_words("other_people") and subjects[-1] not in ("it", "you")
        ) or "would have" in " ".join(before)

    def spoken_by_other(self, start: int) -> bool:
        """Returns whether a word is quoted from somebody else: said my brother, my wife says yes."""
        words = self.words.words
        low, high = max(0, start - 4), min(len(words), start + 6)
        near = words[start + 1 : high]
        for index, one in enumerate(near[:-1]):
            if one in single_words("speaking") and near[index + 1] == "my":
                return True
        before = words[low:start]
        return (
            any(one in single_words("speaking") for one in before)
            and any(one in single_words("other_people") for one in before)
            and not any(one in ("i", "we") for one in before)
        )

    def negators(self, start: int) -> int:
        """Returns how many negators stand before a word in its clause, since the last turn."""
        before = list(self.words.clause_before(start))
        for turn in ("but", "and", "mais", "ma", "pero", "aber"):
            if turn in before:
                before = before[len(before) - before[::-1].index(turn) :]
        count = 0
        previous = ""
        for one in before[-7:]:
            if one in single_words("negators") and not (previous in ("ne", "n") and one in ("pas", "jamais", "point")):
                count += 1
            previous = one if one in ("ne", "n") else (previous if one not in single_words("negators") else "")
        if "不" in before[-2:] and count == 0:
            count = 1
        return count


def answer_of(words: Words, message: Words) -> Answer:
    """Returns a reply's words beside those of its message."""
    stems = frozenset(stem(word) for word in message.words if word not in single_words("function_words"))
    return Answer(words, message, stems)
