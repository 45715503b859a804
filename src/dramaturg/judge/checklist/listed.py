"""Modes `joint` and `grouped`: many questions in one call, each answer matched by its id."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dramaturg.judge.checklist.answers import Listed
from dramaturg.judge.checklist.asking import PURPOSE, ROLE, Questioning, definition_of, told, with_condition
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.votes import Vote
from dramaturg.model import Message
from dramaturg.model.structured import ask_list
from dramaturg.prompts import load_prompt

MOST_TOKENS = 6000
"""Most tokens of all answers of one call together."""

TOKENS_PER_ANSWER = 100
"""What one of them may take."""


def listed_tokens(questions: int) -> int:
    """Returns the most tokens of a call with so many questions."""
    return min(MOST_TOKENS, TOKENS_PER_ANSWER * (questions + 1))


def listed_question(
    questioning: Questioning, indicators: Sequence[Indicator], *, grouped: bool, prompt: str = "judge-joint"
) -> Message:
    """Returns the message that asks them all.

    Args:
        questioning: Whom to ask about what.
        indicators: What is asked.
        grouped: Whether they belong to one sub-dimension, whose definition is then told.
        prompt: In which form the answers are wanted.
    """
    language = questioning.language
    questions = "\n".join(
        f"{indicator.id}: {with_condition(questioning.question(indicator), indicator, language)}"
        for indicator in indicators
    )
    if grouped:
        definition = definition_of(indicators[0], questioning.checklist)
        questions = f"{load_prompt('judge-examined', language).fill(definition=definition)}\n\n{questions}"
    return Message("user", load_prompt(prompt, language).fill(questions=questions))


async def ask_listed(
    questioning: Questioning, opened: Sequence[Message], indicators: Sequence[Indicator], number: int, *, grouped: bool
) -> dict[str, Vote]:
    """Returns one vote per indicator, by its id; only ids without a valid answer are asked again.

    Args:
        questioning: Whom to ask about what.
        opened: The messages that all questions share.
        indicators: What is asked; at least one.
        number: Which vote, from 0.
        grouped: Whether they belong to one sub-dimension.
    """
    group = f"/{indicators[0].subdimension or indicators[0].dimension}" if grouped else ""
    by_id = {indicator.id: indicator for indicator in indicators}
    ask = questioning.calls.asker(
        questioning.judge,
        step=f"indicators{group}",
        role=ROLE,
        purpose=PURPOSE,
        attempt=number,
        sampling=questioning.sampling(listed_tokens(len(indicators))),
    )

    def messages(prompt: str, ids: Sequence[str]) -> list[Message]:
        return [*opened, listed_question(questioning, [by_id[name] for name in ids], grouped=grouped, prompt=prompt)]

    answered = await ask_list(
        ask,
        partial(messages, "judge-joint"),
        tuple(by_id),
        Listed,
        name=PURPOSE,
        lines_for=partial(messages, "judge-joint-lines"),
    )
    written = "" if answered.items else answered.text
    votes = {
        name: Vote("missing", failure.reason or "unparsed", calls=answered.keys, detail=told(failure.detail, written))
        for name, failure in answered.failures.items()
    }
    for name, item in answered.items.items():
        votes[name] = questioning.vote(by_id[name], item, answered.keys, repaired=name in answered.repaired)
    return votes
