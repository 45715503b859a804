"""Before and after of a finished run, from its ratings or judgements: paired by what was played."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dramaturg.files import read_jsonl
from dramaturg.judge.rating import HIGHEST, LOWEST, RatingJudgement
from dramaturg.judge.rating.score import AVERAGE, BOUNDS
from dramaturg.judge.rating.table import RatingRow, RatingTable, tables_of
from dramaturg.run.comparing import PanelComparison, compare
from dramaturg.run.material import Material
from dramaturg.run.rating import RATINGS
from dramaturg.run.records import UnitRecord
from dramaturg.run.sides import read_side
from dramaturg.run.sitting import UNITS
from dramaturg.run.subjects import labels_of, measured_roles, transcript_of
from dramaturg.run.trained import Pair
from dramaturg.train.comparing import Both, Row, Table, corrected, mean_row


def judged_tables(material: Material, out: Path, pair: Pair) -> Iterator[Table]:
    """Yields a table for each judge of a court.

    Args:
        material: What was played.
        out: Folder of the finished run.
        pair: Who is compared.
    """
    checklists = {bench.checklist.hash: bench.checklist for bench in material.judges}
    side = read_side(out, name=out.name, checklists=checklists, ledger=None)
    # Where a judge answered about one of the two alone, there is nothing to pair.
    both = {key: panel for key, panel in side.panels.items() if any(_variants(panel.values, pair))}
    for panel in compare([replace(side, panels=both)]).panels if both else ():
        for variant, base, tuned in _variants({one.name for one in panel.subjects}, pair):
            yield Table(f"{panel.title}{variant}", corrected(list(_panel_rows(panel, base, tuned))), panel.notes)


def _variants(labels: Collection[str], pair: Pair) -> Iterator[tuple[str, str, str]]:
    """Yields each variant of prompts or procedure under which both were seen, with the labels of both."""
    for label in sorted(labels):
        variant = label.removeprefix(pair.base.label)
        tuned = f"{pair.tuned.label}{variant}"
        if label.startswith(pair.base.label) and tuned in labels:
            yield variant, label, tuned


def _panel_rows(panel: PanelComparison, base_label: str, tuned_label: str) -> Iterator[Row]:
    scores = {one.name: one.scores for one in panel.subjects}
    base, tuned = scores[base_label], scores[tuned_label]
    for one in panel.differences:
        if {one.one, one.other} != {base_label, tuned_label}:
            continue
        found = one.paired.difference
        if one.one != tuned_label:
            turned = [None if value is None else -value for value in (found.value, found.high, found.low)]
            found = replace(found, value=turned[0], low=turned[1], high=turned[2])
        yield Row(
            one.measure,
            panel.measures[one.measure],
            base[one.measure],
            tuned[one.measure],
            found,
            p_value=one.paired.p_value,
        )


def rated_tables(out: Path, pair: Pair) -> Iterator[Table]:
    """Yields a table for each rater and language of a world: figure 2 of CharacterBox, with intervals.

    Args:
        out: Folder of the finished run.
        pair: Who is compared.
    """
    records = [record for _, record in read_jsonl(out / UNITS, UnitRecord)]
    labels = labels_of(records)
    seeds = {transcript_of(record): record.seed for record in records if record.kind == "stage"}
    plays = _Plays(labels, seeds, frozenset(measured_roles(out, labels, on_torn=lambda _: None)))
    ratings = [rating for _, rating in read_jsonl(out / RATINGS, RatingJudgement)]
    for table in tables_of(ratings):
        for language in table.languages:
            yield from _rating_tables(table.in_language(language), language, plays, pair)


@dataclass(frozen=True, slots=True)
class _Plays:
    """What a run says of its transcripts.

    Attributes:
        labels: Transcript → its subject.
        seeds: Transcript → its seed.
        measured: Roles that a subject plays, by transcript and role.
    """

    labels: Mapping[str, str]
    seeds: Mapping[str, int]
    measured: frozenset[tuple[str, str]]

    def rows(self, table: RatingTable) -> list[RatingRow]:
        """Returns the rows of those who are measured; all where a rubric rates others, such as a narrator."""
        return [row for row in table.rows if row.key in self.measured] or list(table.rows)


def _rating_tables(table: RatingTable, language: str, plays: _Plays, pair: Pair) -> Iterator[Table]:
    by_label: dict[str, dict[tuple[str, int, str], RatingRow]] = defaultdict(dict)
    for row in plays.rows(table):
        by_label[plays.labels[row.transcript]][row.scene, plays.seeds[row.transcript], row.role] = row
    missing = [f"missing: {reason} × {count}" for reason, count in sorted(table.missing.items())]
    for variant, base, tuned in _variants(set(plays.labels.values()), pair):
        title = f"{table.title}{variant} ({language}), points from {LOWEST} to {HIGHEST}"
        rows = _rating_rows(table.metrics, [by_label[base], by_label[tuned]])
        yield Table(title, corrected(rows), tuple(missing))


def _rating_rows(metrics: Sequence[str], sides: Sequence[Mapping[tuple[str, int, str], RatingRow]]) -> list[Row]:
    places = sorted(sides[0].keys() | sides[1].keys())
    rows = [_metric_row(AVERAGE, "mean of all metrics", places, sides, lambda row: _average(row, metrics))]
    rows += [
        _metric_row(metric, metric, places, sides, lambda row, metric=metric: row.values.get(metric))
        for metric in metrics
    ]
    return rows


def _metric_row(
    measure: str,
    name: str,
    places: Iterable[tuple[str, int, str]],
    sides: Sequence[Mapping[tuple[str, int, str], RatingRow]],
    value: Callable[[RatingRow], float | None],
) -> Row:
    found: dict[str, list[Both]] = defaultdict(list)
    for place in places:
        before, after = (value(side[place]) if place in side else None for side in sides)
        found[place[0]].append((before, after))
    return mean_row(measure, name, found, scale=BOUNDS)


def _average(row: RatingRow, metrics: Sequence[str]) -> float | None:
    values = row.complete(metrics)
    return None if values is None else statistics.fmean(values)
