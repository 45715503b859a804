"""A server that misbehaves: every fault ends in a typed reply, in time, and no secret is ever told."""

from __future__ import annotations

import asyncio
import json
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from dramaturg.errors import UnitStopped
from dramaturg.ledger import Ledger
from dramaturg.model import Message, Reply, Request, Sampling
from dramaturg.model.endpoint import Endpoint, ServerUnavailable
from dramaturg.model.limiter import Limiter
from dramaturg.model.model import Identity
from dramaturg.model.opening import Models
from misbehaving import (
    Act,
    Body,
    MisbehavingServer,
    cut_body,
    empty_body,
    error,
    garbage_chunks,
    hang,
    html,
    huge,
    invalid_utf8,
    no_choices,
    null_message,
    out_of_quota,
    rate_limited,
    say,
    too_long,
    well_behaved,
)

KEY = "hunter2-secret-of-mine"


def request(number: int = 0) -> Request:
    return Request([Message("user", f"Call {number}.")], seed=number)


async def send(models: Models, server: MisbehavingServer, options: str = "") -> Reply:
    return await (await models.open(f"{server.url}#m?{options}")).send(request())


@pytest.mark.parametrize(
    ("act", "status", "failure", "says", "sent"),
    [
        pytest.param(html(200), "failed", "protocol", "200 without JSON", 2, id="html-with-200"),
        pytest.param(empty_body(), "failed", "protocol", "200 without JSON", 2, id="empty-body"),
        pytest.param(Act(raw=b"[" * 100_000), "failed", "protocol", "200 without JSON", 2, id="deep-json"),
        pytest.param(no_choices(), "malformed", "", "no choices", 2, id="FW-27-choices"),
        pytest.param(null_message(), "malformed", "", "no message", 2, id="FW-27-message"),
        pytest.param(Act(body={"error": {"message": "cold"}}), "malformed", "", "cold", 2, id="error-with-200"),
        pytest.param(
            Act(body={"error": {"code": 402, "message": "pay"}}), "failed", "quota", "pay", 1, id="402-in-200"
        ),
        pytest.param(html(502), "failed", "http", "Bad gateway", 2, id="html-with-502"),
        pytest.param(error(500, "boom"), "failed", "http", "boom; given up after max_retries=1", 2, id="500"),
        pytest.param(rate_limited(), "failed", "quota", "Rate limit reached", 2, id="429"),
        pytest.param(rate_limited("86400"), "failed", "quota", "more than max_wait_s=300", 1, id="FW-22"),
        pytest.param(out_of_quota(), "failed", "quota", "more than max_wait_s=300", 1, id="FW-22-quota"),
        pytest.param(error(401, "wrong key"), "failed", "auth", "wrong key", 1, id="401"),
        pytest.param(error(404, "no such model"), "failed", "http", "no such model", 1, id="404"),
        pytest.param(too_long(), "context_overflow", "", "maximum context length is 2048", 1, id="FW-72"),
        pytest.param(cut_body(), "failed", "connect", "the connection broke", 2, id="cut"),
        pytest.param(garbage_chunks(), "failed", "connect", "the connection broke", 2, id="garbage-chunks"),
        pytest.param(
            Act(raw=b"{}", headers={"Content-Encoding": "gzip"}), "failed", "connect", "broke", 2, id="no-gzip"
        ),
    ],
)
async def test_fault_that_stays_is_a_typed_reply(
    models: Models, act: Act, status: str, failure: str, says: str, sent: int
) -> None:
    async with MisbehavingServer(lambda body, n: act) as server:
        reply = await send(models, server, "max_retries=1")
    assert (reply.status, reply.failure, reply.text) == (status, failure, "")
    assert says in reply.detail
    assert len(reply.detail.splitlines()) == 1
    assert len(server.requests) == sent
    assert len(reply.notes) == sent - 1


@pytest.mark.parametrize(
    ("option", "advice"), [("max_retries=1", True), ("context_tokens=9000", True), ("context_tokens=2048", False)]
)
async def test_a_prompt_that_does_not_fit_brings_the_option_that_tells_the_length(
    models: Models, option: str, advice: bool
) -> None:
    async with MisbehavingServer(lambda body, n: too_long()) as server:
        reply = await send(models, server, option)
    assert reply.status == "context_overflow"
    assert ("?context_tokens=2048 in the model's spec" in reply.detail) == advice


@pytest.mark.parametrize(
    "act",
    [
        html(200),
        no_choices(),
        null_message(),
        error(500, "boom"),
        rate_limited("0"),
        cut_body(),
        garbage_chunks(),
        html(502),
    ],
    ids=["html", "choices", "message", "500", "429", "cut", "chunks", "502"],
)
async def test_fault_that_passes_is_an_answer_with_a_note(models: Models, act: Act) -> None:
    async with MisbehavingServer([act]) as server:
        reply = await send(models, server)
    assert reply.ok
    assert len(reply.notes) == 1
    assert reply.seconds >= 0.3


