"""What a server refuses is learned once, from whatever words it uses, and noted with each reply."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dramaturg.model import AnswerSchema, Message, Request, Sampling
from dramaturg.model.capabilities import Capabilities
from dramaturg.model.opening import Models
from dramaturg.model.wire import body_of
from misbehaving import Act, MisbehavingServer, error, ignoring_schema, refusing, say, schema_500

SCHEMA = AnswerSchema("answer", {"type": "object", "properties": {"a": {"type": "string"}}})
REQUEST = Request(
    [Message("system", "rules"), Message("user", "one"), Message("user", "two")],
    Sampling(top_p=0.9, stop=("END",), top_logprobs=3),
    schema=SCHEMA,
)


@pytest.mark.parametrize(
    ("message", "learned"),
    [
        ("Unsupported value: 'temperature' does not support 0.7 with this model. Only 1 is supported.", "temperature"),
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("Unrecognized request argument supplied: seed", "seed"),
        ("top_logprobs must be between 0 and 0", "logprobs"),
        ("extra_forbidden: body.stop", "stop"),
        ("`stream_options` is not allowed", "stream_usage"),
        ("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", "schema"),
        ("The model produced output that does not match the expected format", "schema"),
        ("failed to parse grammar", "schema"),
        ("System role not supported", "system"),
        ("Jinja Exception: only user and assistant roles are supported, not system!", "system"),
        ("Developer instruction is not enabled for models/gemma-3", "system"),
        ("Conversation roles must alternate user/assistant/user/assistant/...", "alternation"),
        ("After the optional system message, roles must alternate", "alternation"),
        ("the model is on fire", None),
    ],
)
def test_words_of_many_servers_are_understood(message: str, learned: str | None) -> None:
    capabilities = Capabilities()
    assert capabilities.learn(message, body_of(REQUEST, "m", capabilities, stream=True)) == learned


def test_parameter_that_is_named_beside_the_text_counts_first() -> None:
    capabilities = Capabilities()
    body = body_of(REQUEST, "m", capabilities, stream=False)
    assert capabilities.learn("stop: value not supported", body, parameter="top_p") == "top_p"
    assert capabilities.learn("not supported", body, parameter="response_format") == "schema"


def test_server_that_broke_teaches_nothing_about_parameters() -> None:
    capabilities = Capabilities()
    body = body_of(REQUEST, "m", capabilities, stream=False)
    assert capabilities.learn("seed of the temperature sensor: stop", body, broke=True) is None
    assert capabilities.learn("Jinja: roles must alternate", body, broke=True) == "alternation"


def test_only_what_was_sent_can_have_been_refused() -> None:
    capabilities = Capabilities()
    body = body_of(Request([Message("user", "x")]), "m", capabilities, stream=False)
    for message in ("top_p", "stop", "response_format", "System role not supported", "roles must alternate"):
        assert capabilities.learn(message, body) is None


def test_same_complaint_about_the_mended_body_is_about_the_system_prompt() -> None:
    capabilities = Capabilities()
    complaint = "Conversation roles must alternate user/assistant"
    assert capabilities.learn(complaint, body_of(REQUEST, "m", capabilities, stream=False)) == "alternation"
    assert capabilities.learn(complaint, body_of(REQUEST, "m", capabilities, stream=False)) == "system"
    assert capabilities.learn(complaint, body_of(REQUEST, "m", capabilities, stream=False)) is None


async def test_two_refused_parameters_are_both_dropped_and_the_words_kept(models: Models) -> None:  # I46
    async with MisbehavingServer(refusing("temperature", "max_tokens")) as server:
        model = await models.open(f"{server.url}#m?max_retries=0")
        first, second = await model.send(REQUEST), await model.send(REQUEST)
        assert first.ok and second.ok
        assert [note for note in first.notes if "'temperature' does not support" in note]
        assert [note for note in first.notes if "'max_tokens' is not supported" in note]
        assert len(server.requests) == 4, "learned once"
        assert server.requests[-1].body["max_completion_tokens"] == 512
        assert "without temperature" in second.notes


async def test_calls_in_flight_together_all_learn(models: Models) -> None:
    handle = refusing("temperature", "seed", "system")

    def slow(body: dict[str, Any], n: int) -> Act:
        act = handle(body, n)
        return Act(status=act.status, body=act.body, content=act.content, delay_s=0.05)

    async with MisbehavingServer(slow) as server:
        model = await models.open(f"{server.url}#m")
        replies = await asyncio.gather(*(model.send(Request(REQUEST.messages, seed=n)) for n in range(8)))
        assert {reply.status for reply in replies} == {"ok"}


async def test_everything_refused_at_once_still_gets_an_answer(models: Models) -> None:
    everything = ("temperature", "max_tokens", "seed", "logprobs", "top_p", "response_format", "system", "alternation")
    async with MisbehavingServer(refusing(*everything)) as server:
        model = await models.open(f"{server.url}#m?max_retries=0")
        reply = await model.send(REQUEST)
        assert reply.ok
        assert "without seed" in reply.notes and "without system" in reply.notes
        assert server.requests[-1].body["messages"][0]["content"] == "rules\n\none\n\ntwo"


async def test_schema_falls_back_to_json_mode_and_then_to_plain(models: Models) -> None:  # FW-75
    async with MisbehavingServer(schema_500) as server:
        reply = await (await models.open(f"{server.url}#a?max_retries=0")).send(REQUEST)
        assert reply.ok
        assert [seen.body.get("response_format", {}).get("type") for seen in server.requests] == [
            "json_schema",
            "json_object",
        ]
        server.handler = refusing("response_format")
        server.requests.clear()
        reply = await (await models.open(f"{server.url}#b?max_retries=0")).send(REQUEST)
        assert reply.ok and {"without schema", "without json_mode"} <= set(reply.notes)
        assert "response_format" not in server.requests[-1].body


async def test_server_that_lies_about_schemas_still_gives_its_text(models: Models) -> None:
    async with MisbehavingServer(ignoring_schema) as server:
        reply = await (await models.open(f"{server.url}#m")).send(REQUEST)
        assert reply.ok and not reply.text.startswith("{")


async def test_complaint_about_nothing_that_was_sent_is_the_failure(models: Models) -> None:
    async with MisbehavingServer([error(400, "the moon is in the wrong house")]) as server:
        reply = await (await models.open(f"{server.url}#m")).send(REQUEST)
        assert (reply.status, reply.failure, reply.detail) == ("failed", "http", "the moon is in the wrong house")
        assert len(server.requests) == 1


async def test_server_that_always_complains_ends_the_call(models: Models) -> None:
    words = "temperature seed max_tokens top_p stop logprobs response_format system not supported, roles must alternate"
    async with MisbehavingServer(lambda body, n: error(400, words)) as server:
        reply = await (await models.open(f"{server.url}#m")).send(REQUEST)
        assert reply.status == "failed"
        assert len(server.requests) <= 12


async def test_request_with_nothing_refused_has_no_notes(models: Models) -> None:
    async with MisbehavingServer([say("Hi.")]) as server:
        assert (await (await models.open(f"{server.url}#m")).send(REQUEST)).notes == ()
