"""The rater's card: what an audit found, bound to how it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dramaturg import __version__
from dramaturg.judge.audit.figures import POOR, Figure, figure, may_be_luck
from dramaturg.judge.audit.plan import SEVERITIES
from dramaturg.judge.audit.world.faults import DETECTED_BY, KINDS, FaultKind
from dramaturg.judge.audit.world.plan import Nature, RaterAssignment, RaterPlan
from dramaturg.judge.rating import HIGHEST, LOWEST, RatingJudgement, RatingMode, Rubric
from dramaturg.measure import auc_interval, balanced_accuracy, cluster_interval, t_interval
from dramaturg.model import Identity
from dramaturg.prompts import hashes, prompt_names
from dramaturg.text import canonical_json, sha256

FORMAT = "dramaturg-rater-card/1"

DROP = 0.5
"""A rating counts as lower from here on: half a point, so that one vote must fall by one."""

RULE = (
    f"Each metric that a fault offends counts once: it is seen there where the rating is at least {DROP:g} lower than "
    "the same character's in the clean scene. A harmless edit is left alone in each metric that does not fall so far."
)

WIDEST_DROP = (float(LOWEST - HIGHEST), float(HIGHEST - LOWEST))
"""Between which two ratings can differ."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RaterBinding(_Frozen):
    """What a card is bound to.

    Attributes:
        judge: Provider and name.
        digest: Hash of a local model's file; empty for a remote one.
        prompts: Hash of all prompts of raters in the languages.
        mode: How metrics were asked for.
        votes: How often each was rated.
        rubric: Family of the rubrics.
        rubrics: Their hash by language.
        version: Of the package.
    """

    judge: str
    digest: str = ""
    prompts: str
    mode: RatingMode
    votes: Annotated[int, Field(ge=1)]
    rubric: str
    rubrics: dict[str, str]
    version: str = __version__


class RaterParts(_Frozen):
    """How well a rater tells planted faults from innocent scenes.

    Attributes:
        sensitivity: Share of faults whose metric fell.
        specificity: Share of harmless edits whose metric did not fall.
        balanced_accuracy: The mean of both: 0.5 for a rater that never looks.
        auc: Probability that a faulty act is rated lower than an innocent one, without comparing it to its own scene.
        drop: Mean fall, in points, of the metrics that the faults offend.
        drop_elsewhere: Mean fall of the metrics that they do not offend: near `drop` where one impression rules.
    """

    sensitivity: Figure
    specificity: Figure
    balanced_accuracy: Figure
    auc: Figure
    drop: Figure
    drop_elsewhere: Figure


class RaterCard(RaterParts):
    """What an audit found of one rater: the figures over all that was rated, and over each part of it.

    Attributes:
        binding: For which judge, rubric and way of asking it holds.
        command: What made it.
        seed: Of the audit.
        sample: Most mutants that were asked for; None for all.
        rule: How ratings are counted.
        scenes: Clean scenes.
        mutants: With one planted fault.
        clean: As they were.
        shams: Harmlessly edited.
        level: Mean rating of clean scenes, in which everybody plays well.
        by_kind: Fault → figures.
        by_severity: Severity → figures.
        by_metric: Metric → figures.
        missing: Missing ratings by reason.
        not_rated: Specimens without an end, by reason.
    """

    format: Literal["dramaturg-rater-card/1"] = FORMAT
    binding: RaterBinding
    command: str
    seed: int
    sample: int | None
    rule: str = RULE
    scenes: int
    mutants: int
    clean: int
    shams: int
    level: Figure
    by_kind: dict[str, RaterParts]
    by_severity: dict[str, RaterParts]
    by_metric: dict[str, RaterParts]
    missing: dict[str, int]
    not_rated: dict[str, int] = Field(default_factory=dict[str, int])

    @property
    def open(self) -> int:
        """Planned specimens that were not rated to the end; a card with any is incomplete and is not kept."""
        return sum(self.not_rated.values())

    @property
    def poor(self) -> bool:
        """Whether it may be luck: the interval of the balanced accuracy does not lie above 0.6, or there is none."""
        return may_be_luck(self.balanced_accuracy)

    @property
    def standing(self) -> str:
        """What the card says of the rater, in one sentence."""
        found = self.balanced_accuracy
        if found.value is None:
            return "The audit says nothing of this rater: it gave no rating of faults, or none of innocent scenes."
        told = f"It told planted faults from harmless edits with a balanced accuracy of {found.value:.2f}"
        if found.low is None or found.high is None:
            return f"{told}, for which there is no interval ({found.note}). Its ratings are not to be relied on."
        told = f"{told} ({found.low:.2f} to {found.high:.2f}; one that never looks has 0.50)"
        if self.poor:
            return f"{told}. The interval does not lie above {POOR}: its ratings are not to be relied on."
        return f"{told}. The card speaks of planted faults, not of what people would say."


