"""Records of units: what became of every planned unit, as ``OUT/units.jsonl`` holds them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from dramaturg.run.units import JudgeUnit, StageUnit, Unit

FORMAT = "dramaturg-unit/1"

UnitStatus = Literal["done", "failed", "not_run", "open"]
"""What became of a unit.

done: it has a result. failed: it ended without one and is carried out again on the next run. not_run: what it
depends on failed. open: the run stopped before its end.
"""


@dataclass(frozen=True, slots=True)
class End:
    """How a unit ended.

    Attributes:
        status: What became of it.
        failure: Machine-readable reason where it is not done.
        detail: One line for people, without secrets.
        lines: Its result as JSON, one record each.
    """

    status: UnitStatus
    failure: str = ""
    detail: str = ""
    lines: tuple[str, ...] = ()


class UnitRecord(BaseModel):
    """What became of one planned unit.

    Attributes:
        unit: The unit's id.
        kind: A performance, or a judging.
        status: What became of it.
        subject: Label of the subject.
        subject_model: Spec string of the subject.
        prompts: Variant of the prompts.
        procedure: Id of the procedure where it is not the one that the case was made for; empty otherwise.
        case: Id of the case.
        seed: Which repeat.
        protocol: Protocol of the performance.
        stage: Id of the performance that is judged; empty for a performance.
        judge: Spec string of the judge; empty for a performance.
        checklist: Id of the checklist; empty for a performance.
        mode: How the judge is asked; empty for a performance.
        votes: How often it is asked; 0 for a performance.
        failure: Machine-readable reason where the status is not ``done``: what the endpoint did (``connect``,
            ``quota`` …), ``unit_timeout``, ``error``, ``stage_failed``, ``limit:max_calls`` …, ``interrupted``.
        detail: One line for people, without secrets.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["dramaturg-unit/1"] = FORMAT
    unit: str
    kind: Literal["stage", "judge"]
    status: UnitStatus
    subject: str
    subject_model: str
    prompts: str
    procedure: str = ""
    case: str
    seed: int
    protocol: str
    stage: str = ""
    judge: str = ""
    checklist: str = ""
    mode: str = ""
    votes: int = 0
    failure: str = ""
    detail: str = ""


def without_stage(end: End) -> End:
    """Returns what becomes of a judging whose performance has no result.

    Args:
        end: How the performance ended.
    """
    if end.status == "open":
        return replace(end, detail=f"its performance is open: {end.detail}")
    return End("not_run", "stage_failed", f"its performance failed: {end.failure}: {end.detail}")


def record_of(unit: Unit, end: End, *, protocol: str) -> UnitRecord:
    """Returns the record of a unit that ended so."""
    stage = unit if isinstance(unit, StageUnit) else unit.stage
    bench = unit.bench if isinstance(unit, JudgeUnit) else None
    return UnitRecord(
        unit=unit.id,
        kind="stage" if bench is None else "judge",
        status=end.status,
        subject=stage.subject.label,
        subject_model=stage.subject.written,
        prompts=stage.variant.name,
        procedure=stage.staging.unlike_its_own,
        case=stage.case.case.id,
        seed=stage.seed,
        protocol=protocol,
        stage="" if bench is None else stage.id,
        judge="" if bench is None else bench.model.written,
        checklist="" if bench is None else bench.checklist.id,
        mode="" if bench is None else bench.mode,
        votes=0 if bench is None else bench.votes,
        failure=end.failure,
        detail=end.detail,
    )
