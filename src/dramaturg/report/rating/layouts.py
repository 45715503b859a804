"""The layouts of CharacterBox's Tables 1 to 4 and 6, for any study: what stands in which row and column.

Table 1 is mean and standard deviation by subject and metric, Table 2 alpha by dimension and language, Table 3 the
correlation with people by judge and metric, Table 4 the making of scenes, Table 6 tokens and price of one scene.

Source: CharacterBox, sections 6 and C. Its Table 2 names neither the unit of alpha nor n; here both stand in the table.
Its Table 6 leaves the judge's tokens out; here they have columns of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dramaturg.judge.rating.reliability import Alpha, RatingAgreement
from dramaturg.judge.rating.rubric import Rubric
from dramaturg.judge.rating.score import AVERAGE, CharacterRating, MetricScore, SubjectRating
from dramaturg.measure import Estimate
from dramaturg.report.figures import NONE, decimal
from dramaturg.report.layouts import Cell, Column, Layout
from dramaturg.stage.world.crafting import CRITERIA

if TYPE_CHECKING:
    from dramaturg.report.rating.collect import RatingReport

DIGITS = 3
"""Decimal places of means, alphas and correlations, as in the paper."""

SPREAD_DIGITS = 2
"""Decimal places of standard deviations."""

LANGUAGES = {"en": "English", "zh": "Chinese", "it": "Italian", "fr": "French", "de": "German"}

Source = Literal["extracted", "generated"]

SOURCES: Mapping[Source, str] = {"extracted": "EXT", "generated": "GEN"}
"""Where scenes come from → how heads call it."""

Reduction = Literal["scene", "character"]
"""How characters are averaged: within scenes first (the paper), or all alike (its code)."""


@dataclass(frozen=True, slots=True)
class CraftFigures:
    """What an evaluator said of the scenes that one way of making them gave.

    Attributes:
        label: The model, or the way.
        source: Whether they were taken from a text or invented.
        scores: Aspect → mean and standard deviation.
        scenes: How many.
        evaluators: Who marked them.
    """

    label: str
    source: Source
    scores: Mapping[str, tuple[float, float | None]]
    scenes: int
    evaluators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneCost:
    """What one play took on the average; the keys are ``narrator``, ``character`` and ``judge``.

    Attributes:
        subject: Whose plays they are; empty where they are anybody's.
        models: Which models; empty where none was asked.
        calls: Of each.
        input_tokens: Of each.
        output_tokens: Of each.
        cost_usd: All together; None where a price is unknown.
        scenes: Over how many plays.
    """

    subject: str
    models: Mapping[str, str]
    calls: Mapping[str, float]
    input_tokens: Mapping[str, float]
    output_tokens: Mapping[str, float]
    cost_usd: float | None
    scenes: int


def rating_layouts(report: RatingReport, *, intervals: bool = False) -> tuple[Layout, ...]:
    """Returns Tables 1, 2 and 6 of a folder, for each of its judges.

    Table 3 needs people's ratings, and Table 4 the evaluations of a crafting.
    """
    made: list[Layout] = []
    for one in report.rated:
        title = one.table.title
        made.append(rating_layout(one.scores, one.rubric, title=title, reduction="scene", intervals=intervals))
        made.append(rating_layout(one.scores, one.rubric, title=title, reduction="character", intervals=intervals))
        made.append(alpha_layout(one.alphas, one.rubric, title=title))
    if report.costs:
        made.append(cost_layout(report.costs))
    return tuple(made)


def rating_layout(
    scores: Sequence[SubjectRating],
    rubric: Rubric,
    *,
    title: str,
    reduction: Reduction,
    intervals: bool = False,
) -> Layout:
    """Returns Table 1: a row per subject and language, mean ± standard deviation by metric, best first.

    Args:
        scores: What was rated.
        rubric: Its metrics are the columns.
        title: Who rated.
        reduction: How characters are averaged.
        intervals: Whether means carry their interval.
    """
    columns = [Column("Language", numeric=False), Column("Model", numeric=False), Column("Protocol", numeric=False)]
    columns += [Column(metric.short, interval=intervals) for metric in rubric.metrics]
    columns += [Column("Average", interval=intervals), Column("Scenes"), Column("Characters")]
    names = [*(metric.id for metric in rubric.metrics), AVERAGE]

    def rank(score: SubjectRating) -> tuple[str, float]:
        value = _estimate(score.scores[AVERAGE], reduction).value
        return score.language, -(value if value is not None else 0.0)

    rows = tuple(
        (
            Cell(LANGUAGES.get(score.language, score.language)),
            Cell(score.subject),
            Cell(", ".join(score.protocols)),
            *(_mean_cell(score.scores[name], reduction, intervals) for name in names),
            Cell(str(score.scenes)),
            Cell(str(score.characters)),
        )
        for score in sorted(scores, key=rank)
    )
    how = {
        "scene": "mean over a scene's characters, then over scenes (the paper); ± standard deviation over scenes",
        "character": "plain mean over all characters (the published code)",
    }[reduction]
    notes = [f"Rated by {title}. {how[0].upper()}{how[1:]}."]
    notes.append(_shorts(rubric))
    notes += _missing_notes(scores, names)
    number = 1 if reduction == "scene" else 0
    named = "Ratings by scene" if reduction == "scene" else "Ratings by character"
    return Layout(number, named, tuple(columns), rows, tuple(notes))


def metric_layout(scores: Sequence[SubjectRating], rubric: Rubric, *, title: str) -> Layout:
    """Returns a row per metric and a column per subject: the mean by scene with its interval, narrow enough to read."""
    several = len({score.language for score in scores}) > 1
    columns = [Column("Metric", numeric=False)]
    columns += [Column(f"{one.subject} ({one.language})" if several else one.subject, interval=True) for one in scores]
    names = {AVERAGE: "Mean of all"} | {metric.id: metric.name for metric in rubric.metrics}
    rows = tuple(
        (Cell(name), *(estimate_cell(one.scores[key].by_scene, digits=SPREAD_DIGITS) for one in scores))
        for key, name in names.items()
    )
    counts = "; ".join(f"{one.subject} {one.scores[AVERAGE].by_scene.n_used} of {one.characters}" for one in scores)
    notes = [f"Rated by {title}. Mean by scene, with its 95 % interval over scenes.", f"Rated in full: {counts}."]
    notes += _missing_notes(scores, [metric.id for metric in rubric.metrics])
    return Layout(0, rubric.title, tuple(columns), rows, tuple(notes))


def character_layout(found: Sequence[CharacterRating], rubric: Rubric, *, title: str) -> Layout:
    """Returns a row per subject, scene and character: each metric's mean over plays, with its interval."""
    columns = [Column("Model", numeric=False), Column("Scene", numeric=False), Column(rubric.rates.capitalize(), False)]
    columns += [Column(metric.short, interval=True) for metric in rubric.metrics]
    columns += [Column("Average", interval=True), Column("Plays")]
    names = [*(metric.id for metric in rubric.metrics), AVERAGE]
    rows = tuple(
        (
            *(Cell(text) for text in (one.subject, one.scene, one.name)),
            *(estimate_cell(one.scores[name], digits=SPREAD_DIGITS) for name in names),
            Cell(str(one.plays)),
        )
        for one in found
    )
    notes = (
        f"Rated by {title}. Mean over plays, with its 95 % interval over them where there are several.",
        _shorts(rubric),
    )
    return Layout(0, "Ratings of each role", tuple(columns), rows, notes)