@dataclass(frozen=True, slots=True)
class RatedSpecimen:
    """An assignment with its ratings."""

    assignment: RaterAssignment
    ratings: tuple[RatingJudgement, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    """One metric of one specimen, beside the clean scene's rating of the same character.

    `aimed` says whether the planted fault offends the metric; a harmless edit aims at every metric.
    """

    base: str
    nature: Nature
    kind: str
    severity: str
    metric: str
    aimed: bool
    value: float | None
    clean: float | None

    @property
    def drop(self) -> float | None:
        return None if self.value is None or self.clean is None else self.clean - self.value


def rater_binding(identity: Identity, rubrics: Iterable[Rubric], *, mode: RatingMode, votes: int) -> RaterBinding:
    """Returns what a card is bound to.

    Args:
        identity: Of the judge.
        rubrics: One for each language that was rated.
        mode: How metrics were asked for.
        votes: How often each was rated.
    """
    by_language = {rubric.language: rubric for rubric in rubrics}
    names = tuple(name for name in prompt_names() if name.startswith("rate-"))
    prompts = {language: hashes(names, language) for language in sorted(by_language)}
    return RaterBinding(
        judge=f"{identity.provider}:{identity.name}",
        digest=identity.digest,
        prompts=sha256(canonical_json(prompts)),
        mode=mode,
        votes=votes,
        rubric=next(iter(by_language.values())).family,
        rubrics={language: rubric.hash for language, rubric in sorted(by_language.items())},
    )


def rater_card(
    plan: RaterPlan,
    rated: Sequence[RatedSpecimen],
    *,
    binding: RaterBinding,
    metrics: Sequence[str],
    command: str,
    sample: int | None,
    not_rated: Mapping[str, int] | None = None,
) -> RaterCard:
    """Returns the card of an audit.

    Args:
        plan: What was planned.
        rated: What was rated.
        binding: What the card is bound to.
        metrics: Ids of the rubric's metrics.
        command: What made it.
        sample: Most mutants that were asked for.
        not_rated: Specimens without an end, by reason.
    """
    marks = _marks(rated)
    natures = [one.assignment.nature for one in rated]
    clean = [mark for mark in marks if mark.nature == "clean"]
    missing: dict[str, int] = {}
    for one in rated:
        for rating in one.ratings:
            if rating.value is None:
                missing[rating.reason] = missing.get(rating.reason, 0) + 1
    return RaterCard(
        **dict(_parts(marks)),
        binding=binding,
        command=command,
        seed=plan.seed,
        sample=sample,
        scenes=len({one.assignment.base for one in rated}),
        mutants=natures.count("mutant"),
        clean=natures.count("clean"),
        shams=natures.count("sham"),
        level=_mean(clean, _value, bounds=(float(LOWEST), float(HIGHEST))),
        by_kind={kind: _parts([mark for mark in marks if _of_kind(mark, kind)]) for kind in KINDS},
        by_severity={
            severity: _parts([mark for mark in marks if mark.severity in {"", severity}]) for severity in SEVERITIES
        },
        by_metric={metric: _parts([mark for mark in marks if mark.metric == metric]) for metric in metrics},
        missing=missing,
        not_rated=dict(not_rated or {}),
    )


def _marks(rated: Sequence[RatedSpecimen]) -> list[_Mark]:
    """Returns every rating beside that of the clean scene, in order."""
    clean = {
        (one.assignment.base, one.assignment.role, rating.metric): rating.value
        for one in rated
        if one.assignment.nature == "clean"
        for rating in one.ratings
    }
    return [
        _Mark(
            base=one.assignment.base,
            nature=one.assignment.nature,
            kind=one.assignment.kind,
            severity=one.assignment.severity,
            metric=rating.metric,
            aimed=not one.assignment.kind or rating.metric in DETECTED_BY[one.assignment.kind],
            value=rating.value,
            clean=clean.get((one.assignment.base, one.assignment.role, rating.metric)),
        )
        for one in rated
        for rating in one.ratings
    ]


def _of_kind(mark: _Mark, kind: FaultKind) -> bool:
    """Returns whether a mark is of a fault, or of the same metrics in innocent scenes."""
    return mark.kind == kind if mark.nature == "mutant" else mark.metric in DETECTED_BY[kind]


def _parts(marks: Sequence[_Mark]) -> RaterParts:
    aimed = [mark for mark in marks if mark.nature == "mutant" and mark.aimed]
    beside = [mark for mark in marks if mark.nature == "mutant" and not mark.aimed]
    shams = [mark for mark in marks if mark.nature == "sham"]
    innocent = [mark for mark in marks if mark.nature != "mutant"]
    seen = cluster_interval(_by_base(aimed, _fell), n_planned=len(aimed))
    left_alone = cluster_interval(_by_base(shams, _stood), n_planned=len(shams))
    scored: dict[str, list[tuple[float, bool]]] = {}
    for mark in (*aimed, *innocent):
        if mark.value is not None:
            scored.setdefault(mark.base, []).append((-mark.value, mark.nature == "mutant"))
    return RaterParts(
        sensitivity=figure(seen),
        specificity=figure(left_alone),
        balanced_accuracy=figure(balanced_accuracy(seen, left_alone)),
        auc=figure(auc_interval(scored)),
        drop=_mean(aimed, _drop, bounds=WIDEST_DROP),
        drop_elsewhere=_mean(beside, _drop, bounds=WIDEST_DROP),
    )


def _fell(mark: _Mark) -> float | None:
    return None if mark.drop is None else float(mark.drop >= DROP)


def _stood(mark: _Mark) -> float | None:
    return None if mark.drop is None else float(mark.drop < DROP)


def _drop(mark: _Mark) -> float | None:
    return mark.drop


def _value(mark: _Mark) -> float | None:
    return mark.value


def _mean(marks: Sequence[_Mark], value_of: Callable[[_Mark], float | None], *, bounds: tuple[float, float]) -> Figure:
    return figure(t_interval(_by_base(marks, value_of), n_planned=len(marks), bounds=bounds))


def _by_base(marks: Sequence[_Mark], value_of: Callable[[_Mark], float | None]) -> dict[str, list[float]]:
    clusters: dict[str, list[float]] = {}
    for mark in marks:
        if (value := value_of(mark)) is not None:
            clusters.setdefault(mark.base, []).append(value)
    return clusters
