"""Mode `single`: one question per call, answered under a schema, reasoning first.

Source: RPA-Check, section 3.4, with one question in each call.
"""

from __future__ import annotations

from collections.abc import Sequence

from dramaturg.judge.checklist.answers import Decided, Reasoned
from dramaturg.judge.checklist.asking import Questioning, definition_of
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.votes import Vote
from dramaturg.model import Message
from dramaturg.prompts import load_prompt

TOKENS = 400
"""Most tokens of one answer; under an enforced schema it needs about a quarter."""


def single_question(questioning: Questioning, indicator: Indicator) -> Message:
    """Returns the message that asks one question."""
    language = questioning.language
    condition = indicator.not_applicable_when or load_prompt("judge-always", language).fill()
    text = load_prompt("judge-single", language).fill(
        question=questioning.question(indicator),
        definition=definition_of(indicator, questioning.checklist),
        not_applicable=condition,
        needs_turns="yes" if questioning.turned(indicator) else "no",
    )
    return Message("user", text)


async def ask_single(
    questioning: Questioning, opened: Sequence[Message], indicator: Indicator, number: int
) -> dict[str, Vote]:
    """Returns the vote on one indicator, by its id.

    Args:
        questioning: Whom to ask about what.
        opened: The messages that all questions share.
        indicator: What is asked.
        number: Which vote, from 0.
    """
    vote = await questioning.ask_one(
        indicator,
        [*opened, single_question(questioning, indicator)],
        Reasoned if indicator.not_applicable_when else Decided,
        step=f"indicator/{indicator.id}",
        number=number,
        max_tokens=TOKENS,
        lines=load_prompt("judge-single-lines", questioning.language).fill(),
    )
    return {indicator.id: vote}
