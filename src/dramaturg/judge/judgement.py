"""A judgement: one answer about one transcript, with what it rests on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT = "dramaturg-judgement/1"

Verdict = Literal["yes", "no", "not_applicable", "missing"]
MissingReason = Literal[
    "",
    "unparsed",
    "contradictory",
    "even_odds",
    "truncated",
    "budget_spent_on_reasoning",
    "refused",
    "empty",
    "degenerate",
    "context_overflow",
    "disagreement",
    "left_out",
    "judge_failed",
    "checklist_unfit",
]
"""Why there is no answer.

unparsed: what was written is none. contradictory: it gives more than one. even_odds: yes and no are equally likely.
disagreement: the votes are tied. left_out: the question was passed over. judge_failed: the judge cannot be used in this
mode. checklist_unfit: the checklist is about roles that the transcript does not declare.
"""


class Judgement(BaseModel):
    """One indicator answered for one transcript.

    Attributes:
        transcript: Id of the transcript.
        transcript_digest: Hash of the transcript that was read.
        indicator: Id of the indicator.
        dimension: Its dimension.
        subdimension: Its sub-dimension, or empty.
        answer: yes, no, not applicable, or missing with a reason.
        reason: Why it is missing; empty otherwise.
        reasoning: What the judge wrote before it answered.
        evidence: Ids of the turns that the answer rests on; those that exist.
        flags: For example ``evidence:unknown:T99``, ``evidence:human:T4``, ``evidence:none``, ``cut:T9-T30`` (turns
            that were left out of what the judge read).
        asked: The question that was put to the judge, where it was not the indicator's text.
        probability: Probability of yes to the indicator's text, in mode ``probability``, with even odds too; None
            elsewhere or where the judge put little on yes and no.
        source: ``model``, or ``transcript`` where the transcript itself proves the answer.
        judge: Identity of the judge as text.
        mode: How it was asked.
        checklist: Id and version of the checklist.
        checklist_digest: Hash of the checklist.
        votes: Answers of each vote, where more than one was asked.
        calls: Keys of the ledger's calls.
        repaired: Whether the answer needed a tolerant reading.
        detail: One line for people, where the answer is missing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["dramaturg-judgement/1"] = FORMAT
    transcript: str
    transcript_digest: str
    indicator: str
    dimension: str
    subdimension: str = ""
    answer: Verdict
    reason: MissingReason = ""
    reasoning: str = ""
    evidence: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    asked: str = ""
    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    source: Literal["model", "transcript"] = "model"
    judge: str
    mode: str
    checklist: str
    checklist_digest: str
    votes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    repaired: bool = False
    detail: str = ""
