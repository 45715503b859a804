"""What a rater answers, as pydantic types: the critique first, then the rating."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import BaseModel, WithJsonSchema, model_validator

from dramaturg.judge.rating.scale import SEVERAL, Points

CRITIQUE_CHARACTERS = 400
"""Length to which a schema that is enforced holds a critique; a longer one is accepted."""

REASON_CHARACTERS = 160
"""The same of the reason beside each rating of a joint answer."""

_ANOTHER_NUMBER = re.compile(
    r"\W*(?:or|to|and|或|到|至|和)?\s*[1-5１-５](?![\w.])(?!\s*(?:分)?\s*(?:制|满分))", re.IGNORECASE
)
"""At the head of what stands behind a bare rating: ``1, 3 or 5`` is the scale and no rating."""


def _text_of(characters: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "maxLength": characters})


class Rated(BaseModel):
    """A critique and the rating that follows from it."""

    critique: Annotated[str, _text_of(CRITIQUE_CHARACTERS)] = ""
    rating: Points


class ListedRating(BaseModel):
    """One rating of a list, under the metric's name."""

    id: str
    reason: Annotated[str, _text_of(REASON_CHARACTERS)] = ""
    rating: Points

    @model_validator(mode="after")
    def _is_one_number(self) -> Self:
        if _ANOTHER_NUMBER.match(self.reason):
            raise ValueError(f"the rating {SEVERAL}")
        return self
