"""Mode `single`: one question per call, answered under a schema, reasoning first.

Source: RPA-Check, section 3.4, with one question in each call.
"""

from __future__ import annotations

from collections.abc import Sequence

from dramaturg.judge.checklist.answers import Decided, Reasoned
from dramaturg.judge.checklist.asking import PURPOSE, ROLE, Questioning, definition_of, told
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
    answered = await questioning.calls.ask_structured(
        questioning.judge,
        [*opened, single_question(questioning, indicator)],
        Reasoned if indicator.not_applicable_when else Decided,
        step=f"indicator/{indicator.id}",
        role=ROLE,
        purpose=PURPOSE,
        attempt=number,
        sampling=questioning.sampling(TOKENS),
        labels={"indicator": indicator.id},
        lines=load_prompt("judge-single-lines", questioning.language).fill(),
        language=questioning.language,
    )
    if answered.value is None:
        detail = told(answered.detail, answered.text)
        vote = Vote("missing", answered.failure or "unparsed", calls=answered.keys, detail=detail)
    else:
        vote = questioning.vote(indicator, answered.value, answered.keys, repaired=answered.repaired)
    return {indicator.id: vote}
