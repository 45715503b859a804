"""How a judge is asked: the material first and once, then the questions.

All questions about one transcript share their first messages, so that a server computes them once and the ledger
stores them once. `single` asks one question per call, `joint` asks all in one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar, assert_never

from dramaturg.judge.checklist.answers import Decided, Listed, Reasoned
from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.judge.checklist.evidence import check_evidence
from dramaturg.judge.checklist.rendering import material
from dramaturg.judge.checklist.votes import Vote
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.ledger.calls import Calls
from dramaturg.model import Message, Model, Sampling
from dramaturg.model.structured import ask_list
from dramaturg.prompts import load_prompt
from dramaturg.stage.transcript import Transcript

Mode = Literal["joint", "single"]
"""How questions are asked: all in one call, or each in its own."""

SINGLE_TOKENS = 400
"""Most tokens of one answer; under an enforced schema it needs about a quarter."""

JOINT_TOKENS = 6000
"""Most tokens of all answers together."""

JOINT_TOKENS_PER_ANSWER = 100
"""What one of many answers may take."""

JUDGE_TOKENS: dict[Mode, int] = {"single": 2 * SINGLE_TOKENS, "joint": 2 * JOINT_TOKENS}
"""Most tokens that one call may write; an answer cut at the limit is asked again with twice as many."""

VOTE_TEMPERATURE = 0.7
"""Where a question is asked more than once: at 0 every vote would be the first one again."""

QUOTED_CHARACTERS = 200
"""Of an answer that could not be used."""

ROLE = "judge"
PURPOSE = "indicator"

Given = Reasoned | Decided | Listed
"""An answer as a judge gives it."""

_ResultT = TypeVar("_ResultT")


@dataclass(frozen=True, slots=True)
class Questioning:
    """One transcript before one judge.

    Attributes:
        transcript: What is judged.
        checklist: By which it is judged.
        judge: Who is asked.
        calls: Through which.
        votes: How often each question is asked.
        concurrency: Most calls in flight, after the first.
        opening: The messages that all questions share.
    """

    transcript: Transcript
    checklist: Checklist
    judge: Model
    calls: Calls
    votes: int
    concurrency: int
    opening: tuple[Message, ...]

    async def ask(self, indicators: Sequence[Indicator], mode: Mode) -> dict[str, list[Vote]]:
        """Returns the votes on each indicator by its id.

        Args:
            indicators: At least one.
            mode: How to ask.

        Raises:
            UnitStopped: The judge's endpoint failed.
            LimitReached: A budget is used up.
        """
        match mode:
            case "single":
                asked = [(indicator, number) for number in range(self.votes) for indicator in indicators]
                answers = await first_alone(
                    [partial(self._ask_single, indicator, number) for indicator, number in asked], self.concurrency
                )
                votes: dict[str, list[Vote]] = {indicator.id: [] for indicator in indicators}
                for (indicator, _), vote in zip(asked, answers, strict=True):
                    votes[indicator.id].append(vote)
                return votes
            case "joint":
                ballots = await first_alone(
                    [partial(self._ask_joint, indicators, number) for number in range(self.votes)], self.concurrency
                )
                return {indicator.id: [ballot[indicator.id] for ballot in ballots] for indicator in indicators}
            case _:
                assert_never(mode)

    def tokens(self, indicators: Sequence[Indicator], mode: Mode) -> tuple[int, int]:
        """Returns about how many tokens the longest prompt takes, and how many its answer may take."""
        questions = (
            [self._joint_question("judge-joint", indicators)]
            if mode == "joint"
            else [self._single_question(indicator) for indicator in indicators]
        )
        shared = sum(estimated_tokens(message.text) for message in self.opening)
        most = self.judge.options.max_tokens or self._sampling(mode, len(indicators)).max_tokens
        return shared + max(estimated_tokens(question.text) for question in questions), most

    async def _ask_single(self, indicator: Indicator, number: int) -> Vote:
        answered = await self.calls.ask_structured(
            self.judge,
            [*self.opening, self._single_question(indicator)],
            Reasoned if indicator.not_applicable_when else Decided,
            step=f"indicator/{indicator.id}",
            role=ROLE,
            purpose=PURPOSE,
            attempt=number,
            sampling=self._sampling("single", 1),
            labels={"indicator": indicator.id},
            lines=load_prompt("judge-single-lines", self.checklist.language).fill(),
        )
        if answered.value is None:
            reason = answered.failure or "unparsed"
            return Vote("missing", reason, calls=answered.keys, detail=_told(answered.detail, answered.text))
        return self._vote(indicator, answered.value, answered.keys, answered.repaired)

    async def _ask_joint(self, indicators: Sequence[Indicator], number: int) -> dict[str, Vote]:
        by_id = {indicator.id: indicator for indicator in indicators}
        ask = self.calls.asker(
            self.judge,
            step="indicators",
            role=ROLE,
            purpose=PURPOSE,
            attempt=number,
            sampling=self._sampling("joint", len(indicators)),
        )

        def messages(prompt: str, ids: Sequence[str]) -> list[Message]:
            return [*self.opening, self._joint_question(prompt, [by_id[name] for name in ids])]

        answered = await ask_list(
            ask,
            partial(messages, "judge-joint"),
            tuple(by_id),
            Listed,
            name=PURPOSE,
            lines_for=partial(messages, "judge-joint-lines"),
        )
        votes = {
            name: Vote("missing", failure.reason or "unparsed", calls=answered.keys, detail=_told(failure.detail, ""))
            for name, failure in answered.failures.items()
        }
        for name, item in answered.items.items():
            votes[name] = self._vote(by_id[name], item, answered.keys, name in answered.repaired)
        return votes

    def _vote(self, indicator: Indicator, given: Given, calls: tuple[str, ...], repaired: bool) -> Vote:
        if given.answer == "not_applicable" and not indicator.not_applicable_when:
            return Vote(
                "missing",
                "unparsed",
                given.reasoning,
                flags=("answer:not_applicable",),
                calls=calls,
                repaired=repaired,
                detail="answered not_applicable, which this indicator does not allow",
            )
        evidence = check_evidence(given.evidence, given.answer, indicator.evidence, self.transcript)
        return Vote(
            given.answer,
            reasoning=given.reasoning,
            evidence=evidence.turns,
            flags=evidence.flags,
            calls=calls,
            repaired=repaired,
        )

    def _sampling(self, mode: Mode, questions: int) -> Sampling:
        temperature = 0.0 if self.votes == 1 else VOTE_TEMPERATURE
        match mode:
            case "single":
                return Sampling(temperature, SINGLE_TOKENS)
            case "joint":
                return Sampling(temperature, min(JOINT_TOKENS, JOINT_TOKENS_PER_ANSWER * (questions + 1)))
            case _:
                assert_never(mode)

    def _single_question(self, indicator: Indicator) -> Message:
        text = load_prompt("judge-single", self.checklist.language).fill(
            question=indicator.text,
            definition=definition_of(indicator, self.checklist),
            not_applicable=indicator.not_applicable_when or "never; answer yes or no",
        )
        return Message("user", text)

    def _joint_question(self, prompt: str, indicators: Sequence[Indicator]) -> Message:
        listed = [
            f"{indicator.id}: {indicator.text}"
            + (f" (Not applicable when: {indicator.not_applicable_when})" if indicator.not_applicable_when else "")
            for indicator in indicators
        ]
        return Message("user", load_prompt(prompt, self.checklist.language).fill(questions="\n".join(listed)))


def opening(transcript: Transcript, language: str) -> tuple[Message, ...]:
    """Returns the messages that all questions about a transcript share."""
    return (
        Message("system", load_prompt("judge-system", language).fill()),
        Message("user", material(transcript, language)),
        Message("assistant", load_prompt("judge-ready", language).fill()),
    )


def definition_of(indicator: Indicator, checklist: Checklist) -> str:
    """Returns what the indicator's sub-dimension means, or its dimension where it has none."""
    dimension = next(one for one in checklist.dimensions if one.id == indicator.dimension)
    for part in dimension.subdimensions:
        if part.id == indicator.subdimension:
            return part.definition
    return dimension.definition


async def first_alone(asks: Sequence[Callable[[], Awaitable[_ResultT]]], concurrency: int) -> list[_ResultT]:
    """Returns the answers in order; the first is awaited alone, so that the rest find its prefix computed.

    The first failure ends the others and is raised as it is.

    Args:
        asks: At least one.
        concurrency: Most in flight after the first.
    """
    answers: dict[int, _ResultT] = {0: await asks[0]()}
    waiting = iter(range(1, len(asks)))

    async def work() -> None:
        for number in waiting:
            answers[number] = await asks[number]()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(asks) - 1)):
                group.create_task(work())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [answers[number] for number in range(len(asks))]


def _told(problem: str, written: str) -> str:
    """Returns why there is no answer, and the beginning of what was written instead."""
    words = " ".join(written.split())
    return f"{problem}; the judge wrote: {words[:QUOTED_CHARACTERS]}" if words else problem
