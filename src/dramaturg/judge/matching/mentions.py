"""Where a reply names a fact: by a form, by a surname alone, by a date or a number however it is written."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dramaturg.facts import Fact
from dramaturg.judge.matching.dates import Said, dates_of, giving_away, parse_date, states
from dramaturg.judge.matching.lexicon import common_words, given_names, single_words
from dramaturg.judge.matching.numerals import Number, numbers_in
from dramaturg.judge.matching.surface import Form, Place, Surface, form_of, places, surface
from dramaturg.judge.matching.words import LONGEST_KEPT, Words, fold, words_of

_NAME = re.compile(r"[^\W\d_][\w'’.\-]*")
_SENTENCE_END = re.compile(r"[.!?…。！？:\n][\s\"'”’»)*_\]]*\Z")
_SHORTEST_SURNAME = 4
_COMPANY = frozenset(
    "company corporation inc corp ltd band group brand administration presidency foundation ceo platform app".split()
)
_WHOLE_NUMBER = re.compile(r"\d{1,9}")


@dataclass(frozen=True, slots=True)
class Mention:
    """A fact that is named.

    Attributes:
        form: As it is written in the fact.
        start: Where it stands in the text that was read; -1 where it was found as a date or number.
        end: Behind it.
        written: What stands there.
        spelled: Whether it is written in pieces.
        partial: Whether it is a surname alone.
        date: What was said, where it is a date.
    """

    form: str
    start: int
    end: int
    written: str
    spelled: bool = False
    partial: bool = False
    date: Said | None = None


@dataclass(frozen=True, slots=True)
class Sought:
    """A text in which facts are sought, prepared once."""

    surface: Surface
    dates: tuple[Said, ...]
    words: Words
    numbers: tuple[Number, ...]
    has_case: bool


def sought(text: str) -> Sought:
    """Returns a text prepared for `mentions`; of short texts the latest are kept."""
    return _short_sought(text) if len(text) <= LONGEST_KEPT else _prepared(text)


@functools.lru_cache(maxsize=512)
def _short_sought(text: str) -> Sought:
    return _prepared(text)


def _prepared(text: str) -> Sought:
    prepared = surface(text)
    words = words_of(prepared.plain)
    numbers = numbers_in(words)
    letters = sum(map(str.isalpha, prepared.plain[:4000]))
    upper = sum(map(str.isupper, prepared.plain[:4000]))
    dates = dates_of(prepared.plain, words, numbers)
    return Sought(prepared, dates, words, numbers, has_case=0 < upper <= letters * 0.6)


def mentions(text: Sought, fact: Fact, *, exact: bool) -> Iterator[Mention]:
    """Yields where a text names a fact.

    Args:
        text: The text.
        fact: What is sought.
        exact: Whether a date must be said as exactly as it is given; else its year, or its day and month, are enough.
    """
    forms = fact.all_forms
    for form in forms:
        yield from _by_form(text, form)
    for form in forms:
        surname = _surname(form)
        if surname and surname not in forms:
            for place in _cased(text, _form(surname), surname):
                yield Mention(
                    surname, place.start, place.end, text.surface.plain[place.start : place.end], partial=True
                )
    for date in _dates(fact):
        if exact:
            said = states(text.dates, date)
            if said is not None:
                yield _dated(text, said)
        else:
            for said in giving_away(text.dates, date):
                yield _dated(text, said)


def _dated(text: Sought, said: Said) -> Mention:
    start = text.words.starts[said.start] if said.start >= 0 else -1
    written = "-".join(str(part) for part in (said.year, said.month, said.day) if part is not None)
    return Mention(written, start, start + 1 if start >= 0 else -1, written, date=said)


def _by_form(text: Sought, form: str) -> Iterator[Mention]:
    prepared = _form(form)
    if _needs_signs(form) and not form.isdigit():
        for found in re.finditer(rf"(?<!\w){re.escape(form)}(?!\w)", text.surface.plain):
            yield Mention(form, found.start(), found.end(), found[0])
        return
    value = _number_of(form)
    for place in _cased(text, prepared, form):
        if value is not None and _is_in_larger(text, place, value):
            continue
        yield Mention(form, place.start, place.end, text.surface.plain[place.start : place.end], place.spelled)
    if value is not None:
        for number in text.numbers:
            if number.value == value and not number.ordinal:
                start = text.words.starts[number.start]
                yield Mention(form, start, start + 1, form)


def _is_in_larger(text: Sought, place: Place, value: int) -> bool:
    """Returns whether a number stands at a place only as part of another one ("three" in "twenty-three")."""
    word = bisect.bisect_right(text.words.starts, place.start) - 1
    index = bisect.bisect_right(text.numbers, word, key=lambda number: number.start) - 1
    return index >= 0 and word < text.numbers[index].end and text.numbers[index].value != value


@functools.lru_cache(maxsize=65_536)
def _form(text: str) -> Form:
    return form_of(text)


@functools.lru_cache(maxsize=65_536)
def _needs_signs(form: str) -> bool:
    """Returns whether a form is so short without its signs that they must be written too: C++, X, R&D."""
    return len(_form(form).letters) < 2


@functools.lru_cache(maxsize=65_536)
def _number_of(form: str) -> int | None:
    """Returns the number that a form is as a whole, in digits or words, unless it is a year."""
    if _WHOLE_NUMBER.fullmatch(form):
        return int(form) if len(form) < 4 else None
    if len(form) > 40:
        return None
    words = words_of(form)
    found = numbers_in(words)
    if len(found) == 1 and found[0].start == 0 and found[0].end == len(words.words) and not found[0].ordinal:
        return found[0].value
    return None


@functools.lru_cache(maxsize=16_384)
def _parsed(form: str) -> Said | None:
    return parse_date(form)


def _dates(fact: Fact) -> list[Said]:
    dates = [_parsed(fact.date)] if fact.date else []
    dates += [_parsed(form) for form in fact.all_forms]
    if fact.date and dates[0] is None:
        dates.append(Said(int(fact.date)))
    return [date for date in dates if date is not None]


@functools.lru_cache(maxsize=65_536)
def _surname(form: str) -> str:
    """Returns the surname of a form that is a person's name, where it is one that cannot be taken for a word."""
    parts = form.split()
    if not 2 <= len(parts) <= 4 or not all(part[:1].isupper() and _NAME.fullmatch(part) for part in parts):
        return ""
    first, last = fold(parts[0].strip(".")), fold(parts[-1])
    if len(last) < _SHORTEST_SURNAME or last in common_words() or last in given_names() or not last.isalpha():
        return ""
    if first in single_words("place_prefixes") or (
        first in single_words("given_titles") and first not in single_words("titled")
    ):
        return ""
    if (
        any(fold(part) in common_words() and fold(part) not in given_names() for part in parts[:-1])
        and first not in given_names()
    ):
        return ""
    if (
        last in single_words("countables")
        or last in single_words("given_titles")
        or first in single_words("determiners")
    ):
        return ""
    return parts[-1]


