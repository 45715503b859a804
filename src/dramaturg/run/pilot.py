"""What a pilot run says of the size of a study that would show a difference."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.errors import UserError, did_you_mean
from dramaturg.measure import (
    Design,
    VarianceSplit,
    cautious_variance,
    fewest_scenarios,
    scenarios_needed,
    variance_split,
)
from dramaturg.run.sides import Panel, PanelKey, Side, Values

REPEATS = (1, 2, 3, 5, 10)
"""Seeds per case for which the cases are counted."""

ALPHA = 0.05
"""Level of all tests of a comparison together."""

SMALL_PILOT = 5
"""Cases of a pilot below which its variance is little more than a guess."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Cases for one number of seeds.

    Attributes:
        seeds: Seeds per case.
        expected: With the variance that the pilot shows; None where no number of cases is enough.
        cautious: With the upper bound of that variance (80 %).
    """

    seeds: int
    expected: Design | None
    cautious: Design | None


@dataclass(frozen=True, slots=True)
class Basis:
    """What one plan rests on.

    Attributes:
        title: Two subjects, or one where the pilot has no other.
        cases: Cases of the pilot that went in.
        pairs: Values that went in: of two subjects on the same case and seed, or of one.
        variance: Of their difference, between cases and between seeds of one case.
        plans: By the number of seeds; empty where the pilot says too little.
        notes: What limits it, in words.
    """

    title: str
    cases: int
    pairs: int
    variance: VarianceSplit
    plans: tuple[Plan, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """How large a study has to be.

    Attributes:
        run: Name of the pilot.
        measure: Which score.
        judge: Who judged, and how.
        difference: The smallest difference that should be shown.
        power: With which probability.
        tests: How many pairs of subjects are compared with each other.
        level: Level that a single test has to reach whatever the others show: 0.05 by the number of tests.
        fewest: Cases below which no difference can be shown, however large it is.
        bases: One for each pair of subjects.
    """

    run: str
    measure: str
    judge: str
    difference: float
    power: float
    tests: int
    level: float
    fewest: int
    bases: tuple[Basis, ...]


def plan_power(side: Side, *, difference: float, power: float = 0.8, measure: str = "total") -> tuple[PowerPlan, ...]:
    """Returns how many cases and seeds would show a difference to `compare`, one plan for each judge of the pilot.

    The test is the one that `compare` makes: signs are changed, and as many differences as there are pairs of subjects
    are corrected by Holm, whose first step is planned for.

    Where the pilot has two subjects, the variance of their difference is taken from their pairs; with one subject it
    is bounded by twice the subject's own, as if two subjects had nothing in common.

    Args:
        side: The pilot.
        difference: The smallest difference that should be shown, between 0 and 1.
        power: With which probability.
        measure: Which score: ``total`` or the id of a dimension.

    Raises:
        UserError: An option is out of range, or the measure is unknown.
    """
    if not 0 < difference <= 1:
        raise UserError(f"{difference:g} is out of range", where="--difference", allowed="above 0, at most 1")
    if not ALPHA < power < 1:
        raise UserError(f"{power:g} is out of range", where="--power", allowed=f"above {ALPHA}, below 1")
    measures = {name for panel in side.panels.values() for of in panel.values.values() for name in of}
    if measure not in measures:
        raise UserError(f"there is no score {measure!r}", where="--measure", allowed=did_you_mean(measure, measures))
    return tuple(
        _plan_of(side.name, key, panel, measure, difference, power)
        for key, panel in sorted(side.panels.items(), key=lambda pair: pair[0])
    )


def _plan_of(run: str, key: PanelKey, panel: Panel, measure: str, difference: float, power: float) -> PowerPlan:
    subjects = sum(bool(of.get(measure)) for of in panel.values.values())
    tests = max(1, math.comb(subjects, 2))
    level = ALPHA / tests
    return PowerPlan(
        run=run,
        measure=measure,
        judge=f"{panel.checklist.id} v{panel.checklist.version}, {key.judge}, {key.mode}",
        difference=difference,
        power=power,
        tests=tests,
        level=level,
        fewest=fewest_scenarios(level),
        bases=tuple(_bases(panel, measure, _Wanted(difference, power, level))),
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a plan has to reach."""

    difference: float
    power: float
    level: float


