"""What restarts hide: scores of trials that came through at once, beside those of all that came through at last.

RPA-Check scores completed cases and lets a broken one begin anew under another seed, so a model that breaks often
is scored by its better draws. The figures here show both sides.

A restart leaves no completed first attempt: such a trial counts in the share, and in no score of first attempts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dramaturg.judge.checklist.score import Share, TranscriptScores
from dramaturg.measure import Estimate, cluster_interval


@dataclass(frozen=True, slots=True)
class RetryRate:
    """Restarts of some trials.

    Attributes:
        restarts: All of them.
        trials: Over how many trials.
        causes: Restarts by cause, the most frequent first.
    """

    restarts: int
    trials: int
    causes: Mapping[str, int]

    @property
    def per_trial(self) -> float | None:
        """Restarts per trial, or None without a trial."""
        return self.restarts / self.trials if self.trials else None


@dataclass(frozen=True, slots=True)
class Attempts:
    """Scores of completed trials, and of those among them that needed one attempt.

    Attributes:
        trials: All that came about.
        completed: Those that reached the end of their procedure, at whatever attempt.
        first: Those that reached it at their first attempt.
        first_share: `first` of `trials`, with its interval over scenarios.
        of_completed: ``total`` and dimension id → Quality Score (equation 4) of the completed trials.
        of_first: The same of the first attempts.
    """

    trials: int
    completed: int
    first: int
    first_share: Estimate
    of_completed: Mapping[str, Estimate]
    of_first: Mapping[str, Estimate]


def retry_rate(scored: Sequence[TranscriptScores]) -> RetryRate:
    """Returns the restarts of trials by cause. RPA-Check's Retry Rate R is their total."""
    causes = Counter[str]()
    for one in scored:
        causes.update(one.restarts)
    return RetryRate(causes.total(), len(scored), dict(causes.most_common()))


def attempts(scored: Sequence[TranscriptScores]) -> Attempts:
    """Returns the scores of completed trials beside those of first attempts.

    Args:
        scored: Trials of one subject by one judge and one checklist.
    """
    completed = [one for one in scored if one.completed]
    first = [one for one in completed if not one.restarts]
    at_once: dict[str, list[float]] = {}
    for one in scored:
        at_once.setdefault(one.scenario, []).append(float(one.completed and not one.restarts))
    return Attempts(
        trials=len(scored),
        completed=len(completed),
        first=len(first),
        first_share=cluster_interval(at_once),
        of_completed=_qualities(completed),
        of_first=_qualities(first),
    )


def mean_of_parts(parts: Iterable[Fraction | None]) -> Fraction | None:
    """Returns the plain mean of the parts that have a value, exactly; None where none has.

    RPA-Check's Table 1 is this mean over the sub-dimensions of its Table 2.
    """
    present = [part for part in parts if part is not None]
    return sum(present, Fraction()) / len(present) if present else None


def exact(share: Share) -> Fraction | None:
    """Returns an unweighted share of good answers as the fraction that it is."""
    return None if share.value is None else Fraction(round(share.value * share.used), share.used)


def _qualities(scored: Sequence[TranscriptScores]) -> dict[str, Estimate]:
    if not scored:
        return {}
    names = ("total", *scored[0].dimensions)
    return {name: _quality(scored, name) for name in names}


def _quality(scored: Sequence[TranscriptScores], name: str) -> Estimate:
    by_scenario: dict[str, list[float]] = {}
    for one in scored:
        value = (one.total if name == "total" else one.dimensions[name]).quality.value
        if value is not None:
            by_scenario.setdefault(one.scenario, []).append(value)
    return cluster_interval(by_scenario, n_planned=len(scored))
