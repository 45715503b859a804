"""Ctrl-C and SIGTERM while a run goes on: the first ends it cleanly, the second at once."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what a service or a batch system sends before it kills."""


@contextmanager
def interrupts(stop: Callable[[], None]) -> Generator[None]:
    """Calls `stop` in the running loop at the first SIGINT or SIGTERM; a second one takes its usual way.

    Outside the main thread, where Python delivers no signals, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def first(_number: int, _frame: FrameType | None) -> None:
        restore()
        loop.call_soon_threadsafe(stop)

    for number in SIGNALS:
        signal.signal(number, first)
    try:
        yield
    finally:
        restore()
