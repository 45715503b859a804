"""Budgets stop a run before a call and never in the middle of one; they are exact however many calls are in flight."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.errors import LimitReached, UnitStopped, UserError
from dramaturg.ledger import Budget, Ledger
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model import Identity, Message, Reply, Request, Sampling, Usage
from dramaturg.model.reply import FailureKind
from ledger_fixtures import CountingModel, ask

REQUEST = Request([Message("user", "x" * 396)], Sampling(max_tokens=100))
"""100 estimated tokens in, 100 out at most."""

LOCAL = Identity("gguf", "m", "digest")
PRICED = Identity("openai", "gpt-4o-mini")


async def ask_many(ledger: Ledger, budget: Budget, model: CountingModel, count: int) -> list[BaseException | None]:
    async def one(n: int) -> BaseException | None:
        calls = ledger.calls(unit=f"u{n % 7}", seed=1, budget=budget)
        try:
            await ask(calls, model, step=f"turn/{n}")
        except (LimitReached, UnitStopped) as error:
            return error
        return None

    return await asyncio.gather(*(one(n) for n in range(count)))


async def test_no_call_is_made_beyond_the_limit_however_many_are_in_flight(ledger: Ledger) -> None:  # FW-69
    model, budget = CountingModel(delay_s=0.01), Budget(max_calls=13)
    ended = await ask_many(ledger, budget, model, 50)
    assert len(model.asked) == budget.calls == 13
    assert sum(isinstance(error, LimitReached) for error in ended) == 37
    assert {error.limit for error in ended if isinstance(error, LimitReached)} == {"max_calls"}


async def test_calls_in_flight_hold_back_what_they_may_use(ledger: Ledger) -> None:
    model = CountingModel(lambda request: Reply("ok", text="x", usage=Usage(2, 0, 400, 0)), delay_s=0.01)
    budget = Budget(max_tokens=5 * 514)
    await ask_many(ledger, budget, model, 40)
    assert len(model.asked) == 5, "each sets aside 2 + 512 tokens"
    assert budget.tokens == 5 * 402
    await ask_many(ledger, budget, model, 40)
    assert len(model.asked) == 6, "what they did not use is free again, and the first five are replayed"


async def test_replayed_calls_are_free(ledger: Ledger) -> None:
    model = CountingModel()
    await ask_many(ledger, Budget(), model, 10)
    budget = Budget(max_calls=0, max_tokens=0, max_cost=0)
    assert await ask_many(ledger, budget, model, 10) == [None] * 10
    assert (budget.calls, budget.replayed, budget.tokens) == (0, 10, 0)


@pytest.mark.parametrize(("failure", "tokens"), [("connect", 0), ("auth", 0), ("timeout", 514)])
async def test_failure_uses_no_tokens_unless_the_server_may_have_worked(
    ledger: Ledger, failure: FailureKind, tokens: int
) -> None:
    model, budget = CountingModel(lambda request: Reply("failed", failure=failure)), Budget(max_tokens=10_000)
    await ask_many(ledger, budget, model, 1)
    assert (budget.calls, budget.tokens) == (1, tokens)


def test_reservation_is_given_back() -> None:
    budget = Budget(max_tokens=250)
    first = budget.admit(REQUEST, LOCAL)
    assert first.tokens == 200
    with pytest.raises(LimitReached, match="max_tokens"):
        budget.admit(REQUEST, LOCAL)
    budget.release(first)
    budget.settle(budget.admit(REQUEST, LOCAL), Usage(20, 0, 10, 0))
    assert budget.tokens == 30
    budget.admit(REQUEST, LOCAL)


def test_unknown_usage_counts_as_what_was_set_aside() -> None:
    budget = Budget(max_tokens=1000)
    budget.settle(budget.admit(REQUEST, LOCAL), Usage())
    assert budget.tokens == 200


def test_cost_is_held_to_a_limit() -> None:
    budget = Budget(max_cost=0.001)
    worst = budget.admit(REQUEST, PRICED)
    assert 0 < worst.cost < 0.001
    budget.settle(worst, Usage(1000, 500, 1000, 0))
    assert 0 < budget.cost < 0.001
    with pytest.raises(LimitReached, match="max_cost"):
        for _ in range(20):
            budget.admit(REQUEST, PRICED)


def test_cost_limit_refuses_to_start_where_a_price_is_unknown() -> None:
    with pytest.raises(UserError, match="no price is known for ollama:x"):
        Budget(max_cost=1).check_prices({"openai:gpt-4o-mini": PRICED, "ollama:x": Identity("ollama", "x")})
    Budget(max_cost=1).check_prices({"openai:gpt-4o-mini": PRICED, "gguf:m": LOCAL})
    Budget().check_prices({"ollama:x": Identity("ollama", "x")})


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 300)), max_size=30), st.integers(0, 2000))
def test_tokens_never_pass_the_limit_when_calls_use_no_more_than_they_may(
    calls: list[tuple[bool, int]], limit: int
) -> None:
    budget = Budget(max_tokens=limit)
    in_flight = []
    for settles, used in calls:
        try:
            in_flight.append(budget.admit(REQUEST, LOCAL))
        except LimitReached:
            pass
        if settles and in_flight:
            budget.settle(in_flight.pop(), Usage(min(used, 100), 0, min(used, 100), 0))
    for reservation in in_flight:
        budget.settle(reservation, Usage())
    assert budget.tokens <= limit


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 1), ("a" * 400, 101), ("山" * 100, 101), ("д" * 100, 51), ("🎭" * 10, 11)]
)
def test_tokens_are_estimated_by_alphabet(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens
