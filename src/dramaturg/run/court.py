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
from dramaturg.stage.cast import Cast, HumanSeat, ModelSeat, Reader
from dramaturg.stage.court import (
    Procedure,
    Protocol,
    TrialLimits,
    expected_calls,
    load_procedure,
    play_trial,
)
from dramaturg.stage.court.engine import bounds
from dramaturg.stage.court.setting import court_engine
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
    """Returns the transcript of one performance: the subject plays every role but the defence.

    Args:
        unit: What is staged.
        study: Protocol and limits.
        opened: Open models by spec string.
        calls: The unit's calls.
        house: Who is there to watch and to play.

    Raises:
        UnitStopped: An endpoint failed.
        LimitReached: A budget of the run is used up.
    """
    subject = opened[unit.subject.spec.text]
    measured = ModelSeat(subject, subject=True)
    if unit.defence is not None:
        defence = ModelSeat(opened[unit.defence.spec.text])
    elif house.read is not None:
        defence = HumanSeat(house.read)
    else:
        raise TypeError("a person plays, and nothing asks this person")
    seats = {"judge": measured, "prosecutor": measured, "witness": measured, "defence": defence}
    return await play_trial(
        unit.case.case,
        cast=Cast(seats, analyst=subject),
        calls=calls,
        seed=unit.seed,
        protocol=study.protocol,
        limits=trial_limits(study.limits),
        procedure=_procedure(),
        variant=unit.variant.folder,
        transcript_id=transcript_id(unit.case, unit.id),
        audience=house.audience,
    )


def transcript_id(staged: StagedCase, unit: str) -> str:
    """Returns the id of a performance's transcript: unique in every study, and told apart by eye."""
    return f"{staged.case.id}-{unit}"


def performance_calls(unit: StageUnit, study: Study) -> tuple[int, int]:
    """Returns the fewest and the most calls of one performance, all restarts included in the most."""
    return _calls(unit.case, study.protocol, trial_limits(study.limits))


def performance_turns(unit: StageUnit, study: Study) -> tuple[int, int]:
    """Returns the most turns of one performance, and how many of them may be the defence's."""
    return _turns(unit.case, trial_limits(study.limits))


def trial_limits(limits: Limits) -> TrialLimits:
    """Returns the limits of a trial, as the study sets them."""
    return TrialLimits(
        turns=limits.turns,
        questions=limits.questions,
        speech_tokens=limits.tokens_per_turn,
        restarts=limits.restarts,
    )


@functools.cache
def _procedure() -> Procedure:
    return load_procedure()


@functools.lru_cache(maxsize=1024)
def _turns(staged: StagedCase, limits: TrialLimits) -> tuple[int, int]:
    engine = court_engine(staged.case, _procedure(), limits)
    turns = bounds(engine, lambda _: (1, 1))[1]
    defence = bounds(engine, lambda state: (0, int(state.speaker == "defence")))[1]
    return min(turns, limits.turns), min(defence, limits.turns)


@functools.lru_cache(maxsize=1024)
def _calls(staged: StagedCase, protocol: Protocol, limits: TrialLimits) -> tuple[int, int]:
    return expected_calls(staged.case, protocol, limits, _procedure())
