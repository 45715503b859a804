"""Scores of one transcript and of many: Quality Score and restarts.

Source: RPA-Check, equation 4: the share of yes over a checklist's indicators. Its tables print another figure
for a dimension, the mean over sub-dimensions; both are given here, each under its name.

The rule of the denominator, everywhere: an indicator that does not apply leaves it; a missing answer leaves it
too, is counted with its reason, and opens the bounds between "all missing were bad" and "all were good".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.judge.judgement import Judgement
from dramaturg.measure import Estimate, VarianceSplit, cluster_interval, variance_split
from dramaturg.stage.transcript import Transcript

RULE = (
    "Quality Score (equation 4): good answers / answered indicators. "
    "A negative indicator is counted reversed: its no is the good answer. "
    "Mean of sub-dimensions: plain mean of their Quality Scores. "
    "Probabilistic: mean of P(good answer), where the judge gave a probability. "
    "Indicators that do not apply and missing answers leave the denominator; "
    "the bounds count the missing ones as all bad and all good."
)
"""The formulas, for reports."""

REACHED_END = frozenset({"completed", "undecided", "imported"})
"""End reasons of a performance that was not broken off."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of good answers, or the mean of their probabilities.

    Attributes:
        value: Between 0 and 1, or None where nothing was answered.
        low: The value if all missing answers were bad; None where no indicator applies.
        high: The value if all missing answers were good; None where no indicator applies.
        used: Indicators answered with yes or no.
        planned: Indicators that apply: answered or missing.
    """

    value: float | None
    low: float | None
    high: float | None
    used: int
    planned: int


NONE = Share(None, None, None, 0, 0)
"""The share of a figure that does not exist."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one set of indicators: a checklist, a dimension or a sub-dimension.

    Attributes:
        quality: Quality Score by equation 4: every answered indicator counts once.
        subdimension_mean: Mean of the sub-dimensions' Quality Scores; a dimension without any counts as one.
        weighted: Quality Score with the indicators' weights.
        probabilistic: Mean of P(good answer). Whatever has a probability counts, even odds too, and beside it what
            the transcript itself proves, as 0 or 1; without any probability there is no value.
        not_applicable: Indicators that do not apply.
        missing: Missing answers by reason.
    """

    quality: Share
    subdimension_mean: Share
    weighted: Share
    probabilistic: Share
    not_applicable: int
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TranscriptScores:
    """Scores of one transcript.

    Attributes:
        transcript: Its id.
        scenario: Id of what was staged: the cluster in comparisons.
        total: Over the whole checklist.
        dimensions: Dimension id → its scores.
        subdimensions: Sub-dimension id → its scores.
        roles: Kind of role → scores of the indicators that are about it; those about all roles are in none.
        restarts: Restarts by cause: the Retry Rate's numerator.
        completed: Whether the performance reached the end of its procedure.
    """

    transcript: str
    scenario: str
    total: Scores
    dimensions: Mapping[str, Scores]
    subdimensions: Mapping[str, Scores]
    roles: Mapping[str, Scores]
    restarts: Mapping[str, int]
    completed: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """One figure over many transcripts: repeats reduced per scenario, then the mean over scenarios.

    Attributes:
        estimate: The mean with its interval over scenarios; `n_used` of `n_planned` counts transcripts.
        low: The mean if all missing answers were bad.
        high: The mean if all missing answers were good.
        variance: How much comes from the scenario and how much from the repeat.
    """

    estimate: Estimate
    low: float | None
    high: float | None
    variance: VarianceSplit


@dataclass(frozen=True, slots=True)
class Summaries:
    """The figures of one set of indicators over many transcripts."""

    quality: Summary
    subdimension_mean: Summary
    weighted: Summary
    probabilistic: Summary


@dataclass(frozen=True, slots=True)
class StudyScores:
    """Scores over many transcripts of one subject.

    Attributes:
        total: Over the whole checklist.
        dimensions: Dimension id → its figures.
        subdimensions: Sub-dimension id → its figures.
        roles: Kind of role → its figures.
        transcripts: How many were scored.
        restarts: Restarts by cause, summed.
        missing: Missing answers by reason, summed.
        not_applicable: Indicators that do not apply, summed.
    """

    total: Summaries
    dimensions: Mapping[str, Summaries]
    subdimensions: Mapping[str, Summaries]
    roles: Mapping[str, Summaries]
    transcripts: int
    restarts: Mapping[str, int]
    missing: Mapping[str, int]
    not_applicable: int


@dataclass(slots=True)
class _Tally:
    """Weights of a set of indicators, by what became of them."""

    good: float = 0.0
    bad: float = 0.0
    open: float = 0.0
    used: int = 0
    planned: int = 0

    def share(self) -> Share:
        answered, applicable = self.good + self.bad, self.good + self.bad + self.open
        return Share(
            value=self.good / answered if self.used else None,
            low=self.good / applicable if self.planned else None,
            high=(self.good + self.open) / applicable if self.planned else None,
            used=self.used,
            planned=self.planned,
        )


def score_transcript(transcript: Transcript, checklist: Checklist, judgements: Sequence[Judgement]) -> TranscriptScores:
    """Returns the scores of one transcript by one judge.

    An indicator without a judgement counts as missing (``left_out``). A negative indicator's no is its good answer.

    Args:
        transcript: What was judged.
        checklist: By which it was judged.
        judgements: One judge's answers about it.

    Raises:
        ValueError: Two judgements answer one indicator, or one belongs to another transcript or checklist.
    """
    answers = _by_indicator(transcript, checklist, judgements)
    subdimensions: dict[str, Scores] = {}
    dimensions: dict[str, Scores] = {}
    leaves: list[Scores] = []
    for dimension, (name, indicators) in zip(checklist.dimensions, checklist.by_dimension().items(), strict=True):
        parts = {
            part.id: _scores([one for one in indicators if one.subdimension == part.id], answers)
            for part in dimension.subdimensions
        }
        subdimensions |= parts
        dimensions[name] = _scores(indicators, answers, tuple(parts.values()))
        leaves += parts.values() if parts else [dimensions[name]]
    return TranscriptScores(
        transcript=transcript.id,
        scenario=transcript.scenario.id,
        total=_scores(checklist.indicators, answers, leaves),
        dimensions=dimensions,
        subdimensions=subdimensions,
        roles={
            role: _scores([one for one in checklist.indicators if role in one.roles], answers)
            for role in roles_of(checklist)
        },
        restarts=dict(Counter(restart.cause for restart in transcript.restarts)),
        completed=transcript.end_reason in REACHED_END,
    )


def roles_of(checklist: Checklist) -> tuple[str, ...]:
    """Returns the kinds of role that at least one indicator names, in the checklist's order."""
    return tuple(dict.fromkeys(role for indicator in checklist.indicators for role in indicator.roles))


