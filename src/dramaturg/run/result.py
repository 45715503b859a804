"""The result of a run: what became of every unit, and what the process should exit with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dramaturg.run.records import UnitRecord, UnitStatus

Stop = Literal["", "limit", "interrupted"]
"""Why a run stopped before its end; empty when it did not."""

EXIT_FINE = 0
EXIT_UNITS_FAILED = 2
EXIT_LIMIT = 3
EXIT_INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What became of a run.

    Attributes:
        study: Name of the study.
        out: The output folder.
        records: One record per planned unit, in plan order.
        stop: Why the run stopped before its end.
        limit: The limit that was reached, with what it said; empty when none was.
        calls: New calls.
        replayed: Calls that the ledger answered.
        tokens: Tokens of the new calls.
        seconds: How long this run took.
    """

    study: str
    out: Path
    records: tuple[UnitRecord, ...]
    stop: Stop
    limit: str
    calls: int
    replayed: int
    tokens: int
    seconds: float

    def counts(self) -> Counter[UnitStatus]:
        """Returns how many units came to which end."""
        return Counter(record.status for record in self.records)

    def failures(self) -> tuple[UnitRecord, ...]:
        """Returns the records of units that failed by themselves."""
        return tuple(record for record in self.records if record.status == "failed")

    @property
    def exit_code(self) -> int:
        """0 fine, 2 some units failed, 3 limit reached, 130 interrupted; what stopped the run goes before failures."""
        return exit_code(self.stop, failed=bool(self.failures()))

    @property
    def advice(self) -> str:
        """One line that says how to go on; empty when everything is done."""
        return advice(self.stop, self.limit, done=self.counts()["done"], planned=len(self.records), what="units")


def exit_code(stop: Stop, *, failed: bool) -> int:
    """Returns what the process of a run should exit with.

    Args:
        stop: Why the run stopped before its end.
        failed: Whether something failed by itself.
    """
    match stop:
        case "interrupted":
            return EXIT_INTERRUPTED
        case "limit":
            return EXIT_LIMIT
        case "":
            return EXIT_UNITS_FAILED if failed else EXIT_FINE


def advice(stop: Stop, limit: str, *, done: int, planned: int, what: str) -> str:
    """Returns one line that says how to go on; empty when everything is done.

    Args:
        stop: Why the run stopped before its end.
        limit: The limit that was reached.
        done: How many have a result.
        planned: How many there are.
        what: What they are called.
    """
    if done == planned:
        return ""
    said = {"limit": f"stopped at {limit}", "interrupted": "interrupted", "": f"some {what} failed"}[stop]
    return (
        f"{said}: {done} of {planned} {what} are done; run the same command again to go on, "
        "what was answered is not asked again"
    )