@functools.lru_cache(maxsize=65_536)
def _is_common(form: str) -> bool:
    """Returns whether a form in lower case is a common word, or several."""
    parts = [fold(part) for part in re.findall(r"[^\W_]+", form)]
    known = common_words() | single_words("determiners") | single_words("given_titles")
    return bool(parts) and all(part in known for part in parts) and any(part.isalpha() for part in parts)


def _cased(text: Sought, form: Form, written: str) -> Iterator[Place]:
    """Yields the places of a form; of a common word, those where it is a name."""
    for place in places(text.surface, form):
        if place.spelled or not form.cased or not _is_common(written) or _is_name(text, place, written):
            yield place


def _is_name(text: Sought, place: Place, written: str) -> bool:
    """Returns whether a common word is a name where it stands, going by its capitals and its neighbours."""
    plain = text.surface.plain
    here = plain[place.start : place.end]
    several = len(re.findall(r"[^\W_]+", written)) > 1
    before = re.findall(r"[^\W\d_]+", plain[max(0, place.start - 40) : place.start])
    behind = re.match(r"(?:['’]s)?[\s,]{0,2}([^\W\d_]+)?", plain[place.end : place.end + 40])
    following = (behind[1] or "") if behind else ""
    previous = fold(before[-1]) if before else ""
    opens = (
        place.start == 0
        or not plain[: place.start].strip(" \t\"'“‘«*_([>-")
        or bool(_SENTENCE_END.search(plain[max(0, place.start - 12) : place.start]))
    )
    follows = fold(following)
    if text.has_case and not all(
        word[:1].isupper() for word in re.findall(r"[^\W_]+", here) if fold(word) not in ("of", "the", "and", "in")
    ):
        return False
    if here.isupper() and len(here) > 1 and not written.isupper() and _is_shouted(plain, place):
        return False
    if several and text.has_case and (not opens or sum(word[:1].isupper() for word in here.split()) > 1):
        return True
    alone = not before and not following
    if alone:
        return "!" not in plain[place.end : place.end + 3]
    if follows in _COMPANY:
        return True
    if previous in single_words("determiners") and not opens and not several:
        return False
    if fold(written) in single_words("given_titles") and following[:1].isupper():
        return False
    if opens or not text.has_case:
        sure = follows in single_words("name_verbs") or bool(re.match(r"['’]s\s", plain[place.end : place.end + 4]))
        ends = bool(re.match(r"\s*(?:[.,]|\Z)", plain[place.end : place.end + 3]))
        if opens and text.has_case:
            return sure or (ends and following[:1].isupper() is False and not follows)
        return (opens and sure) or previous in single_words("name_introducers") - {
            "at",
            "on",
            "of",
            "with",
            "from",
            "than",
            "via",
            "through",
            "author",
        }
    return not (previous in single_words("given_titles") and fold(written) in single_words("given_titles"))


def _is_shouted(plain: str, place: Place) -> bool:
    near = [word for word in re.findall(r"[^\W\d_]{2,}", plain[max(0, place.start - 60) : place.end + 60])]
    return sum(word.isupper() for word in near) >= max(2, len(near) * 0.6)


def names_any(text: Sought, forms: Sequence[str]) -> bool:
    """Returns whether a text names any of some forms, whatever their case."""
    return any(True for form in forms for _ in places(text.surface, _form(form)))
