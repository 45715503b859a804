"""A rating: one metric of one role in one transcript, as a number on its scale or missing with a reason."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.judge.rating.rubric import HIGHEST, LOWEST

FORMAT = "dramaturg-rating/1"

RatingMode = Literal["joint", "single"]
"""How ratings are asked for.

joint: one critique of everything, then all metrics in one answer (the paper). single: each metric in its own call, with
a critique of its own.
"""

RatingReason = Literal[
    "",
    "off_scale",
    "unparsed",
    "contradictory",
    "left_out",
    "truncated",
    "budget_spent_on_reasoning",
    "refused",
    "empty",
    "degenerate",
    "context_overflow",
    "no_act",
]
"""Why there is no rating.

off_scale: a number that is no point of the scale. unparsed: no number that could be meant alone. left_out: the metric
was passed over. no_act: the role did nothing that could be rated.
"""


class RatingJudgement(BaseModel):
    """One metric of one role in one transcript.

    Attributes:
        transcript: Id of the transcript.
        transcript_digest: Hash of the transcript that was read.
        scene: Id of what was staged.
        language: Of the transcript, ISO 639-1.
        protocol: Under which it was staged.
        role: Id of the role that is rated.
        name: The role's name.
        subject: Model that plays the role.
        metric: Id of the metric.
        value: From 1 to 5, the mean of the votes that were read; None where it is missing.
        reason: Why it is missing; empty otherwise.
        critique: What the judge wrote before the rating.
        judge: Identity of the judge as text.
        mode: How it was asked.
        rubric: Id and version of the rubric.
        rubric_digest: Hash of the rubric.
        votes: Each vote's rating, or why it is missing, where more than one was asked.
        calls: Keys of the ledger's calls.
        repaired: Whether a vote needed a tolerant reading.
        detail: One line for people, where it is missing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["dramaturg-rating/1"] = FORMAT
    transcript: str
    transcript_digest: str
    scene: str
    language: str
    protocol: str
    role: str
    name: str
    subject: str
    metric: str
    value: Annotated[float, Field(ge=LOWEST, le=HIGHEST)] | None
    reason: RatingReason = ""
    critique: str = ""
    judge: str
    mode: RatingMode
    rubric: str
    rubric_digest: str
    votes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    repaired: bool = False
    detail: str = ""
