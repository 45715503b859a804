"""Tries again, within limits, what an endpoint did not answer. Every loop here is bounded."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from dramaturg.model.limiter import Limiter
from dramaturg.model.problem import HttpProblem
from dramaturg.model.reply import Reply
from dramaturg.model.spec import Options

AnswerT = TypeVar("AnswerT")
Again = Literal["no", "once", "yes"]

BACKOFF_S = 0.5
"""First wait after a failure that names none; doubled each time."""

LONGEST_BACKOFF_S = 30.0

TRIES_WITHOUT_ANSWER = 2
"""A body without an answer, or no answer in time, is worth so many tries and no more."""


@dataclass(frozen=True, slots=True)
class Broken:
    """An attempt that brought no answer.

    Attributes:
        reply: What the call ends with if nobody tries again.
        again: Whether to try again.
        overloaded: Whether the endpoint has too much to do.
        wait_s: How long it asked to wait, or None.
        problem: What HTTP error it was, if it was one.
    """

    reply: Reply
    again: Again = "no"
    overloaded: bool = False
    wait_s: float | None = None
    problem: HttpProblem | None = None


class Attempts:
    """The attempts of all calls to one endpoint.

    Attributes:
        open_since: Number of each call that has begun and not ended → `time.monotonic()` at its first attempt.
    """

    def __init__(self, limiter: Limiter, options: Options) -> None:
        """Makes no attempt yet.

        Args:
            limiter: Gives a place to each attempt; shared by all who use the same server and key.
            options: Retries and time limits of the spec string.
        """
        self.open_since: dict[int, float] = {}
        self._limiter = limiter
        self._options = options
        self._numbers = itertools.count()

    async def run(
        self, attempt: Callable[[float], Awaitable[AnswerT | Broken]], notes: list[str], seed: int
    ) -> tuple[AnswerT | Broken, float]:
        """Returns what the attempts brought in the end, and the seconds since the first began, waits included.

        Args:
            attempt: Makes one attempt; takes the seconds it may last at most.
            notes: Receives a line for each retry.
            seed: Spreads the waits of calls that failed together.
        """
        options = self._options
        number = next(self._numbers)
        retries = 0
        started = 0.0
        try:
            while True:
                await self._limiter.enter(again=retries > 0)
                now = time.perf_counter()
                if retries == 0:
                    started = now
                    self.open_since[number] = time.monotonic()
                result = await self._in_place(attempt, started + options.total_timeout_s - now)
                if not isinstance(result, Broken):
                    return result, time.perf_counter() - started
                broken = self._last(result, retries)
                wait_s = self._wait_s(result, retries, seed)
                if broken is None and time.perf_counter() - started + wait_s > options.total_timeout_s:
                    broken = _ended(result, f"total_timeout_s={options.total_timeout_s:g} is used up")
                if broken is not None:
                    return broken, time.perf_counter() - started
                kind = f"wait {wait_s:.1f} s" if result.overloaded else "retry"
                notes.append(f"{kind}: {result.reply.failure or result.reply.status}: {result.reply.detail}")
                retries += 1
                await asyncio.sleep(wait_s)
        finally:
            self.open_since.pop(number, None)

    async def _in_place(
        self, attempt: Callable[[float], Awaitable[AnswerT | Broken]], left_s: float
    ) -> AnswerT | Broken:
        """Returns what an attempt brought; the place it had is given back, and the limiter told, in any case."""
        succeeded = False
        try:
            result = await attempt(max(0.001, min(self._options.attempt_timeout_s, left_s)))
            if not isinstance(result, Broken):
                succeeded = True
            elif result.overloaded:
                asked_s = result.wait_s
                self._limiter.too_much(None if asked_s is None or asked_s > self._options.max_wait_s else asked_s)
            return result
        finally:
            self._limiter.leave(succeeded=succeeded)

    def _last(self, result: Broken, retries: int) -> Broken | None:
        """Returns what the call ends with, or None when it is worth another attempt."""
        options = self._options
        asked_s = result.wait_s
        if asked_s is not None and asked_s > options.max_wait_s:
            limit = f"the server asks to wait {asked_s:.0f} s, more than max_wait_s={options.max_wait_s:g}"
            return _ended(result, limit, quota=True)
        most = {"no": 0, "once": min(TRIES_WITHOUT_ANSWER - 1, options.max_retries), "yes": options.max_retries}
        if retries < most[result.again]:
            return None
        return result if result.again != "yes" else _ended(result, f"given up after max_retries={options.max_retries}")

    def _wait_s(self, result: Broken, retries: int, seed: int) -> float:
        """Returns how long to wait: what the server asked for, and no less than the backoff."""
        backoff_s = min(BACKOFF_S * 2 ** min(retries, 16), LONGEST_BACKOFF_S)
        spread = 0.75 + random.Random(f"{seed}/{retries}").random() / 2
        return max(result.wait_s or 0.0, backoff_s * spread)


def _ended(result: Broken, why: str, *, quota: bool = False) -> Broken:
    reply = replace(result.reply, detail=f"{result.reply.detail}; {why}")
    return replace(result, reply=replace(reply, status="failed", failure="quota") if quota else reply)
