"""How much a score differs from one run to the next, and how often one item's verdict does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dramaturg.judge.matching.measures import Measure, Strata, grouped, names
from dramaturg.judge.matching.scored import ItemCredit
from dramaturg.measure import pooled_share


@dataclass(frozen=True, slots=True)
class Deviation:
    """The standard deviation of one score between runs.

    Attributes:
        runs: The score of each run.
        value: Standard deviation, with n − 1.
        low: Lower end of its 95 % interval.
        high: Upper end.
    """

    runs: tuple[float, ...]
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Repeats:
    """What repeats show, over the items that were answered in every run.

    Attributes:
        runs: How many there are.
        items: Items that were answered in all of them.
        left_out: Items that were not.
        deviations: Each score's.
        changed: Share of those items whose verdict is not the same in all runs.
    """

    runs: int
    items: int
    left_out: int
    deviations: Mapping[Measure, Deviation]
    changed: float | None


def repeats(items: Iterable[ItemCredit], measures: Mapping[Measure, Strata]) -> Repeats | None:
    """Returns what repeats show, or None where there is one run alone.

    The interval of a deviation takes the runs' scores to be normal, as a mean over many items nearly is.

    Source: G. W. Snedecor and W. G. Cochran, "Statistical Methods", 8th ed. (interval of a variance by χ²).

    Args:
        items: All items.
        measures: The scores, with what goes into each.
    """
    everything = list(items)
    runs = sorted({repeat for item in everything for repeat in item.replies})
    if len(runs) < 2:
        return None
    whole = [item for item in everything if len(item.replies) == len(item.credits) == len(runs)]
    scores: dict[Measure, list[float]] = {measure: [] for measure in measures}
    for run in runs:
        values = [(item, item.replies[run].credit or 0.0) for item in whole]
        for measure, strata in measures.items():
            score = pooled_share(grouped(values, strata), names(strata)).value
            if score is not None:
                scores[measure].append(score)
    changed = sum(len(set(item.credits)) > 1 for item in whole)
    return Repeats(
        len(runs),
        len(whole),
        len(everything) - len(whole),
        {measure: _deviation(found) for measure, found in scores.items() if len(found) == len(runs)},
        changed / len(whole) if whole else None,
    )


def _deviation(scores: list[float]) -> Deviation:
    from scipy.special import chdtri

    free = len(scores) - 1
    mean = math.fsum(scores) / len(scores)
    value = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / free)
    low, high = (value * math.sqrt(free / float(chdtri(free, tail))) for tail in (0.025, 0.975))
    return Deviation(tuple(scores), value, low, high)
