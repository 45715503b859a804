"""The row of a votes file: one person's answer to one item."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dramaturg.stage.interview.item import Category

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank."""


class VoteRow(BaseModel):
    """One person's answer to one item, as an annotation campaign exports it, one JSON object a line.

    Attributes:
        item: Id of the item.
        rater: Who answered: a name, or the pseudonym of a browser; empty where nothing is known.
        answer: A label, ``yes`` or ``no``; empty where the item was skipped or only reported.
        category: What the item asks for.
        seconds: From the moment the item was shown to the answer; None where it was not measured.
        justification: What the person wrote beside it.
        honeypot: Whether the item only checks that people read; it counts nowhere else.
        expected: The right answer to a honeypot; empty where the item set itself tells it.
        skipped: Whether the person passed over the item.
        reported: Whether the person reported the item as faulty.
        created: When the answer came.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: Filled
    rater: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    answer: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    category: Category
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    justification: str = ""
    honeypot: bool = False
    expected: str = ""
    skipped: bool = False
    reported: bool = False
    created: AwareDatetime | None = None

    @model_validator(mode="after")
    def _answer_or_none(self) -> VoteRow:
        if self.skipped and self.answer:
            raise ValueError("a skipped item has an answer; leave one of the two out")
        if not (self.answer or self.skipped or self.reported):
            raise ValueError("answer is empty; an item without an answer was skipped or reported")
        return self
