"""Wishes that are no consent: what a hindrance takes back, and what would be if things were otherwise.

"I'd love to, but I can't leave her" declines, though it begins with a wish; so does "I would, had I not sworn".
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dramaturg.judge.matching.acts import does_what_was_asked, verb_of
from dramaturg.judge.matching.lexicon import phrases, single_words
from dramaturg.judge.matching.signs import Answer, Sign
from dramaturg.judge.matching.words import Phrases

_SPEAKERS = ("i", "we")
_CONCEDING = frozenset({"though", "although", "much"})
"""Before a wish: the wish is what does not happen ("though I'd love to", "much as I'd like to")."""
_KEEPING = frozenset({"even", "still", "again", "not"})
_LATER = frozenset("first before let you what where when warn mind beware may".split())
"""Behind a wish and its contrast: the speaker comes along and asks, warns or delays."""


@dataclass(frozen=True, slots=True)
class Hindered:
    """What hindrances make of a text.

    Attributes:
        no: Signs that decline.
        void: Indices of words whose signs of yes count no more.
        open_at: Behind the contrast that leaves a wish open; -1 where none does.
    """

    no: tuple[Sign, ...]
    void: frozenset[int]
    open_at: int


def hindered(answer: Answer, wishes: Collection[int], contrasts: Sequence[int], signs: Sequence[Sign]) -> Hindered:
    """Returns which wishes are taken back, and where.

    Args:
        answer: The reply.
        wishes: Indices of phrases that wish.
        contrasts: Indices of contrasts, in order.
        signs: What was gathered so far.
    """
    places = {*wishes, *(sign.at for sign in signs if sign.side == "yes" and _is_would(answer, sign.at))}
    no, void = _unreal(answer, signs)
    if not places:
        return Hindered(tuple(no), frozenset(void), -1)
    open_at = -1
    for wish in sorted(places - void):
        conceded = bool(_CONCEDING.intersection(answer.words.clause_before(wish)[-3:]))
        turn = wish if conceded else _turn(answer, wish, contrasts)
        if turn < 0:
            continue
        stop = _end(answer, turn, sentences=2 if conceded else 1)
        start = _sentence_start(answer, wish) if conceded else turn
        hindrance = _hindrance(answer, start, stop)
        firm = any(sign.side == "no" and sign.weight >= 2 and start <= sign.at < stop for sign in signs)
        if hindrance >= 0 or firm:
            void.add(wish)
            if hindrance >= 0:
                void.add(hindrance)
                no.append(Sign("no", hindrance, 2))
        elif conceded:
            void.add(wish)
        elif not any(turn <= sign.at < stop for sign in signs) and not _LATER.intersection(
            answer.words.words[turn:stop]
        ):
            open_at = turn + 1
    return Hindered(tuple(no), frozenset(void), open_at)


def _is_would(answer: Answer, at: int) -> bool:
    return answer.words.words[at] in _SPEAKERS and answer.words.words[at + 1 : at + 2] in (("would",), ("could",))


def _turn(answer: Answer, wish: int, contrasts: Sequence[int]) -> int:
    """Returns the first contrast behind a wish, in its sentence or at the head of the next; -1 without one."""
    words = answer.words
    for at in contrasts:
        if at > wish and (
            words.sentence[at] == words.sentence[wish]
            or (words.sentence[at] == words.sentence[wish] + 1 and words.opens_clause(at))
        ):
            return at
    return -1


def _end(answer: Answer, start: int, *, sentences: int) -> int:
    stop = start
    while stop < len(answer.words.words) and answer.words.sentence[stop] < answer.words.sentence[start] + sentences:
        stop += 1
    return stop


def _sentence_start(answer: Answer, at: int) -> int:
    while at > 0 and answer.words.sentence[at - 1] == answer.words.sentence[at]:
        at -= 1
    return at


def _hindrance(answer: Answer, start: int, stop: int) -> int:
    """Returns where something keeps the speaker from what was asked; -1 where nothing does, or only for a while."""
    words = answer.words
    if "first" in words.words[start:stop]:
        return -1
    for hit in _hindrances().find(words.words, start, stop, parts=words.clause):
        behind = words.words[hit.end] if hit.end < len(words.words) else ""
        if words.sentence[hit.start] not in words.asked and behind not in single_words("mental_verbs"):
            return hit.start
    return -1


def _unreal(answer: Answer, signs: Sequence[Sign]) -> tuple[list[Sign], set[int]]:
    """Returns what the speaker would do if things were otherwise, as signs of no; and the signs that it undoes."""
    words = answer.words
    no: list[Sign] = []
    void: set[int] = set()
    for hit in _conditions().find(words.words):
        before = words.words[hit.start - 1] if hit.start else ""
        sentence = words.sentence[hit.start]
        if before in _KEEPING or sentence in words.asked:
            continue
        start = _sentence_start(answer, hit.start)
        for at in range(start, _end(answer, start, sentences=1)):
            if not _is_would(answer, at) or _KEEPING.intersection(words.words[at + 2 : at + 3]):
                continue
            verb, negated = verb_of(answer, at)
            ends = verb >= len(words.words) or words.clause[verb] != words.clause[at] or verb == hit.start
            if not negated and verb >= 0 and (ends or does_what_was_asked(answer, verb)):
                no.append(Sign("no", at, 2))
                void.update(sign.at for sign in signs if words.sentence[sign.at] == sentence and sign.side == "yes")
    return no, void


@functools.cache
def _hindrances() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("hindrances"), True))


@functools.cache
def _conditions() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("unreal"), True))
