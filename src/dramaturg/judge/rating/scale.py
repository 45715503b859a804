"""Reads one rating from 1 to 5 as judges write it. Pure functions.

A rating is taken only where nothing else can be meant: the whole text is one number on the scale, with at most its
unit or its maximum beside it. A rubric that is repeated, a range, a half point or two numbers are no rating: a missing
rating says less than a wrong one, but nothing false.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Literal

from pydantic import BeforeValidator

from dramaturg.judge.rating.rubric import HIGHEST, LOWEST

OFF_SCALE = f"is off the scale of whole numbers from {LOWEST} to {HIGHEST}"
"""How the problem of a number is told that no rating can be."""

SEVERAL = "holds more than one number"
"""How the problem of a text is told that could mean several ratings."""

_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_CHINESE = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
}
_MARKS = re.compile(r"[*_`\"'“”‘’「」『』【】\[\]<>]+")
_LABEL = re.compile(r"(?:rating|score|评分|打分|得分|分数)\s*(?:is|is:|为|是|[:=])?\s*", re.IGNORECASE)
_NUMBER = r"[+-]?\d{1,4}(?:[.,]\d{1,4})?"
_MAXIMUM = r"(?:\s*(?:/|of|out\s+of)\s*5(?:\.0)?)"
_UNIT = r"(?:\s*(?:points?|stars?|pts?\.?|分|星))"
_ONE = re.compile(
    rf"(?P<number>{_NUMBER}){_MAXIMUM}?{_UNIT}?{_MAXIMUM}?"
    rf"(?:\s*\(\s*(?:{_MAXIMUM}|满分\s*5\s*分|out\s+of\s+5)\s*\))?\s*[.。;；,，!]?",
    re.IGNORECASE,
)
_ANY_NUMBER = re.compile(_NUMBER)


def read_rating(value: object) -> int:
    """Returns the rating that a value is.

    Read are 4, 4.0, ``4``, ``4/5``, ``4 out of 5``, ``**4**``, ``４分``, ``四``, ``four``, ``Rating: 4``.

    Raises:
        ValueError: It is no rating, or none on the scale; the text says which.
    """
    match value:
        case bool():
            raise ValueError("a truth value is no rating")
        case int():
            return _on_scale(float(value), str(value))
        case float():
            return _on_scale(value, f"{value:g}")
        case str():
            return _in_text(value)
        case _:
            raise ValueError(f"a {type(value).__name__} is no rating")


def _in_text(text: str) -> int:
    plain = _MARKS.sub("", unicodedata.normalize("NFKC", text)).strip()
    labelled = _LABEL.match(plain)
    plain = _with_digits(plain[labelled.end() :] if labelled else plain)
    found = _ONE.fullmatch(plain)
    if found is not None:
        return _on_scale(float(found["number"].replace(",", ".")), found["number"])
    numbers = _ANY_NUMBER.findall(plain)
    if len(numbers) > 1:
        raise ValueError(f"{_short(text)!r} {SEVERAL}")
    raise ValueError(f"{_short(text)!r} is no rating alone")


def _with_digits(text: str) -> str:
    """Returns the text with a number word at its head as digits, where one stands there alone or before its unit."""
    word = re.match(r"[A-Za-z]+\b", text)
    if word is not None and word[0].casefold() in _WORDS:
        return f"{_WORDS[word[0].casefold()]}{text[word.end() :]}"
    if text[:1] in _CHINESE and (len(text) == 1 or text[1] in "分星/ .。"):
        return f"{_CHINESE[text[0]]}{text[1:]}"
    return text


def _on_scale(number: float, written: str) -> int:
    if not LOWEST <= number <= HIGHEST or not number.is_integer():
        raise ValueError(f"{written} {OFF_SCALE}")
    return int(number)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:60]}…"


Points = Annotated[Literal[1, 2, 3, 4, 5], BeforeValidator(read_rating)]
"""A rating as a pydantic field: a closed set for the server, a tolerant reading for what comes back."""
