"""The court suite, as a run sees it: who sits where, one performance, and what it takes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from dramaturg.ledger import Calls
from dramaturg.model import Model
from dramaturg.run.material import StagedCase
from dramaturg.run.study import Limits, Study
from dramaturg.run.units import StageUnit
from dramaturg.stage.audience import Audience
from dramaturg.stage.cast import Cast, HumanSeat, ModelSeat, Reader, Seat
from dramaturg.stage.court import (
    Procedure,
    TrialLimits,
    expected_calls,
    play_trial,
)
from dramaturg.stage.court.engine import bounds, unpeopled
from dramaturg.stage.transcript import Transcript


@dataclass(frozen=True, slots=True)
class House:
    """The people at a run, if any.

    Attributes:
        audience: Watches every performance while it goes on.
        read: Asks the person who plays.
    """

    audience: Audience | None = None
    read: Reader | None = None


EMPTY_HOUSE = House()


async def perform(unit: StageUnit, study: Study, opened: Mapping[str, Model], calls: Calls, house: House) -> Transcript:
    """Returns the transcript of one performance: the subject plays every role that nobody else is cast for.

    Args:
        unit: What is staged.
        study: Protocol, limits and staging options.
        opened: Open models by spec string.
        calls: The unit's calls.
        house: Who is there to watch and to play.

    Raises:
        UnitStopped: An endpoint failed.
        LimitReached: A budget of the run is used up.
    """
    subject, staging = opened[unit.subject.spec.text], unit.staging
    seats: dict[str, Seat] = dict.fromkeys(staging.procedure.roles, ModelSeat(subject, subject=True))
    for kind, player in staging.fixed.items():
        seats[kind] = ModelSeat(opened[player.spec.text]) if player is not None else _person(house)
    return await play_trial(
        staging.case.case,
        cast=Cast(seats, analyst=subject),
        calls=calls,
        seed=unit.seed,
        protocol=study.protocol,
        limits=trial_limits(study.limits),
        procedure=staging.procedure,
        variant=unit.variant.folder,
        staging=study.staging,
        transcript_id=transcript_id(staging.case, unit.id),
        audience=house.audience,
    )


def _person(house: House) -> HumanSeat:
    if house.read is None:
        raise TypeError("a person plays, and nothing asks this person")
    return HumanSeat(house.read)


def transcript_id(staged: StagedCase, unit: str) -> str:
    """Returns the id of a performance's transcript: unique in every study, and told apart by eye."""
    return f"{staged.case.id}-{unit}"


def performance_calls(unit: StageUnit, study: Study) -> tuple[int, int]:
    """Returns the fewest and the most calls of one performance, all restarts included in the most."""
    staging = unit.staging
    limits = trial_limits(study.limits)
    return expected_calls(staging.case.case, study.protocol, limits, staging.procedure, study.staging)


def performance_turns(unit: StageUnit, study: Study) -> tuple[int, int]:
    """Returns the most turns of one performance, and how many of them may be a person's or a script's."""
    staging = unit.staging
    unbounded = frozenset(
        kind for kind, player in staging.fixed.items() if player is None or player.spec.provider == "script"
    )
    return _turns(staging.procedure, unbounded, trial_limits(study.limits))


def trial_limits(limits: Limits) -> TrialLimits:
    """Returns the limits of a trial, as the study sets them."""
    return TrialLimits(
        turns=limits.turns,
        questions=limits.questions,
        speech_tokens=limits.tokens_per_turn,
        restarts=limits.restarts,
    )


@functools.lru_cache(maxsize=256)
def _turns(procedure: Procedure, unbounded: frozenset[str], limits: TrialLimits) -> tuple[int, int]:
    engine = unpeopled(procedure, questions=limits.questions, turn_limit=limits.turns)
    turns = bounds(engine, lambda _: (1, 1))[1]
    of_others = bounds(engine, lambda state: (0, int(state.speaker in unbounded)))[1]
    return min(turns, limits.turns), min(of_others, limits.turns)
