"""How far ratings can be relied on, gathered from ratings of one or several folders, and from people's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from dramaturg.files import OnTorn
from dramaturg.judge.rating.reliability import (
    Alpha,
    RatingAgreement,
    RatingHalo,
    Values,
    alphas,
    among_people,
    compare_ratings,
    consensus,
    halo_of,
    values_of,
    votes_of,
)
from dramaturg.judge.rating.rubric import Rubric
from dramaturg.judge.rating.score import AVERAGE
from dramaturg.judge.rating.table import RatingTable, RowKey, tables_of
from dramaturg.measure import Estimate
from dramaturg.report.figures import NONE, decimal
from dramaturg.report.layouts import Cell, Column, Layout
from dramaturg.report.rating.collect import read_ratings, rubric_of
from dramaturg.report.rating.layouts import DIGITS, alpha_layout, correlation_layout, estimate_cell
from dramaturg.run.rating import used_rubrics

Kind = Literal["votes", "retest", "judges", "people", "judge_people"]
"""What is compared: two votes of one rating, one judge at two times, two judges, two people, or a judge and people."""

HEADINGS: Mapping[Kind, str] = {
    "votes": "Test-retest: the first and the second vote",
    "retest": "Test-retest: the same judge, two ratings",
    "judges": "Judge against judge",
    "people": "Person against person",
    "judge_people": "Judge against people",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sets of ratings of the same trajectories.

    Attributes:
        kind: What is compared.
        one: Whose ratings the first are.
        other: Whose the second are.
        agreements: By metric, and for the mean of all.
    """

    kind: Kind
    one: str
    other: str
    agreements: tuple[RatingAgreement, ...]


@dataclass(frozen=True, slots=True)
class PeoplesAgreement:
    """People's ratings, and judges against them.

    Attributes:
        persons: Who they are.
        one: ICC(2,1): of one person.
        together: ICC(2,k): of the mean of all.
        alpha: Krippendorff's alpha of interval level.
        judges: Title of a judge → its agreement with the mean of the people.
    """

    persons: tuple[str, ...]
    one: Estimate
    together: Estimate
    alpha: float | None
    judges: Mapping[str, tuple[RatingAgreement, ...]]