def summarise(scored: Sequence[TranscriptScores]) -> StudyScores:
    """Returns the scores over many transcripts of one subject, by one judge and one checklist.

    Raises:
        ValueError: There are none, or they were scored by different checklists.
    """
    if not scored:
        raise ValueError("no transcript was scored")
    first = scored[0]
    if any(
        one.dimensions.keys() != first.dimensions.keys() or one.subdimensions.keys() != first.subdimensions.keys()
        for one in scored
    ):
        raise ValueError("the transcripts were scored by different checklists")
    return StudyScores(
        total=_summaries(scored, [one.total for one in scored]),
        dimensions={name: _summaries(scored, [one.dimensions[name] for one in scored]) for name in first.dimensions},
        subdimensions={
            name: _summaries(scored, [one.subdimensions[name] for one in scored]) for name in first.subdimensions
        },
        roles={name: _summaries(scored, [one.roles[name] for one in scored]) for name in first.roles},
        transcripts=len(scored),
        restarts=_sum(one.restarts for one in scored),
        missing=_sum(one.total.missing for one in scored),
        not_applicable=sum(one.total.not_applicable for one in scored),
    )


def _by_indicator(
    transcript: Transcript, checklist: Checklist, judgements: Sequence[Judgement]
) -> dict[str, Judgement]:
    known = {indicator.id for indicator in checklist.indicators}
    answers: dict[str, Judgement] = {}
    for judgement in judgements:
        if judgement.transcript != transcript.id:
            raise ValueError(f"a judgement about {judgement.transcript!r} was given for {transcript.id!r}")
        if judgement.indicator not in known:
            raise ValueError(f"checklist {checklist.id!r} has no indicator {judgement.indicator!r}")
        if judgement.indicator in answers:
            raise ValueError(f"two judgements answer {judgement.indicator!r} for {transcript.id!r}")
        answers[judgement.indicator] = judgement
    return answers


