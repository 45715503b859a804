"""What a judge answers, as pydantic types: reasoning first, then the decision, then the turns that it rests on.

The vocabulary is closed: a word that does not mean yes, no or not applicable is no answer, and never a no.
"""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from dramaturg.model.vocabulary import YesNo

REASONING_CHARACTERS = 160
"""Length to which a schema that is enforced holds the reasoning; a longer one is accepted."""

MOST_CITED = 4
"""Turns that an enforced schema lets an answer name; more are accepted."""

TURN_KEYS = frozenset({"id", "turn", "turnid", "turns", "ref"})
"""Keys under which judges name a turn when they write an object for it."""


def _sentences(value: object) -> object:
    """Returns the sentences of a list as one text, and no text for null."""
    return value if isinstance(value, str) else " ".join(map(str, _items(value)))


def _cited(value: object) -> list[str]:
    """Returns cited turns as texts: numbers, objects, one turn alone and null are what judges write too."""
    listed = [value] if not TURN_KEYS.isdisjoint(_keys(value)) else _items(value)
    named = [turn for item in listed for turn in _turns_in(item)]
    return [_whole(item) for item in named if item is not None and not isinstance(item, bool)]


def _turns_in(item: object) -> list[object]:
    """Returns what one entry names: of an object the values of its keys for a turn, or all where it has none."""
    keys = _keys(item)
    named = [value for key, value in zip(keys, _items(item), strict=True) if key in TURN_KEYS] if keys else []
    return named or (_items(item) if keys else [item])


def _keys(value: object) -> list[str]:
    """Returns the keys of an object as they are compared; none where it is no object."""
    keys = cast("dict[object, object]", value) if isinstance(value, dict) else {}
    return [str(key).casefold().replace("_", "").replace(" ", "") for key in keys]


def _whole(item: object) -> str:
    """Returns a cited turn as text; a number that JSON wrote with a fraction of zero is a whole one."""
    return str(int(item)) if isinstance(item, float) and item.is_integer() else str(item)


def _items(value: object) -> list[object]:
    match value:
        case None:
            return []
        case dict():
            return list(cast("dict[object, object]", value).values())
        case list():
            return cast("list[object]", value)
        case _:
            return [value]


Reasoning = Annotated[
    str, BeforeValidator(_sentences), WithJsonSchema({"type": "string", "maxLength": REASONING_CHARACTERS})
]
Evidence = Annotated[
    list[str],
    BeforeValidator(_cited),
    WithJsonSchema({"type": "array", "maxItems": MOST_CITED, "items": {"type": "string", "pattern": "^T[0-9]{1,4}$"}}),
]


class Brief(BaseModel):
    """The answer about one turn that is known, to a question that may not apply."""

    reasoning: Reasoning = ""
    answer: YesNo


class BriefDecided(BaseModel):
    """The answer about one turn that is known, to a question that has one for any turn."""

    reasoning: Reasoning = ""
    answer: Literal["yes", "no"]


class Reasoned(BaseModel):
    """The answer to a question that may not apply."""

    reasoning: Reasoning = ""
    answer: YesNo
    evidence: Evidence = Field(default_factory=list)


class Decided(BaseModel):
    """The answer to a question that has one in any transcript."""

    reasoning: Reasoning = ""
    answer: Literal["yes", "no"]
    evidence: Evidence = Field(default_factory=list)


class Listed(BaseModel):
    """One of many answers in one reply; it starts with the id of the question that it answers."""

    id: str
    reasoning: Reasoning = ""
    answer: YesNo
    evidence: Evidence = Field(default_factory=list)
