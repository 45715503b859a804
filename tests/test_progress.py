"""Displays of a run: what they say of a board, and that they end when the run does."""

from __future__ import annotations

import asyncio
import contextlib
import io
import time

import pytest
from rich.console import Console

from dramaturg.ledger import Budget
from dramaturg.model.opening import Models
from dramaturg.run.board import Board
from dramaturg.run.progress import Live, Plain, Progress, Silent, status_line


def board() -> Board:
    return Board(40, Budget(), Models(), done=11, failed=1)


async def shown(display: Progress, state: Board, *, for_s: float) -> None:
    task = asyncio.create_task(display.show(state))
    await asyncio.sleep(for_s)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def test_status_names_units_failures_calls_tokens_and_cost() -> None:
    state = board()
    state.budget.calls, state.budget.tokens = 1310, 20_114
    assert status_line(state) == "12/40 units, 1 failed · 1,310 calls · 20,114 tokens"
    state.budget.cost = 0.01234
    assert status_line(state).endswith(" · 0.0123 USD")


async def test_plain_lines_come_only_when_something_has_changed() -> None:
    lines: list[str] = []
    state = board()
    await shown(Plain(lines.append, every_s=0.01), state, for_s=0.2)
    assert lines == ["12/40 units, 1 failed · 0 calls · 0 tokens"]


async def test_last_plain_line_is_the_last_state() -> None:
    lines: list[str] = []
    state = board()
    display = asyncio.create_task(Plain(lines.append, every_s=60.0).show(state))
    await asyncio.sleep(0)
    state.done = 39
    display.cancel()
    with pytest.raises(asyncio.CancelledError):
        await display
    assert lines == ["40/40 units, 1 failed · 0 calls · 0 tokens"]


async def test_live_table_lists_what_is_open_and_for_how_long() -> None:
    state = board()
    for number in range(10):
        state.open_units[f"case [bold]{number}[/bold], seed 1"] = time.monotonic() - 95 + number
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    await shown(Live(console, rows=3), state, for_s=0.7)
    text = screen.getvalue()
    assert "12/40 units, 1 failed" in text
    assert "95 s  case [bold]0[/bold], seed 1" in text and "and 7 more" in text


async def test_silent_display_says_nothing_and_ends() -> None:
    await shown(Silent(), board(), for_s=0.01)
