"""How many calls are in flight: what an endpoint bears decides, and nobody loses or keeps a place."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.model import Message, Request
from dramaturg.model.limiter import Limiter
from dramaturg.model.opening import Models
from misbehaving import MisbehavingServer, rate_limited, say, well_behaved


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def request(number: int = 0) -> Request:
    return Request([Message("user", f"Call {number}.")], seed=number)


async def test_limit_moves_both_ways_under_steady_rate_limiting() -> None:  # FW-28
    clock = Clock()
    limiter = Limiter(32, clock=clock)
    rng = random.Random(1)
    sizes: list[int] = []
    for _ in range(200):
        clock.now += 0.2
        await limiter.enter()
        refused = rng.random() < 0.2
        if refused:
            limiter.too_much()
        limiter.leave(succeeded=not refused)
        sizes.append(limiter.size)
    later = sizes[100:]
    assert any(a > b for a, b in itertools.pairwise(later))
    assert any(a < b for a, b in itertools.pairwise(later))
    assert 1 <= min(sizes) < max(sizes) <= 32


async def test_limit_recovers_after_an_overload_and_never_passes_what_was_asked_for() -> None:
    clock = Clock()
    limiter = Limiter(8, clock=clock)
    for _ in range(40):
        clock.now += 2
        limiter.too_much()
    assert limiter.size == 1
    for _ in range(100):
        await limiter.enter()
        limiter.leave(succeeded=True)
    assert limiter.size == 8


async def test_one_overload_that_answers_many_calls_cuts_once() -> None:
    limiter = Limiter(100, clock=Clock())
    for _ in range(50):
        limiter.too_much()
    assert limiter.size == 70


async def test_pause_holds_everyone_back_until_it_is_over() -> None:
    limiter = Limiter(4)
    await limiter.enter()
    limiter.too_much(0.2)
    limiter.leave(succeeded=False)
    started = time.perf_counter()
    await asyncio.gather(*(limiter.enter() for _ in range(2)))
    assert time.perf_counter() - started >= 0.15
    assert limiter.in_flight == 2


async def test_call_that_was_begun_goes_before_those_that_were_not() -> None:
    limiter = Limiter(1)
    await limiter.enter()
    order: list[str] = []

    async def wait(name: str, *, again: bool) -> None:
        await limiter.enter(again=again)
        order.append(name)
        limiter.leave(succeeded=True)

    tasks = [asyncio.create_task(wait("new", again=False)), asyncio.create_task(wait("begun", again=True))]
    await asyncio.sleep(0)
    limiter.leave(succeeded=True)
    await asyncio.gather(*tasks)
    assert order == ["begun", "new"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5))
async def test_cancelled_calls_leak_no_place_and_free_none_twice(seed: int, most: int) -> None:
    rng = random.Random(seed)
    limiter = Limiter(most)
    peak = 0

    async def call() -> None:
        nonlocal peak
        for attempt in range(3):
            await limiter.enter(again=attempt > 0)
            peak = max(peak, limiter.in_flight)
            try:
                await asyncio.sleep(rng.random() / 500)
                if rng.random() < 0.1:
                    limiter.too_much(rng.random() / 500)
            finally:
                limiter.leave(succeeded=rng.random() < 0.5)
            await asyncio.sleep(rng.random() / 500)

    tasks = [asyncio.create_task(call()) for _ in range(25)]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(rng.random() / 500)
        for task in rng.sample(tasks, 4):
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert limiter.in_flight == 0
    assert peak <= most
    async with asyncio.timeout(5):
        for _ in range(limiter.size):
            await limiter.enter()


async def test_cancelled_call_gives_its_place_to_the_next() -> None:
    limiter = Limiter(1)
    await limiter.enter()
    first, second = (asyncio.create_task(limiter.enter()) for _ in range(2))
    await asyncio.sleep(0)
    limiter.leave(succeeded=True)
    first.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await first
    await asyncio.wait_for(second, 1)
    assert limiter.in_flight == 1


@pytest.mark.parametrize("most", [5, 150])
async def test_as_many_calls_are_in_flight_as_were_asked_for(models: Models, most: int) -> None:  # FW-24
    async with MisbehavingServer(delay_s=0.01 * most) as server:
        model = await models.open(f"{server.url}#m?concurrency={most}")
        await asyncio.gather(*(model.send(request(n)) for n in range(most + 20)))
        assert server.peak == most


async def test_actors_and_judges_share_the_limit_of_an_endpoint(models: Models) -> None:  # FW-25
    async with MisbehavingServer(delay_s=0.02) as server:
        actor = await models.open(f"{server.url}#actor?concurrency=2&temperature=1")
        judge = await models.open(f"{server.url}#judge")
        await asyncio.gather(*(model.send(request(n)) for n in range(6) for model in (actor, judge)))
        assert server.peak == 2


async def test_larger_limit_of_a_later_spec_counts_where_no_spec_said_less(models: Models) -> None:
    async with MisbehavingServer(delay_s=0.2) as server:
        await models.open(f"{server.url}#a")
        model = await models.open(f"{server.url}#b?concurrency=40")
        await asyncio.gather(*(model.send(request(n)) for n in range(60)))
        assert server.peak == 40


async def test_rate_limited_calls_are_retried_and_all_end_well(models: Models) -> None:  # I25, FW-21, C27
    rng = random.Random(3)

    async with MisbehavingServer(
        lambda body, n: rate_limited() if rng.random() < 0.05 else well_behaved(body, n)
    ) as server:
        model = await models.open(f"{server.url}#m?concurrency=64")
        replies = await asyncio.gather(*(model.send(request(n)) for n in range(200)))
        assert {reply.status for reply in replies} == {"ok"}
        waits = sum(note.startswith("wait") for reply in replies for note in reply.notes)
        assert waits == len(server.requests) - 200 > 0


async def test_retry_after_holds_back_calls_that_were_not_refused(models: Models) -> None:
    async with MisbehavingServer([rate_limited("1")]) as server:
        model = await models.open(f"{server.url}#m?concurrency=8")
        first = asyncio.create_task(model.send(request(0)))
        while not server.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        replies = await asyncio.gather(first, *(model.send(request(n)) for n in range(1, 6)))
        assert all(reply.ok for reply in replies)
        refused, *later = [seen.arrived for seen in server.requests]
        assert min(later) - refused >= 0.9


async def test_cancelled_calls_leave_the_endpoint_usable(models: Models) -> None:
    rng = random.Random(4)
    async with MisbehavingServer(
        lambda body, n: rate_limited("0") if rng.random() < 0.15 else say("ok", delay_s=0.01)
    ) as server:
        model = await models.open(f"{server.url}#m?concurrency=3")
        tasks = [asyncio.create_task(model.send(request(n))) for n in range(40)]
        for task in tasks[::2]:
            await asyncio.sleep(0.01)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert server.peak <= 3
        assert models.open_calls() == []
        assert (await asyncio.wait_for(model.send(request(99)), 30)).ok
