"""How everything stands in a story, and how it came to stand so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.stage.transcript import StateChange


@dataclass(frozen=True, slots=True)
class Stood:
    """A value that a state took.

    Attributes:
        value: The value.
        turn: Number of the turn at which it took it.
        phase: Phase of that turn.
    """

    value: str
    turn: int
    phase: str


class Standings:
    """All states of a story, by owner and name."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], list[Stood]] = {}

    def clear(self) -> None:
        """Forgets everything."""
        self._states.clear()

    def take(self, change: StateChange, phase: str) -> None:
        """Takes a state that changed in a phase."""
        stood = Stood(change.value, int(change.turn[1:]), phase)
        self._states.setdefault((change.owner, change.name), []).append(stood)

    def history(self, owner: str, name: str) -> Sequence[Stood]:
        """Returns all values that a state took, in order; empty where it has none."""
        return self._states.get((owner, name), ())

    def now(self, owner: str, name: str) -> str:
        """Returns how a state stands; empty where it has no value."""
        history = self.history(owner, name)
        return history[-1].value if history else ""

    def is_new(self, owner: str, name: str, since: int) -> bool:
        """Returns whether a state has changed at or after a turn, its first value not counted."""
        history = self.history(owner, name)
        return len(history) > 1 and history[-1].turn >= since
