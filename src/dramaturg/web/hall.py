"""All games that are open in one server: opened when a page asks, put away when nobody watches."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from dramaturg.errors import UserError
from dramaturg.model.opening import Models
from dramaturg.run.games import AnyGame, Game, PageWriter, Story, is_game_id, open_any_game
from dramaturg.web.live import LiveGame
from dramaturg.web.world.live_story import LiveStory

MOST_OPEN = 200
"""Games that may be open at once in one server."""

LINGER_S = 30.0
"""Seconds for which a game stays open that nobody watches and that waits for a person."""

SWEEP_S = 5.0


_LONGEST_ID = 200


def may_be_game(text: str) -> bool:
    """Returns whether a text from an address can be the id of a game; it then leads nowhere but into their folder."""
    return len(text) <= _LONGEST_ID and is_game_id(text)


AnyLive = LiveGame | LiveStory
"""A game or a story that is open."""


class HallFullError(UserError):
    """As many games are open as may be."""


class Hall:
    """The open games. ``async with Hall(models, write_page) as hall: game = await hall.enter(id)``.

    Attributes:
        models: Shared by all games.
        root: Folder of the games; the user's own by default.
    """

    def __init__(self, models: Models, write_page: PageWriter, root: Path | None = None) -> None:
        """Makes an empty hall.

        Args:
            models: Shared by all games; the caller closes them.
            write_page: Writes the report of a judged game.
            root: See above.
        """
        self.root = root
        self.models = models
        self._write_page = write_page
        self._open: dict[str, AnyLive] = {}
        self._idle_since: dict[str, float] = {}
        self._entering = asyncio.Lock()
        self._sweeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._sweeper = asyncio.create_task(self._sweep(), name="hall sweeper")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
            await asyncio.gather(self._sweeper, return_exceptions=True)
        await asyncio.gather(*(live.stop() for live in self._open.values()))
        self._open.clear()

    def __len__(self) -> int:
        return len(self._open)

    async def enter(self, game_id: str) -> AnyLive:
        """Returns the open game of an id, playing; it is opened where it is not.

        Whoever enters watches it before waiting for anything else, or it may be put away meanwhile.

        Raises:
            UserError: There is no such game, or it cannot be read.
            HallFullError: Too many are open.
        """
        async with self._entering:
            if game_id not in self._open:
                if len(self._open) >= MOST_OPEN:
                    raise HallFullError(f"{MOST_OPEN} games are open already")
                if not may_be_game(game_id):
                    raise UserError("this is no game")
                game = open_any_game(game_id, self.root)  # one small file; threads may be busy for long
                live = self._open[game_id] = self._live(game)
                live.start()
            self._idle_since.pop(game_id, None)
            return self._open[game_id]

    async def close(self, game_id: str, *, if_idle: bool = False) -> None:
        """Puts a game away; what was said is kept.

        Args:
            game_id: Which.
            if_idle: Whether it stays open if somebody has come to watch it meanwhile.
        """
        async with self._entering:
            live = self._open.get(game_id)
            if live is None or (if_idle and not live.idle):
                return
            del self._open[game_id]
            self._idle_since.pop(game_id, None)
            await live.stop()

    async def put_idle_away(self, now: float) -> None:
        """Puts away the games that nobody has watched for `LINGER_S` seconds.

        Args:
            now: Seconds of the monotonic clock.
        """
        for game_id, live in [*self._open.items()]:
            if not live.idle:
                self._idle_since.pop(game_id, None)
            elif now - self._idle_since.setdefault(game_id, now) >= LINGER_S:
                await self.close(game_id, if_idle=True)

    def _live(self, game: AnyGame) -> AnyLive:
        match game:
            case Game():
                return LiveGame(game, self.models, self._write_page)
            case Story():
                return LiveStory(game, self.models)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            await self.put_idle_away(time.monotonic())
