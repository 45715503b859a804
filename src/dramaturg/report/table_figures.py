"""The figures of the tables, taken from reports of runs, or typed in from a publication."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.files import load_yaml
from dramaturg.judge.checklist.attempts import exact, mean_of_parts
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.checklist.score import Share, TranscriptScores
from dramaturg.measure import cluster_interval
from dramaturg.report.collect import Report
from dramaturg.report.data import ModelRecord
from dramaturg.report.figures import weights
from dramaturg.report.layouts import DimensionHead, Figures, Range, SubjectFigures, Values
from dramaturg.report.tables import Panel, Trial

PanelKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class NamedReport:
    """A report with the name that tells its rows from another's."""

    name: str
    report: Report


def figures_of_reports(reports: Sequence[NamedReport]) -> tuple[Figures, ...]:
    """Returns the figures of all reports together: one set for each judge, checklist and way of asking.

    Args:
        reports: One or more; a subject that stands in several has a row for each.
    """
    sources: dict[PanelKey, list[_Source]] = defaultdict(list)
    for named in reports:
        for number, panel in enumerate(named.report.panels):
            if panel.checklist is not None:
                key = (panel.checklist_digest, panel.judge, panel.mode)
                sources[key].append(_Source(named, panel, panel.checklist, number))
    return tuple(_figures(found) for found in sources.values())


class _Typed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Typed = Annotated[Decimal, Field(ge=0, le=1)]


class PublishedDimension(_Typed):
    """A dimension as published.

    Attributes:
        id: Its id.
        name: For people.
        parts: Sub-dimension id → name.
    """

    id: str
    name: str
    parts: dict[str, str] = {}


class PublishedSubject(_Typed):
    """A row as published; what the publication does not print is left out.

    Attributes:
        name: The model.
        quantisation: As printed.
        size: As printed.
        parts: Sub-dimension id → score.
        dimensions: Dimension id → score.
        cases: Dimension id → case id → score.
        restarts: Case id → restarts.
    """

    name: str
    quantisation: str = ""
    size: str = ""
    parts: dict[str, Typed] = {}
    dimensions: dict[str, Typed] = {}
    cases: dict[str, dict[str, Typed]] = {}
    restarts: dict[str, Annotated[int, Field(ge=0)]] = {}


class Published(_Typed):
    """Published figures, typed in.

    Attributes:
        source: Where they are printed.
        dimensions: What was measured.
        cases: Case id → title.
        subjects: The rows.
    """

    source: str
    dimensions: Annotated[tuple[PublishedDimension, ...], Field(min_length=1)]
    cases: dict[str, str] = {}
    subjects: Annotated[tuple[PublishedSubject, ...], Field(min_length=1)]


def figures_of_publication(path: Path) -> Figures:
    """Returns published figures that were typed into a YAML file (see `Published`).

    Raises:
        ContentError: The file is broken; the message names the line.
    """
    published = load_yaml(path, Published)
    return Figures(
        title=f"Published figures: {published.source}",
        dimensions=[DimensionHead(one.id, one.name, one.parts) for one in published.dimensions],
        cases=published.cases,
        subjects=[_typed_subject(subject) for subject in published.subjects],
    )


def _typed_subject(subject: PublishedSubject) -> SubjectFigures:
    return SubjectFigures(
        label=subject.name,
        quantisation=subject.quantisation,
        size=subject.size,
        parts=_fractions(subject.parts),
        dimensions=_fractions(subject.dimensions),
        cases={dimension: _fractions(scores) for dimension, scores in subject.cases.items()},
        restarts=subject.restarts,
    )


def _fractions(scores: Mapping[str, Decimal]) -> dict[str, Fraction | None]:
    return {name: Fraction(score) for name, score in scores.items()}


@dataclass(frozen=True, slots=True)
class _Source:
    """One panel of one report."""

    named: NamedReport
    panel: Panel
    checklist: Checklist
    number: int

    def trials(self, subject: str) -> list[tuple[Trial, TranscriptScores]]:
        return [
            (trial, scores)
            for trial in self.named.report.trials
            if trial.subject == subject and (scores := trial.scores[self.number]) is not None
        ]