def alpha_layout(found: Sequence[Alpha], rubric: Rubric, *, title: str) -> Layout:
    """Returns Table 2: Cronbach's alpha by dimension and language, with its unit and n."""
    languages = list(dict.fromkeys(one.language for one in found))
    columns = [Column("Dimension", numeric=False), Column("Unit", numeric=False)]
    for language in languages:
        name = LANGUAGES.get(language, language)
        columns += [Column(name, interval=True), Column(f"n, {name}")]
    by_key = {(one.dimension, one.unit, one.language): one.estimate for one in found}
    rows: list[tuple[Cell, ...]] = []
    for dimension, unit in dict.fromkeys((one.dimension, one.unit) for one in found):
        shorts = ", ".join(metric.short for metric in rubric.of_dimension(dimension))
        cells = [Cell(f"{rubric.dimensions[dimension]} ({shorts})"), Cell(unit)]
        for language in languages:
            estimate = by_key.get((dimension, unit, language))
            cells += [estimate_cell(estimate), Cell(str(estimate.n_used) if estimate is not None else NONE)]
        rows.append(tuple(cells))
    notes = (
        f"Rated by {title}. Feldt's 95 % interval, which takes rows as independent.",
        "A high alpha says that ratings go together, as they do where one impression colours all of them. "
        "See test-retest, a second judge and the halo before it is called reliability.",
    )
    return Layout(2, "Cronbach's alpha by dimension", tuple(columns), tuple(rows), notes)


