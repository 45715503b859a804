"""Prompt tokens that a trial computes, against the distinct prompt tokens that it cannot do without, in both layouts.

    python bench/trial_prefix.py [--json] [--layout role-first|role-last|both] [--model embedded:smollm2-135m]
                                 [--case summit-ridge] [--witnesses 2]

Five roles are played: judge, prosecutor, defence and two witnesses. Without `--model` the trial is played by a script
under `guarded`, tokens are words and marks, and a prefix cache is simulated once with a slot for every role and once
with a single slot, as where several trials share a server: each slot keeps the last prompt with its answer, and a
prompt goes to the slot that shares most with it. With `--model` an embedded model plays every role, prompts go
through the server's own template and tokenizer, and computed tokens are those that the server did not take from its
cache. The distinct tokens are the nodes of the trie of all prompts.

Faults of roles are counted by rules: what was cut, drawn anew or replaced because a turn spoke for others, repeated its
note or itself, or stepped out of its role, and witnesses who ask questions, per spoken turn.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from sqlalchemy import create_engine, select

from dramaturg.files import find
from dramaturg.ledger import Ledger, schema
from dramaturg.model import Model, parse_spec
from dramaturg.model.embedded import open_local
from dramaturg.model.opening import Models
from dramaturg.stage.cast import Cast, ModelSeat, Seat
from dramaturg.stage.court import Case, StagingOptions, play_trial, read_case
from dramaturg.stage.court.staging import Layout
from dramaturg.stage.transcript import Transcript
from figures import Figure, at_most, show

BUDGET = 1.1
HALF = 0.5
ONE = "one slot"
LAYOUTS: tuple[Layout, ...] = ("role-first", "role-last")
FAULTS = ("speaks_for_others", "other_speaker", "echo", "loop", "as_an_ai", "empty", "refused", "degenerate")
TALKER = Path(__file__).with_name("talker.py")
_TOKEN = re.compile(r"\w+|[^\w\s]|\n")


@dataclass(frozen=True)
class Measured:
    """What one trial took."""

    layout: Layout
    cache: str
    transcript: Transcript
    computed: int
    needed: int
    sent: int
    calls: int


def chats(ledger_path: Path) -> list[tuple[list[dict[str, str]], str]]:
    """Returns the chat of every call with its answer, in the order of the calls."""
    engine = create_engine(f"sqlite:///{ledger_path}")
    with engine.connect() as connection:
        nodes = {row.hash: row for row in connection.execute(select(schema.message))}
        calls = connection.execute(select(schema.call).order_by(schema.call.c.id)).all()
    engine.dispose()
    found: list[tuple[list[dict[str, str]], str]] = []
    for call in calls:
        chat: list[dict[str, str]] = []
        node = call.last_message
        while node:
            chat.append({"role": nodes[node].role, "content": nodes[node].text})
            node = nodes[node].parent
        found.append((chat[::-1], call.text or ""))
    return found


async def tokens_of(session: aiohttp.ClientSession, address: str, chat: list[dict[str, str]]) -> list[int]:
    async with session.post(f"{address}/apply-template", json={"messages": chat}) as response:
        prompt = (await response.json())["prompt"]
    async with session.post(
        f"{address}/tokenize", json={"content": prompt, "add_special": True, "parse_special": True}
    ) as response:
        return (await response.json())["tokens"]


def words_of(chat: list[dict[str, str]]) -> list[str]:
    """Returns words and marks of a chat, with marks between the messages as templates set them."""
    text: list[str] = []
    for message in chat:
        text += [f"<{message['role']}>", *_TOKEN.findall(message["content"]), "<end>"]
    return [*text, "<assistant>"]


def distinct(prompts: Sequence[Sequence[object]]) -> int:
    """Returns the number of nodes in the trie of all prompts."""
    root: dict[object, dict] = {}
    count = 0
    for prompt in prompts:
        node = root
        for token in prompt:
            if token not in node:
                node[token] = {}
                count += 1
            node = node[token]
    return count


def computed_with_slots(prompts: Sequence[tuple[Sequence[str], Sequence[str]]], slots: int) -> int:
    """Returns the tokens that a server with so many slots computes of the prompts, in their order.

    Args:
        prompts: Each prompt with its answer.
        slots: Sequences that the server keeps; the one that was used longest ago makes room.
    """
    kept: list[list[str]] = []
    computed = 0
    for prompt, answer in prompts:
        shared = [common(one, prompt) for one in kept]
        best = max(range(len(kept)), key=lambda index: shared[index], default=None)
        reused = shared[best] if best is not None else 0
        # A slot whose whole content would be lost for a few common words is left alone while another is free.
        if best is not None and (reused > len(prompt) // 10 or len(kept) == slots):
            kept.pop(best if reused > len(prompt) // 10 else 0)
        computed += len(prompt) - reused
        kept.append([*prompt, *answer])
    return computed


def common(one: Sequence[object], other: Sequence[object]) -> int:
    """Returns the length of the common beginning."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


