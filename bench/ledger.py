"""What the ledger costs: recorded calls per second, memory over many calls, bytes per call of short and long chats.

    python bench/ledger.py [--json] [--calls N]

All through `Calls.ask` with a model in this process that answers at once. Memory is taken between a third of all calls
and their end, and carried on to a million. The speed is that of the same calls, 64 in flight, per second of CPU time:
one thread does all of it, so a core of its own does so many in a second.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from dramaturg.ledger import Ledger
from dramaturg.model import Identity, Message, ModelFacts, OnText, Reply, Request, Sampling, Usage
from dramaturg.model.spec import Options
from figures import Figure, at_least, at_most, show

IN_FLIGHT = 64
CALLS_PER_UNIT = 40
SYSTEM = "You are the judge of a court. You speak with calm authority and you keep order. " * 4
MEGABYTE = 1 << 20


class AtOnce:
    """A model that answers without delay; every reply differs."""

    identity = Identity("script", "at-once")
    facts = ModelFacts()
    options = Options()

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        await asyncio.sleep(0)
        return Reply("ok", text=f"Order. Seed {request.seed}. " * 5, usage=Usage(100, 0, 40, 0), seconds=0.1)

    async def embed(self, texts: Sequence[str]) -> None:
        return None

    async def close(self) -> None:
        return None


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * 4096


async def record(path: Path, calls: int) -> tuple[float, float, float | None]:
    """Returns calls per second of CPU and of wall time, and bytes of memory that each further call keeps.

    The bytes are None where they cannot be told.
    """
    model = AtOnce()
    units = iter(range(calls // CALLS_PER_UNIT))
    done, third, middle = 0, calls // 3, 0
    with Ledger.open(path) as ledger:

        async def work() -> None:
            nonlocal done, middle
            for unit in units:
                of_unit = ledger.calls(unit=f"unit {unit}", seed=1)
                for turn in range(CALLS_PER_UNIT):
                    await of_unit.ask(
                        model,
                        [Message("system", SYSTEM), Message("user", f"Case {unit}, turn {turn}.")],
                        step=f"turn/{turn}",
                        role="judge",
                        purpose="speech",
                        sampling=Sampling(max_tokens=64),
                    )
                done += CALLS_PER_UNIT
                if not middle and done >= third and Path("/proc/self/statm").exists():
                    gc.collect()
                    middle = resident_bytes()

        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
        cpu_rate, wall_rate = done / (time.process_time() - cpu), done / (time.perf_counter() - wall)
        gc.collect()
        growth = (resident_bytes() - middle) / (done - third) if middle else None
    return cpu_rate, wall_rate, growth


async def converse(path: Path, units: int, turns: int) -> float:
    """Returns bytes of a ledger with conversations, per call."""
    model = AtOnce()
    with Ledger.open(path) as ledger:

        async def hold(unit: int) -> None:
            calls = ledger.calls(unit=f"unit {unit}", seed=1)
            chat = [Message("system", f"{SYSTEM} Case {unit}.")]
            for turn in range(turns):
                chat.append(Message("user", f"Turn {turn} of case {unit}. " * 5))
                asked = await calls.ask(model, chat, step=f"turn/{turn}", role="judge", purpose="speech")
                chat.append(Message("assistant", asked.reply.text))

        await asyncio.gather(*map(hold, range(units)))
    connection = sqlite3.connect(path)
    connection.execute("VACUUM")
    connection.close()
    return path.stat().st_size / (units * turns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--calls", type=int, default=150_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cpu_rate, wall_rate, growth = asyncio.run(record(Path(folder) / "calls.db", arguments.calls))
        short = asyncio.run(converse(Path(folder) / "short.db", 50, 20))
        long = asyncio.run(converse(Path(folder) / "long.db", 5, 200))
    span = f"from {arguments.calls // 3:,} to {arguments.calls:,} calls"
    if growth is None:
        memory = Figure("ledger: memory at a million calls, MB more", None, None, None, "not measured: no /proc here")
    else:
        at_a_million = max(0.0, growth * 1e6 / MEGABYTE)
        memory = at_most(
            "ledger: memory at a million calls, MB more",
            at_a_million,
            50,
            f"{growth:.1f} bytes per call {span}, carried on",
        )
    show(
        [
            at_least("ledger: recorded calls per second of one core", cpu_rate, 5000, f"{arguments.calls:,} calls"),
            Figure(
                "ledger: recorded calls/s, wall", round(wall_rate, 1), None, None, "no budget: others use this machine"
            ),
            memory,
            at_most(
                "ledger: bytes per call, 5×200 turns / 50×20", long / short, 1.1, f"{long:.0f} / {short:.0f} bytes"
            ),
        ],
        as_json=arguments.json,
    )


if __name__ == "__main__":
    main()
