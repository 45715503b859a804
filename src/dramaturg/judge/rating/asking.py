"""How a rater is asked: the material first and once, a critique, and only then a number.

All questions about one trajectory share their first messages, so that a server computes them once and the ledger stores
them once.

Source: CharacterBox, section 4 and appendix D: a critique of the performance, then all seven metrics at once. Mode
`single` asks for each metric alone, so that one impression does not colour all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from dramaturg.judge.checklist.asking import VOTE_TEMPERATURE, first_alone, told
from dramaturg.judge.rating.answers import ListedRating, Rated
from dramaturg.judge.rating.judgement import RatingMode, RatingReason
from dramaturg.judge.rating.rendering import render_metric, render_metrics, render_questions
from dramaturg.judge.rating.rubric import Metric, Rubric
from dramaturg.judge.rating.scale import OFF_SCALE, SEVERAL
from dramaturg.ledger.calls import Calls
from dramaturg.model import Message, Model, Sampling
from dramaturg.model.structured import MOST_ASKS, ItemFailure, ask_list, failure_of
from dramaturg.prompts import load_prompt

ROLE = "judge"
PURPOSE = "rating"
CRITIQUE = "critique"

CRITIQUE_TOKENS = 700
"""Most tokens of a critique of all metrics."""

SINGLE_TOKENS = 400
"""Most tokens of one metric's critique and rating."""

TOKENS_PER_RATING = 90
"""What one entry of a joint answer may take."""


@dataclass(frozen=True, slots=True)
class RatingVote:
    """One rating of one metric, or why there is none.

    Attributes:
        value: The rating; None where it is missing.
        reason: Why it is missing; empty otherwise.
        critique: What was written before it.
        calls: Keys of the ledger's calls.
        repaired: Whether it needed a tolerant reading.
        detail: One line for people, where it is missing.
    """

    value: int | None
    reason: RatingReason = ""
    critique: str = ""
    calls: tuple[str, ...] = ()
    repaired: bool = False
    detail: str = ""

    @property
    def shown(self) -> str:
        """How a record writes it."""
        return f"missing:{self.reason}" if self.value is None else str(self.value)


