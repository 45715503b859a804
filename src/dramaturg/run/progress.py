"""Ways to show a run while it goes on: nothing, plain lines, or a live table where a terminal is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from dramaturg.run.board import Board

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

HANGING_S = 30.0
"""From when on a call that waits for its answer is worth a line."""


class Progress(Protocol):
    """Shows a board for as long as the run goes on."""

    async def show(self, board: Board) -> None:
        """Shows the board until it is cancelled."""
        ...


class Silent:
    """Shows nothing."""

    async def show(self, board: Board) -> None:
        """Waits to be cancelled."""
        await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast a run is: calls and written tokens per second."""

    calls_per_s: float
    tokens_per_s: float


class _Pace:
    """Measures rates between two looks at a board."""

    def __init__(self, board: Board) -> None:
        self._budget = board.budget
        self._seen = (time.monotonic(), self._budget.calls, self._budget.output_tokens)
        self._rates = Rates(0.0, 0.0)

    def rates(self, *, window_s: float = 2.0) -> Rates:
        since, calls, tokens = self._seen
        passed = time.monotonic() - since
        if passed >= window_s:
            budget = self._budget
            self._rates = Rates((budget.calls - calls) / passed, (budget.output_tokens - tokens) / passed)
            self._seen = (time.monotonic(), budget.calls, budget.output_tokens)
        return self._rates


class Plain:
    """Writes a line when something has changed, and a heartbeat when a call hangs."""

    def __init__(self, write: Callable[[str], None], *, every_s: float = 10.0, hanging_s: float = HANGING_S) -> None:
        """Makes the display.

        Args:
            write: Receives each line.
            every_s: Seconds between two lines.
            hanging_s: From when on an open call is named.
        """
        self._write = write
        self._every_s = every_s
        self._hanging_s = hanging_s

    async def show(self, board: Board) -> None:
        """Writes lines until it is cancelled; the last one then."""
        pace = _Pace(board)
        shown = ""
        try:
            while True:
                await asyncio.sleep(self._every_s)
                hanging = board.waiting()[1] >= self._hanging_s
                line = status_line(board)
                if line != shown or hanging:
                    tail = f" · {open_line(board)}" if hanging else rate_text(pace.rates(window_s=0.0))
                    self._write(line + tail)
                    shown = line
        finally:
            if status_line(board) != shown:
                self._write(status_line(board))


class Live:
    """A table that redraws itself: units, rates, cost, and what is open for how long."""

    def __init__(self, console: Console, *, rows: int = 8) -> None:
        """Makes the display.

        Args:
            console: Where to draw.
            rows: Most open units to list.
        """
        self._console = console
        self._rows = rows

    async def show(self, board: Board) -> None:
        """Redraws until it is cancelled."""
        from rich.live import Live as Redrawn

        pace = _Pace(board)
        with Redrawn(self._table(board, pace), console=self._console, auto_refresh=False, transient=True) as live:
            while True:
                await asyncio.sleep(0.5)
                live.update(self._table(board, pace), refresh=True)

    def _table(self, board: Board, pace: _Pace) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        table.add_row(Text(status_line(board) + rate_text(pace.rates()), style="bold"))
        now = time.monotonic()
        oldest = sorted(board.open_units.items(), key=lambda entry: entry[1])
        for description, since in oldest[: self._rows]:
            table.add_row(Text(f"  {now - since:6.0f} s  {description}"))
        if len(oldest) > self._rows:
            table.add_row(Text(f"  and {len(oldest) - self._rows} more"))
        if board.waiting()[1] >= HANGING_S:
            table.add_row(Text(f"  {open_line(board)}", style="yellow"))
        return table


def status_line(board: Board) -> str:
    """Returns what is done: ``12/40 units, 1 failed · 310 calls · 20,114 tokens``."""
    budget = board.budget
    failed = f", {board.failed} failed" if board.failed else ""
    cost = f" · {budget.cost:.4f} USD" if budget.cost else ""
    closed = board.done + board.failed
    return f"{closed}/{board.units} units{failed} · {budget.calls:,} calls · {budget.tokens:,} tokens{cost}"


def rate_text(rates: Rates) -> str:
    """Returns the rates as an end of a line; empty when nothing moves."""
    if not rates.calls_per_s:
        return ""
    return f" · {rates.calls_per_s:.1f} calls/s · {rates.tokens_per_s:.0f} tokens/s"


def open_line(board: Board) -> str:
    """Returns what waits: ``1 call open 95 s``."""
    count, oldest_s = board.waiting()
    return f"{count} call{'' if count == 1 else 's'} open {oldest_s:.0f} s"
