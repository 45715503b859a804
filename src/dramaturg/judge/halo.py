"""Whether a judge answers each question, or one overall impression many times.

Answers in different dimensions go together for two reasons: good performances are good in several ways, and a judge
lets one impression colour all answers. A second judge of the same transcripts parts the two: what is true shows across
judges as well, what is halo shows within one judge alone.

Source: D. T. Campbell and D. W. Fiske, "Convergent and discriminant validation by the multitrait-multimethod matrix",
Psychological Bulletin 56 (1959); E. L. Thorndike, "A constant error in psychological ratings" (1920).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from dramaturg.judge.checklist.answer_table import NO, AnswerTable

SHUFFLES = 100
"""How often the answers are dealt anew to see what chance does."""

FEWEST = 20
"""Transcripts below which nothing is said."""

MUCH = 0.2
"""Halo from which a judge is said to follow one impression."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Halo:
    """How one judge's answers go together. Whatever cannot be told is None.

    Attributes:
        title: Who judged, by what and how.
        transcripts: How many were judged.
        dimensions: Those with answers of a model.
        within: Mean correlation between the scores of two dimensions of one transcript, subjects' means taken out.
        chance: 95 % range of `within` when each indicator's answers are dealt anew among a subject's transcripts.
        across: The same correlation where the two scores come from two judges: what the transcripts explain.
        halo: `within` minus `across`.
        uniform: Share of transcripts whose answers are all good or all bad.
        uniform_by_chance: The same when answers are dealt anew.
        verdict: What follows, in plain words.
    """

    title: str
    transcripts: int
    dimensions: tuple[str, ...]
    within: float | None
    chance: tuple[float, float] | None
    across: float | None
    halo: float | None
    uniform: float | None
    uniform_by_chance: float | None
    verdict: str


def halos(
    tables: Sequence[AnswerTable],
    *,
    subjects: Mapping[str, str],
    negative: Mapping[str, Collection[str]],
    seed: int = 0,
) -> tuple[Halo, ...]:
    """Returns the halo of each judge; others by the same checklist serve as its second judge.

    Args:
        tables: The answers.
        subjects: Transcript id → label of its subject.
        negative: Checklist hash → ids of the indicators whose no is good.
        seed: Of the shuffles.
    """
    views = [_View.of(table, subjects, negative.get(table.checklist_digest, ())) for table in tables]
    return tuple(
        _halo(
            view,
            [
                other
                for other in views
                if other is not view and other.table.checklist_digest == view.table.checklist_digest
            ],
            seed,
        )
        for view in views
    )


@dataclass(frozen=True, slots=True)
class _View:
    """Good answers of a model: 1, 0, or NaN where there is none; what code proves tells nothing of the judge."""

    table: AnswerTable
    good: Numbers
    groups: NDArray[np.int64]

    @classmethod
    def of(cls, table: AnswerTable, subjects: Mapping[str, str], negative: Collection[str]) -> _View:
        turned = np.asarray([name in negative for name in table.indicators], np.bool_)
        used = (table.answers >= NO) & ~table.proven
        good = np.where(used, np.where(turned, 1 - table.answers, table.answers), np.nan).astype(np.float64)
        labels = [subjects.get(name, "") for name in table.transcripts]
        numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
        return cls(table, good, np.asarray([numbers[label] for label in labels], np.int64))

    def scores(self, good: Numbers) -> dict[str, Numbers]:
        """Returns each dimension's score of each transcript, less its subject's mean."""
        found: dict[str, Numbers] = {}
        names = np.asarray(self.table.dimensions)
        for dimension in dict.fromkeys(self.table.dimensions):
            part = good[:, names == dimension]
            counts = (~np.isnan(part)).sum(axis=1)
            score = np.divide(np.nansum(part, axis=1), counts, out=np.full(len(part), np.nan), where=counts > 0)
            if not bool(np.isnan(score).all()):
                found[dimension] = self._centred(score)
        return found

    def _centred(self, score: Numbers) -> Numbers:
        here = ~np.isnan(score)
        size = int(self.groups.max(initial=0)) + 1
        counts = np.bincount(self.groups[here], minlength=size)
        sums = np.bincount(self.groups[here], weights=score[here], minlength=size)
        return score - (sums / np.maximum(counts, 1))[self.groups]

    def dealt_anew(self, generator: np.random.Generator) -> Numbers:
        dealt = self.good.copy()
        for group in range(int(self.groups.max(initial=0)) + 1):
            rows = np.flatnonzero(self.groups == group)
            dealt[rows] = generator.permuted(self.good[rows], axis=0)
        return dealt