async def test_no_retries_means_none(models: Models) -> None:  # FW-22
    for act in (rate_limited(), error(500, "boom"), no_choices(), html(200), cut_body()):
        async with MisbehavingServer([act]) as server:
            reply = await send(models, server, "max_retries=0")
            assert not reply.ok
            assert len(server.requests) == 1


async def test_daily_quota_fails_at_once_and_holds_nobody_back(models: Models) -> None:  # FW-22
    started = time.perf_counter()
    async with MisbehavingServer(lambda body, n: rate_limited("86400")) as server:
        model = await models.open(f"{server.url}#m")
        replies = await asyncio.gather(*(model.send(request(n)) for n in range(20)))
    assert {(reply.status, reply.failure) for reply in replies} == {("failed", "quota")}
    assert time.perf_counter() - started < 5


async def test_one_call_that_is_never_answered_fails_and_the_others_finish(models: Models) -> None:  # FW-94, FW-96
    def never_for_seven(body: Body, n: int) -> Act:
        return hang() if body["seed"] == 7 else well_behaved(body, n)

    async with MisbehavingServer(never_for_seven) as server:
        model = await models.open(f"{server.url}#m?attempt_timeout_s=1&concurrency=20")
        replies = await asyncio.gather(*(model.send(request(n)) for n in range(20)))
    assert [n for n, reply in enumerate(replies) if not reply.ok] == [7]
    assert replies[7].failure == "timeout"
    assert "attempt_timeout_s=1" in replies[7].detail


async def test_dead_connection_is_survived_by_one_more_try(models: Models) -> None:
    async with MisbehavingServer([hang()]) as server:
        assert (await send(models, server, "attempt_timeout_s=0.5")).ok


async def test_slow_server_is_not_asked_for_more_than_it_was(models: Models) -> None:  # FW-79
    async with MisbehavingServer(delay_s=5) as server:
        model = await models.open(f"{server.url}#m?attempt_timeout_s=0.3&concurrency=4")
        replies = await asyncio.gather(*(model.send(request(n)) for n in range(8)))
        assert {reply.failure for reply in replies} == {"timeout"}
        assert server.peak <= 4
        assert len(server.requests) <= 16


async def test_total_limit_ends_retries_and_is_named(models: Models) -> None:  # FW-97
    async with MisbehavingServer(lambda body, n: error(500, "boom")) as server:
        reply = await send(models, server, "total_timeout_s=1&max_retries=50")
    assert "total_timeout_s=1 is used up" in reply.detail
    assert reply.seconds < 1.5


async def test_total_limit_cuts_an_attempt_too(models: Models) -> None:
    async with MisbehavingServer(lambda body, n: hang()) as server:
        reply = await send(models, server, "total_timeout_s=0.5")
    assert (reply.failure, "total_timeout_s=0.5" in reply.detail) == ("timeout", True)
    assert reply.seconds < 2


async def test_waiting_for_a_place_counts_against_no_limit(models: Models) -> None:
    async with MisbehavingServer(delay_s=0.2) as server:
        model = await models.open(f"{server.url}#m?concurrency=1&total_timeout_s=0.6&attempt_timeout_s=0.6")
        replies = await asyncio.gather(*(model.send(request(n)) for n in range(6)))
    assert {reply.status for reply in replies} == {"ok"}
    assert max(reply.seconds for reply in replies) < 0.6


