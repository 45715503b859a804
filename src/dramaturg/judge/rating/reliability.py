"""How far ratings can be relied on: whether they repeat, whether others give the same, and what alpha hides.

A high alpha alone shows that a judge's ratings go together. They do so where one impression colours all of them, so
alpha stands here beside what it cannot tell: the same judge again, another judge, and the correlation between metrics
of different judges.

Sources: CharacterBox, Table 2 (alpha by dimension; it names neither its unit nor its n); D. T. Campbell and D. W.
Fiske, Psychological Bulletin 56 (1959), for correlations within and across judges.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import get_args

from dramaturg.judge.rating.rubric import Rubric
from dramaturg.judge.rating.score import AVERAGE
from dramaturg.judge.rating.table import RatingTable, RowKey, Unit, rows_of
from dramaturg.measure import (
    Estimate,
    clustered_correlation,
    correlation,
    cronbach_alpha,
    inter_item_correlation,
    intraclass_correlation,
    krippendorff_alpha,
)

Values = Mapping[tuple[RowKey, str], float]
"""Rating by transcript, role and metric; what is missing is not there."""

UNITS: tuple[Unit, ...] = get_args(Unit)

FEWEST_ROWS = 10
"""Rows below which a correlation between metrics says nothing."""


@dataclass(frozen=True, slots=True)
class Alpha:
    """Cronbach's alpha of one dimension.

    Attributes:
        dimension: Its id.
        language: Of the rows.
        unit: What a row stands for.
        metrics: Ids of the items.
        estimate: Alpha with Feldt's interval, which takes rows as independent; `n_used` is the number of rows.
    """

    dimension: str
    language: str
    unit: Unit
    metrics: tuple[str, ...]
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class RatingAgreement:
    """How far two sets of ratings of the same trajectories agree in one metric.

    Attributes:
        metric: Its id, or `AVERAGE` for the mean of each trajectory's metrics.
        n: Trajectories that both rated.
        scenes: Of how many scenes.
        equal: Share that got the same rating.
        near: Share whose ratings differ by 1 at most.
        difference: Mean of the first less the second.
        pearson: With its interval over scenes.
        spearman: With its interval over scenes.
        icc: ICC(2,1): agreement in level too.
        alpha: Krippendorff's alpha of interval level.
    """

    metric: str
    n: int
    scenes: int
    equal: float | None
    near: float | None
    difference: float | None
    pearson: Estimate
    spearman: Estimate
    icc: Estimate
    alpha: float | None


@dataclass(frozen=True, slots=True)
class RatingHalo:
    """Whether a judge rates each metric, or one impression many times.

    Attributes:
        title: Who rated.
        rows: Complete trajectories.
        within: Mean correlation between two metrics of this judge, subjects' means taken out.
        across: The same where the two ratings come from different judges; None without another judge.
        halo: `within` less `across`.
    """

    title: str
    rows: int
    within: Estimate
    across: float | None
    halo: float | None


def alphas(table: RatingTable, rubric: Rubric) -> tuple[Alpha, ...]:
    """Returns alpha for each dimension, language and unit that has at least two metrics.

    Args:
        table: The ratings of one judge.
        rubric: Says which metrics are of which dimension.
    """
    found: list[Alpha] = []
    for language in table.languages:
        part = table.in_language(language)
        planned = {
            "trajectory": len(part.rows),
            "scene": len({(row.scene, row.subject) for row in part.rows}),
            "subject": len({row.subject for row in part.rows}),
        }
        for dimension in rubric.dimensions:
            metrics = tuple(one.id for one in rubric.of_dimension(dimension))
            if len(metrics) < 2:
                continue
            for unit in UNITS:
                rows = [values for _, values in rows_of(part, unit, metrics)]
                estimate = cronbach_alpha(rows, n_planned=planned[unit])
                found.append(Alpha(dimension, language, unit, metrics, estimate))
    return tuple(found)


def values_of(table: RatingTable) -> Values:
    """Returns the ratings that are there."""
    return {
        (row.key, metric): value
        for row in table.rows
        for metric in table.metrics
        if (value := row.values.get(metric)) is not None
    }


def votes_of(table: RatingTable) -> tuple[Values, Values]:
    """Returns the first and the second vote on each rating that has both: the same judge asked twice."""
    first: dict[tuple[RowKey, str], float] = {}
    second: dict[tuple[RowKey, str], float] = {}
    for key, votes in table.votes.items():
        if len(votes) > 1 and votes[0].isdigit() and votes[1].isdigit():
            first[key], second[key] = float(votes[0]), float(votes[1])
    return first, second


def compare_ratings(
    one: Values, other: Values, *, metrics: Sequence[str], scenes: Mapping[RowKey, str], seed: int = 0
) -> tuple[RatingAgreement, ...]:
    """Returns how far two sets of ratings agree, by metric and for the mean of all metrics.

    Args:
        one: The first ratings.
        other: The second ratings.
        metrics: Ids, in the order wanted.
        scenes: Scene by transcript and role.
        seed: Of the resampling.
    """
    keys = [key for key in scenes]
    pairs: dict[str, list[tuple[RowKey, float, float]]] = {
        metric: [
            (key, one[key, metric], other[key, metric])
            for key in keys
            if (key, metric) in one and (key, metric) in other
        ]
        for metric in metrics
    }
    pairs[AVERAGE] = [
        (
            key,
            statistics.fmean(one[key, metric] for metric in metrics),
            statistics.fmean(other[key, metric] for metric in metrics),
        )
        for key in keys
        if all((key, metric) in one and (key, metric) in other for metric in metrics)
    ]
    return tuple(_agreement(metric, found, scenes, seed) for metric, found in pairs.items())


def among_people(ratings: Mapping[str, Values], *, metrics: Sequence[str]) -> tuple[Estimate, Estimate, float | None]:
    """Returns how far people agree: ICC(2,1) of one person, ICC(2,k) of their mean, and Krippendorff's alpha.

    The ICC is over ratings that everybody gave; alpha is over all.

    Args:
        ratings: Person → ratings.
        metrics: Ids of those that count.
    """
    people = list(ratings.values())
    keys = list(dict.fromkeys(key for values in people for key in values if key[1] in metrics))
    complete = [[values[key] for values in people] for key in keys if all(key in values for values in people)]
    return (
        intraclass_correlation(complete, "2,1"),
        intraclass_correlation(complete, "2,k"),
        krippendorff_alpha([[values.get(key) for values in people] for key in keys], level="interval"),
    )


def consensus(ratings: Mapping[str, Values]) -> Values:
    """Returns the mean of all people's ratings."""
    found: dict[tuple[RowKey, str], list[float]] = {}
    for values in ratings.values():
        for key, value in values.items():
            found.setdefault(key, []).append(value)
    return {key: statistics.fmean(values) for key, values in found.items()}


