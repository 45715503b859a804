"""A crew: workers that share one iterator of work, a display beside them, and one clean end at Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from dramaturg.run.board import Board
from dramaturg.run.interrupt import interrupts
from dramaturg.run.progress import Progress


class Crew:
    """The workers of one run; use it as ``async with Crew(progress, board) as crew: await crew.work(…)``.

    Attributes:
        interrupted: Whether Ctrl-C ended the work; whoever is asked to work then should not begin.
    """

    def __init__(self, progress: Progress, board: Board) -> None:
        """Makes the crew.

        Args:
            progress: Shows what is going on; a display that breaks does not end the work.
            board: What it reads.
        """
        self.interrupted = False
        self._progress = progress
        self._board = board
        self._workers: list[asyncio.Task[None]] = []
        self._display: asyncio.Task[None] | None = None
        self._signals = ExitStack()

    async def __aenter__(self) -> Self:
        self._signals.enter_context(interrupts(self._stop))
        self._display = asyncio.create_task(self._progress.show(self._board))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._signals.close()
        if self._display is not None:
            self._display.cancel()
            await asyncio.gather(self._display, return_exceptions=True)

    async def work(self, worker: Callable[[], Coroutine[None, None, None]], count: int) -> None:
        """Returns when all workers have ended, cancelled ones too; the first problem of one ends them all.

        Args:
            worker: One worker's way; each takes its work from an iterator that they share.
            count: How many work at once.
        """
        try:
            async with asyncio.TaskGroup() as group:
                self._workers = [group.create_task(worker()) for _ in range(count)]
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None

    def _stop(self) -> None:
        self.interrupted = True
        for worker in self._workers:
            worker.cancel()