def correlation_layout(
    found: Mapping[str, Sequence[RatingAgreement]], rubric: Rubric, *, people: str, intervals: bool = True
) -> Layout:
    """Returns Table 3: Pearson's correlation of each judge with people, by metric and overall.

    Args:
        found: Judge → its agreement with people.
        rubric: Its metrics are the columns.
        people: Who they are, for the note.
        intervals: Whether correlations carry their interval.
    """
    columns = [Column("Judge", numeric=False)]
    columns += [Column(metric.short, interval=intervals) for metric in rubric.metrics]
    columns += [Column("Overall", interval=intervals), Column("n")]
    rows: list[tuple[Cell, ...]] = []
    for judge, agreements in found.items():
        by_metric = {one.metric: one for one in agreements}
        names = [*(metric.id for metric in rubric.metrics), AVERAGE]
        cells = [
            estimate_cell(by_metric[name].pearson if name in by_metric else None, intervals=intervals) for name in names
        ]
        overall = by_metric.get(AVERAGE)
        rows.append((Cell(judge), *cells, Cell(str(overall.n) if overall is not None else NONE)))
    notes = (
        f"People: {people}. Overall: the mean of each trajectory's metrics. n: trajectories that both rated in full.",
    )
    return Layout(3, "Pearson correlation with people", tuple(columns), tuple(rows), notes)


def craft_layout(figures: Sequence[CraftFigures]) -> Layout:
    """Returns Table 4: a row for each way of making scenes, extracted beside generated ones by aspect."""
    aspects = list(dict.fromkeys(aspect for one in figures for aspect in one.scores)) or list(CRITERIA)
    cells: list[tuple[str, Source]] = [(aspect, source) for aspect in aspects for source in SOURCES]
    columns = [Column("Model", numeric=False)]
    columns += [Column(f"{aspect.capitalize()} {SOURCES[source]}") for aspect, source in cells]
    columns += [Column(f"Scenes {name}") for name in SOURCES.values()]
    by_key = {(one.label, one.source): one for one in figures}

    def value(label: str, aspect: str, source: Source) -> Cell:
        one = by_key.get((label, source))
        return Cell(_spread(*one.scores[aspect]) if one is not None and aspect in one.scores else NONE)

    rows = tuple(
        (
            Cell(label),
            *(value(label, aspect, source) for aspect, source in cells),
            *(Cell(str(by_key[label, source].scenes) if (label, source) in by_key else NONE) for source in SOURCES),
        )
        for label in dict.fromkeys(one.label for one in figures)
    )
    notes = [
        "EXT: scenes taken from a text. GEN: new scenes. Mean ± standard deviation over all scenes that were marked."
    ]
    evaluators = list(dict.fromkeys(name for one in figures for name in one.evaluators))
    if evaluators:
        notes.append(f"Marked by {', '.join(evaluators)}.")
    if unmarked := [one.label for one in figures if not one.scenes]:
        notes.append(f"Without marks, because nobody was asked for them (--evaluator): {', '.join(unmarked)}.")
    return Layout(4, "Making scenes", tuple(columns), rows, tuple(notes))


