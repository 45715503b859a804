"""How far the people of a campaign agree, with each other and with judges. Every figure is the measure room's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from dramaturg.errors import UserError
from dramaturg.judge.rating import Rubric
from dramaturg.judge.rating.reliability import RatingAgreement, Values, among_people, compare_ratings
from dramaturg.judge.rating.table import RowKey
from dramaturg.measure import Estimate, intraclass_correlation, krippendorff_interval
from dramaturg.report.figures import counted
from dramaturg.report.layouts import Cell, Column, Layout
from dramaturg.report.rating.layouts import estimate_cell
from dramaturg.report.rating.reliability import (
    Compared,
    NamedTable,
    PeoplesAgreement,
    agreement_layout,
    judges_against_people,
    people_layouts,
    tables_in,
)

MOST_PAIRS = 10
"""Pairs of people that are compared; of more, those who share most roles."""

FEWEST_SHARED = 2
"""Roles that two people must share to be compared."""


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How far all people agree in one metric.

    Attributes:
        metric: Its id.
        roles: Roles that two people or more rated in it.
        common: Roles that everybody rated in it.
        alpha: Krippendorff's alpha of ordinal level, its interval over scenes.
        one: ICC(2,1), over the roles that everybody rated.
        together: ICC(2,k), of the mean of all, over the same roles.
    """

    metric: str
    roles: int
    common: int
    alpha: Estimate
    one: Estimate
    together: Estimate


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two people agree.

    Attributes:
        one: The first.
        other: The second.
        agreements: By metric, and for the mean of all.
    """

    one: str
    other: str
    agreements: tuple[RatingAgreement, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the people of a campaign agree.

    Attributes:
        people: Who handed in a sheet.
        metrics: By metric.
        one: ICC(2,1) over all metrics.
        together: ICC(2,k) over all metrics.
        pairs: Two people each; at most `MOST_PAIRS`.
        pair_count: How many pairs share enough roles.
        judges: Judges against the people; None where no judge's ratings were given.
    """

    people: tuple[str, ...]
    metrics: tuple[MetricAgreement, ...]
    one: Estimate
    together: Estimate
    pairs: tuple[PairAgreement, ...]
    pair_count: int
    judges: PeoplesAgreement | None


def agreement_of(
    people: Mapping[str, Values],
    *,
    metrics: Sequence[str],
    scenes: Mapping[RowKey, str],
    judges: Sequence[NamedTable] = (),
    seed: int = 0,
) -> Agreement:
    """Returns how far people agree.

    Args:
        people: Person → ratings.
        metrics: Ids, in the order wanted.
        scenes: Scene by transcript and role.
        judges: Ratings by judges of the same roles.
        seed: Of the resampling.
    """
    one, together, _ = among_people(people, metrics=metrics)
    shared = _pairs(people)
    return Agreement(
        people=tuple(people),
        metrics=tuple(_in_metric(metric, people, scenes, seed) for metric in metrics),
        one=one,
        together=together,
        pairs=tuple(
            PairAgreement(
                here, there, compare_ratings(people[here], people[there], metrics=metrics, scenes=scenes, seed=seed)
            )
            for here, there in shared[:MOST_PAIRS]
        ),
        pair_count=len(shared),
        judges=judges_against_people(judges, people, seed=seed) if judges and people else None,
    )


def judges_of(folders: Sequence[Path], digests: Mapping[RowKey, str]) -> tuple[NamedTable, ...]:
    """Returns what judges rated of a campaign's roles, in the version that people read.

    Args:
        folders: Output folders of ratings.
        digests: Hash of the transcript by transcript and role.

    Raises:
        UserError: A folder holds no ratings, or none of the campaign's roles.
    """
    found: list[NamedTable] = []
    for folder in folders:
        for named in tables_in([folder]):
            rows = tuple(row for row in named.table.rows if digests.get(row.key) == row.digest)
            if not rows:
                raise UserError(
                    "holds no rating of the roles that people rate",
                    where=str(folder),
                    allowed="a rating of the same transcripts, unchanged",
                )
            found.append(dataclasses.replace(named, table=dataclasses.replace(named.table, rows=rows)))
    return tuple(found)


def agreement_layouts(found: Agreement, rubric: Rubric) -> tuple[Layout, ...]:
    """Returns the tables: all people by metric, two people each, and judges against people."""
    made = [_all_layout(found, rubric)]
    made += [_pair_layout(one, rubric) for one in found.pairs]
    if found.judges is not None:
        made += people_layouts(found.judges, rubric)
    return tuple(made)


def _in_metric(metric: str, people: Mapping[str, Values], scenes: Mapping[RowKey, str], seed: int) -> MetricAgreement:
    units: dict[str, list[list[float | None]]] = {}
    complete: list[list[float]] = []
    roles = 0
    for key, scene in scenes.items():
        unit = [values.get((key, metric)) for values in people.values()]
        given = [value for value in unit if value is not None]
        roles += len(given) > 1
        if given:
            units.setdefault(scene, []).append(unit)
        if len(given) == len(people):
            complete.append(given)
    return MetricAgreement(
        metric=metric,
        roles=roles,
        common=len(complete),
        alpha=krippendorff_interval(units, level="ordinal", seed=seed),
        one=intraclass_correlation(complete, "2,1"),
        together=intraclass_correlation(complete, "2,k"),
    )


def _pairs(people: Mapping[str, Values]) -> list[tuple[str, str]]:
    """Returns who can be compared with whom, those who share most roles first."""
    roles = {person: {key for key, _ in values} for person, values in people.items()}
    shared = {(one, other): len(roles[one] & roles[other]) for one, other in combinations(people, 2)}
    return sorted((pair for pair, count in shared.items() if count >= FEWEST_SHARED), key=lambda pair: -shared[pair])


def _pair_layout(pair: PairAgreement, rubric: Rubric) -> Layout:
    layout = agreement_layout(Compared("people", pair.one, pair.other, pair.agreements), rubric)
    return dataclasses.replace(layout, title=f"{layout.title}: {pair.one} and {pair.other}")


def _all_layout(found: Agreement, rubric: Rubric) -> Layout:
    names = {metric.id: metric.name for metric in rubric.metrics}
    columns = (
        Column("Metric", numeric=False),
        Column("Roles"),
        Column("Alpha", interval=True),
        Column("By all"),
        Column("ICC(2,1)", interval=True),
        Column("ICC(2,k)", interval=True),
    )
    rows = tuple(
        (
            Cell(names.get(one.metric, one.metric)),
            Cell(str(one.roles)),
            estimate_cell(one.alpha),
            Cell(str(one.common)),
            estimate_cell(one.one),
            estimate_cell(one.together),
        )
        for one in found.metrics
    )
    overall = (
        Cell("All metrics"),
        Cell(""),
        Cell(""),
        Cell(""),
        estimate_cell(found.one),
        estimate_cell(found.together),
    )
    notes = [
        f"{counted(len(found.people), 'person', 'people')}. Roles: rated by two people or more. Alpha: Krippendorff's, "
        "ordinal level, its interval over scenes. ICC: over what everybody rated (by all); (2,k) is that of their mean."
    ]
    if unsure := next((one.alpha.reason for one in found.metrics if one.alpha.reason), ""):
        notes.append(f"Intervals of alpha: {unsure}.")
    if found.pair_count > len(found.pairs):
        notes.append(f"Of {found.pair_count} pairs, the {len(found.pairs)} that share most roles follow.")
    return Layout(0, "Whether people agree", columns, (*rows, overall), tuple(notes))