def _scores(indicators: Sequence[Indicator], answers: Mapping[str, Judgement], parts: Sequence[Scores] = ()) -> Scores:
    """Returns the scores of indicators that count together; `parts` are those of their sub-dimensions."""
    plain, weighted, probable, missing, not_applicable = _Tally(), _Tally(), _Tally(), Counter[str](), 0
    for indicator in indicators:
        judgement = answers.get(indicator.id)
        if judgement is not None and judgement.answer == "not_applicable":
            not_applicable += 1
            continue
        for tally, weight in ((plain, 1.0), (weighted, indicator.weight)):
            _count(tally, weight, indicator, judgement)
        _count_probability(probable, indicator, judgement)
        if judgement is None:
            missing["left_out"] += 1
        elif judgement.answer == "missing":
            missing[judgement.reason] += 1
    quality = plain.share()
    mean = _mean_share([part.quality for part in parts]) if parts else quality
    probabilistic = probable.share() if any(_has_probability(indicator, answers) for indicator in indicators) else NONE
    return Scores(quality, mean, weighted.share(), probabilistic, not_applicable, dict(missing))


def _count(tally: _Tally, weight: float, indicator: Indicator, judgement: Judgement | None) -> None:
    tally.planned += 1
    if judgement is None or judgement.answer == "missing":
        tally.open += weight
        return
    tally.used += 1
    if (judgement.answer == "yes") == (indicator.sign == "positive"):
        tally.good += weight
    else:
        tally.bad += weight


def _count_probability(tally: _Tally, indicator: Indicator, judgement: Judgement | None) -> None:
    if judgement is None or judgement.probability is None:
        if judgement is None or judgement.source == "model":
            tally.planned += 1
            tally.open += 1
        else:
            _count(tally, 1.0, indicator, judgement)
        return
    good = judgement.probability if indicator.sign == "positive" else 1 - judgement.probability
    tally.planned += 1
    tally.used += 1
    tally.good += good
    tally.bad += 1 - good


def _has_probability(indicator: Indicator, answers: Mapping[str, Judgement]) -> bool:
    judgement = answers.get(indicator.id)
    return judgement is not None and judgement.probability is not None


def _mean_share(shares: Sequence[Share]) -> Share:
    """Returns the plain mean of shares; one that has no value leaves it, one that does not apply leaves the bounds."""
    return Share(
        value=_mean(share.value for share in shares),
        low=_mean(share.low for share in shares),
        high=_mean(share.high for share in shares),
        used=sum(share.used for share in shares),
        planned=sum(share.planned for share in shares),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def _summaries(scored: Sequence[TranscriptScores], scores: Sequence[Scores]) -> Summaries:
    scenarios = [one.scenario for one in scored]
    return Summaries(
        quality=_summary(scenarios, [score.quality for score in scores]),
        subdimension_mean=_summary(scenarios, [score.subdimension_mean for score in scores]),
        weighted=_summary(scenarios, [score.weighted for score in scores]),
        probabilistic=_summary(scenarios, [score.probabilistic for score in scores]),
    )


def _summary(scenarios: Sequence[str], shares: Sequence[Share]) -> Summary:
    values = _clusters(scenarios, [share.value for share in shares])
    planned = sum(share.planned > 0 for share in shares)
    return Summary(
        estimate=cluster_interval(values, n_planned=planned),
        low=_mean_of_means(_clusters(scenarios, [share.low for share in shares])),
        high=_mean_of_means(_clusters(scenarios, [share.high for share in shares])),
        variance=variance_split(values),
    )


def _clusters(scenarios: Sequence[str], values: Sequence[float | None]) -> dict[str, list[float]]:
    """Returns the values that exist, by scenario."""
    clusters: dict[str, list[float]] = {}
    for scenario, value in zip(scenarios, values, strict=True):
        if value is not None:
            clusters.setdefault(scenario, []).append(value)
    return clusters


def _mean_of_means(clusters: Mapping[str, Sequence[float]]) -> float | None:
    return _mean(_mean(values) for values in clusters.values())


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    for count in counts:
        total.update(count)
    return dict(total)
