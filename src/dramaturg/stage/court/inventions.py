"""What an answer states that nobody told its speaker: exhibits, times, numbers, days, months and names.

Rules alone, and only what is sure is found: a word that may mean something else is passed over, and so is a part of a
sentence that says that its speaker does not know. What rules do not see (a made-up event in known words) they let pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dramaturg.stage.mentions import (
    NO_NAMES,
    NOUNS_CAPITALISED,
    exhibit_ids,
    exhibit_numbers,
    full_names,
    single_names,
    words,
)

_CLAUSE = re.compile(r"(?<=[.!?;。！？；])\s*|,\s*(?=(?:but|yet|though|ma|però)\b)|，(?=但)", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:do(?:es)? not|don['’]t|cannot|can['’]t|can not|could not|couldn['’]t|did not|didn['’]t)\s+"
    r"(?:\w+\s+)?(?:know|remember|recall|say|tell|be (?:sure|certain))\b"
    r"|\bnot (?:sure|certain)\b|\bno idea\b|\bunsure\b|\buncertain\b"
    r"|\bnon (?:lo )?(?:so|ricordo|saprei|posso dire|sono sicur[oa])\b|不知道|不记得|不清楚|不确定|说不准",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"(?:\b(?:about|around|roughly|nearly|almost|maybe|perhaps|some|approximately|or|circa|forse|quasi)\s+|大约|也许|可能)\Z",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?<![A-Za-z\d.,:])([01]?\d|2[0-3])[:.h]([0-5]\d)(?![\d:]|[.,]\d)")
_NUMBER = re.compile(r"(?<![A-Za-z\d.,:])\d+(?:[.,]\d+)*")

_UNITS = {word: number for number, word in enumerate("one two three four five six seven eight nine".split(), start=1)}
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = (
    _UNITS
    | {word: number for number, word in enumerate(_TEENS, start=10)}
    | {word: 10 * number for number, word in enumerate(_TENS, start=2)}
    | {"tre": 3, "quattro": 4, "cinque": 5, "sette": 7, "otto": 8, "nove": 9, "dieci": 10, "undici": 11, "dodici": 12}
)
_WORDED = re.compile(rf"\b(?:({'|'.join(_TENS)})[- ]({'|'.join(_UNITS)})|({'|'.join(_WORDS)}))\b", re.IGNORECASE)
_LEAST_WORDED = 3
"""Least number in words that tells anything: one and two stand in many phrases."""

_CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february april june july august september october
    november december lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio marzo aprile maggio
    giugno luglio agosto settembre ottobre novembre dicembre
    """.split()
)
_MAY_OR_MARCH = re.compile(
    r"(?:\b(?:in|last|of|since|until|\d{1,2}(?:st|nd|rd|th)?)\s+(May|March)\b|\b(May|March)\s+\d)"
)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a speaker may name.

    Attributes:
        words: All words.
        numbers: All numbers, and the hours and minutes of all times.
        times: Minutes since midnight on a clock of twelve hours: ten in the evening is ten and is 22.
        exhibits: Ids of exhibits.
    """

    words: frozenset[str]
    numbers: frozenset[str]
    times: frozenset[int]
    exhibits: frozenset[tuple[str, int]]


def inventions(answer: str, known: str, language: str) -> tuple[str, ...]:
    """Returns what the answer names and the known text does not, as it stands in the answer, each once.

    Args:
        answer: What was said.
        known: All that the speaker may name: its knowledge, the public record, the question.
        language: ISO 639-1.
    """
    told = _told(known)
    found: dict[str, None] = {}
    for clause in _CLAUSE.split(answer):
        if clause and not _UNSURE.search(clause):
            found |= dict.fromkeys(_of_clause(clause, told, language))
    return tuple(found)


def _of_clause(clause: str, told: _Told, language: str) -> Iterator[str]:
    yield from _exhibits(clause, told)
    for time in _TIME.finditer(clause):
        if _minutes(time) not in told.times and _plain(time[0]) not in told.numbers:
            yield time[0]
    for shown, number, start in _numbers(_TIME.sub(lambda time: " " * len(time[0]), clause)):
        if number not in told.numbers and not _ROUGHLY.search(clause, 0, start):
            yield shown
    yield from (day for day in words(clause) if day in _CALENDAR and day not in told.words)
    for month in _MAY_OR_MARCH.finditer(clause):
        if (name := month[1] or month[2]).casefold() not in told.words:
            yield name
    if language not in NOUNS_CAPITALISED:
        yield from _names(clause, told)


def _exhibits(clause: str, told: _Told) -> Iterator[str]:
    ids = [*exhibit_ids(clause)]
    yield from (f"{letter}{number}" for letter, number in ids if (letter, number) not in told.exhibits)
    for number in exhibit_numbers(clause):
        if str(number) not in told.numbers and number not in {number for _, number in ids}:
            yield f"exhibit {number}"


def _names(clause: str, told: _Told) -> Iterator[str]:
    whole = [name for name in full_names(clause) if told.words.isdisjoint(words(name))]
    yield from whole
    covered = {word for name in whole for word in words(name)}
    for name in single_names(clause):
        if told.words.union(covered, _CALENDAR, NO_NAMES).isdisjoint(words(name)):
            yield name


def _told(known: str) -> _Told:
    """Returns what the known text names, as a whole and clause by clause: an answer is read by clauses."""
    texts = [known, *_CLAUSE.split(known)]
    times = [time for text in texts for time in _TIME.finditer(text)]
    ids = frozenset(exhibit for text in texts for exhibit in exhibit_ids(text))
    numbers = {number for text in texts for _, number, _ in _numbers(text)} | {str(number) for _, number in ids}
    for time in times:
        hour, minute = int(time[1]), int(time[2])
        numbers |= {str(hour), str(hour % 12 or 12), str(minute)}
    return _Told(frozenset(words(known)), frozenset(numbers), frozenset(map(_minutes, times)), ids)


def _minutes(time: re.Match[str]) -> int:
    return (60 * int(time[1]) + int(time[2])) % 720


def _numbers(text: str) -> Iterator[tuple[str, str, int]]:
    """Yields each number as it is written, in one form, and with the place where it begins."""
    for found in _NUMBER.finditer(text):
        yield found[0], _plain(found[0]), found.start()
    for found in _WORDED.finditer(text):
        tens, unit, alone = (part.casefold() if part else "" for part in found.groups())
        number = _WORDS[alone] if alone else _WORDS[tens] + _WORDS[unit]
        if number >= _LEAST_WORDED:
            yield found[0], str(number), found.start()


def _plain(number: str) -> str:
    joined = re.sub(r"[.,](?=\d{3}(?!\d))", "", number).replace(",", ".")
    return joined.lstrip("0") or "0"
