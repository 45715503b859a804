"""No system prompt reaches another call, through any provider, however many are in flight."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from dramaturg.model import Identity, Message, Model, Request
from dramaturg.model.doctor import examine
from dramaturg.model.endpoint import Endpoint
from dramaturg.model.limiter import Limiter
from dramaturg.model.opening import Models
from dramaturg.model.request import chain_hashes
from interview_fixtures import CHARACTERS, ECHO, interview, rows, write_interview
from misbehaving import Act, Body, MisbehavingServer, error, leaking_system_prompts, obedient, say

KINDS = ("http", "openai", "openrouter", "ollama", "vllm")
PERSONAS = 32


def spec_of(kind: str, url: str) -> str:
    return f"{url}#local" if kind == "http" else f"{kind}:local@{url}"


def echo(body: Body, n: int) -> Act:
    """Says every message that came, later the sooner it came: answers overtake each other."""
    told = [[message["role"], message["content"]] for message in body["messages"]]
    return say(json.dumps(told), delay_s=0.002 * (PERSONAS - n % PERSONAS))


def refusing_system(body: Body, n: int) -> Act:
    """Takes no system role, as some chat templates do, and says every message that came."""
    if any(message["role"] == "system" for message in body["messages"]):
        return error(400, "System role not supported", type="invalid_request_error", param="messages")
    return echo(body, n)


async def ask_all(model: Model) -> list[str]:
    """Returns the answers to many personas in flight at once."""
    requests = [
        Request((Message("system", f"You are persona {number:03}."), Message("user", f"Who are you, {number:03}?")))
        for number in range(PERSONAS)
    ]
    return [reply.text for reply in await asyncio.gather(*map(model.send, requests))]


def assert_own_alone(answers: list[str]) -> None:
    for number, answer in enumerate(answers):
        assert f"persona {number:03}" in answer and f"Who are you, {number:03}?" in answer
        assert not [other for other in range(PERSONAS) if other != number and f"{other:03}" in answer]


@pytest.mark.parametrize("handler", [echo, refusing_system])
@pytest.mark.parametrize("kind", KINDS)
async def test_every_call_through_a_server_has_its_own_system_prompt_alone(
    kind: str, handler: Any, models: Models
) -> None:
    async with MisbehavingServer(handler) as server:
        model = await models.open(spec_of(kind, server.url) + "?concurrency=16")
        assert_own_alone(await ask_all(model))
        assert server.peak > 1


async def test_every_call_to_an_embedded_model_has_its_own_system_prompt_alone() -> None:
    async with MisbehavingServer(echo) as server, aiohttp.ClientSession() as session:

        async def address() -> str:
            return server.url

        local = Endpoint(
            name="tiny",
            identity=Identity("embedded", "tiny", "0" * 64),
            session=session,
            limiter=Limiter(16),
            address=address,
        )
        assert_own_alone(await ask_all(local))


async def test_every_call_to_a_script_has_its_own_system_prompt_alone(tmp_path: Path, models: Models) -> None:
    script = tmp_path / "echo.py"
    script.write_text(
        ECHO.replace('f"{said} {request.seed}"', "str([m.text for m in request.messages])"), encoding="utf-8"
    )
    assert_own_alone(await ask_all(await models.open(f"script:{script}")))


async def test_every_row_of_an_interview_answers_its_own_character(tmp_path: Path) -> None:
    async with MisbehavingServer(echo) as server:
        subjects = [spec_of(kind, server.url) for kind in KINDS]
        out = tmp_path / "out"
        await interview(write_interview(tmp_path, subjects=subjects, form="free", concurrency=64), out)
    described = {character.id: character.description for character in CHARACTERS}
    found = rows(out)
    assert len(found) == 15 * len(KINDS)
    for row in found:
        came = [Message(role, text) for role, text in json.loads(row["text"])]
        assert [message.text for message in came if message.role == "system"] == [described[row["character"]]]
        assert row["prompt"] == chain_hashes(came)[-1], "the hash is that of what the server really got"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("leaks", [True, False])
async def test_doctor_shows_whether_a_server_leaks_whatever_the_provider(
    kind: str, leaks: bool, models: Models
) -> None:
    async with MisbehavingServer(obedient) as server:
        if leaks:
            server.handler = leaking_system_prompts(server)
        diagnosis = await examine(await models.open(spec_of(kind, server.url)), planned_tokens=500, concurrency=6)
    found = {check.id: check.status for check in diagnosis.checks}
    assert found["system_prompt_leak"] == ("fail" if leaks else "ok")
