"""JSON as models write it: one value read from a position, with the usual slips forgiven.

Forgiven are comments, single or typographic quotes, unescaped quotes and raw line ends inside strings, commas too many
or too few, keys and words without quotes, Python's True, False and None, and characters without width. Not forgiven:
a number that is not finite, and an object that gives one key different values: either it contradicts itself, or a
forgiven slip made one string of several parts. In strict JSON such values are kept, as `Rivals`.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

from dramaturg.text import Json

INVISIBLE = (
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0e\ufe0f"
    "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Characters without width, which models and copied prompts scatter through text."""

DEEPEST = 64
"""Levels of nesting; no answer has more."""

_BLANKS = re.compile(rf"(?:[\s{INVISIBLE}]+|//[^\n]{{0,2000}}|/\*[^*]{{0,999}}(?:\*(?!/)[^*]{{0,999}}){{0,9}}\*/)*")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?=[\s,}\]/]|\Z)")
_WORD = re.compile(r"[^\W\d](?:[\w .'-]|/(?![/*])){0,80}")
_BARE_KEY = re.compile(r"[^\W\d][\w-]{0,80}")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NEXT_KEY = re.compile(rf"[\s{INVISIBLE}]*(?:[\"'“‘][^\"'”’\n]{{1,80}}[\"'”’]|[^\W\d][\w-]{{0,80}})\s*[:：]")
_QUOTES = {'"': '"', "'": "'", "“": '”"', "‘": "’'", "`": "`'"}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/", "\n": "\n"}
_LITERALS: dict[str, Json] = {"true": True, "false": False, "null": None, "none": None}
_NO_NUMBERS = frozenset({"nan", "inf", "infinity"})


class Rivals(list[Json]):
    """The different values that an object gives to one key; whoever wants one value finds none."""


class NotJsonError(ValueError):
    """There is no value at the position.

    Attributes:
        position: Where reading ended.
        closers: What would close the value, where the text ended cleanly between two of its parts; else None.
        senseless: Whether the value is well-formed and says nothing: a number that is none, one key with two values.
        read: How many characters were read in vain.
    """

    def __init__(self, position: int, *, read: int = 0, closers: str | None = None, senseless: bool = False) -> None:
        self.position = position
        self.read = read
        self.closers = closers
        self.senseless = senseless
        super().__init__(f"no JSON at {position}")


def strict_value(text: str, start: int = 0) -> tuple[Json, int]:
    """Returns the value of strict JSON at a position, and where it ends.

    Raises:
        NotJsonError: There is none, or it is not finite.
    """
    try:
        return _STRICT.raw_decode(text, start)
    except json.JSONDecodeError as error:
        ended = error.msg.startswith("Unterminated string")
        position = len(text) if ended else error.pos
        raise NotJsonError(position, read=position - start) from None
    except RecursionError:
        raise NotJsonError(start, read=1000) from None
    except ValueError:
        raise NotJsonError(start, senseless=True) from None


def relaxed_value(text: str, start: int) -> tuple[Json, int]:
    """Returns the object or list that begins at a bracket, and where it ends.

    Raises:
        NotJsonError: What begins there is none.
    """
    reader = _Reader(text, start)
    value = reader.bracketed()
    return value, reader.position


