"""How many calls may be in flight at one endpoint and key: additive increase, multiplicative decrease.

Source: Chiu and Jain, Analysis of the increase and decrease algorithms for congestion avoidance, 1989.
Actors and judges that use the same endpoint and key share one limiter.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

DECREASE = 0.7
COOLDOWN_S = 1.0


class Limiter:
    """A semaphore whose size follows what the endpoint bears.

    It starts at the most that was asked for, falls by 0.7 when the endpoint says that it has too much (at most once
    a second, since one overload answers many calls at once) and grows by one for each window of successes.

    A place covers one attempt. Who waits between two attempts holds none, and takes the next before those who have
    not begun, so that what was begun ends.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Makes a limiter.

        Args:
            most: Most calls in flight.
            clock: Seconds, monotonic; replaced in tests.
        """
        self.most: int = most
        self.in_flight = 0
        self._size = float(most)
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_cut = float("-inf")
        self._closed_until = float("-inf")
        self._reopening: asyncio.TimerHandle | None = None

    @property
    def size(self) -> int:
        """Most calls in flight now."""
        return max(1, int(self._size))

    @property
    def paused_s(self) -> float:
        """Seconds until the endpoint may be asked again; 0 when it may now."""
        return max(0.0, self._closed_until - self._clock())

    def resize(self, most: int) -> None:
        """Sets another limit and starts again from it.

        Args:
            most: Most calls in flight; calls above it end as they would.
        """
        if most != self.most:
            self.most = most
            self._size = float(most)
            self._admit()

    async def enter(self, *, again: bool = False) -> None:
        """Waits for a place; a call that is cancelled while it waits holds none.

        Args:
            again: Whether the call had a place before.
        """
        if not self._waiting and self._has_place():
            self.in_flight += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self.in_flight -= 1
            self._admit()
            raise

    def leave(self, *, succeeded: bool) -> None:
        """Gives the place back; a success lets the limit grow.

        Args:
            succeeded: Whether the endpoint answered without complaint.
        """
        self.in_flight -= 1
        if succeeded and self._size < self.most:
            self._size = min(float(self.most), self._size + 1.0 / self._size)
        if self._waiting:
            self._admit()

    def too_much(self, retry_after_s: float | None = None) -> None:
        """Takes note that the endpoint has too much: the limit falls, and nobody asks before the wait is over.

        Args:
            retry_after_s: How long the endpoint asked to wait, in seconds.
        """
        now = self._clock()
        if now - self._last_cut >= COOLDOWN_S:
            self._last_cut = now
            self._size = max(1.0, self._size * DECREASE)
        if retry_after_s is not None:
            self._closed_until = max(self._closed_until, now + retry_after_s)

    def _has_place(self) -> bool:
        return self.in_flight < self.size and self._closed_until <= self._clock()

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0].cancelled() or self._has_place()):
            place = self._waiting.popleft()
            if not place.cancelled():
                self.in_flight += 1
                place.set_result(None)
        if self._waiting and self.paused_s > 0 and self._reopening is None:
            self._reopening = asyncio.get_running_loop().call_later(self.paused_s, self._reopen)

    def _reopen(self) -> None:
        self._reopening = None
        self._admit()