def halo_of(table: RatingTable, others: Sequence[RatingTable], *, seed: int = 0) -> RatingHalo:
    """Returns how far the metrics of one judge go together, and how far those of two judges do.

    Args:
        table: The judge.
        others: Other judges of the same trajectories.
        seed: Of the resampling.
    """
    own = _centred(table)
    by_scene: dict[str, list[tuple[float, ...]]] = {}
    scene_of = {row.key: row.scene for row in table.rows}
    for key, values in own.items():
        by_scene.setdefault(scene_of[key], []).append(values)
    within = inter_item_correlation(by_scene, seed=seed)
    found = [
        value
        for other in others
        if other.metrics == table.metrics and (value := _across(own, _centred(other))) is not None
    ]
    across = statistics.fmean(found) if found else None
    halo = within.value - across if within.value is not None and across is not None else None
    return RatingHalo(table.title, len(own), within, across, halo)


def _agreement(
    metric: str, pairs: Sequence[tuple[RowKey, float, float]], scenes: Mapping[RowKey, str], seed: int
) -> RatingAgreement:
    clusters: dict[str, list[tuple[float, float]]] = {}
    for key, here, there in pairs:
        clusters.setdefault(scenes[key], []).append((here, there))
    rows = [(here, there) for _, here, there in pairs]
    gaps = [here - there for here, there in rows]
    return RatingAgreement(
        metric=metric,
        n=len(rows),
        scenes=len(clusters),
        equal=statistics.fmean(float(abs(gap) < 1e-9) for gap in gaps) if gaps else None,
        near=statistics.fmean(float(abs(gap) <= 1 + 1e-9) for gap in gaps) if gaps else None,
        difference=statistics.fmean(gaps) if gaps else None,
        pearson=clustered_correlation(clusters, "pearson", seed=seed),
        spearman=clustered_correlation(clusters, "spearman", seed=seed),
        icc=intraclass_correlation(rows, "2,1"),
        alpha=krippendorff_alpha(rows, level="interval"),
    )


def _centred(table: RatingTable) -> dict[RowKey, tuple[float, ...]]:
    """Returns the complete rows, less the means of their subjects: better models are better in everything."""
    complete = {
        row.key: (row.subject, values) for row in table.rows if (values := row.complete(table.metrics)) is not None
    }
    by_subject: dict[str, list[tuple[float, ...]]] = {}
    for subject, values in complete.values():
        by_subject.setdefault(subject, []).append(values)
    means = {
        subject: [statistics.fmean(column) for column in zip(*rows, strict=True)]
        for subject, rows in by_subject.items()
    }
    return {
        key: tuple(value - mean for value, mean in zip(values, means[subject], strict=True))
        for key, (subject, values) in complete.items()
    }


def _across(own: Mapping[RowKey, Sequence[float]], theirs: Mapping[RowKey, Sequence[float]]) -> float | None:
    shared = [key for key in own if key in theirs]
    if len(shared) < FEWEST_ROWS:
        return None
    items = range(len(own[shared[0]]))
    found = [
        value
        for here, there in permutations(items, 2)
        if (value := correlation([own[key][here] for key in shared], [theirs[key][there] for key in shared]).value)
        is not None
    ]
    return statistics.fmean(found) if found else None
