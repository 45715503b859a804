"""Numbers as replies write them: digits of any script, words of several languages, Roman and Chinese numerals."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dramaturg.judge.matching.lexicon import lexicons, single_words
from dramaturg.judge.matching.words import Words, fold

_ROMAN = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_SHORTEST_ROMAN = 4
_DIGITS = re.compile(r"(?P<digits>\d{1,9})(?P<tail>st|nd|rd|th|er|re|e|o|a|s)?")
_ITALIAN_UNITS = (
    "uno|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|tredici|quattordici|quindici|sedici|"
    "diciassette|diciotto|diciannove"
)
_ITALIAN = re.compile(
    r"(?P<thousands>mille|duemila|tremila)?"
    r"(?:(?P<hundreds>due|tre|quattro|cinque|sei|sette|otto|nove)?(?P<hundred>cento))?"
    r"(?P<tens>venti?|trenta?|quaranta?|cinquanta?|sessanta?|settanta?|ottanta?|novanta?)?"
    rf"(?P<units>{_ITALIAN_UNITS})?"
)
_GERMAN_UNITS = (
    "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
).split()
_GERMAN_TENS = "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig".split()
_GERMAN = re.compile(
    rf"(?:(?P<head>{'|'.join(_GERMAN_UNITS[1:])})(?P<scale>hundert|tausend))?(?:und)?"
    rf"(?:(?P<unit>{'|'.join(_GERMAN_UNITS[1:10])})und(?P<tens>{'|'.join(_GERMAN_TENS)})"
    rf"|(?P<bare>{'|'.join(_GERMAN_TENS)}|eins|{'|'.join(_GERMAN_UNITS[2:])}))?"
)
_GERMAN_VALUES = {
    **{word: value for value, word in enumerate(_GERMAN_UNITS)},
    **{word: 20 + 10 * place for place, word in enumerate(_GERMAN_TENS)},
    "eins": 1,
}


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text.

    Attributes:
        value: What it is.
        start: Index of its first word.
        end: Index behind its last word.
        digits: How many digits it was written with; 0 for words.
        ordinal: Whether it was written as an ordinal.
        decade: Whether it names a decade, as "1990s" does.
    """

    value: int
    start: int
    end: int
    digits: int
    ordinal: bool
    decade: bool = False


def numbers_in(words: Words) -> tuple[Number, ...]:
    """Returns the numbers of a text, in order, without overlaps."""
    found: list[Number] = []
    index = 0
    cardinals = _cardinals()
    ordinals = _ordinals()
    while index < len(words.words):
        word = words.words[index]
        number: Number | None = None
        if word[0].isdigit():
            number = _in_digits(words, index)
        elif word in cardinals or word in ordinals:
            number = _in_words(words, index)
        elif word[0] in _CHINESE_SIGNS:
            number = _in_chinese(words, index)
        elif len(word) >= _SHORTEST_ROMAN:
            value = _roman(word) or _italian(word) or _german(word)
            number = Number(value, index, index + 1, 0, ordinal=False) if value else None
        if number is None:
            index += 1
        else:
            found.append(number)
            index = number.end
    return tuple(found)


def _in_digits(words: Words, index: int) -> Number | None:
    written = _DIGITS.fullmatch(words.words[index])
    if written is None:
        return None
    digits, end = written["digits"], index + 1
    value = "".join(map(str, map(int, digits)))
    while end < len(words.words) and words.after[end - 1] in (",", ".", "'", "\u202f", "\u00a0") and len(value) <= 9:
        following = words.words[end]
        if not (following.isdigit() and len(following) == 3 and len(digits) <= 3 and digits[0] != "0"):
            break
        value += "".join(map(str, map(int, following)))
        end += 1
    grouped = end > index + 1
    tail = written["tail"] or ""
    return Number(
        int(value), index, end, 99 if grouped else len(digits), ordinal=tail not in ("", "s"), decade=tail == "s"
    )


def _in_words(words: Words, index: int) -> Number:
    """Returns the longest numeral of words from an index."""
    cardinals, ordinals = _cardinals(), _ordinals()
    joints = single_words("number_joints")
    total = current = previous = 0
    end = index
    while end < len(words.words) and (end == index or words.after[end - 1] in _INSIDE):
        word = words.words[end]
        if word in joints and end > index and words.words[end + 1 : end + 2] and _is_numeral(words.words[end + 1]):
            end += 1
            continue
        if word in ordinals and word not in cardinals:
            if previous and not (20 <= previous <= 100 and ordinals[word] < 10):
                break
            return Number(total + current + ordinals[word], index, end + 1, 0, ordinal=True)
        joined = (
            _joined(current, previous, cardinals[word], words.words[end - 1] if end > index else "")
            if word in cardinals
            else None
        )
        if joined is None or (joined == _THOUSANDS and total):
            break
        if joined == _THOUSANDS:
            total, current = max(current, 1) * 1000, 0
        else:
            current = joined
        previous = cardinals[word]
        end += 1
    while end > index + 1 and words.words[end - 1] in joints:
        end -= 1
    return Number(total + current, index, max(end, index + 1), 0, ordinal=False)


