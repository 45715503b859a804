"""Ratings as a table: a row per role of a transcript, a column per metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.judge.rating.judgement import RatingJudgement

RowKey = tuple[str, str]
"""Ids of transcript and role."""

Unit = Literal["trajectory", "scene", "subject"]
"""What a row stands for: one role of one transcript, the mean of a subject's rows of a scene, or of all its rows."""


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One role of one transcript.

    Attributes:
        transcript: Id of the transcript.
        digest: Hash of what was read.
        role: Id of the role.
        scene: Id of what was staged.
        language: Of the transcript.
        protocol: Under which it was staged.
        subject: Model that plays the role.
        values: Rating by metric, None where it is missing.
        name: Of the role, for people.
    """

    transcript: str
    digest: str
    role: str
    scene: str
    language: str
    protocol: str
    subject: str
    values: Mapping[str, float | None]
    name: str = ""

    @property
    def key(self) -> RowKey:
        """Which role of which transcript."""
        return self.transcript, self.role

    def complete(self, metrics: Sequence[str]) -> tuple[float, ...] | None:
        """Returns the values of some metrics, or None where one is missing."""
        found = [self.values.get(metric) for metric in metrics]
        known = tuple(value for value in found if value is not None)
        return known if len(known) == len(found) else None


@dataclass(frozen=True, slots=True)
class RatingTable:
    """What one judge said, asked in one way by one rubric.

    Attributes:
        judge: Identity of the judge.
        mode: How it was asked.
        rubric: Id and version of the rubrics, one for each language.
        metrics: Ids, in the rubric's order.
        rows: In the order in which they came.
        votes: For each row and metric the single votes, where several were asked.
        missing: Missing ratings by reason.
    """

    judge: str
    mode: str
    rubric: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[RatingRow, ...]
    votes: Mapping[tuple[RowKey, str], tuple[str, ...]]
    missing: Mapping[str, int]

    @property
    def title(self) -> str:
        """Who rated, by what and how."""
        return f"{self.judge} by {', '.join(self.rubric)}, mode {self.mode}"

    @property
    def planned(self) -> int:
        """Ratings that were asked for."""
        return len(self.rows) * len(self.metrics)

    def in_language(self, language: str) -> RatingTable:
        """Returns the table of one language's rows."""
        rows = tuple(row for row in self.rows if row.language == language)
        return RatingTable(self.judge, self.mode, self.rubric, self.metrics, rows, self.votes, self.missing)

    @property
    def languages(self) -> tuple[str, ...]:
        """Of the rows, in the order in which they came."""
        return tuple(dict.fromkeys(row.language for row in self.rows))


def tables_of(ratings: Iterable[RatingJudgement]) -> tuple[RatingTable, ...]:
    """Returns a table for each judge, way of asking and set of metrics, in the order in which they come.

    Rubrics that differ in language alone ask for the same metrics and share a table.
    """
    grouped: dict[tuple[str, str, str], list[RatingJudgement]] = {}
    for one in ratings:
        family = one.rubric.partition(" ")[0].removesuffix(f"-{one.language}")
        grouped.setdefault((one.judge, one.mode, family), []).append(one)
    return tuple(_table(group) for group in grouped.values())


def rows_of(table: RatingTable, unit: Unit, metrics: Sequence[str]) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yields the scene of each complete row of a unit, and its values; empty where the row spans scenes.

    A row of a scene or a subject is the mean of the complete rows of its trajectories.
    """
    groups: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
    for row in table.rows:
        values = row.complete(metrics)
        if values is None:
            continue
        match unit:
            case "trajectory":
                key = (row.scene, row.transcript, row.role)
            case "scene":
                key = (row.scene, row.subject)
            case "subject":
                key = ("", row.subject)
        groups.setdefault(key, []).append(values)
    for (scene, *_), values in groups.items():
        yield scene, tuple(sum(column) / len(values) for column in zip(*values, strict=True))


def _table(ratings: Sequence[RatingJudgement]) -> RatingTable:
    found: dict[RowKey, list[RatingJudgement]] = {}
    for one in ratings:
        found.setdefault((one.transcript, one.role), []).append(one)
    missing: dict[str, int] = {}
    for one in ratings:
        if one.value is None:
            missing[one.reason] = missing.get(one.reason, 0) + 1
    first = ratings[0]
    return RatingTable(
        judge=first.judge,
        mode=first.mode,
        rubric=tuple(dict.fromkeys(one.rubric for one in ratings)),
        metrics=tuple(dict.fromkeys(one.metric for one in ratings)),
        rows=tuple(
            RatingRow(
                transcript=group[0].transcript,
                digest=group[0].transcript_digest,
                role=group[0].role,
                scene=group[0].scene,
                language=group[0].language,
                protocol=group[0].protocol,
                subject=group[0].subject,
                values={one.metric: one.value for one in group},
                name=group[0].name or group[0].role,
            )
            for group in found.values()
        ),
        votes={((one.transcript, one.role), one.metric): one.votes for one in ratings if one.votes},
        missing=missing,
    )