@dataclass(frozen=True, slots=True)
class Rater:
    """One trajectory before one judge.

    Attributes:
        rubric: What is rated.
        judge: Who is asked.
        calls: Through which.
        votes: How often each metric is rated.
        concurrency: Most calls in flight, after the first.
        role: Id of the role that is rated.
        shown: The message that shows the trajectory.
    """

    rubric: Rubric
    judge: Model
    calls: Calls
    votes: int
    concurrency: int
    role: str
    shown: str

    async def ask_all(self, mode: RatingMode) -> dict[str, list[RatingVote]]:
        """Returns the votes on each metric by its id.

        Raises:
            UnitStopped: The judge's endpoint failed.
            LimitReached: A budget is used up.
        """
        asks: list[Callable[[], Awaitable[dict[str, RatingVote]]]]
        match mode:
            case "joint":
                asks = [partial(self._joint, number) for number in range(self.votes)]
            case "single":
                asks = [
                    partial(self._single, metric, number)
                    for number in range(self.votes)
                    for metric in self.rubric.metrics
                ]
            case _:
                assert_never(mode)
        votes: dict[str, list[RatingVote]] = {metric.id: [] for metric in self.rubric.metrics}
        for ballot in await first_alone(asks, self.concurrency):
            for name, vote in ballot.items():
                votes[name].append(vote)
        return votes

    @property
    def _opening(self) -> tuple[Message, ...]:
        language = self.rubric.language
        return (
            Message("system", load_prompt("rate-system", language).fill()),
            Message("user", self.shown),
            Message("assistant", load_prompt("rate-ready", language).fill()),
        )

    def _sampling(self, max_tokens: int) -> Sampling:
        return Sampling(0.0 if self.votes == 1 else VOTE_TEMPERATURE, max_tokens)

    async def _single(self, metric: Metric, number: int) -> dict[str, RatingVote]:
        language = self.rubric.language
        asked = load_prompt("rate-single", language).fill(metric=render_metric(metric, language))
        answered = await self.calls.ask_structured(
            self.judge,
            [*self._opening, Message("user", asked)],
            Rated,
            step=f"rate/{self.role}/{metric.id}",
            role=ROLE,
            purpose=PURPOSE,
            attempt=number,
            sampling=self._sampling(SINGLE_TOKENS),
            labels={"metric": metric.id},
            lines=load_prompt("rate-single-lines", language).fill(),
            language=language,
        )
        if answered.value is None:
            reason = _reason(answered.failure or "unparsed", answered.detail)
            detail = told(answered.detail, answered.text)
            return {metric.id: RatingVote(None, reason, calls=answered.keys, detail=detail)}
        given = answered.value
        return {
            metric.id: RatingVote(
                given.rating, critique=given.critique, calls=answered.keys, repaired=answered.repaired
            )
        }

    async def _joint(self, number: int) -> dict[str, RatingVote]:
        language, rubric = self.rubric.language, self.rubric
        question = load_prompt("rate-critique", language).fill(metrics=render_questions(rubric))
        criticised = await self.calls.ask(
            self.judge,
            [*self._opening, Message("user", question)],
            step=f"rate/{self.role}/critique",
            role=ROLE,
            purpose=CRITIQUE,
            attempt=number,
            sampling=self._sampling(CRITIQUE_TOKENS),
        )
        failure = failure_of(criticised.reply)
        critique = criticised.reply.text.strip()
        if failure not in {"", "truncated"} or not critique:
            vote = RatingVote(
                None, failure or "empty", calls=(criticised.key,), detail=criticised.reply.detail or "no critique"
            )
            return {metric.id: vote for metric in rubric.metrics}
        said = [*self._opening, Message("user", question), Message("assistant", critique)]
        by_name = {metric.name: metric.id for metric in rubric.metrics}

        def messages(prompt: str, names: Sequence[str]) -> list[Message]:
            wanted = tuple(metric for metric in rubric.metrics if metric.name in names)
            metrics = render_metrics(rubric.model_copy(update={"metrics": wanted}))
            return [*said, Message("user", load_prompt(prompt, language).fill(metrics=metrics))]

        answered = await ask_list(
            self.calls.asker(
                self.judge,
                step=f"rate/{self.role}/ratings",
                role=ROLE,
                purpose=PURPOSE,
                attempt=number,
                sampling=self._sampling(TOKENS_PER_RATING * (len(by_name) + 1)),
            ),
            partial(messages, "rate-joint"),
            tuple(by_name),
            ListedRating,
            name=PURPOSE,
            decisive="rating",
            lines_for=partial(messages, "rate-joint-lines"),
        )
        keys = (criticised.key, *answered.keys)
        written = "" if answered.items else answered.text
        votes = {
            by_name[name]: RatingVote(
                None, _reason(missing.reason or "unparsed", missing.detail), critique, keys,
                detail=told(missing.detail, written),
            )
            for name, missing in answered.failures.items()
        }  # fmt: skip
        for name, item in answered.items.items():
            text = f"{critique}\n\n{item.reason}".strip()
            votes[by_name[name]] = RatingVote(
                item.rating, critique=text, calls=keys, repaired=name in answered.repaired
            )
        return votes


def calls_for(rubric: Rubric, mode: RatingMode, votes: int) -> tuple[int, int]:
    """Returns the fewest and the most calls that rating one role takes."""
    match mode:
        case "joint":
            return 2 * votes, (1 + MOST_ASKS) * votes
        case "single":
            return len(rubric.metrics) * votes, len(rubric.metrics) * votes * MOST_ASKS
        case _:
            assert_never(mode)


def _reason(failure: ItemFailure, detail: str) -> RatingReason:
    if OFF_SCALE in detail:
        return "off_scale"
    if SEVERAL in detail:
        return "contradictory"
    return failure or "unparsed"
