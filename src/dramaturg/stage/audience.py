"""The audience: who watches a performance while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dramaturg.stage.transcript import StateChange, Turn


@dataclass(frozen=True, slots=True)
class Floor:
    """Who has the floor, and what may be done with it.

    Attributes:
        role: Id of the role whose turn it is.
        phase: Phase of the procedure.
        purpose: What the turn is for.
        events: What the turn may do, as the procedure names it.
        addressees: Ids of the roles that the turn may address.
        left: What is left of each budget that the role owns, by name.
    """

    role: str
    phase: str
    purpose: str
    events: tuple[str, ...]
    addressees: tuple[str, ...]
    left: Mapping[str, int]


class Audience(Protocol):
    """Watches a performance. What it hears is provisional until it sees the turn."""

    def hears(self, speaker: str, piece: str) -> None:
        """Takes a piece of what is being said; a guarded court may yet draw it anew or cut it."""
        ...

    def sees(self, turn: Turn, attempt: int) -> None:
        """Takes a turn that is final, with the number of the attempt."""
        ...


@runtime_checkable
class Usher(Protocol):
    """An audience that is also told who has the floor."""

    def gives(self, floor: Floor) -> None:
        """Takes who has the floor, before every turn."""
        ...


@runtime_checkable
class Observer(Protocol):
    """An audience that is also told of every state that changes."""

    def changed(self, change: StateChange) -> None:
        """Takes a state that changed, after the turn at which it did."""
        ...