@dataclass(frozen=True, slots=True)
class Reliability:
    """All that is known of how far ratings can be relied on.

    Attributes:
        rubric: What was rated.
        alphas: Title of a judge → its alphas.
        halos: One for each judge.
        compared: Test-retest, and judge against judge.
        people: None where nobody's ratings were given.
    """

    rubric: Rubric
    alphas: Mapping[str, tuple[Alpha, ...]]
    halos: tuple[RatingHalo, ...]
    compared: tuple[Compared, ...]
    people: PeoplesAgreement | None


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table with the folder that it comes from.

    Attributes:
        folder: The folder's name.
        table: The ratings.
        rubric: What was rated.
    """

    folder: str
    table: RatingTable
    rubric: Rubric


def tables_in(folders: Sequence[Path], *, on_torn: OnTorn | None = None) -> tuple[NamedTable, ...]:
    """Returns every table of some folders.

    Raises:
        UserError: A folder holds no ratings, or a file of it is broken.
    """
    return tuple(
        NamedTable(folder.resolve().name, table, rubric_of(table, used))
        for folder in folders
        for used in (used_rubrics(folder) if folder.is_dir() else {},)
        for table in tables_of(read_ratings(folder, on_torn=on_torn))
    )


def reliability_of(
    named: Sequence[NamedTable], people: Mapping[str, Values] | None = None, *, seed: int = 0
) -> Reliability:
    """Returns what some tables, and people, say of each other.

    Args:
        named: At least one table.
        people: Person → ratings.
        seed: Of the resampling.
    """
    titled = _titled(named)
    compared: list[Compared] = []
    for title, table in titled:
        first, second = votes_of(table)
        if first:
            found = compare_ratings(first, second, metrics=table.metrics, scenes=_scenes(table), seed=seed)
            compared.append(Compared("votes", f"{title}, vote 1", "vote 2", found))
    for (here, one), (there, other) in combinations(titled, 2):
        shared = _shared(one, other)
        if shared and one.metrics == other.metrics:
            kind: Kind = "retest" if (one.judge, one.mode) == (other.judge, other.mode) else "judges"
            found = compare_ratings(values_of(one), values_of(other), metrics=one.metrics, scenes=shared, seed=seed)
            compared.append(Compared(kind, here, there, found))
    rubric = named[0].rubric
    return Reliability(
        rubric=rubric,
        alphas={title: alphas(one.table, one.rubric) for (title, _), one in zip(titled, named, strict=True)},
        halos=tuple(
            halo_of(table, [other for _, other in titled if other.judge != table.judge], seed=seed)
            for _, table in titled
        ),
        compared=tuple(compared),
        people=judges_against_people(named, people, seed=seed) if people else None,
    )


def reliability_layouts(found: Reliability) -> tuple[Layout, ...]:
    """Returns the tables: alpha, halo, test-retest, judge against judge, and people."""
    made = [alpha_layout(alphas, found.rubric, title=title) for title, alphas in found.alphas.items()]
    made.append(_halo_layout(found.halos))
    made += [agreement_layout(one, found.rubric) for one in found.compared]
    if found.people is not None:
        made += people_layouts(found.people, found.rubric)
    return tuple(made)


def people_layouts(people: PeoplesAgreement, rubric: Rubric) -> tuple[Layout, ...]:
    """Returns the tables of judges against people."""
    told = (
        f"{', '.join(people.persons)}; ICC(2,1) {_told(people.one)}, of their mean {_told(people.together)}, "
        f"Krippendorff's alpha {decimal(people.alpha)}"
    )
    return (
        correlation_layout(people.judges, rubric, people=told),
        *(
            agreement_layout(Compared("judge_people", judge, "people", agreements), rubric)
            for judge, agreements in people.judges.items()
        ),
    )


def judges_against_people(
    named: Sequence[NamedTable], people: Mapping[str, Values], *, seed: int = 0
) -> PeoplesAgreement:
    """Returns how far people agree among themselves, and judges with the mean of them.

    Args:
        named: At least one table.
        people: Person → ratings.
        seed: Of the resampling.
    """
    metrics = [metric.id for metric in named[0].rubric.metrics]
    one, together, alpha = among_people(people, metrics=metrics)
    mean = consensus(people)
    judges = {
        title: compare_ratings(values_of(table), mean, metrics=table.metrics, scenes=_scenes(table), seed=seed)
        for title, table in _titled(named)
    }
    return PeoplesAgreement(tuple(people), one, together, alpha, judges)


def _titled(named: Sequence[NamedTable]) -> list[tuple[str, RatingTable]]:
    """Returns each table under its title, with its folder where two tables would be called the same."""
    several = len({one.table.title for one in named}) < len(named)
    return [(f"{one.folder}: {one.table.title}" if several else one.table.title, one.table) for one in named]


def _scenes(table: RatingTable) -> dict[RowKey, str]:
    return {row.key: row.scene for row in table.rows}


def _shared(one: RatingTable, other: RatingTable) -> dict[RowKey, str]:
    """Returns the rows that both tables have in the same version of the transcript."""
    theirs = {row.key: row.digest for row in other.rows}
    return {row.key: row.scene for row in one.rows if theirs.get(row.key) == row.digest}


def agreement_layout(compared: Compared, rubric: Rubric) -> Layout:
    """Returns how far two sets of ratings agree, a row for each metric and one for their mean."""
    shorts = {metric.id: metric.name for metric in rubric.metrics} | {AVERAGE: "Mean of all"}
    columns = (
        Column("Metric", numeric=False),
        Column("n"),
        Column("Equal"),
        Column("Within 1"),
        Column("First less second"),
        Column("Pearson", interval=True),
        Column("Spearman", interval=True),
        Column("ICC(2,1)", interval=True),
        Column("Alpha"),
    )
    rows = tuple(
        (
            Cell(shorts.get(one.metric, one.metric)),
            Cell(str(one.n)),
            Cell(decimal(one.equal)),
            Cell(decimal(one.near)),
            Cell(decimal(one.difference)),
            *(estimate_cell(estimate) for estimate in (one.pearson, one.spearman, one.icc)),
            Cell(decimal(one.alpha)),
        )
        for one in compared.agreements
    )
    overall = compared.agreements[-1]
    notes = [
        f"{compared.one}, against {compared.other}. {overall.scenes} scenes; alpha: Krippendorff's, interval level."
    ]
    if overall.pearson.reason:
        notes.append(f"Intervals of correlations: {overall.pearson.reason}.")
    return Layout(0, HEADINGS[compared.kind], columns, rows, tuple(notes))


def _halo_layout(halos: Sequence[RatingHalo]) -> Layout:
    columns = (
        Column("Judge", numeric=False),
        Column("Trajectories"),
        Column("Within one judge", interval=True),
        Column("Across judges"),
        Column("Halo"),
    )
    rows = tuple(
        (
            Cell(one.title),
            Cell(str(one.rows)),
            estimate_cell(one.within),
            Cell(decimal(one.across, DIGITS)),
            Cell(decimal(one.halo, DIGITS)),
        )
        for one in halos
    )
    notes = (
        "Mean correlation between two different metrics of a trajectory, subjects' means taken out. Across: the two "
        "ratings come from two judges. Halo: the first less the second; without a second judge nobody can tell it.",
    )
    return Layout(0, "Whether metrics are rated apart", columns, rows, notes)


def _told(estimate: Estimate) -> str:
    if estimate.value is None:
        return NONE
    if estimate.low is None or estimate.high is None:
        return decimal(estimate.value)
    return f"{decimal(estimate.value)} ({decimal(estimate.low)} to {decimal(estimate.high)})"
