"""A radar of ratings: an axis for each metric, a shape for each subject, as CharacterBox's Figure 3 shows narrators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.judge.rating.rubric import HIGHEST, LOWEST, Rubric
from dramaturg.judge.rating.score import SubjectRating

WIDTH, HEIGHT = 380, 320
"""Of the drawing; beside it there is room for the names."""

RADIUS = 112
"""Length of an axis."""

FEWEST_AXES = 3
MOST_SHAPES = 6
"""Subjects beyond which shapes cover each other; then the table alone is shown."""

_LABEL_GAP = 16
_LINE = 13


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis of one metric: its end, and its name with the place of each of its lines."""

    name: str
    x: str
    y: str
    label_x: str
    lines: tuple[tuple[str, str], ...]
    anchor: Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Shape:
    """What was rated of one subject.

    Attributes:
        label: The subject.
        tint: Number of its colour.
        outline: Points of the shape; empty where a metric has no mean.
        dots: Place of each mean that there is.
    """

    label: str
    tint: int
    outline: str
    dots: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Radar:
    """A radar as a page draws it.

    Attributes:
        width: Of the drawing.
        height: Of the drawing.
        middle: Place of the centre.
        rings: Points of the lines through 2, 3, 4 and 5; the centre is 1.
        marks: Height and number of each ring.
        axes: One for each metric.
        shapes: One for each subject.
    """

    width: int
    height: int
    middle: tuple[int, int]
    rings: tuple[str, ...]
    marks: tuple[tuple[str, str], ...]
    axes: tuple[Axis, ...]
    shapes: tuple[Shape, ...]


def radar_of(scores: Sequence[SubjectRating], rubric: Rubric) -> Radar | None:
    """Returns the radar of some ratings, or None where there are too few axes or too many shapes.

    Args:
        scores: What was rated of each subject.
        rubric: Its metrics are the axes.
    """
    count = len(rubric.metrics)
    if count < FEWEST_AXES or not 1 <= len(scores) <= MOST_SHAPES:
        return None
    rings = [
        _line([_place(number, count, value) for number in range(count)]) for value in range(LOWEST + 1, HIGHEST + 1)
    ]
    several = len({score.language for score in scores}) > 1
    return Radar(
        width=WIDTH,
        height=HEIGHT,
        middle=(WIDTH // 2, HEIGHT // 2),
        rings=tuple(rings),
        marks=tuple((_place(0, count, value)[1], str(value)) for value in range(LOWEST + 1, HIGHEST + 1)),
        axes=tuple(_axis(metric.name, number, count) for number, metric in enumerate(rubric.metrics)),
        shapes=tuple(
            _shape(f"{score.subject} ({score.language})" if several else score.subject, tint, score, rubric)
            for tint, score in enumerate(scores)
        ),
    )


def _shape(label: str, tint: int, score: SubjectRating, rubric: Rubric) -> Shape:
    count = len(rubric.metrics)
    means = [score.scores[metric.id].by_scene.value for metric in rubric.metrics]
    dots = tuple(_place(number, count, mean) for number, mean in enumerate(means) if mean is not None)
    return Shape(label, tint, _line(dots) if len(dots) == count else "", dots)


def _axis(name: str, number: int, count: int) -> Axis:
    angle = _angle(number, count)
    x, y = _at(angle, RADIUS)
    label_x, label_y = _at(angle, RADIUS + _LABEL_GAP)
    words = name.split()
    across, up = math.sin(angle), math.cos(angle)
    over = 0.5 if abs(across) >= 0.2 else 1.0 if up > 0 else 0.0  # lines that stand above the place of the name
    top = float(label_y) - _LINE * (len(words) - 1) * over
    lines = tuple((word, f"{top + _LINE * place:.1f}") for place, word in enumerate(words))
    anchor: Literal["start", "middle", "end"] = "middle" if abs(across) < 0.2 else "start" if across > 0 else "end"
    return Axis(name, x, y, label_x, lines, anchor)


def _place(number: int, count: int, value: float) -> tuple[str, str]:
    return _at(_angle(number, count), RADIUS * (value - LOWEST) / (HIGHEST - LOWEST))


def _angle(number: int, count: int) -> float:
    return 2 * math.pi * number / count


def _at(angle: float, length: float) -> tuple[str, str]:
    return f"{WIDTH / 2 + length * math.sin(angle):.1f}", f"{HEIGHT / 2 - length * math.cos(angle):.1f}"


def _line(points: Sequence[tuple[str, str]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)