def _figures(sources: Sequence[_Source]) -> Figures:
    panel, checklist = sources[0].panel, sources[0].checklist
    rows = [(source, subject.subject) for source in sources for subject in source.panel.subjects]
    labels = [label for _, label in rows]
    cases: dict[str, str] = {}
    for source in sources:
        for trial in source.named.report.trials:
            cases.setdefault(trial.scenario, trial.title)
    return Figures(
        title=panel.title,
        dimensions=[
            DimensionHead(one.id, one.name, {part.id: part.name for part in one.subdimensions})
            for one in checklist.dimensions
        ],
        cases=dict(sorted(cases.items())),
        subjects=[
            _subject(source, label, f"{label} ({source.named.name})" if labels.count(label) > 1 else label)
            for source, label in rows
        ],
        notes=_reversed_note(checklist),
    )


def _reversed_note(checklist: Checklist) -> tuple[str, ...]:
    negative = [indicator.id for indicator in checklist.indicators if indicator.sign == "negative"]
    return (f"Counted reversed, a no is good: {', '.join(negative)}.",) if negative else ()


def _subject(source: _Source, subject: str, label: str) -> SubjectFigures:
    trials = source.trials(subject)
    completed = [scores for _, scores in trials if scores.completed]
    restarts: dict[str, int] = defaultdict(int)
    for trial, _ in trials:
        restarts[trial.scenario] += len(trial.restarts)
    dimensions = [dimension.id for dimension in source.checklist.dimensions]
    cases = {name: _by_case(completed, [one.dimensions[name].quality for one in completed]) for name in dimensions}
    parts = [part.id for dimension in source.checklist.dimensions for part in dimension.subdimensions]
    records = _records(source.named.report.facts.models, [trial.models for trial, _ in trials])
    return SubjectFigures(
        label=label,
        quantisation=" + ".join(dict.fromkeys(record.quantisation for record in records if record.quantisation)),
        size=" + ".join(dict.fromkeys(weights(record.parameters) for record in records if record.parameters)),
        parts={name: _mean(completed, [one.subdimensions[name].quality for one in completed]) for name in parts},
        dimensions={name: mean_of_parts(values.values()) for name, values in cases.items()},
        cases=cases,
        restarts=restarts,
        trials=len(trials),
        completed=len(completed),
        ranges=dict(_ranges(completed, dimensions, parts)),
    )


def _records(models: Sequence[ModelRecord], identities: Iterable[tuple[str, ...]]) -> list[ModelRecord]:
    used = {identity for trial in identities for identity in trial}
    found = {record.identity: record for record in models if record.identity in used}
    return list(found.values())


def _by_case(scored: Sequence[TranscriptScores], shares: Sequence[Share]) -> Values:
    """Returns the mean of each case's trials, exactly."""
    values: dict[str, list[Fraction | None]] = defaultdict(list)
    for one, share in zip(scored, shares, strict=True):
        values[one.scenario].append(exact(share))
    return {case: mean_of_parts(of_case) for case, of_case in values.items()}


def _mean(scored: Sequence[TranscriptScores], shares: Sequence[Share]) -> Fraction | None:
    return mean_of_parts(_by_case(scored, shares).values())


def _ranges(
    scored: Sequence[TranscriptScores], dimensions: Sequence[str], parts: Sequence[str]
) -> Iterator[tuple[str, Range]]:
    """Yields the interval of each mean over cases, where there is one."""
    shares = {name: [one.dimensions[name].subdimension_mean for one in scored] for name in dimensions}
    shares |= {name: [one.subdimensions[name].quality for one in scored] for name in parts}
    for name, of_name in shares.items():
        values: dict[str, list[float]] = defaultdict(list)
        for one, share in zip(scored, of_name, strict=True):
            if share.value is not None:
                values[one.scenario].append(share.value)
        estimate = cluster_interval(values)
        if estimate.low is not None and estimate.high is not None:
            yield name, (estimate.low, estimate.high)
