"""One transcript before one judge: the judging itself, and as values what keeps it from ending."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TypeVar

from dramaturg.errors import LimitReached, UnitStopped
from dramaturg.judge import Judgement
from dramaturg.judge.checklist import judge_transcript
from dramaturg.ledger import Calls
from dramaturg.model import Model
from dramaturg.run.failure import bug_detail
from dramaturg.run.material import JudgeBench
from dramaturg.run.records import End
from dramaturg.stage.transcript import Transcript

_ResultT = TypeVar("_ResultT")


async def judge_by(
    bench: JudgeBench,
    transcript: Transcript,
    *,
    judge: Model,
    calls: Calls,
    votes: int | None = None,
    indicators: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """Returns the judgements of a transcript, asked as the bench says.

    Args:
        bench: By what is judged, and how it is asked.
        transcript: What is judged.
        judge: The bench's model, open.
        calls: Through which it is asked.
        votes: How often each question is asked; as the bench says by default.
        indicators: Ids of what is asked; all by default.

    Raises:
        UnitStopped: The judge's endpoint failed.
        LimitReached: A budget is used up.
    """
    return await judge_transcript(
        transcript,
        bench.checklist,
        judge=judge,
        calls=calls,
        mode=bench.mode,
        votes=bench.votes if votes is None else votes,
        indicators=indicators,
        long=bench.long,
        ask=bench.ask,
    )


async def judge_or_end(
    bench: JudgeBench,
    transcript: Transcript,
    *,
    judge: Model,
    calls: Calls,
    votes: int | None = None,
    indicators: Sequence[str] | None = None,
) -> tuple[Judgement, ...] | End:
    """Returns the judgements of a transcript, or how the judging ended without any; see `judge_by` for the arguments.

    The end is ``open`` where a budget is used up, and ``failed`` where the endpoint failed (``failure`` says how) or
    something unforeseen happened (``failure`` is ``error``).
    """
    return await or_end(judge_by(bench, transcript, judge=judge, calls=calls, votes=votes, indicators=indicators))


async def or_end(work: Awaitable[_ResultT]) -> _ResultT | End:
    """Returns what a judge is asked to give, or how the asking ended without it; see `judge_or_end`."""
    try:
        return await work
    except LimitReached as limit:
        return End("open", f"limit:{limit.limit}", str(limit))
    except UnitStopped as stopped:
        return End("failed", stopped.kind, stopped.detail)
    except (ValueError, TypeError, LookupError, AttributeError) as problem:
        return End("failed", "error", bug_detail(problem))
