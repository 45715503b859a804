"""What a suite calls its performances and what it stages: a report speaks the words of its suite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dramaturg.report.figures import counted


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of a suite.

    Attributes:
        trial: One performance.
        trials: Several.
        case: What is staged.
        cases: Several.
        reference: What a judge may check against.
    """

    trial: str = "trial"
    trials: str = "trials"
    case: str = "case"
    cases: str = "cases"
    reference: str = "case file"

    def of_trials(self, number: int) -> str:
        """Returns a number of performances with its noun."""
        return counted(number, self.trial, self.trials)

    def of_cases(self, number: int) -> str:
        """Returns a number of what is staged with its noun."""
        return counted(number, self.case, self.cases)


COURT = Terms()
WORLD = Terms("play", "plays", "scene", "scenes", "scene")


def terms_of(suites: Iterable[str]) -> Terms:
    """Returns the words of some suites: those of worlds where nothing else is there."""
    return WORLD if set(suites) == {"world"} else COURT
