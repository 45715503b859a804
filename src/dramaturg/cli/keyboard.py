"""What a person types: one answer at a time, read beside the running loop, so that Ctrl-C works at any moment.

The terminal's own line editing is kept. A paste of several lines is one answer: its lines come at once, and it is taken
when Enter is pressed once more, whether or not its last line had an end. From a pipe or a file, each line is an answer.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from io import RawIOBase

BURST_S = 0.1
"""Lines that follow each other faster are a paste; nobody types so."""

AHEAD_S = 0.02
"""How long is waited for what was typed too early."""

MOST_BYTES = 200_000
"""More of one answer is dropped."""


class InputEnded(Exception):
    """There will be no answer: Ctrl-D, or the input is closed."""


class Keyboard:
    """Standard input. A read that nobody waits for any more does not keep the program from ending."""

    def __init__(self) -> None:
        stdin = getattr(sys, "stdin", None)  # None where the caller closed it
        buffer = getattr(stdin, "buffer", None)
        self._input: RawIOBase | None = getattr(
            buffer, "raw", buffer
        )  # past the buffer, whose lock a waiting thread would hold for ever
        self._typed = stdin is not None and stdin.isatty()
        self._pending: asyncio.Future[bytes] | None = None
        self._data = bytearray()
        self._ended = self._input is None

    async def forget(self) -> None:
        """Drops what was typed too early: nobody had asked for it. What comes from a pipe or a file stays."""
        while self._typed and not self._ended and await self._comes(AHEAD_S):
            pass
        if self._typed:
            self._data.clear()

    async def read(self, *, pasted: Callable[[int], None]) -> str:
        """Returns the next answer, without its last line end.

        Args:
            pasted: Is told how many lines a paste has so far; Enter takes it.

        Raises:
            InputEnded: There is none.
        """
        answer = await (self._typed_answer(pasted) if self._typed else self._line())
        return answer.decode("utf-8", "replace").rstrip("\r\n")

    async def _line(self) -> bytes:
        while b"\n" not in self._data and len(self._data) < MOST_BYTES and not self._ended:
            await self._comes(None)
        if not self._data:
            raise InputEnded
        line, end, rest = bytes(self._data).partition(b"\n")
        self._data = bytearray(rest)
        return line + end

    async def _typed_answer(self, pasted: Callable[[int], None]) -> bytes:
        lines = await self._burst()
        while lines > 1:  # a lone line is the Enter that ends the paste
            pasted(self._data.count(b"\n"))
            lines = await self._burst()
        if not self._data:
            raise InputEnded
        answer = bytes(self._data)
        self._data.clear()
        return answer

    async def _burst(self) -> int:
        """Returns how many lines came one right after the other; none where the input has ended."""
        before = self._data.count(b"\n")
        if not self._ended:
            await self._comes(None)
        while not self._ended and await self._comes(BURST_S):
            pass
        return self._data.count(b"\n") - before

    async def _comes(self, seconds: float | None) -> bool:
        """Returns whether something was typed, or the input ended, in time."""
        if self._pending is None:
            self._pending = self._begin()
        done, _ = await asyncio.wait({self._pending}, timeout=seconds)
        if not done:
            return False
        piece = self._pending.result()
        self._pending = None
        self._ended = self._ended or not piece
        self._data += piece[: max(MOST_BYTES - len(self._data), 0)]
        return True

    def _begin(self) -> asyncio.Future[bytes]:
        loop = asyncio.get_running_loop()
        piece: asyncio.Future[bytes] = loop.create_future()

        def give(data: bytes) -> None:
            if not piece.done():
                piece.set_result(data)

        def read() -> None:
            try:
                data: bytes = self._input.read(65_536) or b"" if self._input is not None else b""
            except (OSError, ValueError):  # the terminal is gone, or the input was closed
                data = b""
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
                loop.call_soon_threadsafe(give, data)

        threading.Thread(target=read, daemon=True, name="keyboard").start()
        return piece
