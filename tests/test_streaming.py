"""Streamed answers: put together from any cut, shown as they grow, never with reasoning."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.model import Message, Reply, Request, Sampling
from dramaturg.model.opening import Models
from dramaturg.model.sse import StreamedAnswer
from misbehaving import Act, MisbehavingServer, hang, html, refusing, say, too_long

REQUEST = Request([Message("user", "Speak.")])


async def watch(models: Models, server: MisbehavingServer, options: str = "") -> tuple[Reply, list[str]]:
    shown: list[str] = []
    reply = await (await models.open(f"{server.url}#m?{options}")).send(REQUEST, shown.append)
    return reply, shown


async def test_text_is_shown_as_it_grows_and_is_the_reply(models: Models) -> None:
    async with MisbehavingServer([say("Order in the court, 山田!")]) as server:
        reply, shown = await watch(models, server)
        assert server.requests[0].body["stream"] is True
    assert reply.ok
    assert "".join(shown) == reply.text == "Order in the court, 山田!"
    assert len(shown) > 2
    assert reply.first_token_s is not None and reply.first_token_s <= reply.seconds


async def test_usage_in_the_last_event_is_counted(models: Models) -> None:
    async with MisbehavingServer([say("one two")]) as server:
        reply, _ = await watch(models, server)
        assert server.requests[0].body["stream_options"] == {"include_usage": True}
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (2, 2)
    assert reply.served_by == "m"


@pytest.mark.parametrize(
    "act",
    [
        say("<think>secret plan</think>Aye."),
        say("Aye. <think>secret plan"),
        say("Aye.", reasoning="secret plan"),
        say("<|channel|>analysis<|message|>secret plan<|end|><|start|>assistant<|channel|>final<|message|>Aye."),
    ],
    ids=["tags", "unclosed", "field", "channels"],
)
async def test_reasoning_is_never_shown(models: Models, act: Act) -> None:
    async with MisbehavingServer([act]) as server:
        reply, shown = await watch(models, server)
    assert "".join(shown).strip() == "Aye."
    assert "secret plan" in reply.reasoning
    assert "secret" not in reply.text


async def test_broken_stream_is_tried_again_and_not_shown_twice(models: Models) -> None:
    for end in ("cut", "error"):
        async with MisbehavingServer([Act(content="A long sentence that breaks.", stream_end=end)]) as server:  # pyright: ignore[reportArgumentType]
            server.acts.append(say("Another."))
            reply, shown = await watch(models, server)
        assert (reply.status, reply.text) == ("ok", "Another.")
        assert "Another" not in "".join(shown)
        assert len(reply.notes) == 1


@pytest.mark.parametrize(("end", "failure"), [("cut", "connect"), ("error", "http")])
async def test_stream_that_always_breaks_is_a_failure_and_no_reply(models: Models, end: Any, failure: str) -> None:
    async with MisbehavingServer(lambda body, n: Act(content="A long sentence that breaks.", stream_end=end)) as server:
        reply, shown = await watch(models, server, "max_retries=0")
    assert (reply.status, reply.failure, reply.text) == ("failed", failure, "")
    assert shown


async def test_server_that_does_not_stream_is_shown_at_once(models: Models) -> None:
    body = {"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}
    async with MisbehavingServer([Act(body=body)]) as server:
        reply, shown = await watch(models, server)
    assert reply.ok and shown == ["Hi."]


async def test_refused_usage_option_is_dropped(models: Models) -> None:
    def handle(body: dict[str, Any], n: int) -> Act:
        if "stream_options" in body:
            return Act(status=400, body={"error": {"message": "unknown field stream_options"}})
        return say("Hi.")

    async with MisbehavingServer(handle) as server:
        reply, shown = await watch(models, server)
    assert reply.ok and "".join(shown) == "Hi."


async def test_errors_before_the_stream_are_what_they_are_without_one(models: Models) -> None:
    async with MisbehavingServer([too_long(), html(200), html(200)]) as server:
        assert (await watch(models, server, "max_retries=1"))[0].status == "context_overflow"
        assert (await watch(models, server, "max_retries=1"))[0].failure == "protocol"
        server.handler = refusing("temperature", "system")
        assert (await watch(models, server))[0].ok


async def test_stream_that_falls_silent_ends_at_the_read_limit(models: Models) -> None:
    async with MisbehavingServer(lambda body, n: hang()) as server:
        reply, _ = await watch(models, server, "read_timeout_s=0.3&max_retries=0")
    assert (reply.failure, "read_timeout_s=0.3" in reply.detail) == ("timeout", True)


async def test_truncated_stream_names_its_limit(models: Models) -> None:
    async with MisbehavingServer([say("and then", finish_reason="length")]) as server:
        model = await models.open(f"{server.url}#m")
        reply = await model.send(Request([Message("user", "x")], Sampling(max_tokens=7)), lambda text: None)
    assert (reply.status, reply.detail) == ("truncated", "cut at max_tokens=7")


def event(delta: dict[str, Any] | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": None, **more}
    return b"data: " + json.dumps({"model": "m", "choices": [choice]}, ensure_ascii=False).encode() + b"\n\n"


def collect(*chunks: bytes) -> tuple[StreamedAnswer, list[str]]:
    shown: list[str] = []
    answer = StreamedAnswer(shown.append, started=0.0)
    for chunk in chunks:
        answer.feed(chunk)
    answer.end()
    return answer, shown


@given(st.data(), st.lists(st.text(max_size=6), max_size=6))
def test_any_cut_of_the_bytes_gives_the_same_answer(data: st.DataObject, texts: list[str]) -> None:
    stream = b"".join(event({"content": text}) for text in texts) + event(finish_reason="stop") + b"data: [DONE]\n\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    answer, _ = collect(*chunks)
    whole, _ = collect(stream)
    assert answer.finished and not answer.error
    assert answer.reply(max_tokens=9).text == whole.reply(max_tokens=9).text


@given(st.text(max_size=40), st.text(max_size=40, alphabet="ab <>/think[]"))
def test_what_was_shown_is_a_beginning_of_the_reply(before: str, after: str) -> None:
    text = f"{before}<think>no</think>{after}"
    answer, shown = collect(*(event({"content": character}) for character in text), event(finish_reason="stop"))
    assert "<think>" not in "".join(shown)
    if not before.strip():
        assert answer.reply(max_tokens=9).text.startswith("".join(shown).strip())


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b'data: {"error": {"message": "cold"}}\n', "cold"),
        (b'data: {"object": "error", "message": "cold"}\n', "cold"),
        (b"data: {half\n", "no JSON"),
        (b"data: " + b"[" * 100_000 + b"\n", "no JSON"),
        (b'data: {"choices": [{"finish_reason": "error", "error": {"message": "cold"}}]}\n', "cold"),
    ],
)
def test_error_in_a_stream_is_seen(line: bytes, error: str) -> None:
    assert error in collect(event({"content": "half"}), line)[0].error


def test_what_is_no_event_is_passed_over() -> None:
    answer, shown = collect(
        b": comment\n\nevent: x\nid: 1\r\n",
        b'data:{"choices":[{"delta":{"content":"Hi"}}]}\r\n\r\n',
        b'data: 5\ndata: []\ndata: {"choices": null}\ndata: {"choices": [5]}\ndata: {"choices": [{"delta": 5}]}\n',
        b"data: [DONE]",
    )
    assert (answer.finished, answer.error, shown) == (True, "", ["Hi"])


def test_log_probabilities_of_a_stream_are_kept() -> None:
    logprobs = {"content": [{"token": "yes", "logprob": -0.5, "top_logprobs": []}]}
    answer, _ = collect(event({"content": "yes"}, logprobs=logprobs), event(finish_reason="stop"))
    assert [entry.token for entry in answer.reply(max_tokens=9).logprobs] == ["yes"]


def test_content_that_only_looks_like_a_tag_is_shown_in_the_end() -> None:
    assert "".join(collect(event({"content": "a <thin"}))[1]) == "a <thin"
