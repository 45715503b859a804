"""How a judge is asked: the material first and once, then the questions.

All questions about one text share their first messages, so that a server computes them once and the ledger stores
them once. What is asked of them, and how it is read, stands in one module per form of answer: `listed`, `single`,
`paper`, `probability`, `windowed`, `glance`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from dramaturg.judge.checklist.answers import Brief, BriefDecided, Decided, Listed, Reasoned
from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.judge.checklist.evidence import check_evidence
from dramaturg.judge.checklist.rendering import Cut, material
from dramaturg.judge.checklist.votes import Vote
from dramaturg.ledger.calls import Calls
from dramaturg.model import Message, Model, Sampling
from dramaturg.model.vocabulary import YesNo
from dramaturg.prompts import load_prompt
from dramaturg.stage.transcript import Transcript

Mode = Literal["paper", "joint", "grouped", "single", "probability", "windowed", "glance"]
"""How questions are asked.

paper: one call per dimension, answers as RPA-Check prints them. joint: all in one call. grouped: one call per
sub-dimension. single: each in its own call. probability: each in its own call, of which the first word's probability
is read. windowed: what one turn can show is asked of each turn with its neighbours, the rest as in single. glance:
everything is asked of each turn with those before it, and the first word's probability is read.
"""

Wording = Literal["presence", "text"]
"""What is put to the judge: an indicator's short question of presence where it has one, or always its text."""

Long = Literal["refuse", "cut"]
"""What becomes of a transcript beyond the judge's context: nothing is asked, or its middle is left out and named."""

VOTE_TEMPERATURE = 0.7
"""Where a question is asked more than once: at 0 every vote would be the first one again."""

QUOTED_CHARACTERS = 200
"""Of an answer that could not be used."""

ROLE = "judge"
PURPOSE = "indicator"

Given = Reasoned | Decided | Listed | Brief | BriefDecided
"""An answer as a judge gives it."""

_ResultT = TypeVar("_ResultT")


@dataclass(frozen=True, slots=True)
class Questioning:
    """One transcript before one judge.

    Attributes:
        transcript: What the judge reads; where its middle is left out, without those turns.
        checklist: By which it is judged.
        judge: Who is asked.
        calls: Through which.
        votes: How often each question is asked.
        concurrency: Most calls in flight, after the first.
        wording: What is put to the judge.
        cut: What is left out; None where the judge reads all of it.
    """

    transcript: Transcript
    checklist: Checklist
    judge: Model
    calls: Calls
    votes: int
    concurrency: int
    wording: Wording
    cut: Cut | None = None

    @property
    def language(self) -> str:
        """Of the prompts, ISO 639-1."""
        return self.checklist.language

    def sampling(self, max_tokens: int, *, top_logprobs: int = 0) -> Sampling:
        """Returns the parameters of an answer: the likeliest one, or a drawn one where there are several votes."""
        return Sampling(0.0 if self.votes == 1 else VOTE_TEMPERATURE, max_tokens, top_logprobs=top_logprobs)

    def opening(self) -> tuple[Message, ...]:
        """Returns the messages that all questions about the transcript share."""
        return opening(self.transcript, self.language, self.cut)

    def question(self, indicator: Indicator) -> str:
        """Returns what is put to the judge."""
        return indicator.text if self.wording == "text" else indicator.question

    def turned(self, indicator: Indicator) -> bool:
        """Returns whether a yes to what is put to the judge is a no to the indicator's text."""
        return self.wording == "presence" and indicator.turned

    def meant(self, indicator: Indicator, answer: YesNo) -> YesNo:
        """Returns the answer to the indicator's text that an answer to what was asked means."""
        if answer == "not_applicable" or not self.turned(indicator):
            return answer
        return "no" if answer == "yes" else "yes"

    async def ask_one(
        self,
        indicator: Indicator,
        messages: Sequence[Message],
        answer: type[Reasoned | Decided | Brief | BriefDecided],
        *,
        step: str,
        number: int,
        max_tokens: int,
        lines: str,
        labels: Mapping[str, str] | None = None,
        evidence: bool = True,
    ) -> Vote:
        """Returns the vote on one indicator, asked alone and answered under a schema.

        Args:
            indicator: What is asked about.
            messages: The chat that ends with the question.
            answer: Shape of the answer.
            step: Path of the call inside its unit.
            number: Which vote, from 0.
            max_tokens: Most tokens of the answer.
            lines: Text that asks for labelled lines, where JSON was not had.
            labels: More labels for scripts.
            evidence: Whether the judge is asked for evidence.
        """
        answered = await self.calls.ask_structured(
            self.judge,
            messages,
            answer,
            step=step,
            role=ROLE,
            purpose=PURPOSE,
            attempt=number,
            sampling=self.sampling(max_tokens),
            labels={"indicator": indicator.id, **(labels or {})},
            lines=lines,
            language=self.language,
        )
        if answered.value is None:
            detail = told(answered.detail, answered.text)
            return Vote("missing", answered.failure or "unparsed", calls=answered.keys, detail=detail)
        return self.vote(indicator, answered.value, answered.keys, repaired=answered.repaired, evidence=evidence)

    def vote(
        self, indicator: Indicator, given: Given, calls: tuple[str, ...], *, repaired: bool, evidence: bool = True
    ) -> Vote:
        """Returns a judge's answer as a vote on the indicator's text, with what is wrong with its evidence.

        Args:
            indicator: What was asked about.
            given: What was answered.
            calls: Keys of the ledger's calls.
            repaired: Whether the answer needed a tolerant reading.
            evidence: Whether the judge was asked for evidence.
        """
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
        answer = self.meant(indicator, given.answer)
        cited: Sequence[str] = given.evidence if isinstance(given, Reasoned | Decided | Listed) else ()
        checked = check_evidence(cited, answer, indicator.evidence if evidence else "none", self.transcript)
        return Vote(
            answer,
            reasoning=given.reasoning,
            evidence=checked.turns,
            flags=checked.flags,
            calls=calls,
            repaired=repaired,
        )


def opening(transcript: Transcript, language: str, cut: Cut | None = None) -> tuple[Message, ...]:
    """Returns the messages that all questions about a transcript share.

    Args:
        transcript: What the judge reads.
        language: Of the prompts, ISO 639-1.
        cut: What was left out of it.
    """
    return (
        Message("system", load_prompt("judge-system", language).fill()),
        Message("user", material(transcript, language, cut)),
        Message("assistant", load_prompt("judge-ready", language).fill()),
    )


def definition_of(indicator: Indicator, checklist: Checklist) -> str:
    """Returns what the indicator's sub-dimension means, or its dimension where it has none."""
    dimension = next(one for one in checklist.dimensions if one.id == indicator.dimension)
    for part in dimension.subdimensions:
        if part.id == indicator.subdimension:
            return part.definition
    return dimension.definition


def with_condition(question: str, indicator: Indicator, language: str) -> str:
    """Returns a question with the words that say when it does not apply, where that can be."""
    if not indicator.not_applicable_when:
        return question
    condition = load_prompt("judge-condition", language).fill(condition=indicator.not_applicable_when)
    return f"{question} ({condition})"


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


def told(problem: str, written: str) -> str:
    """Returns why there is no answer, and the beginning of what was written instead."""
    words = " ".join(written.split())
    return f"{problem}; the judge wrote: {words[:QUOTED_CHARACTERS]}" if words else problem
