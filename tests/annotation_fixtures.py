"""A tiny item set, a served campaign, a browser without scripts, and a PostgreSQL of the tests' own."""

from __future__ import annotations

import html
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import uvicorn
from yarl import URL

from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview.item import Item
from dramaturg.stage.interview.item_set import ItemSet, ItemSetHead, item_set_of
from dramaturg.web.annotation.app import annotation_app
from dramaturg.web.annotation.campaign import Campaign, Rules, campaign_of
from dramaturg.web.annotation.store import Store
from dramaturg.web.listening import address_of, listen

FREE = Rules(minimum_s=0.0, most_by_browser=0, most_by_address=0)
"""Nothing is too fast, nothing too much."""

CHARACTERS = (
    Character(
        id="tove",
        name="Tove Lindqvist",
        description="You are Tove Lindqvist, sixty-one, keeper of a lighthouse on the Baltic since your brother "
        "drowned within its sight. You hold that nobody may pass by a boat in need. You like order and rye bread.",
    ),
    Character(
        id="rook",
        name="Rook <of the Mill>",
        description="You are Rook, a raven who has learned to speak. You collect what shines & trust nobody.",
    ),
)
ITEMS = (
    Item(id="feel-1", character="tove", category="emotion", message="They will put out your lamp in spring. For good."),
    Item(id="feel-2", character="rook", category="emotion", message="The mill burned down last night."),
    Item(id="do-1", character="tove", category="decision", message="Will you row out with me in this storm?"),
    Item(
        id="right-1",
        character="rook",
        category="moral",
        message="Would you take the dead miller's ring?",
        expected="yes",
    ),
    Item(id="fact-1", character="rook", category="in_character", message="Who won the World Cup of 2018?"),
)


def small_set(items: tuple[Item, ...] = ITEMS) -> ItemSet:
    return item_set_of(ItemSetHead(id="small", title="A small set"), CHARACTERS, items)


def decisions(count: int) -> ItemSet:
    """Returns a set of so many yes/no items."""
    return small_set(
        tuple(
            Item(id=f"do-{number:04}", character="tove", category="decision", message=f"Will you? ({number})")
            for number in range(count)
        )
    )


def small_campaign(rules: Rules = FREE, items: ItemSet | None = None, **more: Any) -> Campaign:
    return campaign_of(items or small_set(), rules, **more)


@dataclass
class ServedCampaign:
    """A campaign on an address of this machine, in a thread."""

    address: str
    store: Store
    campaign: Campaign


@contextmanager
def served(db: str | Path, campaign: Campaign, *, owner: str = "", proxy: bool = False) -> Generator[ServedCampaign]:
    with closing(Store.open(str(db), create=True)) as store, listen("127.0.0.1", 0) as sock:
        store.begin(campaign)
        app = annotation_app(campaign, store, owner=owner, only_here=True)
        with running(app, sock, proxy=proxy):
            yield ServedCampaign(address_of(sock), store, campaign)


@contextmanager
def running(app: Any, sock: socket.socket, *, proxy: bool = False) -> Generator[None]:
    """Serves an application in a thread; it is gone afterwards."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, proxy_headers=proxy))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=20)


@dataclass
class Page:
    """What a browser got."""

    status: int
    url: str
    text: str
    headers: Mapping[str, str]

    @property
    def fields(self) -> dict[str, str]:
        """Hidden fields of the page's own form."""
        main = self.text.partition("<main")[2].partition("</main>")[0]
        return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', main))

    @property
    def answers(self) -> list[str]:
        return [
            html.unescape(value)
            for value in re.findall(r'<input type="radio" name="answer" value="([^"]*)"', self.text)
        ]

    @property
    def message(self) -> str:
        found = re.search(r"<blockquote[^>]*>(.*?)</blockquote>", self.text, re.DOTALL)
        return html.unescape(found[1]) if found else ""


@dataclass
class Browser:
    """A person with cookies and without scripts."""

    address: str
    headers: dict[str, str] = field(default_factory=dict[str, str])

    async def __aenter__(self) -> Browser:
        self.http = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.close()

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie.key: cookie.value for cookie in self.http.cookie_jar}

    def keep_cookie(self, name: str, value: str) -> None:
        self.http.cookie_jar.update_cookies({name: value}, URL(self.address))

    async def get(self, path: str, **more: Any) -> Page:
        async with self.http.get(self._url(path), headers=self.headers, **more) as reply:
            return Page(reply.status, str(reply.url), await reply.text(), reply.headers)

    async def post(self, path: str, fields: Any, headers: dict[str, str] | None = None, **more: Any) -> Page:
        sent = {**self.headers, **(headers or {})}
        async with self.http.post(self._url(path), data=fields, headers=sent, **more) as reply:
            return Page(reply.status, str(reply.url), await reply.text(), reply.headers)

    async def answer(self, page: Page, answer: str = "", **fields: str) -> Page:
        """Sends a page's form; by default with the first answer that there is."""
        return await self.post("item", {**page.fields, "answer": answer or page.answers[0], "do": "answer", **fields})

    def _url(self, path: str) -> str:
        return path if "://" in path else self.address + path.removeprefix("/")


@dataclass
class Postgres:
    """A PostgreSQL server on loopback that the tests may stop and start."""

    folder: Path
    port: int
    account: str
    durable: bool = False

    @property
    def url(self) -> str:
        return f"postgresql://{self.account}@127.0.0.1:{self.port}/postgres"

    def _run(self, *command: str) -> None:
        as_account = [] if os.getuid() else ["runuser", "-u", self.account, "--"]
        subprocess.run([*as_account, *command], check=True, capture_output=True, cwd="/", timeout=60)

    def make(self) -> None:
        self._run(
            _tool("initdb"), "-D", str(self.folder / "data"), "-A", "trust", "-U", self.account, "-E", "UTF8", "-N"
        )
        self.start()

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        if not self.durable:
            options += " -c fsync=off"
        log = str(self.folder / "log")
        self._run(_tool("pg_ctl"), "-D", str(self.folder / "data"), "-o", options, "-l", log, "-w", "start")

    def stop(self) -> None:
        self._run(_tool("pg_ctl"), "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")


def _tool(name: str) -> str:
    """Returns the path of one of PostgreSQL's programs, which some systems keep off the path."""
    initdb = Path(shutil.which("initdb") or "").resolve()
    return str(initdb.with_name(name))


def has_postgres() -> bool:
    """Returns whether a server can be started here: its programs, and an account that is not root."""
    if shutil.which("initdb") is None:
        return False
    if os.getuid():
        return True
    import pwd

    return shutil.which("runuser") is not None and any(entry.pw_name == "postgres" for entry in pwd.getpwall())


@contextmanager
def postgres(folder: Path, *, durable: bool = False) -> Generator[Postgres]:
    """Starts a server; it is gone afterwards. One that is not durable is faster, and would not survive a power cut."""
    import getpass

    account = getpass.getuser() if os.getuid() else "postgres"
    if not os.getuid():
        shutil.chown(folder, account)
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    server = Postgres(folder, port, account, durable)
    server.make()
    try:
        yield server
    finally:
        with suppress(subprocess.CalledProcessError):  # a test stopped it already
            server.stop()
