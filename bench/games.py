"""Fifty games at once in one server, each played by a real websocket client: no lost or crossed turn, bounded memory.

Usage: ``python bench/games.py [--games 50] [--rounds 2]``. The model is a script that answers at once, so that what is
measured is the server. Every client loads the game's page, follows it over socket.io as a browser does, and says lines
that carry the game's own mark. Prints counts, seconds, and the server's memory.

lost: lines that were sent and are not in the transcript. crossed: lines in the transcript of another game.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import socketio

from dramaturg.run.games import GameSettings, new_game, open_game

SERVE = "import typer; from dramaturg.cli.serve import serve; typer.run(serve)"
MODEL = "script:court-steady"
LIMIT_S = 600.0
_ELEMENTS = re.compile(r"parseElements\(String\.raw`(?P<json>.*?)`\), \{", re.DOTALL)
_QUERY = re.compile(r"query: (?P<json>\{.*?\}),\n")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&#96;": "`", "&#36;": "$", "&amp;": "&"}


@dataclass
class Player:
    """One browser: a page, its websocket, and what it has sent."""

    server: str
    game: str
    mark: str
    sent: dict[int, str] = field(default_factory=dict[int, str])
    elements: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    messages: int = 0
    reloads: int = 0

    async def play(self, http: aiohttp.ClientSession) -> None:
        """Plays until the page shows the decision; a page whose connection is lost is loaded again, as browsers do."""
        while not await self._page(http):
            self.reloads += 1

    async def _page(self, http: aiohttp.ClientSession) -> bool:
        """Returns whether the decision was seen; False once the connection is lost."""
        async with http.get(f"{self.server}/games/{self.game}") as reply:
            page = await reply.text()
        text = _found(_ELEMENTS, page)
        for entity, character in _ENTITIES.items():
            text = text.replace(entity, character)
        self.elements = json.loads(text)
        query = ast.literal_eval(_found(_QUERY, page)) | {"document_id": str(uuid.uuid4()), "tab_id": str(uuid.uuid4())}
        client = socketio.AsyncClient(reconnection=False)
        client.on("update", self._update)
        client.on("disconnect", self.changed.set)
        parameters = "&".join(f"{name}={str(value).lower()}" for name, value in query.items() if value is not None)
        answered = -1
        try:
            await client.connect(
                f"{self.server}/?{parameters}",
                transports=["websocket"],
                socketio_path="/_nicegui_ws/socket.io",
                wait_timeout=60,
            )
            while not self._decided():
                number, composer = self._due()
                if composer is not None and number != answered:
                    answered = number
                    line = f"Jonas Pell, line {number} of {self.mark}: were you at home?"
                    self.sent.setdefault(number, line)
                    message = composer | {"client_id": query["client_id"], "args": [str(number), json.dumps(line)]}
                    await client.emit("event", message)
                if not client.connected:
                    return False
                await self.changed.wait()
                self.changed.clear()
        except socketio.exceptions.ConnectionError:
            return False
        finally:
            await client.shutdown()
        return True

    async def _update(self, data: dict[str, Any]) -> None:
        self.messages += 1
        data.pop("_id", None)
        for name, element in data.items():
            if element is None:
                self.elements.pop(name, None)
            else:
                self.elements[name] = element
        self.changed.set()

    def _due(self) -> tuple[int, dict[str, Any] | None]:
        for name, element in self.elements.items():
            props = element.get("props", {})
            if "mayObject" in props:
                if not props["open"]:
                    return -1, None
                listener = next(event["listener_id"] for event in element["events"] if event["type"] == "say")
                return props["turn"], {"id": int(name), "listener_id": listener}
        return -1, None

    def _decided(self) -> bool:
        return any("verdict" in element.get("class", ()) for element in self.elements.values())


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    if found is None:
        raise SystemExit(f"the page does not look as expected: no {pattern.pattern}")
    return found["json"]


async def _round(server: str, games: Path, count: int, number: int) -> list[Player]:
    ids = [
        new_game(GameSettings("museum-intrusion", MODEL, seed=1000 * number + seed), root=games).id
        for seed in range(count)
    ]
    players = [Player(server, game, f"game {number}-{index}") for index, game in enumerate(ids)]
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http, asyncio.timeout(LIMIT_S):
        await asyncio.gather(*(player.play(http) for player in players))
    return players


def _count(players: list[Player], games: Path) -> tuple[int, int, int]:
    """Returns lines kept, lost and crossed."""
    kept = lost = crossed = 0
    for player in players:
        said = [turn.text for turn in open_game(player.game, games).transcript().turns if turn.human]
        kept += sum(line in said for line in player.sent.values())
        lost += sum(said.count(line) != 1 for line in player.sent.values())
        crossed += sum(player.mark not in line for line in said)
    return kept, lost, crossed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=2, help="memory after the last round against after the first")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dramaturg-games-") as folder:
        games = Path(folder) / "games"
        command = [
            sys.executable,
            "-u",
            "-c",
            SERVE,
            "--no-open",
            "--port",
            "0",
            "--games",
            str(games),
            "--model",
            MODEL,
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env={**os.environ})
        assert process.stdout is not None
        try:
            server = process.stdout.readline().split()[0].rstrip("/")
            seen = psutil.Process(process.pid)
            memory = [seen.memory_info().rss / 1e6]
            for number in range(1, options.rounds + 1):
                cpu, began = sum(seen.cpu_times()[:2]), time.monotonic()
                players = asyncio.run(_round(server, games, options.games, number))
                seconds, cpu = time.monotonic() - began, sum(seen.cpu_times()[:2]) - cpu
                kept, lost, crossed = _count(players, games)
                memory.append(seen.memory_info().rss / 1e6)
                messages = sum(player.messages for player in players)
                print(
                    f"round {number}: {len(players)} games ended, {kept} lines kept, {lost} lost, {crossed} crossed, "
                    f"{sum(player.reloads for player in players)} pages loaded again; "
                    f"{seconds:.1f} s, {cpu / max(kept, 1) * 1000:.0f} ms of server CPU for each line, "
                    f"{messages / max(kept, 1):.1f} messages for each line; server {memory[-1]:.0f} MB",
                    flush=True,
                )
            growth = (memory[-1] - memory[1]) / options.games / max(options.rounds - 1, 1)
            print(
                f"memory: {memory[0]:.0f} MB empty, {(memory[1] - memory[0]) / options.games:.2f} MB a game at once, "
                f"{memory[-1] / memory[1]:.2f} x after {options.rounds} rounds ({growth:.3f} MB for each further game)"
            )
        finally:
            process.terminate()
            process.wait(timeout=30)


if __name__ == "__main__":
    main()