def _bases(panel: Panel, measure: str, wanted: _Wanted) -> list[Basis]:
    values = {subject: of[measure] for subject, of in panel.values.items() if of.get(measure)}
    if len(values) == 1:
        ((subject, alone),) = values.items()
        return [_basis(subject, _by_case(alone), 2.0, wanted)]
    return [
        _basis(f"{one} − {other}", _by_case(_differences(values[one], values[other])), 1.0, wanted)
        for one, other in itertools.combinations(values, 2)
    ]


def _differences(one: Values, other: Values) -> Values:
    return {place: one[place] - other[place] for place in one.keys() & other.keys()}


def _by_case(values: Values) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for (case, _), value in sorted(values.items()):
        found[case].append(value)
    return found


def _basis(title: str, cases: dict[str, list[float]], factor: float, wanted: _Wanted) -> Basis:
    """Returns the plans of one set of values.

    Args:
        title: What they are.
        cases: Case → values, one for each seed.
        factor: What a variance is multiplied with, to be that of a difference.
        wanted: What the plans have to reach.
    """
    count, pairs = len(cases), sum(map(len, cases.values()))
    notes: list[str] = []
    if factor != 1:
        notes.append(
            "one subject: twice its variance is taken for that of a difference, which bounds it unless two subjects "
            "are good at opposite cases; a pilot of two subjects would say more"
        )
    if count < 2:
        notes.append(
            f"the pilot is too small: {'one case' if count else 'no case'} says nothing of how cases differ; "
            f"run it on at least {SMALL_PILOT} cases"
        )
        return Basis(
            title, count, pairs, VarianceSplit(None, _scaled(variance_split(cases).within, factor)), (), tuple(notes)
        )
    if count < SMALL_PILOT:
        notes.append(f"{count} cases: the variance is little more than a guess; read the cautious column")
    split = variance_split(cases)
    if split.between is None or split.within is None:
        # Without repeats the variance of single values is all that is known: cases and seeds together.
        means = [values[0] for values in cases.values()]
        centre = math.fsum(means) / count
        together = factor * math.fsum((value - centre) ** 2 for value in means) / (count - 1)
        notes.append("one seed per case: what more seeds would gain cannot be told")
        variance = VarianceSplit(together, None)
        seeds: Sequence[int] = (1,)
    else:
        variance = VarianceSplit(_scaled(split.between, factor), _scaled(split.within, factor))
        seeds = REPEATS
    between, within = variance.between or 0.0, variance.within or 0.0
    if between + within == 0:
        notes.append("the pilot shows no variance at all, which is no sign that there is none; run it on more cases")
        return Basis(title, count, pairs, variance, (), tuple(notes))
    plans = [_plan(between, within, repeats, count, pairs, wanted) for repeats in seeds]
    return Basis(title, count, pairs, variance, tuple(plans), tuple(notes))


def _plan(between: float, within: float, repeats: int, cases: int, pairs: int, wanted: _Wanted) -> Plan:
    def needed(of_cases: float, of_seeds: float) -> Design | None:
        return scenarios_needed(
            wanted.difference,
            between=of_cases,
            within=of_seeds,
            repeats=repeats,
            power=wanted.power,
            alpha=wanted.level,
        )

    seeds_free = max(1, pairs - cases)
    # The variance between cases is estimated by what is left of that of their means, at the pilot's own repeats.
    of_means = between + within * cases / pairs
    bound = max(0.0, cautious_variance(of_means, cases - 1) - within * cases / pairs)
    return Plan(repeats, needed(between, within), needed(bound, cautious_variance(within, seeds_free)))


def _scaled(variance: float | None, factor: float) -> float | None:
    return None if variance is None else factor * variance
