"""CPU of one recorded call against a bare aiohttp loop on the same local server: seven alternated pairs, one run.

    python bench/client.py [--json] [--calls N]

The server has no delay and runs in a process of its own; both sides keep 64 calls in flight and parse the body.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import aiohttp
from aiohttp import web

from dramaturg.ledger import Ledger
from dramaturg.model import Message, Sampling
from dramaturg.model.opening import Models
from figures import Figure, at_most, show

IN_FLIGHT = 64
PAIRS = 7
SYSTEM = "You are the judge of a court. You speak with calm authority and you keep order. " * 4
ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "model": "local",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Order. " * 20}}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140},
}


def serve(ready: Connection) -> None:
    body = json.dumps(ANSWER).encode()

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=body, content_type="application/json")

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


async def bare(url: str, calls: int) -> float:
    """Returns CPU seconds of a loop without any of this project."""
    numbers = iter(range(calls))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:

        async def work() -> None:
            for number in numbers:
                body = {
                    "model": "local",
                    "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"Case {number}."}],
                    "max_tokens": 64,
                    "temperature": 0.7,
                    "seed": number,
                }
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    payload = json.loads(await response.read())
                    assert payload["choices"][0]["message"]["content"]

        started = time.process_time()
        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
        return time.process_time() - started


async def recorded(url: str, calls: int, folder: Path, pair: int) -> tuple[float, float]:
    """Returns CPU and wall seconds of the same calls through limiter, statuses and ledger."""
    numbers = iter(range(calls))
    with Ledger.open(folder / f"{pair}.db") as ledger:
        async with Models() as models:
            model = await models.open(f"{url}#local?concurrency={IN_FLIGHT}")
            of_unit = ledger.calls(unit=f"unit {pair}", seed=1)

            async def work() -> None:
                for number in numbers:
                    asked = await of_unit.ask(
                        model,
                        [Message("system", SYSTEM), Message("user", f"Case {number}.")],
                        step=f"turn/{number}",
                        role="judge",
                        purpose="speech",
                        sampling=Sampling(max_tokens=64),
                    )
                    assert asked.reply.text

            cpu, wall = time.process_time(), time.perf_counter()
            await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
            return time.process_time() - cpu, time.perf_counter() - wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--calls", type=int, default=4000)
    arguments = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}/v1"
    ratios: list[float] = []
    rates: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(bare(url, 500))
        for pair in range(PAIRS):
            bare_cpu = asyncio.run(bare(url, arguments.calls))
            cpu, wall = asyncio.run(recorded(url, arguments.calls, Path(folder), pair))
            ratios.append(cpu / bare_cpu)
            rates.append(arguments.calls / wall)
    server.terminate()
    pairs = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    show(
        [
            at_most("client: CPU per recorded call / bare aiohttp", statistics.median(ratios), 2.5, f"pairs: {pairs}"),
            Figure("client: recorded calls/s, wall", round(statistics.median(rates), 1), None, None, "no budget"),
        ],
        as_json=arguments.json,
    )


if __name__ == "__main__":
    main()
