"""Ballots: which questions go into which call in each mode, and the votes that come back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Literal, assert_never

from dramaturg.judge.checklist import listed, paper, probability, single, windowed
from dramaturg.judge.checklist.asking import Mode, Questioning, first_alone
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.votes import Vote
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model import Message
from dramaturg.model.structured import MOST_ASKS

WholeMode = Literal["paper", "joint", "grouped", "single", "probability"]
"""How questions about a whole transcript are asked."""

JUDGE_TOKENS: dict[Mode, int] = {
    "paper": 2 * paper.MOST_TOKENS,
    "joint": 2 * listed.MOST_TOKENS,
    "grouped": 2 * listed.MOST_TOKENS,
    "single": 2 * single.TOKENS,
    "probability": probability.TOKENS,
    "windowed": 2 * max(single.TOKENS, windowed.TOKENS),
    "glance": probability.TOKENS,
}
"""Most tokens that one call may write; an answer cut at the limit is asked again with twice as many."""

CALLS_PER_ANSWER: dict[Mode, int] = {
    "paper": paper.MOST_ASKS,
    "joint": MOST_ASKS,
    "grouped": MOST_ASKS,
    "single": MOST_ASKS,
    "probability": 1,
    "windowed": MOST_ASKS,
    "glance": 1,
}
"""Most calls that one question, or one set of them, takes."""


def batches(indicators: Sequence[Indicator], mode: WholeMode) -> list[tuple[Indicator, ...]]:
    """Returns which indicators are asked in one call each, in the order of the first of each."""
    found: dict[tuple[str, ...], list[Indicator]] = {}
    for indicator in indicators:
        found.setdefault(_batch(indicator, mode), []).append(indicator)
    return [tuple(batch) for batch in found.values()]


async def ask_all(questioning: Questioning, indicators: Sequence[Indicator], mode: WholeMode) -> dict[str, list[Vote]]:
    """Returns the votes on each indicator by its id, asked about the whole transcript.

    Args:
        questioning: Whom to ask about what.
        indicators: At least one.
        mode: How to ask.

    Raises:
        UnitStopped: The judge's endpoint failed.
        LimitReached: A budget is used up.
    """
    opened = questioning.opening()
    asks = [
        _ask(questioning, opened, batch, number, mode)
        for number in range(questioning.votes)
        for batch in batches(indicators, mode)
    ]
    votes: dict[str, list[Vote]] = {indicator.id: [] for indicator in indicators}
    for ballot in await first_alone(asks, questioning.concurrency):
        for name, vote in ballot.items():
            votes[name].append(vote)
    return votes


def tokens(questioning: Questioning, indicators: Sequence[Indicator], mode: WholeMode) -> tuple[int, int]:
    """Returns about how many tokens the longest prompt takes, and how many its answer may take."""
    shared = sum(estimated_tokens(message.text) for message in questioning.opening())
    parts = batches(indicators, mode)
    own = max(estimated_tokens(_question(questioning, batch, mode).text) for batch in parts)
    most = questioning.judge.options.max_tokens or _answer_tokens(max(map(len, parts)), mode)
    return shared + own, most


def _batch(indicator: Indicator, mode: WholeMode) -> tuple[str, ...]:
    """Returns what the indicators of one call have in common."""
    match mode:
        case "joint":
            return ()
        case "paper":
            return (indicator.dimension,)
        case "grouped":
            return (indicator.dimension, indicator.subdimension or "")
        case "single" | "probability":
            return (indicator.id,)
        case _:
            assert_never(mode)


def _ask(
    questioning: Questioning, opened: Sequence[Message], batch: Sequence[Indicator], number: int, mode: WholeMode
) -> Callable[[], Awaitable[dict[str, Vote]]]:
    match mode:
        case "joint" | "grouped":
            return partial(listed.ask_listed, questioning, opened, batch, number, grouped=mode == "grouped")
        case "paper":
            return partial(paper.ask_paper, questioning, opened, batch, number)
        case "single":
            return partial(single.ask_single, questioning, opened, batch[0], number)
        case "probability":
            return partial(probability.ask_probability, questioning, opened, batch[0], number)
        case _:
            assert_never(mode)


def _question(questioning: Questioning, batch: Sequence[Indicator], mode: WholeMode) -> Message:
    match mode:
        case "joint" | "grouped":
            return listed.listed_question(questioning, batch, grouped=mode == "grouped")
        case "paper":
            return paper.paper_question(questioning, dict(enumerate(batch, start=1)))
        case "single":
            return single.single_question(questioning, batch[0])
        case "probability":
            return probability.probability_question(questioning, batch[0])
        case _:
            assert_never(mode)


def _answer_tokens(questions: int, mode: WholeMode) -> int:
    match mode:
        case "joint" | "grouped":
            return listed.listed_tokens(questions)
        case "paper":
            return paper.paper_tokens(questions)
        case "single":
            return single.TOKENS
        case "probability":
            return probability.TOKENS
        case _:
            assert_never(mode)
