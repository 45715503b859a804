"""Judges a transcript by a checklist: what the transcript proves is not asked, the rest is put to a model.

Source: RPA-Check, section 3.4 (stage 4): reasoning first, then yes or no, for each indicator.
"""

from __future__ import annotations

from collections.abc import Sequence

from dramaturg.judge.checklist.asking import Mode, Questioning, opening
from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.judge.checklist.proofs import prove
from dramaturg.judge.checklist.votes import Decision, Vote, decide
from dramaturg.judge.judgement import Judgement
from dramaturg.ledger.calls import Calls
from dramaturg.model import Model
from dramaturg.model.structured import MOST_ASKS
from dramaturg.stage.transcript import Transcript

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
) -> tuple[Judgement, ...]:
    """Returns one judgement per indicator, in the checklist's order.

    An answer that cannot be had is missing with its reason, never a no. Turns of people and scripts are shown
    to the judge and not judged: where no turn of an indicator's roles was played by a model, it does not apply. A
    transcript that does not fit into the judge's context is refused as a whole, never cut.

    Args:
        transcript: What is judged.
        checklist: By which it is judged.
        judge: Who is asked.
        calls: Through which.
        mode: How the questions are asked.
        votes: How often each is asked; the answer that most votes gave counts, a tie is missing.
        concurrency: Most questions in flight; by default one where the prefix lies in a slot, else eight.

    Raises:
        UnitStopped: The judge's endpoint failed; what was answered is in the ledger.
        LimitReached: A budget is used up.
        ValueError: `votes` or `concurrency` is below 1.
    """
    if concurrency is None:
        concurrency = 1 if judge.identity.provider in PREFIX_IN_SLOT else REMOTE_CONCURRENCY
    if votes < 1 or concurrency < 1:
        raise ValueError(f"votes is {votes} and concurrency is {concurrency}; both are at least 1")
    decided: dict[str, Decision] = {}
    proved: set[str] = set()
    for indicator in checklist.indicators:
        known = _without_model(transcript, indicator)
        if known is not None:
            proved.add(indicator.id)
            decided[indicator.id] = Decision(known)
    asked = [indicator for indicator in checklist.indicators if indicator.id not in proved]
    if asked:
        opened = opening(transcript, checklist.language)
        questioning = Questioning(transcript, checklist, judge, calls, votes, concurrency, opened)
        refused = _too_long(questioning, asked, mode)
        ballots = {one.id: [refused] for one in asked} if refused else await questioning.ask(asked, mode)
        decided |= {name: decide(ballot) for name, ballot in ballots.items()}
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
            source="transcript" if indicator.id in proved else "model",
            judge=f"{judge.identity.provider}:{judge.identity.name}",
            mode=mode,
            checklist=f"{checklist.id} v{checklist.version}",
            checklist_digest=by,
            votes=decision.votes,
            calls=decision.vote.calls,
            repaired=decision.vote.repaired,
            detail=decision.vote.detail,
        )
        for indicator in checklist.indicators
        for decision in (decided[indicator.id],)
    )


def expected_calls(checklist: Checklist, *, mode: Mode, votes: int = 1) -> tuple[int, int]:
    """Returns the fewest and the most calls that judging one transcript takes.

    The fewest: every question is answered at once, and the roles that some are about stay silent. The most: nothing
    is proved by the transcript and every answer has to be asked for again. A transcript without a model-played
    turn, or too long for the judge, takes none.

    Args:
        checklist: By which is judged.
        mode: How the questions are asked.
        votes: How often each is asked.
    """
    least = sum(indicator.proof is None and not indicator.roles for indicator in checklist.indicators)
    most = len(checklist.indicators)
    if mode == "joint":
        least, most = min(least, 1), min(most, 1)
    return least * votes, most * votes * MOST_ASKS


def _without_model(transcript: Transcript, indicator: Indicator) -> Vote | None:
    """Returns what needs no model: an answer that the transcript proves, or that there is nothing to judge."""
    judged = transcript.judged_turns()
    if not judged:
        return Vote("not_applicable", detail="no turn was played by a model")
    proven = prove(indicator.proof, transcript) if indicator.proof is not None else None
    if proven is not None:
        return Vote(proven.answer, reasoning=proven.reasoning, evidence=proven.evidence)
    kinds = {role.id: role.kind for role in transcript.roles}
    if indicator.roles and not any(kinds.get(turn.role) in indicator.roles for turn in judged):
        return Vote("not_applicable", detail=f"no turn was played by a model as {' or '.join(indicator.roles)}")
    return None


def _too_long(questioning: Questioning, asked: Sequence[Indicator], mode: Mode) -> Vote | None:
    """Returns why the judge cannot be asked, where the material does not fit into its context."""
    holds = questioning.judge.facts.context_tokens
    if holds is None:
        return None
    prompt, answer = questioning.tokens(asked, mode)
    if prompt + answer <= holds:
        return None
    detail = f"about {prompt} tokens and {answer} for the answer; the judge's context holds {holds}; nothing was asked"
    return Vote("missing", "context_overflow", detail=detail)