async def play(case: Case, model: Model, layout: Layout, path: Path) -> tuple[Transcript, list[tuple[int, int, int]]]:
    """Returns the transcript, and input tokens, cached tokens and calls by use."""
    seat = ModelSeat(model, subject=True)
    seats: dict[str, Seat] = dict.fromkeys(("judge", "prosecutor", "witness", "defence"), seat)
    with Ledger.open(path) as ledger:
        transcript = await play_trial(
            case,
            cast=Cast(seats, analyst=model),
            calls=ledger.calls(unit="bench", seed=1),
            seed=1,
            protocol="guarded",
            staging=StagingOptions(layout=layout),
        )
        uses = [(use.input_tokens or 0, use.cached_tokens or 0, use.calls) for use in ledger.uses()]
    return transcript, uses


async def simulate(case: Case, layout: Layout) -> list[Measured]:
    """Returns what a trial takes where every role has a slot, and where there is one slot."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        async with Models() as models:
            transcript, _ = await play(case, await models.open(f"script:{TALKER}"), layout, path)
        asked = [(words_of(chat), _TOKEN.findall(answer)) for chat, answer in chats(path)]
    prompts = [prompt for prompt, _ in asked]
    needed, sent = distinct(prompts), sum(map(len, prompts))
    return [
        Measured(layout, cache, transcript, computed_with_slots(asked, slots), needed, sent, len(prompts))
        for cache, slots in (("a slot for every role", len(transcript.roles) + 1), (ONE, 1))
    ]


async def measure(case: Case, layout: Layout, spec_text: str) -> list[Measured]:
    spec = parse_spec(spec_text)
    server = await open_local(spec)
    try:
        address = await server.address()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.db"
            async with Models() as models:
                model = await models.open(f"{address}/v1#{spec.name}")
                transcript, uses = await play(case, model, layout, path)
            async with aiohttp.ClientSession() as session:
                prompts = [await tokens_of(session, address, chat) for chat, _ in chats(path)]
    finally:
        await server.close()
    sent, cached, calls = (sum(one) for one in zip(*uses, strict=True))
    return [Measured(layout, spec_text, transcript, sent - cached, distinct(prompts), sent, calls)]


def role_faults(transcript: Transcript) -> Counter[str]:
    """Returns how often each kind of fault was noticed, by rules."""
    found = Counter(cure.detail for cure in transcript.cures if cure.detail in FAULTS)
    kinds = {role.id: role.kind for role in transcript.roles}
    asking = [turn for turn in transcript.turns if kinds.get(turn.role) == "witness" and turn.text.endswith("?")]
    if asking:
        found["witness_asks"] = len(asking)
    return found


def figures_of(took: Measured) -> list[Figure]:
    spoken = sum(turn.kind != "procedure" for turn in took.transcript.turns)
    detail = f"{spoken} turns, {took.calls} calls, {took.computed} computed, {took.needed} distinct, {took.sent} sent"
    faults = role_faults(took.transcript)
    counted = ", ".join(f"{kind} {count}" for kind, count in sorted(faults.items())) or "none"
    label = f"{took.layout}, {took.cache}"
    ratio = f"{label}: prompt tokens computed / distinct"
    share = took.computed / took.needed
    return [
        at_most(ratio, share, BUDGET, detail)
        if took.cache != ONE
        else Figure(ratio, round(share, 4), None, None, detail),
        Figure(f"{label}: computed / sent", round(took.computed / took.sent, 4), None, None, "without a cache: 1"),
        Figure(f"{label}: role faults per turn", round(faults.total() / spoken, 4), None, None, counted),
    ]


async def run(case_name: str, layouts: Sequence[Layout], model: str, witnesses: int) -> list[Figure]:
    case = read_case(find("cases", case_name))
    if not isinstance(case, Case):
        raise SystemExit("a court case is needed")
    case = case.model_copy(update={"witnesses": case.witnesses[:witnesses]})
    figures: list[Figure] = []
    per_turn: dict[tuple[Layout, str], float] = {}
    for layout in layouts:
        for took in await (measure(case, layout, model) if model else simulate(case, layout)):
            figures += figures_of(took)
            turns = sum(turn.kind != "procedure" for turn in took.transcript.turns)
            per_turn[layout, took.cache] = took.computed / turns
    for (layout, cache), computed in per_turn.items():
        if layout == "role-last" and ("role-first", cache) in per_turn:
            name = f"role-last / role-first, {cache}: prompt tokens computed per turn"
            figures.append(at_most(name, computed / per_turn["role-first", cache], HALF, f"{3 + witnesses} roles"))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--layout", choices=[*LAYOUTS, "both"], default="both")
    parser.add_argument("--model", default="", help="an embedded model; without one the cache is simulated")
    parser.add_argument("--case", default="summit-ridge")
    parser.add_argument("--witnesses", type=int, default=2)
    arguments = parser.parse_args()
    layouts = LAYOUTS if arguments.layout == "both" else (arguments.layout,)
    figures = run(arguments.case, layouts, arguments.model, arguments.witnesses)
    show(asyncio.run(figures), as_json=arguments.json)


if __name__ == "__main__":
    main()
