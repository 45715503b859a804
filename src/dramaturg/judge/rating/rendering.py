"""A trajectory as text for a rater: what the performer saw and did, in order, framed so that no turn can forge another.

Which model plays stays hidden, so that a judge cannot favour one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from dramaturg.judge.rating.rubric import Metric, Rubric
from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.trajectory import Trajectory
from dramaturg.stage.transcript import Turn

FENCES = tuple(f"{start}{tag}" for tag in ("scene", "performer", "performance") for start in ("</", "<", "< /", "< "))
"""What a text would have to contain to open or close a frame of the prompt."""

CONTINUED = "    | "
"""Stands before every line of a turn but its first."""


def material(trajectory: Trajectory, language: str, *, is_rated: Callable[[Turn], bool]) -> str:
    """Returns the message that shows a rater the scene, the performer and the performance.

    Args:
        trajectory: What the performer saw and did.
        language: Of the prompt, ISO 639-1.
        is_rated: Whether an act was played by a model; the others are shown and marked.
    """
    role = trajectory.role
    lines = [
        _line(turn, language, done=done, rated=is_rated(turn))
        for step in trajectory.steps
        for done, turns in ((False, step.observations), (True, step.acts))
        for turn in turns
    ]
    performer = f"{_one_line(role.name)}\n{role.description.strip()}".strip()
    nothing = marks(language)["nothing"]
    return load_prompt("rate-material", language).fill(
        scene=quote_untrusted(trajectory.scene.strip() or nothing, *FENCES),
        performer=quote_untrusted(performer or nothing, *FENCES),
        performance=quote_untrusted("\n".join(lines) or nothing, *FENCES),
    )


def render_metrics(rubric: Rubric) -> str:
    """Returns all metrics of a rubric with what the points of the scale mean."""
    return "\n\n".join(render_metric(metric, rubric.language) for metric in rubric.metrics)


def render_metric(metric: Metric, language: str) -> str:
    """Returns one metric with what the points of the scale mean."""
    return load_prompt("rate-metric", language).fill(
        name=metric.name,
        definition=metric.definition,
        low=metric.anchors[1],
        middle=metric.anchors[3],
        high=metric.anchors[5],
    )


def render_questions(rubric: Rubric) -> str:
    """Returns the metrics as questions, without the scale: what a critique looks at."""
    return "\n".join(f"- {metric.name}: {metric.definition}" for metric in rubric.metrics)


def _line(turn: Turn, language: str, *, done: bool, rated: bool) -> str:
    words = marks(language)
    notes = [words[turn.kind]] if turn.kind in words else []
    if done and not rated:
        notes.append(words["context"])
    noted = f" ({'; '.join(notes)})" if notes else ""
    speaker = f" {_one_line(turn.speaker)}" if turn.speaker.strip() else ""
    text = f"\n{CONTINUED}".join(turn.text.strip().splitlines()) or words["silent"]
    return f"{words['done' if done else 'seen']} [{turn.id}]{speaker}{noted}: {text}"


@functools.cache
def marks(language: str) -> Mapping[str, str]:
    """Returns the words that mark lines of a performance, by what they mark."""
    lines = load_prompt("rate-marks", language).fill().splitlines()
    return {key.strip(): words.strip() for key, _, words in (line.partition(":") for line in lines)}


def _one_line(text: str) -> str:
    return " ".join(text.split()).translate(str.maketrans("[]", "()"))