def joined(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Returns the object of the pairs; a key with different values has them all, as `Rivals`."""
    made: dict[str, Json] = {}
    for key, value in pairs:
        said = made.get(key)
        if key not in made:
            made[key] = value
        elif isinstance(said, Rivals):
            made[key] = said if value in said else Rivals([*said, value])
        elif said != value:
            made[key] = Rivals([said, value])
    return made


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(digits)
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_STRICT = json.JSONDecoder(object_pairs_hook=joined, parse_float=_finite, parse_constant=_no_constant)


class _Reader:
    """Reads one value by recursive descent; `closers` is the stack of brackets that are open."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.closers: list[str] = []

    def bracketed(self) -> Json:
        if len(self.closers) >= DEEPEST:
            raise NotJsonError(self.position)
        closer = "}" if self.text[self.position] == "{" else "]"
        self.position += 1
        self.closers.append(closer)
        made = self._object() if closer == "}" else self._list()
        self.closers.pop()
        return made

    def _object(self) -> dict[str, Json]:
        pairs: list[tuple[str, Json]] = []
        while self._more():
            key = self._key()
            pairs.append((key, self._value()))
        made = joined(pairs)
        if any(isinstance(value, Rivals) for value in made.values()):
            raise NotJsonError(self.position, senseless=True)
        return made

    def _list(self) -> list[Json]:
        made: list[Json] = []
        while self._more():
            made.append(self._value())
        return made

    def _more(self) -> bool:
        """Moves to the next part; False, behind the bracket, when there is none."""
        self._skip()
        while self.position < len(self.text) and self.text[self.position] in ",，":
            self.position += 1
            self._skip()
        if self.position >= len(self.text):
            raise NotJsonError(self.position, closers="".join(reversed(self.closers)))
        if self.text[self.position] == self.closers[-1]:
            self.position += 1
            return False
        return True

    def _skip(self) -> None:
        blank = _BLANKS.match(self.text, self.position)
        self.position = blank.end() if blank else self.position

    def _key(self) -> str:
        quote = self.text[self.position]
        if quote in _QUOTES:
            key = self._string(is_key=True)
        elif word := _BARE_KEY.match(self.text, self.position):
            key = word[0]
            self.position = word.end()
        else:
            raise NotJsonError(self.position)
        self._skip()
        if self.text[self.position : self.position + 1] not in {":", "："}:
            raise NotJsonError(self.position)
        self.position += 1
        return key.translate(_WITHOUT_INVISIBLE)

    def _value(self) -> Json:
        self._skip()
        first = self.text[self.position : self.position + 1]
        if first in {"{", "["}:
            return self.bracketed()
        if first in _QUOTES:
            return self._string(is_key=False)
        if number := _NUMBER.match(self.text, self.position):
            if number.end() == len(self.text):
                raise NotJsonError(number.end())
            self.position = number.end()
            return self._number(number[0])
        return self._word()

    def _number(self, digits: str) -> int | float:
        try:
            return int(digits) if digits.lstrip("+-").isdigit() else _finite(digits)
        except ValueError:
            raise NotJsonError(self.position, senseless=True) from None

    def _word(self) -> Json:
        """Reads true, false, null, or a word that lacks its quotes; the latter not directly in the outermost list."""
        word = _WORD.match(self.text, self.position)
        if word is None:
            bad = re.match(r"[+-]?inf", self.text[self.position : self.position + 4], re.IGNORECASE)
            raise NotJsonError(self.position, senseless=bad is not None)
        plain = word[0].strip()
        end = self.position + len(word[0])
        if end == len(self.text):
            raise NotJsonError(end)
        if plain.lower() in _NO_NUMBERS:
            raise NotJsonError(self.position, senseless=True)
        if plain.lower() not in _LITERALS and self.closers == ["]"]:
            raise NotJsonError(self.position)
        self.position = end
        return _LITERALS.get(plain.lower(), plain)

    def _string(self, *, is_key: bool) -> str:
        closing = _QUOTES[self.text[self.position]]
        marks = re.compile(rf"[\\{re.escape(closing)}]")
        start = self.position = self.position + 1
        while (mark := marks.search(self.text, self.position)) is not None:
            if mark[0] == "\\":
                self.position = mark.end() + 1
                continue
            self.position = mark.end()
            if self._closes(is_key=is_key):
                return _unescaped(self.text[start : mark.start()])
        raise NotJsonError(len(self.text))

    def _closes(self, *, is_key: bool) -> bool:
        """Returns whether a quote that ends here ends its string: what follows must be able to follow a string."""
        blank = _BLANKS.match(self.text, self.position)
        after = blank.end() if blank else self.position
        follows = self.text[after : after + 1]
        if is_key:
            return follows in {":", "："}
        if follows in {"", "}", "]"}:
            return True
        if follows in {",", "，"}:
            return self._starts_part(after + 1)
        return self.closers[-1] == "}" and after > self.position and _NEXT_KEY.match(self.text, after) is not None

    def _starts_part(self, position: int) -> bool:
        blank = _BLANKS.match(self.text, position)
        position = blank.end() if blank else position
        first = self.text[position : position + 1]
        if first in {"", "}", "]", ","}:
            return True
        if self.closers[-1] == "}":
            return _NEXT_KEY.match(self.text, position) is not None
        return first in _QUOTES or first in "{[" or _NUMBER.match(self.text, position) is not None


_WITHOUT_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE))


def _unescaped(raw: str) -> str:
    if "\\" not in raw:
        return raw
    return _ESCAPE.sub(_unescape, raw)


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, found[0])
