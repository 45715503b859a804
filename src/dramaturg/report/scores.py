"""Score tables: every measure of a checklist for every subject, with interval, counts and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dramaturg.judge.checklist.attempts import Attempts, RetryRate, attempts, retry_rate
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.checklist.score import (
    Scores,
    Summaries,
    Summary,
    TranscriptScores,
    roles_of,
    score_transcript,
    summarise,
)
from dramaturg.report.figures import words
from dramaturg.stage.transcript import Scenario, Transcript

Level = Literal["total", "dimension", "part", "role"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One row of a score table.

    Attributes:
        key: Unique in its table: ``total``, ``BRF``, ``BRF:mean``, ``BRF:probabilistic``, ``RA``, ``role:judge`` …
        name: For people.
        level: All indicators, a dimension, a sub-dimension, or the indicators about one kind of role.
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
        attempts: Scores of completed trials beside those of first attempts.
        retry: Restarts of the trials that came about.
    """

    subject: str
    scores: Mapping[str, Score]
    missing: Mapping[str, int]
    not_applicable: int
    attempts: Attempts
    retry: RetryRate


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
            roles={name: self._one(scores) for name, scores in one.roles.items()},
        )

    def _one(self, scores: Scores) -> Scores:
        reasons = tuple(sorted(scores.missing.items()))
        shares = (scores.quality, scores.subdimension_mean, scores.weighted, scores.probabilistic)
        key = (*shares, scores.not_applicable, reasons)
        return self._seen.setdefault(key, scores)


def measures(checklist: Checklist, *, probabilistic: bool) -> tuple[Measure, ...]:
    """Returns the rows of a checklist's score table, from the whole to the parts.

    Args:
        checklist: By which was judged.
        probabilistic: Whether the judge gave probabilities.
    """
    rows = [Measure("total", "All indicators", "total", "", len(checklist.indicators))]
    if any(dimension.subdimensions for dimension in checklist.dimensions):
        rows.append(Measure("total:mean", "All, mean of sub-dimensions", "total", "", len(checklist.indicators)))
    if any(indicator.weight != 1 for indicator in checklist.indicators):
        rows.append(Measure("total:weighted", "All, weighted", "total", "", len(checklist.indicators)))
    if probabilistic:
        rows.append(Measure("total:probabilistic", "All, probabilistic", "total", "", len(checklist.indicators)))
    for dimension in checklist.dimensions:
        here = [indicator for indicator in checklist.indicators if indicator.dimension == dimension.id]
        rows.append(Measure(dimension.id, dimension.name, "dimension", dimension.definition, len(here)))
        if dimension.subdimensions:
            name = f"{dimension.name}, mean of sub-dimensions"
            rows.append(Measure(f"{dimension.id}:mean", name, "dimension", "", len(here)))
        if probabilistic:
            name = f"{dimension.name}, probabilistic"
            rows.append(Measure(f"{dimension.id}:probabilistic", name, "dimension", "", len(here)))
        for part in dimension.subdimensions:
            size = sum(indicator.subdimension == part.id for indicator in here)
            rows.append(Measure(part.id, part.name, "part", part.definition, size))
    for role in roles_of(checklist):
        size = sum(role in indicator.roles for indicator in checklist.indicators)
        rows.append(Measure(f"role:{role}", f"Indicators about the {words(role)}", "role", "", size))
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
    scores = dict(_figures("total", summary.total, [one.total for one in everything]))
    for name, figures in summary.dimensions.items():
        scores |= _figures(name, figures, [one.dimensions[name] for one in everything])
    for name, figures in summary.subdimensions.items():
        scores |= _figures(name, figures, [one.subdimensions[name] for one in everything])
    for name, figures in summary.roles.items():
        scores |= _figures(f"role:{name}", figures, [one.roles[name] for one in everything])
    return SubjectScores(subject, scores, summary.missing, summary.not_applicable, attempts(scored), retry_rate(scored))


def _figures(name: str, figures: Summaries, scores: Sequence[Scores]) -> Iterable[tuple[str, Score]]:
    """Yields the figures of one set of indicators under the keys of their measures."""
    used = sum(one.quality.used for one in scores)
    planned = sum(one.quality.planned for one in scores)
    by_key: dict[str, Summary] = {
        name: figures.quality,
        f"{name}:mean": figures.subdimension_mean,
        f"{name}:weighted": figures.weighted,
    }
    for key, summary in by_key.items():
        yield key, Score(summary, used, planned)
    yield (
        f"{name}:probabilistic",
        Score(
            figures.probabilistic,
            sum(one.probabilistic.used for one in scores),
            sum(one.probabilistic.planned for one in scores),
        ),
    )


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
            end_reason="empty_turns",
        )
        scores = score_transcript(nothing, checklist, ())
        named = replace(scores, total=replace(scores.total, missing={"not_staged": len(checklist.indicators)}))
        yield from [named] * number
