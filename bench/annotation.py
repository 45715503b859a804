"""A thousand annotators answer at once: no lost and no doubled vote, and how long the last one waits.

    python bench/annotation.py [--json] [--annotators N] [--answers N]

Each annotator is a browser of its own, with its own cookie and address, and sends every answer twice, as a nervous
finger does. The campaign runs in a process of its own, over SQLite and, where PostgreSQL is installed, over a real
server that syncs to disk. In the same run the same clients ask a bare Starlette route, as many requests at once: the
ratios say what forms, signatures and the database cost. The clients share the machine's processors with the server.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import re
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview.item import Item
from dramaturg.stage.interview.item_set import ItemSetHead, item_set_of
from dramaturg.web.annotation.campaign import Campaign, Rules, campaign_of
from dramaturg.web.annotation.progress import votes_of
from dramaturg.web.annotation.serving import serve
from dramaturg.web.annotation.store import Store
from dramaturg.web.listening import address_of, listen
from figures import Figure, at_most, show

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from annotation_fixtures import has_postgres, postgres

ITEMS = 400
_TICKET = re.compile(r'name="ticket" value="([^"]+)"')
_ANSWER = re.compile(r'name="answer" value="([^"]+)"')


def campaign() -> Campaign:
    character = Character(id="tove", name="Tove", description="You are Tove, keeper of a lighthouse. " * 20)
    items = [
        Item(id=f"item-{number}", character="tove", category=category, message=f"Message {number}?")
        for number, category in zip(range(ITEMS), ("emotion", "decision") * ITEMS, strict=False)
    ]
    item_set = item_set_of(ItemSetHead(id="bench", title="Bench"), [character], items)
    return campaign_of(item_set, Rules(minimum_s=0.0))


def serve_bare(ready: Connection) -> None:
    async def answer(request: Request) -> PlainTextResponse:
        await request.body()
        return PlainTextResponse("fine" * 1000)

    app = Starlette(routes=[Route("/item", answer, methods=["GET", "POST"])])
    with listen("127.0.0.1", 0) as sock:
        ready.send(address_of(sock))
        uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[sock])


def serve_campaign(ready: Connection, db: str) -> None:
    with closing(Store.open(db, create=True)) as store, listen("127.0.0.1", 0) as sock:
        asked = campaign()
        store.begin(asked)
        ready.send(address_of(sock))
        serve(sock, asked, store, proxy=True)


@contextmanager
def running(target: Callable[..., None], *arguments: object) -> Generator[str]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=target, args=(there, *arguments), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join(timeout=30)


@dataclass
class Times:
    """Seconds from a request to its reply, and statuses that no reply should have."""

    shown: list[float] = field(default_factory=list[float])
    sent: list[float] = field(default_factory=list[float])
    reconnected: int = 0
    refused: Counter[int] = field(default_factory=Counter[int])


async def annotate(
    address: str, number: int, answers: int, start: asyncio.Event, times: Times, connector: aiohttp.BaseConnector
) -> None:
    """One annotator: looks, answers, answers the same once more, goes on."""
    headers = {"X-Forwarded-For": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"}
    jar = aiohttp.CookieJar(unsafe=True)
    timeout = aiohttp.ClientTimeout(total=300)
    async with aiohttp.ClientSession(
        connector=connector, connector_owner=False, cookie_jar=jar, headers=headers, timeout=timeout
    ) as http:
        await start.wait()
        for _ in range(answers):
            _, page = await ask(http, "GET", address, None, times.shown, times)
            ticket = _TICKET.search(page)
            form = {"ticket": ticket[1], "answer": _ANSWER.findall(page)[0]} if ticket else {"ticket": "", "answer": ""}
            both = await asyncio.gather(*(ask(http, "POST", address, form, times.sent, times) for _ in range(2)))
            for status, _ in both:
                if status not in {200, 303}:
                    times.refused[status] += 1


async def ask(
    http: aiohttp.ClientSession,
    method: str,
    address: str,
    form: dict[str, str] | None,
    seconds: list[float],
    times: Times,
) -> tuple[int, str]:
    """Returns status and page. A kept connection that the server has just closed is opened anew, as browsers do."""
    began = time.perf_counter()
    while True:
        try:
            async with http.request(method, f"{address}item", data=form, allow_redirects=False) as reply:
                page = await reply.text()
        except aiohttp.ClientConnectionError:
            times.reconnected += 1
            continue
        seconds.append(time.perf_counter() - began)
        return reply.status, page


async def crowd(address: str, annotators: int, answers: int) -> tuple[Times, float]:
    times, start = Times(), asyncio.Event()
    async with aiohttp.TCPConnector(limit=0) as connector:
        tasks = [
            asyncio.create_task(annotate(address, number, answers, start, times, connector))
            for number in range(annotators)
        ]
        await asyncio.sleep(0.5)
        began = time.perf_counter()
        start.set()
        await asyncio.gather(*tasks)
        return times, time.perf_counter() - began


def allow_connections() -> None:
    """Lets this process and its servers have as many connections open as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def quantiles(seconds: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(seconds, n=100)
    return cuts[49], cuts[98]


def measure(name: str, db: str, annotators: int, answers: int, bare: Times) -> list[Figure]:
    with running(serve_campaign, db) as address:
        times, seconds = asyncio.run(crowd(address, annotators, answers))
    with closing(Store.open(db)) as store:
        kept = Counter((row.rater, row.item) for row in votes_of(store))
        with store.database.begin() as connection:
            counted = connection.exec_driver_sql("select sum(answers) from annotation_item").scalar() or 0
            spread = connection.exec_driver_sql("select max(answers) - min(answers) from annotation_item").scalar() or 0
    expected = annotators * answers
    doubled = sum(count - 1 for count in kept.values())
    refused = f"refused: {dict(times.refused)}" if times.refused else ""
    figures = [
        at_most(f"{name}: votes lost", expected - len(kept), 0, refused),
        at_most(f"{name}: votes doubled, or counted otherwise than kept", doubled + abs(counted - len(kept)), 0),
        Figure(
            f"{name}: votes/s",
            round(expected / seconds, 1),
            None,
            None,
            f"{expected} votes, each sent twice; {times.reconnected} reconnected",
        ),
        Figure(
            f"{name}: most answers of an item less fewest", spread, None, None, f"{expected / ITEMS:.1f} on average"
        ),
    ]
    for what, ours, theirs in (("page", times.shown, bare.shown), ("answer", times.sent, bare.sent)):
        for label, mine, other in zip(("p50", "p99"), quantiles(ours), quantiles(theirs), strict=True):
            detail = f"{mine * 1000:.0f} ms against {other * 1000:.0f} ms"
            figures.append(Figure(f"{name}: {what}, {label} / bare route", round(mine / other, 2), None, None, detail))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--annotators", type=int, default=1000)
    parser.add_argument("--answers", type=int, default=3)
    options = parser.parse_args()
    allow_connections()
    with running(serve_bare) as address:
        bare, _ = asyncio.run(crowd(address, options.annotators, options.answers))
    with tempfile.TemporaryDirectory(prefix="dramaturg-annotation-") as folder:
        figures = measure("SQLite", f"{folder}/annotation.db", options.annotators, options.answers, bare)
    if has_postgres():
        with (
            tempfile.TemporaryDirectory(prefix="dramaturg-postgres-") as folder,
            postgres(Path(folder), durable=True) as server,
        ):
            figures += measure("PostgreSQL", server.url, options.annotators, options.answers, bare)
    else:
        figures.append(Figure("PostgreSQL", None, None, None, "is not installed"))
    show(figures, as_json=options.json)


if __name__ == "__main__":
    main()