def _halo(view: _View, others: Sequence[_View], seed: int) -> Halo:
    scores = view.scores(view.good)
    count = len(view.table.transcripts)
    within = _mean_correlation(scores, scores)
    enough = count >= FEWEST and within is not None
    chance, uniform_by_chance = _by_chance(view, seed) if enough else (None, None)
    across = _across(view, scores, others) if enough else None
    halo = within - across if within is not None and across is not None else None
    return Halo(
        title=view.table.title,
        transcripts=count,
        dimensions=tuple(scores),
        within=within if enough else None,
        chance=chance,
        across=across,
        halo=halo,
        uniform=_uniform(view.good) if count >= FEWEST else None,
        uniform_by_chance=uniform_by_chance,
        verdict=_verdict(count, len(scores), within, chance, halo),
    )


def _verdict(
    count: int, dimensions: int, within: float | None, chance: tuple[float, float] | None, halo: float | None
) -> str:
    if count < FEWEST:
        return f"{count} transcripts: too few to tell; {FEWEST} are the least."
    if dimensions < 2:
        return "Answers of a model stand in one dimension alone: nothing can go together."
    if within is None or chance is None:
        return "The answers do not vary enough to go together."
    if within <= chance[1]:
        return "Dimensions go together no more than by chance: no sign of one overall impression."
    if halo is None:
        return (
            "Dimensions go together more than by chance. One judge cannot show whether the performances are so or the "
            "judge is: judge the same transcripts with a second model."
        )
    if halo >= MUCH:
        return "This judge's answers follow one overall impression: its dimensions are not separate findings."
    return "Dimensions go together about as much as they do between judges: the performances explain it."


def _correlation(one: Numbers, other: Numbers) -> float | None:
    both = ~(np.isnan(one) | np.isnan(other))
    if int(both.sum()) < 3:
        return None
    a, b = one[both] - one[both].mean(), other[both] - other[both].mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 1e-9 else None


def _mean_correlation(ones: Mapping[str, Numbers], others: Mapping[str, Numbers]) -> float | None:
    """Returns the mean correlation between different dimensions of the two sides."""
    pairs = permutations(dict.fromkeys([*ones, *others]), 2)
    found = [
        value
        for one, other in pairs
        if one in ones and other in others and (value := _correlation(ones[one], others[other])) is not None
    ]
    return sum(found) / len(found) if found else None


def _across(view: _View, scores: Mapping[str, Numbers], others: Sequence[_View]) -> float | None:
    found: list[float] = []
    for other in others:
        rows = {name: row for row, name in enumerate(other.table.transcripts)}
        places = [(row, rows[name]) for row, name in enumerate(view.table.transcripts) if name in rows]
        if len(places) < FEWEST:
            continue
        mine, theirs = [here for here, _ in places], [there for _, there in places]
        own = {name: score[mine] for name, score in scores.items()}
        value = _mean_correlation(own, {name: score[theirs] for name, score in other.scores(other.good).items()})
        if value is not None:
            found.append(value)
    return sum(found) / len(found) if found else None


def _uniform(good: Numbers) -> float:
    rows = good[(~np.isnan(good)).sum(axis=1) > 1]
    if not len(rows):
        return 0.0
    return float((np.nanmax(rows, axis=1) == np.nanmin(rows, axis=1)).mean())


def _by_chance(view: _View, seed: int) -> tuple[tuple[float, float] | None, float]:
    generator = np.random.default_rng(seed)
    values: list[float] = []
    uniform: list[float] = []
    for _ in range(SHUFFLES):
        dealt = view.dealt_anew(generator)
        scores = view.scores(dealt)
        value = _mean_correlation(scores, scores)
        if value is not None:
            values.append(value)
        uniform.append(_uniform(dealt))
    if not values:
        return None, sum(uniform) / len(uniform)
    low, high = np.quantile(values, (0.025, 0.975))
    return (float(low), float(high)), sum(uniform) / len(uniform)
