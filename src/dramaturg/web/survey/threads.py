"""The database's own threads, so that a page that waits for it keeps no other page waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from dramaturg.web.survey.database import StoreAwayError

WAIT_S = 20.0
"""Seconds after which a page no longer waits for the database."""

ResultT = TypeVar("ResultT")
Arguments = ParamSpec("Arguments")


class StoreThreads:
    """As many threads as the database can use at once."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="survey")

    async def run(
        self, function: Callable[Arguments, ResultT], *arguments: Arguments.args, **named: Arguments.kwargs
    ) -> ResultT:
        """Returns what a function returns that uses the database.

        Raises:
            StoreAwayError: The database is away, or does not answer in time. What was begun may still be carried out.
        """
        try:
            async with asyncio.timeout(WAIT_S):
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, lambda: function(*arguments, **named))
        except TimeoutError:
            raise StoreAwayError("the database does not answer") from None

    def close(self) -> None:
        """Lets what runs end; what waits is dropped."""
        self._pool.shutdown(cancel_futures=True)
