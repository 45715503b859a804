"""Score tables: every measure of a checklist for every subject, with interval, counts and bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.checklist.score import (
    Scores,
    Share,
    Summary,
    TranscriptScores,
    score_transcript,
    summarise,
)
from dramaturg.stage.transcript import Scenario, Transcript

Level = Literal["total", "dimension", "part"]

_Shares = Callable[[TranscriptScores], Share]


@dataclass(frozen=True, slots=True)
class Measure:
    """One row of a score table.

    Attributes:
        key: Unique in its table: ``total``, ``BRF``, ``BRF:mean``, ``RA`` …
        name: For people.
        level: All indicators, a dimension, or a sub-dimension.
        definition: What it measures.
        indicators: How many indicators go in.
    """

    key: str
    name: str
    level: Level
    definition: str
    indicators: int


@dataclass(frozen=True, slots=True)
class Score:
    """A subject's score on one measure.

    Attributes:
        summary: Mean over cases, interval, bounds; its counts are trials.
        used: Answers that went in, over all trials.
        planned: Answers that should have gone in: all but those that do not apply.
    """

    summary: Summary
    used: int
    planned: int


@dataclass(frozen=True, slots=True)
class SubjectScores:
    """The scores of one subject by one judge.

    Attributes:
        subject: Its label.
        scores: By the measure's key.
        missing: Missing answers by reason.
        not_applicable: Indicators that do not apply, over all trials.
    """

    subject: str
    scores: Mapping[str, Score]
    missing: Mapping[str, int]
    not_applicable: int


class SharedScores:
    """Scores of many transcripts, of which equal ones are kept once.

    Few distinct results occur, so thousands of transcripts take little more than a reference each.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], Scores] = {}

    def share(self, one: TranscriptScores) -> TranscriptScores:
        """Returns equal scores, made of objects that others share."""
        return replace(
            one,
            total=self._one(one.total),
            dimensions={name: self._one(scores) for name, scores in one.dimensions.items()},
            subdimensions={name: self._one(scores) for name, scores in one.subdimensions.items()},
        )

    def _one(self, scores: Scores) -> Scores:
        reasons = tuple(sorted(scores.missing.items()))
        key = (scores.quality, scores.subdimension_mean, scores.weighted, scores.not_applicable, reasons)
        return self._seen.setdefault(key, scores)


def measures(checklist: Checklist) -> tuple[Measure, ...]:
    """Returns the rows of a checklist's score table, from the whole to the parts."""
    rows = [Measure("total", "All indicators", "total", "", len(checklist.indicators))]
    if any(dimension.subdimensions for dimension in checklist.dimensions):
        rows.append(Measure("total:mean", "All, mean of sub-dimensions", "total", "", len(checklist.indicators)))
    if any(indicator.weight != 1 for indicator in checklist.indicators):
        rows.append(Measure("total:weighted", "All, weighted", "total", "", len(checklist.indicators)))
    for dimension in checklist.dimensions:
        here = [indicator for indicator in checklist.indicators if indicator.dimension == dimension.id]
        rows.append(Measure(dimension.id, dimension.name, "dimension", dimension.definition, len(here)))
        if dimension.subdimensions:
            name = f"{dimension.name}, mean of sub-dimensions"
            rows.append(Measure(f"{dimension.id}:mean", name, "dimension", "", len(here)))
        for part in dimension.subdimensions:
            size = sum(indicator.subdimension == part.id for indicator in here)
            rows.append(Measure(part.id, part.name, "part", part.definition, size))
    return tuple(rows)


def score_subject(
    subject: str, checklist: Checklist, scored: Sequence[TranscriptScores], absent: Mapping[str, int]
) -> SubjectScores:
    """Returns the scores of one subject by one judge.

    Args:
        subject: Its label.
        checklist: By which it was judged.
        scored: Its transcripts.
        absent: Trials that were planned and never came about, by scenario. They open the bounds and count among
            the planned; the value rests on the transcripts alone.

    Raises:
        ValueError: There is nothing to score.
    """
    everything = [*scored, *_absent(checklist, absent)]
    summary = summarise(everything)
    scores: dict[str, Score] = {}
    for key, found in _named(summary.total.quality, summary.total.subdimension_mean, "total"):
        scores[key] = _score(found, everything, key)
    scores["total:weighted"] = _score(summary.total.weighted, everything, "total:weighted")
    for name, figures in summary.dimensions.items():
        for key, found in _named(figures.quality, figures.subdimension_mean, name):
            scores[key] = _score(found, everything, key)
    for name, figures in summary.subdimensions.items():
        scores[name] = _score(figures.quality, everything, name)
    return SubjectScores(subject, scores, summary.missing, summary.not_applicable)


def _named(quality: Summary, mean: Summary, name: str) -> Iterable[tuple[str, Summary]]:
    return ((name, quality), (f"{name}:mean", mean))


def _score(summary: Summary, scored: Sequence[TranscriptScores], key: str) -> Score:
    place = key.partition(":")[0]
    shares = [_scores_at(one, place).quality for one in scored]
    return Score(summary, sum(share.used for share in shares), sum(share.planned for share in shares))


def _scores_at(one: TranscriptScores, place: str) -> Scores:
    if place == "total":
        return one.total
    found = one.dimensions.get(place)
    return found if found is not None else one.subdimensions[place]


def _absent(checklist: Checklist, absent: Mapping[str, int]) -> Iterator[TranscriptScores]:
    """Yields the scores of trials that never came about: every answer is missing, whoever is to blame."""
    for scenario, number in absent.items():
        nothing = Transcript(
            id="",
            suite="",
            protocol="",
            scenario=Scenario(id=scenario, title=""),
            roles=(),
            cast={},
            seed=0,
            turns=(),
            end_reason="imported",
        )
        scores = score_transcript(nothing, checklist, ())
        named = replace(scores, total=replace(scores.total, missing={"not_staged": len(checklist.indicators)}))
        yield from [named] * number
