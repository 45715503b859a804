"""The board: what is going on in a run. The engine writes it, displays read it."""

from __future__ import annotations

from dataclasses import dataclass, field

from dramaturg.ledger.budget import Budget
from dramaturg.model.opening import Models


@dataclass(slots=True)
class Board:
    """What is going on in a run.

    Attributes:
        units: Planned units.
        budget: Counts the calls, tokens and dollars of this run.
        models: Knows which calls are in flight.
        done: Units with a result.
        failed: Units that ended without one.
        open_units: What is being carried out, by its description, with its start in seconds of `time.monotonic`.
    """

    units: int
    budget: Budget
    models: Models
    done: int = 0
    failed: int = 0
    open_units: dict[str, float] = field(default_factory=dict[str, float])

    def waiting(self) -> tuple[int, float]:
        """Returns how many calls are in flight, and for how many seconds the oldest has been."""
        calls = self.models.open_calls()
        return len(calls), calls[0][1] if calls else 0.0