def cost_layout(costs: Sequence[SceneCost]) -> Layout:
    """Returns Table 6: tokens and price of one scene."""
    parts = ("narrator", "character", "judge")
    named = any(one.subject for one in costs)
    columns = [Column("Subject", numeric=False)] if named else []
    columns += [Column(part.capitalize(), numeric=False) for part in parts]
    columns += [Column(f"{part} {what}") for part in parts for what in ("calls", "input", "output")]
    columns += [Column("Cost (USD)"), Column("Plays")]
    rows = tuple(
        (
            *((Cell(one.subject),) if named else ()),
            *(Cell(one.models[part] or NONE) for part in parts),
            *(
                Cell(decimal(values[part], digits) if one.models[part] else NONE)
                for part in parts
                for values, digits in ((one.calls, 1), (one.input_tokens, 0), (one.output_tokens, 0))
            ),
            Cell(decimal(one.cost_usd, 4)),
            Cell(str(one.scenes)),
        )
        for one in costs
    )
    notes = ("Means over plays, all rounds together. A cost with an unknown part is unknown, not zero.",)
    return Layout(6, "Cost of one scene, played once", tuple(columns), rows, notes)


def estimate_cell(estimate: Estimate | None, *, intervals: bool = True, digits: int = DIGITS) -> Cell:
    """Returns an estimate as tables write it, its interval beside it where it has one and it is wanted."""
    if estimate is None or estimate.value is None:
        return Cell(NONE)
    text = decimal(estimate.value, digits)
    if not intervals or estimate.low is None or estimate.high is None:
        return Cell(text)
    return Cell(text, decimal(estimate.low, SPREAD_DIGITS), decimal(estimate.high, SPREAD_DIGITS))


def _estimate(score: MetricScore, reduction: Reduction) -> Estimate:
    return score.by_scene if reduction == "scene" else score.by_character


def _mean_cell(score: MetricScore, reduction: Reduction, intervals: bool) -> Cell:
    estimate = _estimate(score, reduction)
    if estimate.value is None:
        return Cell(NONE)
    text = _spread(estimate.value, score.sd) if reduction == "scene" else decimal(estimate.value, DIGITS)
    if not intervals or estimate.low is None or estimate.high is None:
        return Cell(text)
    return Cell(text, decimal(estimate.low, SPREAD_DIGITS), decimal(estimate.high, SPREAD_DIGITS))


def _spread(mean: float, sd: float | None) -> str:
    return decimal(mean, DIGITS) if sd is None else f"{decimal(mean, DIGITS)} ± {decimal(sd, SPREAD_DIGITS)}"


def _shorts(rubric: Rubric) -> str:
    return "; ".join(f"{metric.short}: {metric.name}" for metric in rubric.metrics) + "."


def _missing_notes(scores: Sequence[SubjectRating], names: Sequence[str]) -> Iterator[str]:
    for score in scores:
        gaps = [(name, one) for name in names if (one := score.scores[name]).by_scene.n_used < one.by_scene.n_planned]
        if gaps:
            told = "; ".join(
                f"{name} {one.by_scene.n_used} of {one.by_scene.n_planned}"
                f" ({decimal(one.if_worst, SPREAD_DIGITS)} to {decimal(one.if_best, SPREAD_DIGITS)})"
                for name, one in gaps
            )
            yield f"{score.subject}, {score.language}: ratings used, and the mean if the rest were 1 or 5: {told}."
