"""Rates the roles of a transcript: each on its own trajectory, with the scene as reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dramaturg.judge.checklist.judging import PREFIX_IN_SLOT, REMOTE_CONCURRENCY
from dramaturg.judge.rating.asking import Rater, RatingVote
from dramaturg.judge.rating.judgement import RatingJudgement, RatingMode
from dramaturg.judge.rating.rendering import material
from dramaturg.judge.rating.rubric import Rubric
from dramaturg.ledger.calls import Calls
from dramaturg.model import Model
from dramaturg.stage.trajectory import trajectory
from dramaturg.stage.transcript import Role, Transcript


async def rate_transcript(
    transcript: Transcript,
    rubric: Rubric,
    *,
    judge: Model,
    calls: Calls,
    mode: RatingMode = "joint",
    votes: int = 1,
    concurrency: int | None = None,
    roles: Sequence[str] | None = None,
) -> tuple[RatingJudgement, ...]:
    """Returns one rating for each metric of each rated role, in the order of roles and metrics.

    A rating that cannot be had is missing with its reason. What people did is shown and not rated; a role that did
    nothing is missing as a whole (``no_act``), without a call.

    Args:
        transcript: Where the roles act.
        rubric: What is rated.
        judge: Who is asked.
        calls: Through which.
        mode: How.
        votes: How often each metric is rated; the mean of what was read counts.
        concurrency: Most calls in flight for one role; by default one where the prefix lies in a slot, else eight.
        roles: Ids of those to rate; None rates all that `rated_roles` names.

    Raises:
        UnitStopped: The judge's endpoint failed; what was answered is in the ledger.
        LimitReached: A budget is used up.
        ValueError: `votes` or `concurrency` is below 1, or a role is not among those that can be rated.
    """
    if concurrency is None:
        concurrency = 1 if judge.identity.provider in PREFIX_IN_SLOT else REMOTE_CONCURRENCY
    if votes < 1 or concurrency < 1:
        raise ValueError(f"votes is {votes} and concurrency is {concurrency}; both are at least 1")
    known = {role.id: role for role in rated_roles(transcript, rubric.rates)}
    if unknown := [name for name in roles or () if name not in known]:
        raise ValueError(f"{unknown[0]!r} is no role that can be rated; these are: {', '.join(known) or 'none'}")
    digest = transcript.digest
    found: list[RatingJudgement] = []
    for name in known if roles is None else roles:
        ballots = await _ballots(transcript, known[name], rubric, judge, calls, mode, votes, concurrency)
        for metric in rubric.metrics:
            decided, shown = decide(ballots[metric.id])
            found.append(
                RatingJudgement(
                    transcript=transcript.id,
                    transcript_digest=digest,
                    scene=transcript.scenario.id,
                    language=transcript.scenario.language,
                    protocol=transcript.protocol,
                    role=name,
                    name=known[name].name,
                    subject=transcript.cast[name].model,
                    metric=metric.id,
                    value=mean(ballots[metric.id]),
                    reason=decided.reason,
                    critique=decided.critique,
                    judge=f"{judge.identity.provider}:{judge.identity.name}",
                    mode=mode,
                    rubric=f"{rubric.id} v{rubric.version}",
                    rubric_digest=rubric.hash,
                    votes=shown,
                    calls=decided.calls,
                    repaired=decided.repaired,
                    detail=decided.detail,
                )
            )
    return tuple(found)


def rated_roles(transcript: Transcript, kind: str) -> tuple[Role, ...]:
    """Returns the roles that a model plays and that are rated: those of a kind, or all where nobody is of that kind.

    Args:
        transcript: Where they act.
        kind: Kind of the roles that a rubric is about.
    """
    played = [role for role in transcript.roles if _is_played(transcript, role)]
    of_kind = [role for role in transcript.roles if role.kind == kind]
    return tuple(role for role in played if role.kind == kind) if of_kind else tuple(played)


def mean(votes: Sequence[RatingVote]) -> float | None:
    """Returns the mean of the ratings that were read, or None where none was."""
    values = [vote.value for vote in votes if vote.value is not None]
    return sum(values) / len(values) if values else None


def decide(votes: Sequence[RatingVote]) -> tuple[RatingVote, tuple[str, ...]]:
    """Returns what speaks for all votes, and each vote as a record writes it.

    The critique is that of the first vote that was read; calls are those of all.

    Args:
        votes: At least one.
    """
    if len(votes) == 1:
        return votes[0], ()
    speaking = next((vote for vote in votes if vote.value is not None), votes[0])
    calls = tuple(dict.fromkeys(key for vote in votes for key in vote.calls))
    together = replace(speaking, calls=calls, repaired=any(vote.repaired for vote in votes))
    return together, tuple(vote.shown for vote in votes)


async def _ballots(
    transcript: Transcript,
    role: Role,
    rubric: Rubric,
    judge: Model,
    calls: Calls,
    mode: RatingMode,
    votes: int,
    concurrency: int,
) -> dict[str, list[RatingVote]]:
    path = trajectory(transcript, role.id)
    acts = [turn for step in path.steps for turn in step.acts]
    if not any(transcript.is_judged(turn) and turn.text.strip() for turn in acts):
        silent = RatingVote(None, "no_act", detail=f"{role.name} did nothing that a model played")
        return {metric.id: [silent] for metric in rubric.metrics}
    shown = material(path, rubric.language, is_rated=transcript.is_judged)
    return await Rater(rubric, judge, calls, votes, concurrency, role.id, shown).ask_all(mode)


def _is_played(transcript: Transcript, role: Role) -> bool:
    player = transcript.cast.get(role.id)
    return player is not None and player.kind == "model"
