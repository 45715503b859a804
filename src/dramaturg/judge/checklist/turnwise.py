"""What the modes have in common that ask about one turn at a time: `windowed` and `glance`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from dramaturg.judge.checklist.asking import Questioning, first_alone
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.votes import Vote
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model import Message
from dramaturg.stage.transcript import Transcript, Turn


class View(Protocol):
    """One turn with what a judge reads of its surroundings."""

    @property
    def turn(self) -> Turn:
        """The turn that is judged."""
        ...


_ViewT = TypeVar("_ViewT", bound=View)

Answers = dict[tuple[str, int], list[tuple[Turn, Vote]]]
"""Indicator and number of the vote → each turn with its answer."""


def judged_of(indicator: Indicator, transcript: Transcript) -> tuple[Turn, ...]:
    """Returns the turns that an indicator is about: model-played, of one of its roles."""
    kinds = {role.id: role.kind for role in transcript.roles}
    judged = transcript.judged_turns()
    return tuple(turn for turn in judged if not indicator.roles or kinds.get(turn.role) in indicator.roles)


async def ask_each_turn(
    questioning: Questioning,
    indicators: Sequence[Indicator],
    view_at: Callable[[int], _ViewT],
    ask: Callable[[Questioning, _ViewT, Indicator, int], Awaitable[Vote]],
) -> Answers:
    """Returns the answers about every judged turn; the questions about one turn follow each other.

    Args:
        questioning: Whom to ask about what; its transcript is not cut.
        indicators: What is asked, in this order; a model plays at least one turn of each one's roles.
        view_at: Returns what is read of the turn at a place of the transcript.
        ask: Asks about one turn.
    """
    transcript = questioning.transcript
    about = {indicator.id: {turn.id for turn in judged_of(indicator, transcript)} for indicator in indicators}
    views = [view_at(place) for place, turn in enumerate(transcript.turns) if transcript.is_judged(turn)]
    asks = [
        (number, view, indicator)
        for number in range(questioning.votes)
        for view in views
        for indicator in indicators
        if view.turn.id in about[indicator.id]
    ]
    votes = await first_alone(
        [partial(ask, questioning, view, indicator, number) for number, view, indicator in asks],
        questioning.concurrency,
    )
    found: Answers = {}
    for (number, view, indicator), vote in zip(asks, votes, strict=True):
        found.setdefault((indicator.id, number), []).append((view.turn, vote))
    return found


def beyond_context(questioning: Questioning, messages: Sequence[Message], tokens: int) -> Vote | None:
    """Returns the vote on a question that the judge's context does not hold; None where it holds it, or nobody knows.

    Args:
        questioning: Whose judge is asked.
        messages: The chat that ends with the question.
        tokens: Most tokens of the answer.
    """
    holds = questioning.judge.facts.context_tokens
    needed = sum(estimated_tokens(message.text) for message in messages) + tokens
    if holds is None or needed <= holds:
        return None
    detail = f"about {needed} tokens; the judge's context holds {holds}; nothing was asked"
    return Vote("missing", "context_overflow", detail=detail)
