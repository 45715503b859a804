"""A program on a pseudo-terminal, as a person sees and types it."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

CTRL_C = b"\x03"
CTRL_D = b"\x04"

_TAKE_THE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class Terminal:
    """One program with a terminal of its own; `shown` is all that it wrote, echo included."""

    def __init__(self, *arguments: str, environment: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_THE_TERMINAL, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**os.environ, **environment, "TERM": "dumb", "COLUMNS": "100"},
        )
        os.close(slave)
        self.shown = ""
        self._seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)

    def wait_for(self, text: str, *, seconds: float = 40.0) -> str:
        """Returns what was shown since the last wait, up to and with the text."""
        until = time.monotonic() + seconds
        start = self._seen
        while text not in self.shown[start:]:
            assert time.monotonic() < until, f"{text!r} never came; shown: {self.shown[-3000:]}"
            if not self._read(0.2) and self._process.poll() is not None and not self._read(0.2):
                raise AssertionError(f"it ended before {text!r} came; shown: {self.shown[-3000:]}")
        self._seen = self.shown.index(text, start) + len(text)
        return self.shown[start : self._seen]

    def type(self, text: str | bytes) -> None:
        """Types; what the program writes meanwhile is read, so that neither waits for the other."""
        data = text.encode() if isinstance(text, str) else text
        while data:
            self._read(0.0)
            _, writable, _ = select.select([], [self._master], [], 0.2)
            if writable:
                data = data[os.write(self._master, data[:512]) :]

    def exit_code(self, *, seconds: float = 20.0) -> int:
        """Returns how the program ended."""
        until = time.monotonic() + seconds
        while self._process.poll() is None:
            assert time.monotonic() < until, f"it does not end; shown: {self.shown[-3000:]}"
            self._read(0.1)
        while self._read(0.1):
            pass
        return self._process.returncode

    def _read(self, seconds: float) -> bool:
        readable, _, _ = select.select([self._master], [], [], seconds)
        if not readable:
            return False
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # the other side is closed
            return False
        self.shown += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)
