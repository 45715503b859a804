"""Scores over ratings: by scene, as the paper says, and by character, as its code does. Both are named.

Source: CharacterBox, section 6.1: the mean over a scene's characters, then over scenes. The published code takes the
plain mean over all characters; the two differ where casts differ in size.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dramaturg.judge.rating.rubric import HIGHEST, LOWEST
from dramaturg.judge.rating.table import RatingRow, RatingTable
from dramaturg.measure import Estimate, resampled_interval, t_interval

AVERAGE = "average"
"""Name of the mean of all metrics; a character with a missing rating has none."""

BOUNDS = (float(LOWEST), float(HIGHEST))


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One metric of one subject.

    Attributes:
        by_scene: Mean per scene, then over scenes, with its interval over scenes.
        by_character: Plain mean over characters, with its interval over scenes.
        sd: Standard deviation of the scenes' means; None with fewer than two.
        if_worst: `by_scene` if every missing rating were the lowest.
        if_best: `by_scene` if every missing rating were the highest.
    """

    by_scene: Estimate
    by_character: Estimate
    sd: float | None
    if_worst: float | None
    if_best: float | None


@dataclass(frozen=True, slots=True)
class SubjectRating:
    """What was rated of one subject in one language.

    Attributes:
        subject: The model.
        language: Of the scenes.
        protocols: Under which they were staged.
        scenes: How many.
        characters: How many, over all scenes and repeats.
        scores: Metric id, and `AVERAGE`, → score.
    """

    subject: str
    language: str
    protocols: tuple[str, ...]
    scenes: int
    characters: int
    scores: Mapping[str, MetricScore]


def score_table(table: RatingTable, *, seed: int = 0) -> tuple[SubjectRating, ...]:
    """Returns the scores of every subject and language, in the order in which they come.

    Args:
        table: The ratings of one judge.
        seed: Of the resampling.
    """
    groups: dict[tuple[str, str], list[RatingRow]] = {}
    for row in table.rows:
        groups.setdefault((row.subject, row.language), []).append(row)
    return tuple(
        SubjectRating(
            subject=subject,
            language=language,
            protocols=tuple(dict.fromkeys(row.protocol for row in rows)),
            scenes=len({row.scene for row in rows}),
            characters=len(rows),
            scores={
                **{metric: _score(rows, _value_of(metric), seed) for metric in table.metrics},
                AVERAGE: _score(rows, _average_of(table.metrics), seed),
            },
        )
        for (subject, language), rows in groups.items()
    )


@dataclass(frozen=True, slots=True)
class CharacterRating:
    """What was rated of one character of one scene.

    Attributes:
        subject: The model that plays it.
        scene: Id of the scene.
        role: Id of the role.
        name: Of the character.
        plays: How often it was played.
        scores: Metric id, and `AVERAGE`, → mean over plays with its interval over them.
    """

    subject: str
    scene: str
    role: str
    name: str
    plays: int
    scores: Mapping[str, Estimate]


def score_characters(table: RatingTable) -> tuple[CharacterRating, ...]:
    """Returns the scores of every character of every scene by subject, in the order in which they come.

    Args:
        table: The ratings of one judge.
    """
    groups: dict[tuple[str, str, str], list[RatingRow]] = {}
    for row in table.rows:
        groups.setdefault((row.subject, row.scene, row.role), []).append(row)
    valued = {metric: _value_of(metric) for metric in table.metrics} | {AVERAGE: _average_of(table.metrics)}
    return tuple(
        CharacterRating(
            subject=subject,
            scene=scene,
            role=role,
            name=rows[0].name or role,
            plays=len(rows),
            scores={name: _over_plays(rows, value) for name, value in valued.items()},
        )
        for (subject, scene, role), rows in groups.items()
    )


_Valued = Callable[[RatingRow, float | None], float | None]
"""Returns what a row counts, with a number in place of what is missing, or None to leave it missing."""


def _value_of(metric: str) -> _Valued:
    def value(row: RatingRow, instead: float | None) -> float | None:
        found = row.values.get(metric)
        return instead if found is None else found

    return value


def _average_of(metrics: Sequence[str]) -> _Valued:
    def value(row: RatingRow, instead: float | None) -> float | None:
        found = [instead if (known := row.values.get(metric)) is None else known for metric in metrics]
        numbers = [number for number in found if number is not None]
        return statistics.fmean(numbers) if len(numbers) == len(found) else None

    return value


def _score(rows: Sequence[RatingRow], value: _Valued, seed: int) -> MetricScore:
    scenes = _by_scene(rows, value, None)
    means = [statistics.fmean(values) for values in scenes.values()]
    used = sum(map(len, scenes.values()))
    return MetricScore(
        by_scene=t_interval(scenes, n_planned=len(rows), bounds=BOUNDS),
        by_character=resampled_interval(
            list(scenes.values()), _plain_mean, seed=seed, n_used=used, n_planned=len(rows)
        ),
        sd=statistics.stdev(means) if len(means) > 1 else None,
        if_worst=_bound(rows, value, BOUNDS[0]),
        if_best=_bound(rows, value, BOUNDS[1]),
    )


def _over_plays(rows: Sequence[RatingRow], value: _Valued) -> Estimate:
    plays = {row.transcript: [found] for row in rows if (found := value(row, None)) is not None}
    return t_interval(plays, n_planned=len(rows), bounds=BOUNDS)


def _by_scene(rows: Sequence[RatingRow], value: _Valued, instead: float | None) -> dict[str, list[float]]:
    scenes: dict[str, list[float]] = {}
    for row in rows:
        if (found := value(row, instead)) is not None:
            scenes.setdefault(row.scene, []).append(found)
    return scenes


def _plain_mean(scenes: Sequence[Sequence[float]]) -> float | None:
    values = [value for scene in scenes for value in scene]
    return statistics.fmean(values) if values else None


def _bound(rows: Sequence[RatingRow], value: _Valued, instead: float) -> float | None:
    scenes = _by_scene(rows, value, instead)
    return statistics.fmean(statistics.fmean(values) for values in scenes.values()) if scenes else None
