"""An interview of 9,018 items against bare loops on the same local server, and what scoring and memory cost.

    python bench/rpeval.py [--json] [--items N] [--memory]

The server answers after 50 ms and runs in a process of its own. The interview goes the way of `rpeval run`, ledger on,
64 calls in flight; beside it, in the same run, a bare aiohttp loop with as many in flight, in alternated pairs, and a
loop with one call at a time, of which a share is timed and carried on. `--memory` asks every item six times, the first
of them to warm up, and tells how much memory the other five add.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import aiohttp
from aiohttp import web

from dramaturg.facts import Fact
from dramaturg.ledger import Budget, Ledger
from dramaturg.model.opening import Models
from dramaturg.report.interview import Matcher
from dramaturg.report.interview.folder import match_of
from dramaturg.run.interview.engine import InterviewResult, run_interview
from dramaturg.run.interview.material import read_interview
from dramaturg.run.interview.replies import read_replies
from dramaturg.run.interview.scoring import score_replies
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview import Item, ItemSetHead, item_set_of, read_item_set, write_item_set
from figures import Figure, at_most, show

ITEMS = 9018
IN_FLIGHT = 64
DELAY_S = 0.05
PAIRS = 3
ITEMS_PER_CHARACTER = 3
SEQUENTIAL = 100
REPEATS = 6
MATCHERS: tuple[Matcher, ...] = ("robust", "compat")
MEGABYTE = 1 << 20
DESCRIPTION = (
    "You are number {number} of your guild, a smith of a small port. " + "You keep your word and your temper. " * 12
)
ANSWERS = {
    "Feeling": "[anger] Get out of my forge, and take your lies with you.",
    "Deed": "[yes] I will come, as soon as the iron is cold.",
    "Thing": "I know of no such thing, friend. Ask the harbour master.",
}


def serve(ready: Connection) -> None:
    bodies = {
        word: json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "model": "local",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220},
            }
        ).encode()
        for word, text in ANSWERS.items()
    }

    async def answer(request: web.Request) -> web.Response:
        payload = json.loads(await request.read())
        await asyncio.sleep(DELAY_S)
        return web.Response(
            body=bodies[payload["messages"][-1]["content"].split(" ", 1)[0]], content_type="application/json"
        )

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ready.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


def make_set(folder: Path, items: int) -> None:
    """Writes a set in the shares of the published one: 2 of 3 decisions, 30 % emotions, 3 % facts."""
    count = -(-items // ITEMS_PER_CHARACTER)
    characters = [
        Character(id=f"c{number}", name=f"N{number}", description=DESCRIPTION.format(number=number))
        for number in range(count)
    ]
    made: list[Item] = []
    for number in range(items):
        character = f"c{number // ITEMS_PER_CHARACTER}"
        if number % 100 < 3:
            fact = Fact(text="Nolan", forms={"": ("Christopher Nolan", "Nolan")})
            made.append(
                Item(
                    id=f"i{number}",
                    character=character,
                    category="in_character",
                    message=f"Thing {number}: who made it?",
                    facts=(fact,),
                )
            )
        else:
            is_emotion = number % 100 < 33
            made.append(
                Item(
                    id=f"i{number}",
                    character=character,
                    category="emotion" if is_emotion else "decision",
                    message=f"{'Feeling' if is_emotion else 'Deed'} {number}: what say you?",
                    expected="anger" if is_emotion else "yes",
                )
            )
    write_item_set(folder, item_set_of(ItemSetHead(id="bench", title="Bench"), characters, made))


async def bare(url: str, folder: Path, in_flight: int, items: int) -> float:
    """Returns seconds per call of a loop without any of this project."""
    item_set = read_item_set(folder / "set")
    chats = iter(
        [
            [
                {"role": "system", "content": item_set.characters[item.character].description},
                {"role": "user", "content": item.message},
            ]
            for item in item_set.items[:items]
        ]
    )
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight)) as session:

        async def work() -> None:
            for chat in chats:
                body = {"model": "local", "messages": chat, "max_tokens": 300, "temperature": 0.7, "seed": 1}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    payload = json.loads(await response.read())
                    assert payload["choices"][0]["message"]["content"]

        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(in_flight)))
        return (time.perf_counter() - started) / items


async def interview(url: str, folder: Path, out: Path, repeats: int) -> InterviewResult:
    """Returns what became of the interview, as `rpeval run` carries it out."""
    study = folder / f"study-{repeats}.yaml"
    text = {
        "study": "bench",
        "suite": "interview",
        "subjects": [f"{url}#local?concurrency={IN_FLIGHT}"],
        "items": str(folder / "set"),
        "repeats": repeats,
        "concurrency": IN_FLIGHT,
    }
    study.write_text(json.dumps(text), encoding="utf-8")
    material = read_interview(study)
    with Ledger.open(out / "ledger.db") as ledger:
        async with Models() as models:
            result = await run_interview(material, out=out, ledger=ledger, models=models, budget=Budget())
    assert result.answered == result.planned == result.calls, result
    return result


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4096


def memory(url: str, folder: Path) -> Figure:
    """Returns the figure of the memory that five more repeats add to the first."""
    name = "rpeval: memory that five more repeats add, MB"
    if not Path("/proc/self/statm").exists():
        return Figure(name, None, None, None, "not measured: no /proc here")
    marks: list[int] = []

    async def watched() -> InterviewResult:
        async def watch() -> None:
            while True:
                await asyncio.sleep(0.25)
                marks.append(resident_bytes())

        watcher = asyncio.create_task(watch())
        try:
            return await interview(url, folder, folder / "many", REPEATS)
        finally:
            watcher.cancel()

    result = asyncio.run(watched())
    first = max(marks[: len(marks) // REPEATS])
    growth = (max(marks) - first) / MEGABYTE
    return at_most(
        name, growth, 30, f"{result.calls:,} calls, {result.seconds:.0f} s, peak {max(marks) / MEGABYTE:.0f} MB"
    )


def scoring(folder: Path, out: Path) -> list[Figure]:
    """Returns the figures of reading and scoring the stored replies."""
    item_set = read_item_set(folder / "set")
    figures: list[Figure] = []
    for name in MATCHERS:
        started = time.perf_counter()
        rows = read_replies(out / "replies.jsonl", item_set, on_torn=print)
        (scored,) = score_replies(rows, item_set, match_of(name)).values()
        seconds = time.perf_counter() - started
        figures.append(at_most(f"rpeval: reading and scoring by {name}, s", seconds, 3, f"{len(scored):,} replies"))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--memory", action="store_true", help="ask everything six times, and watch the memory")
    arguments = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}/v1"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_set(folder / "set", arguments.items)
        if arguments.memory:
            gc.collect()
            figures = [memory(url, folder)]
        else:
            asyncio.run(bare(url, folder, IN_FLIGHT, min(arguments.items, 500)))
            ratios: list[float] = []
            seconds: list[float] = []
            for pair in range(PAIRS):
                loop_s = asyncio.run(bare(url, folder, IN_FLIGHT, arguments.items)) * arguments.items
                result = asyncio.run(interview(url, folder, folder / f"out-{pair}", 1))
                ratios.append(result.seconds / loop_s)
                seconds.append(result.seconds)
            one_by_one = asyncio.run(bare(url, folder, 1, min(arguments.items, SEQUENTIAL))) * arguments.items
            pairs = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            faster = one_by_one / statistics.median(seconds)
            figures = [
                at_most("rpeval: interview / bare aiohttp, wall", statistics.median(ratios), 1.25, f"pairs: {pairs}"),
                Figure("rpeval: times faster than one by one", round(faster, 1), None, None, "no budget"),
                Figure(
                    "rpeval: seconds of an interview", round(statistics.median(seconds), 1), None, None, "no budget"
                ),
                *scoring(folder, folder / "out-0"),
            ]
    server.terminate()
    show(figures, as_json=arguments.json)


if __name__ == "__main__":
    main()
