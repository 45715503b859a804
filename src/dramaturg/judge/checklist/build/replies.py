"""What a model may reply when it writes questions: forgiving in form, since small models vary it."""

from __future__ import annotations

from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

LEAST_PARTS, MOST_PARTS = 3, 10
"""How many questions a model is asked for (RPA-Check, figure 1: 5 to 10 per criterion)."""


_SEVERAL = Field(min_length=1, json_schema_extra={"minItems": LEAST_PARTS, "maxItems": MOST_PARTS})
"""A model is asked for several; one is accepted."""


def _text_of(value: object) -> object:
    """Returns the question in what stands where a text should, such as `{"question": "…"}`."""
    if not isinstance(value, dict):
        return value
    texts = [part for part in cast("dict[str, object]", value).values() if isinstance(part, str)]
    return max(texts, key=len, default="")


def _part_of(value: object) -> object:
    """Returns a part of an elaboration where a model wrote its text alone, or its number as a number."""
    if isinstance(value, str):
        return {"number": "", "question": value}
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, object]", value)
    return {key: str(part) if isinstance(part, int | float) else part for key, part in fields.items()}


class Diversified(BaseModel):
    """Questions that see the same thing from other sides."""

    model_config = ConfigDict(extra="forbid")

    questions: Annotated[list[Annotated[str, BeforeValidator(_text_of)]], _SEVERAL]


class Part(BaseModel):
    """One sub-question and its place in the hierarchy."""

    model_config = ConfigDict(extra="forbid")

    number: str
    question: str


class Elaborated(BaseModel):
    """Sub-questions with hierarchical numbers."""

    model_config = ConfigDict(extra="forbid")

    questions: Annotated[list[Annotated[Part, BeforeValidator(_part_of)]], _SEVERAL]


class Translated(BaseModel):
    """A question in another language."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[str, Field(min_length=1)]
