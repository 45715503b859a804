"""The chain of calls: how many must be made one after the other, whatever their number.

Each call stands one deeper than what it had to wait for. Works that run side by side begin at the same depth, and
whoever waits for them all goes on from the deepest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

ResultT = TypeVar("ResultT")

_DEPTH: ContextVar[int] = ContextVar("depth", default=0)


@dataclass(frozen=True, slots=True)
class Made:
    """One call that was made.

    Attributes:
        key: The call in the ledger.
        round: Round in which it was made, from 1.
        role: Id of the role that was asked.
        purpose: What for.
        depth: How many calls stand on the longest way to it since the play began, itself included.
    """

    key: str
    round: int
    role: str
    purpose: str
    depth: int


class OnCall(Protocol):
    """Is told of every call, in the order in which the calls were answered."""

    def __call__(self, made: Made, /) -> None:
        """Takes a call that was made."""
        ...


def begin() -> None:
    """Begins a new chain."""
    _DEPTH.set(0)


def deeper() -> int:
    """Returns the depth of a call that is made now."""
    depth = _DEPTH.get() + 1
    _DEPTH.set(depth)
    return depth


async def together(*works: Coroutine[Any, Any, ResultT]) -> list[ResultT]:
    """Returns the results of works that run side by side, in their order; the first problem of one ends them all."""

    async def one(work: Coroutine[Any, Any, ResultT]) -> tuple[ResultT, int]:
        return await work, _DEPTH.get()

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(work)) for work in works]
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from None
    ended = [task.result() for task in tasks]
    _DEPTH.set(max((depth for _, depth in ended), default=_DEPTH.get()))
    return [result for result, _ in ended]
