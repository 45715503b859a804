"""The doctor: what it finds on a model that behaves, and on each kind that does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import pytest

from dramaturg.model.doctor import Check, examine
from dramaturg.model.opening import Models
from misbehaving import (
    Act,
    Body,
    Handler,
    MisbehavingServer,
    error,
    ignoring_schema,
    keeping_last,
    leaking_system_prompts,
    obedient,
    refusing,
    schema_500,
    swapping_answers,
    too_long,
    unseeded,
    varying_with_load,
    weak,
)


class Examined(Protocol):
    """Examines a model behind a handler, or behind one that is made for the server; gives its checks by id."""

    async def __call__(
        self, handler: Handler = obedient, *, made_for: Callable[[MisbehavingServer], Handler] | None = None
    ) -> dict[str, Check]: ...


@pytest.fixture
async def examined(models: Models) -> Examined:
    async def run(
        handler: Handler = obedient, *, made_for: Callable[[MisbehavingServer], Handler] | None = None
    ) -> dict[str, Check]:
        async with MisbehavingServer(handler) as server:
            if made_for is not None:
                server.handler = made_for(server)
            model = await models.open(f"{server.url}#test?max_retries=0")
            diagnosis = await examine(model, planned_tokens=2000, concurrency=6)
            assert diagnosis.calls <= len(server.requests) <= diagnosis.calls + 2
        json.dumps([dict(check.measured) for check in diagnosis.checks], allow_nan=False)
        assert all("\n" not in check.line and check.line for check in diagnosis.checks)
        return {check.id: check for check in diagnosis.checks}

    return run


def but(handler: Handler, **changes: object) -> Handler:
    """The handler, with something changed in every act."""

    def handle(body: Body, n: int) -> Act:
        return replace(handler(body, n), **changes)  # type: ignore[arg-type]

    return handle


async def test_a_model_that_behaves_passes_every_check(examined: Examined) -> None:
    checks = await examined(but(obedient, cached_tokens=100))
    assert {name: check.status for name, check in checks.items()} == {
        "answers": "ok",
        "system_prompt": "ok",
        "system_prompt_leak": "ok",
        "concurrency_swap": "ok",
        "context": "ok",
        "cached_tokens": "ok",
        "schema": "ok",
        "schema_after_reasoning": "skipped",
        "logprobs": "ok",
        "seeds": "ok",
        "speed": "ok",
        "usage": "ok",
    }
    assert checks["context"].measured["counted_tokens"] == pytest.approx(2000, rel=0.02)


async def test_a_server_that_is_down_is_one_failure_and_nothing_is_guessed(models: Models) -> None:
    async with MisbehavingServer() as server:
        url = server.url
    model = await models.open(f"{url}#test?max_retries=0")
    diagnosis = await examine(model, planned_tokens=2000, concurrency=6)
    assert [(check.id, check.status) for check in diagnosis.checks] == [("answers", "fail")]
    assert "connect" in diagnosis.checks[0].line


async def test_system_prompts_that_leak_between_calls_are_found(examined: Examined) -> None:
    checks = await examined(made_for=leaking_system_prompts)
    assert checks["system_prompt"].status == "ok"
    assert checks["system_prompt_leak"].status == "fail"


async def test_answers_that_are_swapped_in_flight_are_found(examined: Examined) -> None:
    checks = await examined(made_for=swapping_answers)
    assert checks["concurrency_swap"].status == "fail"
    assert checks["concurrency_swap"].measured["foreign"] == 5


async def test_a_context_that_drops_the_start_silently_is_found_by_the_count(examined: Examined) -> None:
    """FW-73."""
    checks = await examined(keeping_last(700))
    assert checks["context"].status == "fail"
    assert checks["context"].measured["counted_tokens"] == 700


async def test_a_context_that_drops_the_start_is_found_by_the_word_where_nothing_is_counted(examined: Examined) -> None:
    """FW-73."""
    checks = await examined(but(keeping_last(700), usage=None))
    assert checks["context"].status == "fail"
    assert checks["context"].measured["recalled_tokens"] == pytest.approx(500, rel=0.2)
    assert checks["usage"].status == "warn"
    assert checks["speed"].status == "skipped"


async def test_a_context_that_drops_the_start_and_counts_it_all_the_same_is_a_warning(examined: Examined) -> None:
    """FW-73."""
    checks = await examined(but(keeping_last(700), prompt_tokens=None))
    assert checks["context"].status == "warn"
    assert checks["context"].measured["recalled"] is False


async def test_a_context_that_is_too_small_and_says_so_is_found(examined: Examined) -> None:
    """FW-72."""

    def handle(body: Body, n: int) -> Act:
        return too_long(1500) if len(json.dumps(body)) > 6000 else obedient(body, n)

    checks = await examined(handle)
    assert checks["context"].status == "fail"
    assert "do not fit" in checks["context"].line


async def test_a_weak_model_is_not_blamed_on_its_server(examined: Examined) -> None:
    checks = await examined(weak)
    for name in ("system_prompt", "system_prompt_leak", "concurrency_swap", "context"):
        assert checks[name].status == "skipped"
        assert "too weak" in checks[name].line


async def test_a_weak_model_does_not_hide_a_context_that_is_too_small(examined: Examined) -> None:
    """FW-73."""

    def handle(body: Body, n: int) -> Act:
        return Act(content="Well, well.", prompt_tokens=min(700, len(json.dumps(body)) // 4))

    checks = await examined(handle)
    assert checks["context"].status == "fail"


async def test_a_system_prompt_that_is_ignored_is_found(examined: Examined) -> None:
    def handle(body: Body, n: int) -> Act:
        return obedient({**body, "messages": [m for m in body["messages"] if m["role"] != "system"]}, n)

    checks = await examined(handle)
    assert checks["system_prompt"].status == "fail"


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        pytest.param(ignoring_schema, "does not enforce", id="ignored"),
        pytest.param(schema_500, "takes no schema", id="FW-75"),
        pytest.param(refusing("json_schema"), "takes no schema", id="refused"),
    ],
)
async def test_a_schema_that_is_not_enforced_is_a_warning(examined: Examined, handler: Handler, told: str) -> None:
    checks = await examined(handler)
    assert checks["schema"].status == "warn"
    assert told in checks["schema"].line


@pytest.mark.parametrize(
    ("keeps", "follows", "status"), [(True, True, "ok"), (False, True, "warn"), (True, False, "warn")]
)
async def test_whether_a_schema_works_after_reasoning_is_told(
    examined: Examined, keeps: bool, follows: bool, status: str
) -> None:
    """FW-19."""

    def handle(body: Body, n: int) -> Act:
        schema = "response_format" in body
        act = obedient(body if follows else {**body, "response_format": None}, n)
        return Act(content=act.content, reasoning="Let me think." if keeps or not schema else None)

    checks = await examined(handle)
    assert checks["schema_after_reasoning"].status == status


async def test_seeds_that_do_not_repeat_are_told_apart_from_calls_in_flight_that_differ(examined: Examined) -> None:
    """FW-60."""
    alone = await examined(unseeded)
    in_flight = await examined(made_for=varying_with_load)
    assert (alone["seeds"].status, alone["seeds"].measured["repeats_alone"]) == ("warn", False)
    assert (in_flight["seeds"].status, in_flight["seeds"].measured["repeats_alone"]) == ("warn", True)
    assert "alone" in in_flight["seeds"].line


async def test_a_server_that_takes_no_seed_or_log_probabilities_is_told(examined: Examined) -> None:
    checks = await examined(refusing("seed", "logprobs"))
    assert "takes no seed" in checks["seeds"].line
    assert checks["logprobs"].status == "warn"


async def test_what_a_server_does_not_count_is_told(examined: Examined) -> None:
    checks = await examined(but(obedient, usage=None))
    assert checks["usage"].status == "warn"
    assert checks["cached_tokens"].status == "warn"
    assert checks["context"].status == "ok"


async def test_calls_that_fail_only_in_flight_are_a_failure(models: Models) -> None:
    async with MisbehavingServer() as server:

        def handle(body: Body, n: int) -> Act:
            busy = server.in_flight > 2
            return error(500, "out of slots") if busy else Act(content=obedient(body, n).content, delay_s=0.02)

        server.handler = handle
        model = await models.open(f"{server.url}#test?max_retries=0")
        diagnosis = await examine(model, planned_tokens=500, concurrency=6)
    checks = {check.id: check for check in diagnosis.checks}
    assert checks["concurrency_swap"].status == "fail"
    assert checks["concurrency_swap"].measured["unanswered"] == 4