async def test_server_that_is_not_there_is_a_failure_to_connect(models: Models) -> None:
    reply = await (await models.open("http://127.0.0.1:9/v1#m?max_retries=1")).send(request())
    assert (reply.status, reply.failure) == ("failed", "connect")
    assert "127.0.0.1:9" in reply.detail


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirect_is_not_followed_and_takes_no_key_along(
    models: Models, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAMATURG_API_KEY", KEY)
    async with MisbehavingServer() as elsewhere, MisbehavingServer() as server:
        server.acts.append(Act(status=status, raw=b"", headers={"Location": f"{elsewhere.url}/chat/completions"}))
        reply = await send(models, server)
        assert (reply.status, reply.failure) == ("failed", "http")
        assert f"redirects to {elsewhere.url}" in reply.detail
        assert elsewhere.requests == []


async def test_unicode_comes_back_as_it_was_said(models: Models) -> None:
    said = "Zoë 山田 🎭\u200d – «да»"
    async with MisbehavingServer([say(said), invalid_utf8(), huge(2_000_000)]) as server:
        assert (await send(models, server)).text == said
        assert (await send(models, server)).text == "caf\ufffd \ufffd"
        assert len((await send(models, server)).text) == 2_000_000
        model = await models.open(f"{server.url}#m?")
        await model.send(Request([Message("user", f"half \ud83d {said}")]))
        assert server.requests[-1].body["messages"][0]["content"] == f"half ? {said}"


async def test_usage_log_probabilities_and_server_are_reported(models: Models) -> None:
    async with MisbehavingServer([say("yes", cached_tokens=2, reasoning="hm")]) as server:
        model = await models.open(f"{server.url}#some-model")
        reply = await model.send(Request([Message("user", "one two three")], Sampling(top_logprobs=3)))
    assert (reply.usage.input_tokens, reply.usage.cached_tokens, reply.usage.reasoning_tokens) == (3, 2, 1)
    assert reply.logprobs[0].token == "yes"
    assert len(reply.logprobs[0].top) == 3
    assert reply.served_by == "some-model fp_test"
    assert reply.reasoning == "hm"


async def test_usage_that_is_not_reported_stays_unknown(models: Models) -> None:
    async with MisbehavingServer([say("yes", usage=None)]) as server:
        assert (await send(models, server)).usage.output_tokens is None


async def test_embeddings_come_in_order_or_not_at_all(models: Models) -> None:
    async with MisbehavingServer() as server:
        vectors = await (await models.open(f"{server.url}#m")).embed(["the yard", "the yard", "a dog"])
        assert vectors is not None
        assert vectors[0] == vectors[1] != vectors[2]
    assert await (await models.open(f"{server.url}#m?max_retries=0")).embed(["x"]) is None


async def test_calls_in_flight_are_listed_with_their_age(models: Models) -> None:  # FW-94
    async with MisbehavingServer(lambda body, n: replace(well_behaved(body, n), delay_s=0.5)) as server:
        model = await models.open(f"{server.url}#m")
        same = request()
        tasks = [asyncio.create_task(model.send(same)) for _ in range(3)]
        await asyncio.sleep(0.3)
        ages = [age for _, age in models.open_calls()]
        assert len(ages) == 3
        assert 0 < min(ages) < 0.5
        assert all(reply.ok for reply in await asyncio.gather(*tasks))
        assert models.open_calls() == []


async def test_process_that_cannot_be_had_is_a_typed_failure(models: Models) -> None:
    async def no_memory() -> str:
        raise ServerUnavailable("memory", "needs 9 GB, 2 GB are free")

    async with MisbehavingServer() as server:
        await send(models, server)
        session = models._the_session()  # pyright: ignore[reportPrivateUsage]
        endpoint = Endpoint(
            name="m", identity=Identity("gguf", "m"), session=session, limiter=Limiter(1), address=no_memory
        )
        reply = await endpoint.send(request())
    assert (reply.status, reply.failure, reply.detail) == ("failed", "memory", "needs 9 GB, 2 GB are free")


# Secrets


def echoing(make: Callable[[str], Act]) -> Callable[[Body, int], Act]:
    return lambda body, n: make(KEY)


@pytest.mark.parametrize(
    "act",
    [
        error(401, f"Incorrect API key provided: {KEY}. You can find your key at …"),
        error(400, "x" * 285 + KEY),
        error(500, f"header Authorization: Bearer {KEY}"),
        Act(raw=f"<html>{KEY}</html>".encode()),
        Act(raw=("x" * 70 + KEY).encode()),
        Act(body={"choices": [], "error": KEY}),
        Act(status=302, raw=b"", headers={"Location": f"http://127.0.0.1/?key={KEY}"}),
        say(f"Your key is {KEY}."),
        say(f"<think>{KEY}</think>Hi"),
        Act(body={"model": KEY, "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}),
    ],
    ids=["401", "400-cut", "500", "html", "html-cut", "choices", "redirect", "text", "reasoning", "model"],
)
async def test_key_is_told_to_nobody(  # FW-45
    models: Models, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Act
) -> None:
    monkeypatch.setenv("SOME_CREDENTIAL", KEY)
    async with MisbehavingServer(
        [act, act],
    ) as server:
        model = await models.open(f"{server.url}#m?key_env=SOME_CREDENTIAL&max_retries=1")
        said = ""
        try:
            asked = await ledger.calls(unit="u", seed=1).ask(
                model, [Message("user", "x")], step="s", role="r", purpose="p"
            )
            said = repr(asked)
        except UnitStopped:
            said = traceback.format_exc()
        assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
        assert "hunter2" not in said + repr(model) + str(models.seen)
    ledger.close()
    for path in tmp_path.iterdir():
        assert b"hunter2" not in path.read_bytes(), path.name


async def test_proxy_of_the_environment_is_not_used_for_this_machine(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    async with MisbehavingServer() as server:
        assert (await send(models, server)).ok


async def test_cookie_of_a_server_is_not_kept(models: Models) -> None:
    async with MisbehavingServer([say("a", headers={"Set-Cookie": "session=1"})]) as server:
        await send(models, server)
        await send(models, server)
        assert "Cookie" not in server.requests[-1].headers


async def test_stray_bytes_of_a_raw_socket_are_a_failure(models: Models) -> None:
    async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"\x00\xff not http at all\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(garbage, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reply = await (await models.open(f"http://127.0.0.1:{port}/v1#m?max_retries=0")).send(request())
    assert (reply.status, reply.failure) == ("failed", "connect")


async def test_ipv6_server_is_spoken_to(models: Models) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"choices": [{"message": {"content": json.dumps(await request.json())}}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "::1", 0).start()
    except OSError:
        await runner.cleanup()
        pytest.skip("no IPv6 on this machine")
    address: Any = runner.addresses[0]
    reply = await (await models.open(f"http://[::1]:{address[1]}/v1#m")).send(request())
    await runner.cleanup()
    assert reply.ok
