"""Years and days in a text, however they are written, and whether they are a given date."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dramaturg.judge.matching.lexicon import lexicons, phrases, single_words
from dramaturg.judge.matching.numerals import Number, numbers_in
from dramaturg.judge.matching.words import Phrases, Words, fold, words_of

_NUMERIC = re.compile(
    r"(?<![\d/.\-])(?P<a>\d{1,4})\s?(?P<mark>[./\-–])\s?(?P<b>\d{1,2}|[ivx]{1,4})\s?(?P=mark)\s?(?P<c>\d{1,4})(?![\d/]|[.\-]\d)",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:(?P<year>[\d〇零一二三四五六七八九十百千]{1,6})年)?(?:(?P<month>[\d一二三四五六七八九十]{1,3})月)?(?:(?P<day>[\d一二三四五六七八九十]{1,4})[日号號])?"
)
_ROMAN_MONTHS = {name: place for place, name in enumerate("i ii iii iv v vi vii viii ix x xi xii".split(), start=1)}
_SURE_YEARS = range(1000, 2100)
_ANY_YEAR = range(1, 3000)
_REACH = 5
_DATE_SIGNS = frozenset("年月日号號")
_YEAR_WORDS = frozenset({"year", "anno", "annee", "ad", "an", "ano", "jahr", "jahre"})
_PLURAL_NOT = frozenset("was is has as this his its us yes does thus perhaps always".split())


@dataclass(frozen=True, slots=True)
class Said:
    """A date that a text names.

    Attributes:
        year: Negative before the common era; None where it names none.
        month: 1 to 12.
        day: 1 to 31.
        start: Index of its first word; -1 where it was not found by words.
    """

    year: int | None
    month: int | None = None
    day: int | None = None
    start: int = -1


def dates_in(text: str) -> tuple[Said, ...]:
    """Returns every year and every date of a text; one with a month is also returned without its year."""
    words = words_of(text)
    return dates_of(text, words, numbers_in(words))


def dates_of(text: str, words: Words, numbers: Sequence[Number]) -> tuple[Said, ...]:
    """Returns the same of a text that was read before.

    Args:
        text: The text.
        words: Its words.
        numbers: Its numbers.
    """
    found: list[Said] = []
    months = _months_in(words)
    by_start = {number.start: number for number in numbers}
    by_end = {number.end: number for number in numbers}
    for number in numbers:
        year = _year(words, number, months)
        if year is not None:
            found.append(Said(year, start=number.start))
    for at, month in months:
        day = _day_before(words, at, by_end) or _day_behind(words, at + 1, by_start)
        year = _year_near(words, at, by_start, by_end, day)
        if day is not None or year is not None:
            found.append(Said(year, month, day.value if day is not None else None, at))
    found += _numeric(text)
    if "年" in text or "月" in text:
        found += _chinese(text)
    found += _centuries(words, by_end)
    return tuple(found)


def parse_date(text: str) -> Said | None:
    """Returns the date that a text is as a whole, or None where it is something else."""
    if not any(sign.isdigit() for sign in text) and len(text.split()) > 8:
        return None
    iso = re.fullmatch(r"(-?\d{1,4})(?:-(\d\d))?(?:-(\d\d))?", text.strip())
    if iso:
        digits = iso[1].lstrip("-")
        if not iso[2] and (len(digits) != 4 or int(iso[1]) not in _SURE_YEARS) and not iso[1].startswith("-"):
            return None
        return Said(int(iso[1]), int(iso[2]) if iso[2] else None, int(iso[3]) if iso[3] else None)
    words = words_of(text)
    if len(words.words) > 8:
        return None
    said = dates_in(text)
    best = max(
        said, key=lambda one: (one.year is not None) + (one.month is not None) + (one.day is not None), default=None
    )
    if best is None:
        return None
    joints = single_words("date_joints")
    months = {at for at, _ in _months_in(words)}
    covered = {index for number in numbers_in(words) for index in range(number.start, number.end)} | months
    rest = [
        word
        for index, word in enumerate(words.words)
        if index not in covered and word not in joints and word not in _DATE_SIGNS and word not in ("a", "d", "ad")
    ]
    return best if not rest and (best.month is not None or best.year is not None) else None


def is_date_word(word: str) -> bool:
    """Returns whether a folded word is a number, the name of a month, or stands between the parts of a date."""
    return word[0].isdigit() or word in _months() or word in _number_words() or word in _DATE_SIGNS


def giving_away(said: Sequence[Said], date: Said) -> Iterator[Said]:
    """Yields what names the year of a date, or its month and day."""
    for one in said:
        same_day = date.day is not None and one.month == date.month and one.day == date.day
        other_month = one.month is not None and date.month is not None and one.month != date.month
        if same_day or (one.year == date.year and not (other_month and one.day is not None)):
            yield one


def covers(known: Sequence[Said], said: Said) -> bool:
    """Returns whether something already known names all that a date says."""
    return any(
        said.year in (None, one.year) and said.month in (None, one.month) and said.day in (None, one.day)
        for one in known
    )


def states(said: Sequence[Said], date: Said) -> Said | None:
    """Returns what names a date as exactly as it is given; a day and month may stand without their year."""
    years = {one.year for one in said if one.year is not None}
    for one in said:
        if date.month is None:
            if one.year == date.year:
                return one
        elif one.month == date.month and (date.day is None or one.day == date.day):
            if one.year == date.year or (
                one.year is None and (date.year in years or (not years and date.day is not None))
            ):
                return one
    return None


def _months_in(words: Words) -> list[tuple[int, int]]:
    names = _months()
    found: list[tuple[int, int]] = []
    for index, word in enumerate(words.words):
        month = names.get(word)
        if month is None:
            continue
        if word in ("may", "mar", "sept", "sep", "march", "mars", "mai", "dec", "jan", "set", "august", "marzo"):
            near = words.words[max(0, index - 3) : index] + words.words[index + 1 : index + 4]
            if not any(one[0].isdigit() or one in _number_words() for one in near):
                continue
        found.append((index, month))
    return found


@functools.cache
def _months() -> dict[str, int]:
    return {
        fold(name): place
        for one in reversed(lexicons())
        for place, names in enumerate(one.months, start=1)
        for name in names
    }


@functools.cache
def _number_words() -> frozenset[str]:
    return frozenset(fold(word) for one in lexicons() for word in (*one.numbers, *one.ordinals))


def _day_before(words: Words, at: int, by_end: dict[int, Number]) -> Number | None:
    for back in range(_REACH):
        end = at - back
        if end in by_end:
            number = by_end[end]
            return number if 1 <= number.value <= 31 and number.digits <= 2 else None
        if end - 1 < 0 or words.words[end - 1] not in single_words("date_joints"):
            return None
    return None


def _day_behind(words: Words, at: int, by_start: dict[int, Number]) -> Number | None:
    for ahead in range(3):
        index = at + ahead
        if index in by_start:
            number = by_start[index]
            return number if 1 <= number.value <= 31 and number.digits <= 2 else None
        if index >= len(words.words) or words.words[index] not in single_words("date_joints"):
            return None
    return None


def _year_near(
    words: Words, at: int, by_start: dict[int, Number], by_end: dict[int, Number], day: Number | None
) -> int | None:
    """Returns the year that stands behind a month and its day, or close before them."""
    index = max(at + 1, day.end if day is not None and day.start > at else 0)
    for ahead in range(9):
        place = index + ahead
        if place in by_start:
            number = by_start[place]
            if number is not day:
                if any(_eras().find(words.words, number.end, min(len(words.words), number.end + 4))):
                    return -number.value
                return number.value if number.value > 31 and number.digits <= 4 else _short_year(number)
        if place >= len(words.words) or (
            words.words[place] not in single_words("date_joints") and place not in by_start
        ):
            break
    index = min(at, day.start if day is not None else at)
    for back in range(6):
        place = index - back
        if place in by_end and by_end[place] is not day and by_end[place].value in _SURE_YEARS:
            return by_end[place].value
        if place < 1 or words.words[place - 1] not in single_words("date_joints"):
            break
    return None


def _short_year(number: Number) -> int | None:
    return None if number.digits != 2 else 1900 + number.value if number.value > 30 else 2000 + number.value


def _year(words: Words, number: Number, months: Sequence[tuple[int, int]]) -> int | None:
    """Returns the year that a number is, going by what stands around it; None where it counts something."""
    before = words.words[number.start - 1] if number.start else ""
    behind = words.words[number.end] if number.end < len(words.words) else ""
    mark_before = words.after[number.start - 1] if number.start else ""
    mark_behind = words.after[number.end - 1]
    era = next(iter(_eras().find(words.words, number.end, min(len(words.words), number.end + 5))), None)
    if era is not None and era.start == number.end:
        return -number.value
    if number.digits > 4 or number.ordinal or number.value not in _ANY_YEAR:
        return None
    if any(sign in mark_before for sign in "$£€¥#№") or any(sign in mark_behind for sign in "€%°$"):
        return None
    if number.digits and number.digits < 4 and number.value >= 100 and before not in _YEAR_WORDS:
        return None
    opened = before in single_words("year_openers") or before in _months()
    if behind == "年":
        return number.value
    if number.value not in _SURE_YEARS and not (opened and before in _YEAR_WORDS | {"in"} and number.value > 31):
        return None
    if number.digits == 0 and number.end - number.start == 1 and number.value % 1000 == 0:
        return None
    if before in single_words("counted") and before not in single_words("year_openers"):
        return None
    joined = mark_behind in (" ", "-") or mark_behind == ""
    if joined and behind and before not in _YEAR_WORDS and (behind in single_words("countables") or _is_plural(behind)):
        return None
    if number.digits == 0 and number.value in (1000, 2000) and not opened:
        return None
    return number.value


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith("ss") and word not in _PLURAL_NOT


@functools.cache
def _eras() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("before_era"), True))


def _numeric(text: str) -> list[Said]:
    found: list[Said] = []
    for match in _NUMERIC.finditer(text):
        a, b, c = match["a"], match["b"].lower(), match["c"]
        middle = _ROMAN_MONTHS.get(b) if b.isalpha() else int(b)
        if middle is None:
            continue
        if len(a) >= 3:
            options = [(int(a), middle, int(c)), (int(a), int(c), middle)]
        else:
            year = int(c) if len(c) > 2 else 1900 + int(c) if int(c) > 30 else 2000 + int(c)
            options = [(year, middle, int(a)), (year, int(a), middle)]
        found += [
            Said(year, month, day) for year, month, day in dict.fromkeys(options) if 1 <= month <= 12 and 1 <= day <= 31
        ]
    return found


def _chinese(text: str) -> list[Said]:
    found: list[Said] = []
    for match in _CHINESE.finditer(text):
        if match[0]:
            year, month, day = (_value(match[name]) for name in ("year", "month", "day"))
            if (year is not None and year > 31) or (month is not None and day is not None):
                found.append(Said(year, month, day))
    return found


def _value(text: str | None) -> int | None:
    if not text:
        return None
    numbers = numbers_in(words_of(text))
    return numbers[0].value if numbers else None


def _centuries(words: Words, by_end: dict[int, Number]) -> list[Said]:
    names = single_words("century")
    found: list[Said] = []
    for index, word in enumerate(words.words):
        number = by_end.get(index)
        if word in names and number is not None and 2 <= number.value <= 30:
            found.append(Said((number.value - 1) * 100 + 1, start=number.start))
    return found
