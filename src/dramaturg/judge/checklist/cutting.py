"""What becomes of a transcript beyond the judge's context: it is refused, or its middle is left out and named.

The reference, the roles, and the first and the last turns stay; a line in the material says which turns are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dramaturg.judge.checklist.asking import Long, Questioning
from dramaturg.judge.checklist.ballots import WholeMode, tokens
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.rendering import Cut, render_turn
from dramaturg.judge.checklist.votes import Vote
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.stage.transcript import Transcript

CUT_LINE_TOKENS = 60
"""What the line takes that says what is left out."""


def fitted(
    questioning: Questioning, indicators: Sequence[Indicator], mode: WholeMode, long: Long
) -> Questioning | Vote:
    """Returns a questioning that fits into the judge's context, or why there is none.

    Args:
        questioning: With the whole transcript.
        indicators: What is asked; at least one.
        mode: How.
        long: Whether the middle may be left out.
    """
    holds = questioning.judge.facts.context_tokens
    if holds is None:
        return questioning
    prompt, answer = tokens(questioning, indicators, mode)
    excess = prompt + answer - holds
    if excess <= 0:
        return questioning
    detail = f"about {prompt} tokens and {answer} for the answer; the judge's context holds {holds}; nothing was asked"
    if long == "cut":
        cut = middle_cut(questioning.transcript, excess, questioning.language)
        if cut is not None:
            return replace(questioning, transcript=_without(questioning.transcript, cut), cut=cut)
        detail += "; not even the first and the last turn would fit"
    return Vote("missing", "context_overflow", detail=detail)


def middle_cut(transcript: Transcript, excess: int, language: str) -> Cut | None:
    """Returns which turns to leave out so that the rest is shorter by so many tokens; None where that is impossible.

    Turns are kept from both ends in turn; the first and the last one always stay.

    Args:
        transcript: The whole transcript.
        excess: Tokens that must go.
        language: Of the prompts, ISO 639-1.
    """
    turns = transcript.turns
    sizes = [estimated_tokens(render_turn(turn, transcript, language) + "\n") for turn in turns]
    room = sum(sizes) - excess - CUT_LINE_TOKENS - len(sizes)  # each size is rounded up by one at most
    front, back = 0, len(turns)
    while front < back:
        at_front = front <= len(turns) - back
        size = sizes[front] if at_front else sizes[back - 1]
        if size > room:
            break
        room -= size
        front, back = (front + 1, back) if at_front else (front, back - 1)
    if front == 0 or back in {front, len(turns)}:
        return None
    return Cut(first=turns[front].id, last=turns[back - 1].id, count=back - front, resumes=turns[back].id)


def _without(transcript: Transcript, cut: Cut) -> Transcript:
    ids = [turn.id for turn in transcript.turns]
    kept = (*transcript.turns[: ids.index(cut.first)], *transcript.turns[ids.index(cut.resumes) :])
    return transcript.model_copy(update={"turns": kept})
