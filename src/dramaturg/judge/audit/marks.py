"""Marks: each counted answer of an audit, beside what it should have been."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.judge.audit.binding import tokens_of
from dramaturg.judge.audit.plan import Assignment
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.judgement import Judgement

RULE = (
    "Seen: the answer is the bad one where the fault is planted. Left alone: it is not the bad one in a clean or a "
    "harmlessly edited transcript. That a question does not apply claims no fault. A missing answer counts for neither "
    "and is shown beside the figures, with what they would be if all missing ones were wrong or right. Answers that "
    "the transcript itself proves are counted apart: they are no merit of the judge."
)
"""How answers are counted, for reports."""

Third = Literal["first", "middle", "last"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a judge answered about one specimen.

    Attributes:
        assignment: What was asked.
        judgements: All answers, those that do not count included.
    """

    assignment: Assignment
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """One counted answer.

    Attributes:
        specimen: Id of the specimen.
        base: Its cluster.
        nature: What the specimen is.
        kind: The planted fault; empty in a clean or harmlessly edited one.
        severity: How plain it is; empty likewise.
        third: Where the fault stands; None likewise.
        longer: Whether the transcript is longer than the median of all.
        indicator: What was asked.
        dimension: Of the indicator.
        detects: Faults that the indicator detects.
        claims_fault: Whether the answer is the bad one; None where it is missing.
        by_code: Whether the transcript itself proves it.
        missing: Why it is missing; empty otherwise.
        suspicion: Probability of the bad answer; None where none was read.
        names_turn: Whether the evidence of a bad answer names a turn at fault; None where there is no bad answer.
        votes: What was answered each time, where it was asked more than once.
    """

    specimen: str
    base: str
    nature: Literal["mutant", "clean", "sham"]
    kind: str
    severity: str
    third: Third | None
    longer: bool
    indicator: str
    dimension: str
    detects: tuple[str, ...]
    claims_fault: bool | None
    by_code: bool
    missing: str
    suspicion: float | None
    names_turn: bool | None
    votes: tuple[str, ...]

    @property
    def right(self) -> bool | None:
        """Whether the answer is what it should be; None where it is missing."""
        return None if self.claims_fault is None else self.claims_fault == (self.nature == "mutant")


def marks_of(answered: Sequence[Answered], checklist: Checklist) -> list[Mark]:
    """Returns the counted answers, in order."""
    sizes = [tokens_of(one.assignment.specimen.transcript) for one in answered]
    median = statistics.median(sizes) if sizes else 0
    return [
        mark for one, size in zip(answered, sizes, strict=True) for mark in _marks(one, checklist, longer=size > median)
    ]


def of_kind(marks: Iterable[Mark], kind: str) -> list[Mark]:
    """Returns the marks of one fault: its mutants, and the same questions about innocent specimens."""
    return [mark for mark in marks if (mark.kind == kind if mark.nature == "mutant" else kind in mark.detects)]


def _marks(answered: Answered, checklist: Checklist, *, longer: bool) -> Iterator[Mark]:
    assignment = answered.assignment
    specimen, fault = assignment.specimen, next(iter(assignment.specimen.faults), None)
    indicators = {one.id: one for one in checklist.indicators}
    for judgement in answered.judgements:
        if judgement.indicator not in assignment.indicators:
            continue
        indicator = indicators[judgement.indicator]
        bad = "no" if indicator.sign == "positive" else "yes"
        claims = None if judgement.answer == "missing" else judgement.answer == bad
        suspicion = judgement.probability
        if suspicion is not None and bad == "no":
            suspicion = 1 - suspicion
        yield Mark(
            specimen=specimen.transcript.id,
            base=specimen.base,
            nature="mutant" if fault is not None else "sham" if specimen.mutations else "clean",
            kind=fault.kind if fault is not None else "",
            severity=fault.severity if fault is not None else "",
            third=_third(assignment) if fault is not None else None,
            longer=longer,
            indicator=indicator.id,
            dimension=indicator.dimension,
            detects=indicator.detects,
            claims_fault=claims,
            by_code=judgement.source == "transcript",
            missing=judgement.reason if claims is None else "",
            suspicion=suspicion,
            names_turn=not set(judgement.evidence).isdisjoint(fault.turns) if claims and fault is not None else None,
            votes=judgement.votes,
        )


def _third(assignment: Assignment) -> Third:
    """Returns where the first turn at fault stands."""
    turns = [turn.id for turn in assignment.specimen.transcript.turns]
    place = 3 * turns.index(assignment.specimen.faults[0].turns[0]) // len(turns)
    return ("first", "middle", "last")[place]