_INSIDE = frozenset({" ", "-", "", "\u2011", "\n", "\u2010"})
"""What may stand between the words of a numeral."""
_THOUSANDS = -1


def _is_numeral(word: str) -> bool:
    return word in _cardinals() or word in _ordinals()


def _joined(current: int, previous: int, value: int, before: str) -> int | None:
    """Returns what a numeral of words comes to with one more; None where it is a numeral of its own.

    Args:
        current: What it comes to so far, thousands aside.
        previous: Value of the last word; 0 before the first.
        value: Value of the next word.
        before: The last word.
    """
    if value == 1000:
        return _THOUSANDS
    if value == 100:
        return max(current, 1) * 100
    if previous == 4 and value == 20 and before == "quatre":
        return current + 76
    if 0 < previous < 10 and value < 10:
        return None
    if 10 <= previous < 100 and value >= 10 and not _adds(previous, value, before):
        return current * 100 + value if 10 <= current <= 99 else None
    return current + value


def _adds(before: int, value: int, word: str) -> bool:
    """Returns whether a numeral below a hundred is added to the one before it, as in soixante-dix."""
    return before in (20, 60) and 10 <= value < 20 and word in ("soixante", "vingt", "vingts", "et")


_CHINESE_SIGNS = "〇零一二两三四五六七八九十百千"
_CHINESE: Mapping[str, int] = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_UNITS: Mapping[str, int] = {"十": 10, "百": 100, "千": 1000}


def _in_chinese(words: Words, index: int) -> Number:
    end = index
    while (
        end < len(words.words) and words.words[end] in _CHINESE_SIGNS and (end == index or words.after[end - 1] == "")
    ):
        end += 1
    signs = words.words[index:end]
    if not any(sign in _CHINESE_UNITS for sign in signs):
        return Number(int("".join(str(_CHINESE[sign]) for sign in signs)[:9]), index, end, len(signs), ordinal=False)
    total, current = 0, 0
    for sign in signs:
        if sign in _CHINESE_UNITS:
            total += max(current, 1) * _CHINESE_UNITS[sign]
            current = 0
        else:
            current = _CHINESE[sign]
    return Number(total + current, index, end, 0, ordinal=False)


def _roman(word: str) -> int | None:
    if word[0] not in "mdclxvi" or not _ROMAN.fullmatch(word):
        return None
    total = 0
    for sign, following in zip(word, word[1:] + " ", strict=True):
        value = _ROMAN_VALUES[sign]
        total += -value if value < _ROMAN_VALUES.get(following, 0) else value
    return total


def _italian(word: str) -> int | None:
    found = _ITALIAN.fullmatch(word)
    if found is None or not (found["thousands"] or found["hundred"] or (found["tens"] and found["units"])):
        return None
    names = _cardinals()
    total = {"mille": 1000, "duemila": 2000, "tremila": 3000}.get(found["thousands"] or "", 0)
    total += 100 * names.get(found["hundreds"] or "", 1) if found["hundred"] else 0
    tens = found["tens"]
    total += 0 if not tens else names[tens] if tens in names else names.get(tens + "a", names.get(tens + "i", 0))
    return total + names.get(found["units"] or "", 0)


def _german(word: str) -> int | None:
    word = word.replace("ß", "ss")
    found = _GERMAN.fullmatch(word)
    if found is None or not (found["scale"] or found["unit"]):
        return None
    total = _GERMAN_VALUES.get(found["head"] or "", 0) * {"hundert": 100, "tausend": 1000}.get(found["scale"] or "", 0)
    return (
        total + _GERMAN_VALUES.get(found["unit"] or "", 0) + _GERMAN_VALUES.get(found["tens"] or found["bare"] or "", 0)
    )


@functools.cache
def _cardinals() -> dict[str, int]:
    return {
        fold(word): value
        for one in reversed(lexicons())
        for word, value in one.numbers.items()
        if word[0] not in _CHINESE_SIGNS
    }


@functools.cache
def _ordinals() -> dict[str, int]:
    return {fold(word): value for one in reversed(lexicons()) for word, value in one.ordinals.items()}
