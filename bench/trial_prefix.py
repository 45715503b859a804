"""Prompt tokens that a trial really computes, against the distinct prompt tokens that it cannot do without.

    python bench/trial_prefix.py [--json] [--model embedded:smollm2-135m] [--case summit-ridge]

A trial under `guarded` is played on the embedded model. Every prompt is then put through the server's own template
and tokenizer; the distinct tokens are the nodes of the trie of all prompts. Computed tokens are those that the
server did not take from its cache.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

import aiohttp
from sqlalchemy import create_engine, select

from dramaturg.files import find, load_yaml
from dramaturg.ledger import Ledger, schema
from dramaturg.model import parse_spec
from dramaturg.model.embedded import open_local
from dramaturg.model.opening import Models
from dramaturg.stage.cast import Cast, ModelSeat
from dramaturg.stage.court import Case, play_trial
from figures import Figure, at_most, show

BUDGET = 1.1


def chats(ledger_path: Path) -> list[list[dict[str, str]]]:
    """Returns the chat of every call, in the order of the calls."""
    engine = create_engine(f"sqlite:///{ledger_path}")
    with engine.connect() as connection:
        nodes = {row.hash: row for row in connection.execute(select(schema.message))}
        calls = connection.execute(select(schema.call).order_by(schema.call.c.id)).all()
    engine.dispose()
    found: list[list[dict[str, str]]] = []
    for call in calls:
        chat: list[dict[str, str]] = []
        node = call.last_message
        while node:
            chat.append({"role": nodes[node].role, "content": nodes[node].text})
            node = nodes[node].parent
        found.append(chat[::-1])
    return found


async def tokens_of(session: aiohttp.ClientSession, address: str, chat: list[dict[str, str]]) -> list[int]:
    async with session.post(f"{address}/apply-template", json={"messages": chat}) as response:
        prompt = (await response.json())["prompt"]
    async with session.post(
        f"{address}/tokenize", json={"content": prompt, "add_special": True, "parse_special": True}
    ) as response:
        return (await response.json())["tokens"]


def distinct(prompts: list[list[int]]) -> int:
    """Returns the number of nodes in the trie of all prompts."""
    root: dict[int, dict] = {}
    count = 0
    for prompt in prompts:
        node = root
        for token in prompt:
            if token not in node:
                node[token] = {}
                count += 1
            node = node[token]
    return count


async def measure(spec_text: str, case_name: str) -> list[Figure]:
    spec = parse_spec(spec_text)
    server = await open_local(spec)
    case = load_yaml(find("cases", case_name), Case)
    try:
        address = await server.address()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.db"
            with Ledger.open(path) as ledger:
                async with Models() as models:
                    subject = await models.open(f"{address}/v1#{spec.name}")
                    defence = await models.open(f"script:defence-{case.id}")
                    measured = ModelSeat(subject, subject=True)
                    seats = {
                        "judge": measured,
                        "prosecutor": measured,
                        "witness": measured,
                        "defence": ModelSeat(defence),
                    }
                    transcript = await play_trial(
                        case,
                        cast=Cast(seats, analyst=subject),
                        calls=ledger.calls(unit="bench", seed=1),
                        seed=1,
                        protocol="guarded",
                    )
                uses = [use for use in ledger.uses() if use.provider == "http"]
            computed = sum(use.input_tokens - use.cached_tokens for use in uses)
            asked = sum(use.input_tokens for use in uses)
            async with aiohttp.ClientSession() as session:
                prompts = [await tokens_of(session, address, chat) for chat in chats(path)]
    finally:
        await server.close()
    needed = distinct(prompts)
    calls = sum(use.calls for use in uses)
    detail = f"{len(transcript.turns)} turns, {calls} calls, {computed} computed, {needed} distinct, {asked} sent"
    return [
        at_most("trial: prompt tokens computed / distinct prompt tokens", computed / needed, BUDGET, detail),
        Figure("trial: prompt tokens computed / sent", round(computed / asked, 4), None, None, "without a cache: 1"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model", default="embedded:smollm2-135m")
    parser.add_argument("--case", default="summit-ridge")
    arguments = parser.parse_args()
    show(asyncio.run(measure(arguments.model, arguments.case)), as_json=arguments.json)


if __name__ == "__main__":
    main()
