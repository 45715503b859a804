"""A fact that can be recognised in a reply: what it says, and every form in which it may be said.

Items name facts that a character cannot know, or must know. What counts as saying one is matched in
`dramaturg.judge.matching`; what a fact is, is the same on the stage and at the judge's desk.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

Form = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""One way to write a fact, or the part of it that gives it away."""

_DATE = re.compile(r"-?\d{1,4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


class Fact(BaseModel):
    """A fact that a reply may state.

    Attributes:
        text: The fact in a sentence, for people.
        forms: What gives the fact away when a reply contains it, by language (ISO 639-1, or ``""`` for any): names,
            their short forms and other spellings. Any one of them is enough.
        date: The date that gives it away, where it is one: year, year and month, or day, as ISO 8601; a matcher finds
            it however it is written. A year before the common era is negative.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    forms: dict[str, Annotated[tuple[Form, ...], Field(min_length=1)]] = {}
    date: str = ""

    @field_validator("date")
    @classmethod
    def _date_is_one(cls, date: str) -> str:
        if date and not _DATE.fullmatch(date):
            raise ValueError(f"{date!r} is no date; write a year, 2011-10 or 2011-10-05")
        return date

    @property
    def all_forms(self) -> tuple[str, ...]:
        """Every form, whatever its language, in the order of the file."""
        return tuple(dict.fromkeys(form for forms in self.forms.values() for form in forms))
