"""A trial from its first word to its verdict, with its restarts, as a transcript.

A pure function of case, cast, seed, protocol and the replies: played again on the same ledger it gives the same bytes.
"""

from __future__ import annotations

import functools
from pathlib import Path

from dramaturg.ledger.calls import Calls
from dramaturg.stage.audience import Audience
from dramaturg.stage.cast import Cast
from dramaturg.stage.court.case import AnyCase
from dramaturg.stage.court.deciding import is_decision
from dramaturg.stage.court.engine import bounds, unpeopled
from dramaturg.stage.court.limits import DEFAULT_LIMITS, TrialLimits
from dramaturg.stage.court.performance import Attempt, Broken, Ending
from dramaturg.stage.court.procedure import VERDICT, Procedure, State, load_procedure
from dramaturg.stage.court.record import scenario
from dramaturg.stage.court.setting import Protocol, Setting, court_engine
from dramaturg.stage.court.staging import DEFAULT_STAGING, PROSECUTOR, WITNESS, StagingOptions
from dramaturg.stage.transcript import Restart, Transcript
from dramaturg.text import canonical_json, sha256

SUITE = "court"

STRUCTURED_ASKS = 2
"""Most calls of one structured answer: the answer and one re-ask."""


async def play_trial(
    case: AnyCase,
    *,
    cast: Cast,
    calls: Calls,
    seed: int,
    protocol: Protocol,
    limits: TrialLimits = DEFAULT_LIMITS,
    procedure: Procedure | None = None,
    variant: Path | None = None,
    staging: StagingOptions = DEFAULT_STAGING,
    transcript_id: str = "",
    audience: Audience | None = None,
) -> Transcript:
    """Returns the transcript of a trial.

    Args:
        case: What it is about.
        cast: Who plays; the judge is a model or a script.
        calls: The unit's calls; every answer goes through them.
        seed: The integer that the prompts carry; the calls derive their own seeds from the unit.
        protocol: `paper` takes what models write as it is and begins anew when it breaks the trial, `guarded` cures.
        limits: What the trial may use.
        procedure: How it is held; the one that the case is made for by default.
        variant: Folder with prompts that replace shipped ones.
        staging: How it is staged: layout, candidates, checks.
        transcript_id: Id of the transcript; derived from all that makes the trial by default.
        audience: Watches while the trial goes on.

    Raises:
        UnitStopped: An endpoint failed; the trial goes on from there when it is played again.
        LimitReached: A budget of the run is used up.
        UserError: A role has no player, the judge is a person, or an option of the staging cannot be had.
    """
    setting = Setting.of(
        case,
        procedure=procedure or load_procedure(case.made_for),
        protocol=protocol,
        limits=limits,
        cast=cast,
        calls=calls,
        seed=seed,
        variant=variant,
        staging=staging,
    )
    restarts: list[Restart] = []
    while True:
        attempt = Attempt(setting, len(restarts), audience)
        ending = await attempt.play()
        if ending.broken is None:
            break
        last = attempt.number == limits.restarts
        restarts.append(_restart(attempt, ending.broken, keep_turns=not last))
        if last:
            break
    return _transcript(setting, attempt, ending, tuple(restarts), transcript_id)


def _restart(attempt: Attempt, broken: Broken, *, keep_turns: bool) -> Restart:
    """Returns the record of a broken attempt; the turns of the last one are the transcript's own."""
    return Restart(
        cause=broken.cause,
        turn=broken.turn,
        attempt=attempt.number,
        role=broken.role,
        detail=broken.detail,
        turns=tuple(attempt.turns) if keep_turns else (),
    )


def _transcript(
    setting: Setting, attempt: Attempt, ending: Ending, restarts: tuple[Restart, ...], transcript_id: str
) -> Transcript:
    roles = setting.people.roles
    cast = setting.cast.players(roles)
    staged = scenario(setting.case, setting.procedure)
    versions = setting.versions()
    identity = {
        "cast": {role: player.model_dump(mode="json") for role, player in cast.items()},
        "protocol": setting.protocol,
        "scenario": staged.digest,
        "seed": setting.seed,
        "versions": versions,
    }
    return Transcript(
        id=transcript_id or f"{SUITE}-{setting.case.id}-{sha256(canonical_json(identity))[:16]}",
        suite=SUITE,
        protocol=setting.protocol,
        scenario=staged,
        roles=roles,
        cast=cast,
        seed=setting.seed,
        turns=tuple(attempt.turns),
        states=tuple(attempt.states),
        outcome=ending.outcome,
        end_reason=ending.reason,
        restarts=restarts,
        cures=tuple(attempt.cures),
        versions=dict(versions),
    )


def expected_calls(
    case: AnyCase,
    protocol: Protocol,
    limits: TrialLimits = DEFAULT_LIMITS,
    procedure: Procedure | None = None,
    staging: StagingOptions = DEFAULT_STAGING,
) -> tuple[int, int]:
    """Returns the fewest and the most calls of a trial that comes to a verdict, all restarts included in the most.

    A person's turns count, since they are kept as calls are. A trial that breaks off may take fewer than the fewest. A
    call that did not fit and is made again with less history comes on top.
    """
    held = procedure or load_procedure(case.made_for)
    court_engine(case, held, limits)  # refuses a case that does not fill the roles
    return _expected(held, protocol, limits, staging)


@functools.lru_cache(maxsize=256)
def _expected(held: Procedure, protocol: Protocol, limits: TrialLimits, staging: StagingOptions) -> tuple[int, int]:
    """Returns the bounds of `expected_calls`, which are the same for every case that fills the roles."""
    engine = unpeopled(held, questions=limits.questions, turn_limit=limits.turns)
    turns = bounds(engine, lambda _: (1, 1))[1]
    parts = 1 + 2 * turns * limits.heard_characters // limits.part_characters

    def cost(state: State) -> tuple[int, int]:
        strict = protocol == "paper" and state.speaker != held.player
        draws = 1 if strict else 1 + limits.redraws
        if state.purpose == VERDICT:
            return 2, parts * draws + (1 if strict else STRUCTURED_ASKS)
        if staging.judge == "structured" and is_decision(state):
            return 1, STRUCTURED_ASKS
        least = 1
        if state.speaker == PROSECUTOR and staging.candidates > 1:
            weighing = {"lexical": (0, 0), "logprob": (1, 1), "rating": (1, STRUCTURED_ASKS)}[staging.strength]
            least = staging.candidates * (1 + weighing[0])
            draws = staging.candidates * (draws + weighing[1])
        if state.speaker == WITNESS and staging.witness_check != "off":
            asked = STRUCTURED_ASKS if staging.witness_check == "model" else 0
            least += int(asked > 0)
            draws = (1 + staging.witness_redraws) * (draws + asked)
        told = all(transition.event == "spoken" for transition in state.then) and not state.requests
        return least, draws if strict or told else draws + STRUCTURED_ASKS

    fewest, most = bounds(engine, cost)
    return fewest, most * (1 + limits.restarts if protocol == "paper" else 1)
