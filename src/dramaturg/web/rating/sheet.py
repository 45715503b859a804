"""The sheet: what one person says of one played role, a mark for each metric, filled in bit by bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from dramaturg.judge.rating import HIGHEST, LOWEST
from dramaturg.text import storable

CANNOT_TELL = "cannot"
"""Stands in a form where a person can give no rating."""

WhyMissing: TypeAlias = Literal["", "not_shown", "not_known", "not_understood"]
"""Why a person gives no rating.

not_shown: nothing in the performance shows it. not_known: the person knows too little of the character. not_understood:
the performance cannot be understood.
"""

WHY_MISSING: tuple[WhyMissing, ...] = get_args(WhyMissing)[1:]

MOST_CHARACTERS = 500
"""Of a note."""

FIELDS_PER_METRIC = 3


class Mark(BaseModel):
    """What a person says of one metric.

    Attributes:
        rating: From 1 to 5; None where there is none, or none yet.
        missing: Why there is none; empty where it is open yet.
        note: What stands beside it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rating: Annotated[int, Field(ge=LOWEST, le=HIGHEST)] | None = None
    missing: WhyMissing = ""
    note: Annotated[str, Field(max_length=MOST_CHARACTERS)] = ""

    @property
    def is_decided(self) -> bool:
        """Whether there is a rating, or a reason for none."""
        return self.rating is not None or self.missing != ""

    @property
    def says_something(self) -> bool:
        """Whether anything was filled in."""
        return self.is_decided or self.note != ""


Marks: TypeAlias = Mapping[str, Mark]
"""Mark by metric; what is not there was not filled in."""

_KEPT = TypeAdapter(dict[str, Mark])


def marks_of(fields: Mapping[str, str], metrics: Sequence[str]) -> Marks:
    """Returns what a form says; a value that no field of ours has counts as not said, a note that is too long is cut.

    Args:
        fields: Of the form: ``rating.METRIC``, ``missing.METRIC`` and ``note.METRIC``.
        metrics: Ids.
    """
    found = {metric: _mark(fields, metric) for metric in metrics}
    return {metric: mark for metric, mark in found.items() if mark.says_something}


def with_marks(kept: Marks, given: Marks) -> Marks:
    """Returns a sheet with what was filled in since. What a form leaves blank stays as it was.

    Two tabs with one sheet thus cannot undo each other: each sends what was filled in there.
    """
    return {**kept, **given}


def undecided(marks: Marks, metrics: Sequence[str]) -> tuple[str, ...]:
    """Returns the metrics that have neither a rating nor a reason for none."""
    return tuple(metric for metric in metrics if not marks.get(metric, Mark()).is_decided)


def packed(marks: Marks) -> str:
    """Returns marks as JSON."""
    return _KEPT.dump_json(dict(marks)).decode()


def unpacked(text: str) -> Marks:
    """Returns the marks of JSON by `packed`."""
    return _KEPT.validate_json(text)


def _mark(fields: Mapping[str, str], metric: str) -> Mark:
    given = fields.get(f"rating.{metric}", "")
    note = storable(fields.get(f"note.{metric}", "").strip())[:MOST_CHARACTERS]
    if given == CANNOT_TELL:
        reasons: dict[str, WhyMissing] = {str(one): one for one in WHY_MISSING}
        return Mark(missing=reasons.get(fields.get(f"missing.{metric}", ""), WHY_MISSING[0]), note=note)
    points = {str(point): point for point in range(LOWEST, HIGHEST + 1)}
    return Mark(rating=points.get(given), note=note)
