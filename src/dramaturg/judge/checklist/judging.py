"""Judges a transcript by a checklist: what the transcript proves is not asked, the rest is put to a model.

Source: RPA-Check, section 3.4 (stage 4): reasoning first, then yes or no, for each indicator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dramaturg.judge.checklist.asking import Long, Mode, Questioning, Wording
from dramaturg.judge.checklist.ballots import CALLS_PER_ANSWER, WholeMode, ask_all, batches
from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.judge.checklist.cutting import fitted
from dramaturg.judge.checklist.glance import ask_glances
from dramaturg.judge.checklist.proofs import prove
from dramaturg.judge.checklist.score import roles_of
from dramaturg.judge.checklist.turnwise import judged_of
from dramaturg.judge.checklist.votes import Decision, Vote, decide
from dramaturg.judge.checklist.windowed import ask_windowed
from dramaturg.judge.judgement import Judgement
from dramaturg.ledger.calls import Calls
from dramaturg.model import Model
from dramaturg.stage.transcript import Transcript, Turn

REMOTE_CONCURRENCY = 8
"""Questions in flight at a server that shares a prefix between requests."""

PREFIX_IN_SLOT = frozenset({"embedded", "gguf", "hf", "llamacpp", "ollama"})
"""Providers that keep a computed prefix in one slot: a second question in flight would compute it again."""


async def judge_transcript(
    transcript: Transcript,
    checklist: Checklist,
    *,
    judge: Model,
    calls: Calls,
    mode: Mode = "single",
    votes: int = 1,
    concurrency: int | None = None,
    indicators: Sequence[str] | None = None,
    long: Long = "refuse",
    ask: Wording = "presence",
) -> tuple[Judgement, ...]:
    """Returns one judgement per indicator, in the checklist's order.

    An answer that cannot be had is missing with its reason, never a no. Turns of people and scripts are shown
    to the judge and not judged: where no turn of an indicator's roles was played by a model, it does not apply, and
    where that holds of every role that the checklist names, nothing applies, whatever the transcript proves. A
    checklist whose roles the transcript does not even declare does not fit: all is missing (``checklist_unfit``). A
    transcript that does not fit into the judge's context is refused as a whole, or its middle is left out: then each
    judgement that rests on the rest has a flag such as ``cut:T9-T30``.

    Args:
        transcript: What is judged.
        checklist: By which it is judged.
        judge: Who is asked.
        calls: Through which.
        mode: How the questions are asked.
        votes: How often each is asked; the answer that most votes gave counts, a tie is missing.
        concurrency: Most questions in flight; by default one where the prefix lies in a slot, else eight.
        indicators: Ids of those to judge; None judges all.
        long: What becomes of a transcript beyond the judge's context.
        ask: What is put to the judge; the judgement always answers the indicator's text.

    Raises:
        UnitStopped: The judge's endpoint failed; what was answered is in the ledger.
        LimitReached: A budget is used up.
        ValueError: `votes` or `concurrency` is below 1, or the checklist does not have one of `indicators`.
    """
    if concurrency is None:
        concurrency = 1 if judge.identity.provider in PREFIX_IN_SLOT else REMOTE_CONCURRENCY
    if votes < 1 or concurrency < 1:
        raise ValueError(f"votes is {votes} and concurrency is {concurrency}; both are at least 1")
    wanted = _wanted(checklist, indicators)
    whole = _of_no_use(transcript, checklist)
    known = {one.id: vote for one in wanted if (vote := whole or _without_model(transcript, one)) is not None}
    questioning = Questioning(transcript, checklist, judge, calls, votes, concurrency, ask)
    open_ones = [indicator for indicator in wanted if indicator.id not in known]
    decided = {name: Decision(vote) for name, vote in known.items()}
    decided |= await _put_to_judge(questioning, open_ones, mode, long)
    digest, by = transcript.digest, checklist.hash
    return tuple(
        Judgement(
            transcript=transcript.id,
            transcript_digest=digest,
            indicator=indicator.id,
            dimension=indicator.dimension,
            subdimension=indicator.subdimension or "",
            answer=decision.vote.answer,
            reason=decision.vote.reason,
            reasoning=decision.vote.reasoning,
            evidence=decision.vote.evidence,
            flags=decision.vote.flags,
            asked="" if indicator.id in known or ask == "text" else indicator.ask,
            probability=decision.vote.probability,
            source="transcript" if indicator.id in known else "model",
            judge=f"{judge.identity.provider}:{judge.identity.name}",
            mode=mode,
            checklist=f"{checklist.id} v{checklist.version}",
            checklist_digest=by,
            votes=decision.votes,
            calls=decision.vote.calls,
            repaired=decision.vote.repaired,
            detail=decision.vote.detail,
        )
        for indicator in wanted
        for decision in (decided[indicator.id],)
    )


def expected_calls(checklist: Checklist, *, mode: Mode, votes: int = 1, turns: int = 1) -> tuple[int, int]:
    """Returns the fewest and the most calls that judging one transcript takes.

    The fewest: every question is answered at once, and the roles that some are about stay silent. The most: nothing
    is proved by the transcript, every answer has to be asked for again, and in the modes `windowed` and `glance`
    every turn is judged by every indicator that is asked of turns. A transcript without a model-played turn, one that
    the checklist does not fit, and one that is too long for the judge take none.

    Args:
        checklist: By which is judged.
        mode: How the questions are asked.
        votes: How often each is asked.
        turns: Most turns of the transcript; only the modes `windowed` and `glance` depend on it.
    """
    in_windows, of_whole, whole_mode = _parted(checklist.indicators, mode)
    certain = [one for one in checklist.indicators if one.proof is None and not one.roles]
    sure_windows, sure_whole, _ = _parted(certain, mode)
    least = len(batches(sure_whole, whole_mode)) + len(sure_windows)
    most = len(batches(of_whole, whole_mode)) + len(in_windows) * turns
    return least * votes, most * votes * CALLS_PER_ANSWER[mode]


def _wanted(checklist: Checklist, ids: Sequence[str] | None) -> list[Indicator]:
    if ids is None:
        return list(checklist.indicators)
    unknown = sorted(set(ids) - {indicator.id for indicator in checklist.indicators})
    if unknown:
        raise ValueError(f"the checklist {checklist.id} has no indicator {unknown[0]}")
    return [indicator for indicator in checklist.indicators if indicator.id in ids]


def _parted(indicators: Iterable[Indicator], mode: Mode) -> tuple[list[Indicator], list[Indicator], WholeMode]:
    """Returns what is asked of turns, what is asked of the whole transcript, and how the latter is asked."""
    listed = list(indicators)
    if mode == "glance":
        return listed, [], "probability"
    if mode != "windowed":
        return [], listed, mode
    of_turns = [indicator for indicator in listed if indicator.scope == "turn"]
    return of_turns, [indicator for indicator in listed if indicator.scope == "transcript"], "single"


async def _put_to_judge(
    questioning: Questioning, indicators: Sequence[Indicator], mode: Mode, long: Long
) -> dict[str, Decision]:
    """Returns what a model says of each indicator, by its id."""
    in_windows, of_whole, whole_mode = _parted(indicators, mode)
    decided: dict[str, Decision] = {}
    if of_whole:
        decided |= await _of_whole(questioning, of_whole, whole_mode, long)
    if in_windows:
        ask = ask_glances if mode == "glance" else ask_windowed
        ballots = await ask(questioning, in_windows)
        decided |= {name: decide(ballot) for name, ballot in ballots.items()}
    return decided


async def _of_whole(
    questioning: Questioning, indicators: Sequence[Indicator], mode: WholeMode, long: Long
) -> dict[str, Decision]:
    fitting = fitted(questioning, indicators, mode, long)
    if isinstance(fitting, Vote):
        return {indicator.id: Decision(fitting) for indicator in indicators}
    if fitting.cut is None:
        return {name: decide(ballot) for name, ballot in (await ask_all(fitting, indicators, mode)).items()}
    flag = fitting.cut.flag
    unseen = Vote("missing", "context_overflow", detail=f"no turn that it is about is left ({flag})")
    seen = [indicator for indicator in indicators if judged_of(indicator, fitting.transcript)]
    ballots = {indicator.id: [unseen] for indicator in indicators}
    if seen:
        ballots |= await ask_all(fitting, seen, mode)
    decisions = {name: decide(ballot) for name, ballot in ballots.items()}
    return {
        name: replace(decision, vote=replace(decision.vote, flags=(*decision.vote.flags, flag)))
        for name, decision in decisions.items()
    }


def _of_no_use(transcript: Transcript, checklist: Checklist) -> Vote | None:
    """Returns what becomes of every indicator where none can be about the transcript; None where some can.

    What a transcript proves of itself (an end, no restart) is no score where nothing of what the checklist is about
    was played.
    """
    judged = transcript.judged_turns()
    if not judged:
        return Vote("not_applicable", detail="no turn was played by a model")
    about = roles_of(checklist)
    kinds = {role.id: role.kind for role in transcript.roles}
    if about and set(about).isdisjoint(kinds.values()):
        declared = ", ".join(dict.fromkeys(kinds.values())) or "none"
        detail = f"the checklist is about the roles {', '.join(about)}; the transcript declares: {declared}"
        return Vote("missing", "checklist_unfit", detail=detail)
    if about and set(about).isdisjoint(kinds.get(turn.role) for turn in judged) and not _undeclared(transcript):
        return Vote("not_applicable", detail=f"no turn was played by a model as {' or '.join(about)}")
    return None


def _without_model(transcript: Transcript, indicator: Indicator) -> Vote | None:
    """Returns what needs no model: an answer that the transcript proves, or that there is nothing to judge."""
    if not judged_of(indicator, transcript):
        strangers = _undeclared(transcript)
        if strangers:
            detail = f"{strangers[0].id} is of the role {strangers[0].role!r}, which the transcript does not declare"
            return Vote("missing", "checklist_unfit", detail=detail)
        return Vote("not_applicable", detail=f"no turn was played by a model as {' or '.join(indicator.roles)}")
    proven = prove(indicator.proof, transcript) if indicator.proof is not None else None
    return None if proven is None else Vote(proven.answer, reasoning=proven.reasoning, evidence=proven.evidence)


def _undeclared(transcript: Transcript) -> tuple[Turn, ...]:
    """Returns the model-played turns of roles that the transcript does not declare, so that nobody knows their kind."""
    declared = {role.id for role in transcript.roles}
    return tuple(turn for turn in transcript.judged_turns() if turn.role not in declared)
