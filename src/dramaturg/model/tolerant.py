"""Reads a JSON object or list out of what a model wrote. Pure functions, bounded in time.

The order is fixed, and each step runs only where the one before found nothing:

1. the whole text, as strict JSON;
2. the same without its reasoning; a tag inside a JSON string is no tag;
3. the last wanted object or list in the text: strictly, then relaxed (see `dramaturg.model.relaxed`), then by
   json_repair.

The last one is authoritative. Where it is broken beyond repair, or cut short, an earlier one (an example that the
model echoed, a draft) does not take its place, and nothing is read: neither here nor as lines.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.relaxed import DEEPEST, INVISIBLE, NotJsonError, relaxed_value, strict_value
from dramaturg.text import Json

_MOST_REPAIRS = 3
_LARGEST_REPAIR = 10_000
_PIECE_COST = 20
_BLANK = " \t\r\n\u00a0\u3000" + INVISIBLE
_OPENER = re.compile(r"[{\[]")
_BRACKET = re.compile(r"[{}\[\]]")
_FENCE = re.compile(r"\A```[A-Za-z0-9_+-]*[ \t]*\n?(?P<inside>[^`]*(?:`{1,2}[^`]+)*)```\Z")
_FIRST_KEY = re.compile(r"[{\[\s]{0,8}\{\s{0,80}[\"'“‘]?[^\W\d][^\"'”’:：{}\n]{0,80}[\"'”’]?\s*[:：]")
_ANY_KEY = re.compile(r"(?<![\w-])([^\W\d][\w -]{0,80}?)[\"'”’]?\s{0,20}[:：]")
_JSON_LINE = re.compile(
    r"^[ \t>]{0,8}(?:```[A-Za-z0-9_+-]{0,12}\s{0,8})?(?P<json>\{\s{0,80}[\"'“‘\w{}]|\[\s{0,80}[\"'“‘{])", re.MULTILINE
)
_BETWEEN_WORDS = re.compile(rf"[\s_\-*{INVISIBLE}]+")


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON value that stood in a text.

    Attributes:
        value: An object or a list.
        repaired: Whether the text was not JSON as a whole, a fence and reasoning aside.
        behind: The visible text behind it.
    """

    value: dict[str, Json] | list[Json]
    repaired: bool
    behind: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """What was meant to be the answer's JSON, and cannot be read.

    Attributes:
        text: The stretch of text.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A complete JSON value and where it stands in the text that it was read from.

    Attributes:
        value: An object or a list.
        start: Where it begins.
        end: Where it ends.
    """

    value: Json
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Values:
    """Every complete JSON value of a text.

    Attributes:
        text: The visible text.
        values: Outermost and in order.
        whole: Whether the text is one value and nothing else, a fence and reasoning aside.
    """

    text: str
    values: tuple[Standing, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text that is a value, or was meant to be one.

    Attributes:
        text: The stretch.
        end: Where it ends.
        value: The value; None where the stretch is broken.
        mendable: Whether json_repair may try.
    """

    text: str
    end: int
    value: Json
    mendable: bool


def read_json(text: str, *, keys: Sequence[str] = (), cut: bool = False) -> Found | Broken | None:
    """Returns the object or list that the text is, or the last wanted one in it, or None where there is none.

    Where the last one that was meant to be wanted cannot be read, that is returned as `Broken`.

    Args:
        text: What a model wrote.
        keys: An object is wanted if it has one of them, a list if it holds such an object; empty: any object.
            A text that is JSON as a whole is returned whatever it holds.
        cut: Whether the text was cut at a limit. Then it must be JSON as a whole; nothing is completed.
    """
    visible = split_reasoning(text)[0]
    for candidate in (text, visible, _unfenced(visible)):
        whole = _whole(candidate.strip(_BLANK))
        if whole is not None:
            return Found(whole, repaired=False)
    if cut:
        return None
    wanted = frozenset(map(plain_key, keys))
    repairs = 0
    pieces = _pieces(visible)
    if pieces is None:
        return Broken(visible)
    for piece in reversed(pieces):
        value = piece.value
        if value is None and piece.mendable and repairs < _MOST_REPAIRS:
            repairs += 1
            value = _repaired(piece.text)
        if value is None and _is_meant(piece.text, wanted):
            return Broken(piece.text)
        if isinstance(value, dict | list) and _is_wanted(value, wanted):
            return Found(value, repaired=True, behind=visible[piece.end :])
    return None


def read_values(text: str) -> Values:
    """Returns every complete object and list of a text, even where what surrounds them is broken or cut.

    Args:
        text: What a model wrote.
    """
    visible = split_reasoning(text)[0]
    for candidate in (text, visible, _unfenced(visible)):
        whole = _whole(candidate.strip(_BLANK))
        if whole is not None:
            return Values(candidate, (Standing(whole, 0, len(candidate)),), whole=True)
    found: list[Standing] = []
    work = _allowance(visible)
    opener = _OPENER.search(visible)
    while opener is not None and work > 0:
        start = opener.start()
        work -= _PIECE_COST
        try:
            value, end = _value_at(visible, start)
            found.append(Standing(value, start, end))
        except NotJsonError as error:
            work -= _cost(error)
            end = start + 1
        opener = _OPENER.search(visible, end)
    return Values(visible, tuple(found), whole=False)


def json_line(text: str) -> int | None:
    """Returns where the first line stands that begins like JSON, or None.

    Args:
        text: What a model wrote, without its reasoning.
    """
    begun = _JSON_LINE.search(text)
    return begun.start("json") if begun else None


def plain_key(name: str) -> str:
    """Returns a key's name without case, blanks, marks and characters without width, for comparison."""
    return _BETWEEN_WORDS.sub("_", name.casefold()).strip("_")


def _unfenced(text: str) -> str:
    fence = _FENCE.match(text.strip(_BLANK))
    return fence["inside"] if fence else text


def _whole(text: str) -> dict[str, Json] | list[Json] | None:
    if text[:1] not in {"{", "["}:
        return None
    try:
        value, end = strict_value(text)
        return cast("dict[str, Json] | list[Json]", _storable(value)) if end == len(text) else None
    except NotJsonError:
        return None


def _pieces(text: str) -> list[_Piece] | None:
    """Returns what is JSON in the text or was meant to be, outermost and in order; None where it takes too long."""
    pieces: list[_Piece] = []
    work = _allowance(text)
    opener = _OPENER.search(text)
    while opener is not None:
        start = end = opener.start()
        work -= _PIECE_COST
        try:
            value, end = _value_at(text, start)
            pieces.append(_Piece(text[start:end], end, value, mendable=False))
        except NotJsonError as error:
            work -= _cost(error)
            end = start + 1
            if _FIRST_KEY.match(text, start):
                work -= 1000
                end = max(_balanced_end(text, start) or error.position, end)
                pieces.append(_broken(text, start, end, error))
                end = start + len(pieces[-1].text)
        if work < 0:
            return None
        opener = _OPENER.search(text, end)
    return pieces


def _value_at(text: str, start: int) -> tuple[Json, int]:
    try:
        value, end = strict_value(text, start)
    except NotJsonError as strict:
        try:
            value, end = relaxed_value(text, start)
        except NotJsonError as relaxed:
            relaxed.read = max(strict.read, relaxed.position - start)
            raise
    return _storable(value), end


def _broken(text: str, start: int, end: int, error: NotJsonError) -> _Piece:
    """Returns the piece of a value that could not be read; a text that lacks nothing but brackets is closed."""
    if error.closers:
        try:
            value, _ = relaxed_value(text[start:] + error.closers, 0)
            return _Piece(text[start:], len(text), _storable(value), mendable=False)
        except NotJsonError:
            pass
    closed = text[end - 1] in "}]" and end - start <= _LARGEST_REPAIR
    return _Piece(text[start:end], end, None, mendable=closed and not error.senseless)


def _balanced_end(text: str, start: int) -> int | None:
    """Returns the end of what opens at the start, going by brackets alone, or None; a missing inner one is forgiven."""
    opened: list[str] = []
    for bracket in _BRACKET.finditer(text, start, start + _LARGEST_REPAIR):
        if bracket[0] in "{[":
            opened.append(bracket[0])
            continue
        opener = "{" if bracket[0] == "}" else "["
        if opener not in opened:
            continue
        while opened.pop() != opener:
            pass
        if not opened:
            return bracket.end()
    return None


def _repaired(text: str) -> Json:
    """Returns what json_repair makes of the text, or None; what it would invent or leave out is not taken."""
    if re.search(r"[:\[,]\s*[+-]?(?:nan|inf(?:inity)?)\b", text, re.IGNORECASE):
        return None
    import json_repair

    try:
        value = _storable(cast("Json", json_repair.loads(text, skip_json_loads=True)))
    except (ValueError, RecursionError):
        return None
    return value if _words(text) <= _words(json.dumps(value, ensure_ascii=False)) else None


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def _is_wanted(value: Json, wanted: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return not wanted or any(plain_key(key) in wanted for key in value)
    return isinstance(value, list) and any(isinstance(part, dict) and _is_wanted(part, wanted) for part in value)


def _is_meant(text: str, wanted: frozenset[str]) -> bool:
    """Returns whether broken text was meant to be a wanted object: it holds what looks like one of its keys."""
    return not wanted or any(plain_key(key[1]) in wanted for key in _ANY_KEY.finditer(text))


def _storable(value: Json, depth: int = 0) -> Json:
    """Returns the value with lone surrogates replaced: no file or database takes them.

    Raises:
        NotJsonError: It is nested more deeply than any answer is.
    """
    if depth > DEEPEST:
        raise NotJsonError(0)
    if isinstance(value, str):
        return value if value.isprintable() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {str(_storable(key)): _storable(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list):
        return type(value)(_storable(part, depth + 1) for part in value)
    return value


def _allowance(text: str) -> int:
    """Returns how much may be read in vain; it bounds the time that a hostile text can take."""
    return min(len(text), 200_000) + 100_000


def _cost(error: NotJsonError) -> int:
    return 100 + 4 * error.read
