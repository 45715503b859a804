"""What a test split says of a base and a tuned model: the measures of each kind of data, fixed beforehand.

Source: CharacterBox, figure 2 (before and after, metric by metric) and Table 3 (a small rater's correlation with
whom it learned from).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import assert_never

from dramaturg.judge.rating import HIGHEST, LOWEST
from dramaturg.ledger import Calls
from dramaturg.measure import (
    Estimate,
    auc,
    auc_interval,
    clustered_correlation,
    correlation,
    pooled_share,
)
from dramaturg.model import Model
from dramaturg.train.comparing import SEED, Both, Marks, Row, Table, corrected, mean_row, statistic_row
from dramaturg.train.comparing_acts import CLEAN, FAULTS, mark_act
from dramaturg.train.comparing_typed import (
    ANSWER,
    CONSISTENT,
    LIKELY,
    VALID,
    mark_judged,
    mark_narrated,
    mark_rated,
    teachers_answer,
    teachers_ratings,
)
from dramaturg.train.example import Example, Kind

MISSING_NOTE = "what is missing is left out of both and counted; the counts say how many are used"
COUNTING_NOTE = "balanced accuracy and AUC count each example alike, the shares each scene"
OVERALL = "overall"

Known = tuple[float, float, float]
"""What the base and the tuned model gave, and what is so."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One example, and what both models made of it."""

    example: Example
    base: Marks
    tuned: Marks

    def both(self, measure: str) -> Both:
        """Returns the value of both models."""
        return self.base.values.get(measure), self.tuned.values.get(measure)


async def mark(example: Example, model: Model, calls: Calls) -> Marks:
    """Returns what a model makes of an example.

    Raises:
        UnitStopped: The endpoint failed.
        LimitReached: A budget is used up.
    """
    match example.kind:
        case "guided" | "reflective":
            return await mark_act(example, model, calls)
        case "narrator":
            return await mark_narrated(example, model, calls)
        case "reward":
            return await mark_rated(example, model, calls)
        case "judge":
            return await mark_judged(example, model, calls)
        case _:
            assert_never(example.kind)


def why_unasked(example: Example) -> str:
    """Returns why an example is not put to the models; empty where it is."""
    if example.kind == "reward" and not teachers_ratings(example):
        return "a critique, which each model writes by itself before it rates"
    if example.kind == "judge" and teachers_answer(example) is None:
        return "the wanted answer is neither yes nor no"
    return ""


def drawn(examples: Sequence[Example], count: int, seed: int) -> list[Example]:
    """Returns so many of the examples, drawn from the scenes in turn, in their own order; equal seeds draw the same.

    Args:
        examples: All of them.
        count: How many; all where there are no more.
        seed: Of the drawing.
    """
    generator = random.Random(f"train-compare/{seed}")
    by_scene: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_scene[example.scene].append(example)
    waiting = list(by_scene.values())
    generator.shuffle(waiting)
    for group in waiting:
        generator.shuffle(group)
    chosen: set[str] = set()
    while waiting and len(chosen) < count:
        waiting = [group for group in waiting if group]
        for group in waiting[: count - len(chosen)]:
            chosen.add(group.pop().id)
    return [example for example in examples if example.id in chosen]


def tables_of(kind: Kind, outcomes: Sequence[Outcome]) -> tuple[Table, ...]:
    """Returns the measures of a kind of data, before and after.

    Args:
        kind: What was learned.
        outcomes: What both models made of each example.
    """
    notes = (*_missing_notes(outcomes), MISSING_NOTE)
    match kind:
        case "guided" | "reflective":
            table = Table("faults that a play notices by rule, as shares of the acts", _act_rows(outcomes), notes)
        case "narrator":
            table = Table("typed answers of a narrator, as shares", _narrator_rows(outcomes), notes)
        case "reward":
            return _reward_tables(outcomes, notes)
        case "judge":
            title = "answers of yes and no against those that are wanted"
            table = Table(title, _judge_rows(outcomes), (*notes, COUNTING_NOTE))
        case _:
            assert_never(kind)
    return (table,)


def _missing_notes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for name, marks in (("base", [one.base for one in outcomes]), ("tuned", [one.tuned for one in outcomes])):
        reasons = Counter(one.missing for one in marks if one.missing)
        if reasons:
            told = ", ".join(f"{reason} × {count}" for reason, count in sorted(reasons.items()))
            yield f"{name}: of {len(marks)} examples, nothing could be measured of {reasons.total()}: {told}"


def _by_scene(outcomes: Iterable[Outcome], measure: str) -> dict[str, list[Both]]:
    found: dict[str, list[Both]] = defaultdict(list)
    for one in outcomes:
        found[one.example.scene].append(one.both(measure))
    return found


def _act_rows(outcomes: Sequence[Outcome]) -> tuple[Row, ...]:
    rows = [mean_row(CLEAN, "without any of these faults", _by_scene(outcomes, CLEAN))]
    rows += [mean_row(fault, name, _by_scene(outcomes, fault), better="lower") for fault, (name, _) in FAULTS.items()]
    return corrected(rows)


def _narrator_rows(outcomes: Sequence[Outcome]) -> tuple[Row, ...]:
    rows = [
        mean_row(VALID, "valid", _by_scene(outcomes, VALID)),
        mean_row(CONSISTENT, "valid and consistent", _by_scene(outcomes, CONSISTENT)),
    ]
    tasks = dict.fromkeys(one.example.purpose for one in outcomes)
    for task in tasks:
        of_task = [one for one in outcomes if one.example.purpose == task]
        rows.append(mean_row(f"{CONSISTENT}:{task}", f"{task}: valid and consistent", _by_scene(of_task, CONSISTENT)))
    return corrected(rows)


def _judge_rows(outcomes: Sequence[Outcome]) -> tuple[Row, ...]:
    seen, left_alone = ([one for one in outcomes if teachers_answer(one.example) is wanted] for wanted in (True, False))
    planned = len(outcomes)
    accuracies = (_accuracy(outcomes, 0), _accuracy(outcomes, 1))
    areas = (auc_interval(_scored(outcomes, 0)), auc_interval(_scored(outcomes, 1)))
    return corrected(
        [
            statistic_row(
                "balanced_accuracy",
                "balanced accuracy",
                accuracies,
                _known(outcomes, ANSWER),
                _balanced,
                planned=planned,
            ),
            statistic_row("auc", "AUC", areas, _known(outcomes, LIKELY), _area, planned=planned),
            mean_row("sensitivity", "yes where yes is wanted", _right(seen, wanted=1.0)),
            mean_row("specificity", "no where no is wanted", _right(left_alone, wanted=0.0)),
        ]
    )


def _right(outcomes: Sequence[Outcome], *, wanted: float) -> dict[str, list[Both]]:
    def right(value: float | None) -> float | None:
        return None if value is None else float(value == wanted)

    return {
        scene: [(right(before), right(after)) for before, after in pairs]
        for scene, pairs in _by_scene(outcomes, ANSWER).items()
    }


def _accuracy(outcomes: Sequence[Outcome], side: int) -> Estimate:
    """Returns the mean of the shares of right answers where yes and where no is wanted, each example counting alike."""
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for one in outcomes:
        said, wanted = one.both(ANSWER)[side], teachers_answer(one.example) is True
        if said is not None:
            found[one.example.scene].append(("yes" if wanted else "no", float(said == wanted)))
    return pooled_share(found, ("yes", "no"), n_planned=len(outcomes))


def _known(outcomes: Sequence[Outcome], measure: str) -> dict[str, list[Known]]:
    found: dict[str, list[Known]] = defaultdict(list)
    for one in outcomes:
        before, after = one.both(measure)
        if before is not None and after is not None:
            found[one.example.scene].append((before, after, float(teachers_answer(one.example) is True)))
    return found


def _scored(outcomes: Sequence[Outcome], side: int) -> dict[str, list[tuple[float, bool]]]:
    found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for one in outcomes:
        likely = one.both(LIKELY)[side]
        if likely is not None:
            found[one.example.scene].append((likely, teachers_answer(one.example) is True))
    return found


def _balanced(items: Sequence[Known], side: int) -> float | None:
    shares: list[float] = []
    for wanted in (0.0, 1.0):
        right = [item[side] == wanted for item in items if item[2] == wanted]
        if not right:
            return None
        shares.append(sum(right) / len(right))
    return fmean(shares)


def _area(items: Sequence[Known], side: int) -> float | None:
    return auc([(item[side], item[2] == 1.0) for item in items])


@dataclass(frozen=True, slots=True)
class _Rated:
    """One metric, or the mean of all, of one trajectory."""

    scene: str
    teacher: float
    both: Both


def _reward_tables(outcomes: Sequence[Outcome], notes: tuple[str, ...]) -> tuple[Table, ...]:
    rated = _ratings(outcomes)
    notes = (*notes, *_partial_notes(rated[OVERALL]))
    far: list[Row] = []
    near: list[Row] = []
    for metric, ratings in rated.items():
        name = "mean of all metrics" if metric == OVERALL else metric
        near.append(_correlation_row(metric, name, ratings))
        far.append(
            mean_row(
                f"distance:{metric}",
                name,
                _apart(ratings),
                better="lower",
                scale=(0.0, float(HIGHEST - LOWEST)),
            )
        )
    return (
        Table("rank correlation with the teacher's ratings (Spearman)", corrected(near), notes),
        Table("mean absolute difference from the teacher's ratings, in points", corrected(far), notes),
    )


def _ratings(outcomes: Sequence[Outcome]) -> dict[str, list[_Rated]]:
    """Returns the ratings by metric, the mean of all metrics first."""
    found: dict[str, list[_Rated]] = {OVERALL: _overall(outcomes)}
    for one in outcomes:
        for metric, teacher in teachers_ratings(one.example).items():
            found.setdefault(metric, []).append(_Rated(one.example.scene, teacher, one.both(metric)))
    return found


def _overall(outcomes: Sequence[Outcome]) -> list[_Rated]:
    """Returns the mean of all metrics of each trajectory; without values where one is missing on any side.

    A joint answer holds every metric. Where each was asked for alone, some may not be in the set, or not be drawn:
    what is rated of others in the same language tells which there are.
    """
    metrics: dict[tuple[str, ...], set[str]] = defaultdict(set)
    trajectories: dict[tuple[str, ...], dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for one in outcomes:
        trajectory, _, asked = one.example.source.partition("/rate/")
        role, _, last = asked.rpartition("/")
        rated = teachers_ratings(one.example)
        like = (one.example.language, role.partition(":")[0]) if last in rated else (one.example.source,)
        metrics[like] |= rated.keys()
        trajectories[like][trajectory].append(one)
    return [_mean_of(ratings, metrics[like]) for like, grouped in trajectories.items() for ratings in grouped.values()]


def _mean_of(outcomes: Sequence[Outcome], metrics: set[str]) -> _Rated:
    ratings = [(metric, value, one) for one in outcomes for metric, value in teachers_ratings(one.example).items()]
    teacher = fmean(value for _, value, _ in ratings)
    pairs = [one.both(metric) for metric, _, one in ratings]
    before, after = ([value for both in pairs if (value := both[side]) is not None] for side in (0, 1))
    is_whole = {metric for metric, _, _ in ratings} == metrics and len(before) == len(after) == len(pairs)
    return _Rated(outcomes[0].example.scene, teacher, (fmean(before), fmean(after)) if is_whole else (None, None))


def _partial_notes(overall: Sequence[_Rated]) -> Iterator[str]:
    partial = sum(one.both == (None, None) for one in overall)
    if partial:
        yield (
            f"mean of all metrics: {partial} of {len(overall)} trajectories are left out, since the set or one of the "
            "two models does not have every metric"
        )


def _correlation_row(metric: str, name: str, ratings: Sequence[_Rated]) -> Row:
    common: dict[str, list[Known]] = defaultdict(list)
    sides: tuple[dict[str, list[tuple[float, float]]], ...] = (defaultdict(list), defaultdict(list))
    for one in ratings:
        for side, value in enumerate(one.both):
            if value is not None:
                sides[side][one.scene].append((value, one.teacher))
        before, after = one.both
        if before is not None and after is not None:
            common[one.scene].append((before, after, one.teacher))
    base, tuned = (clustered_correlation(side, "spearman", seed=SEED) for side in sides)
    return statistic_row(metric, name, (base, tuned), common, _spearman, planned=len(ratings))


def _spearman(items: Sequence[Known], side: int) -> float | None:
    return correlation([item[side] for item in items], [item[2] for item in items], "spearman").value


def _apart(ratings: Sequence[_Rated]) -> dict[str, list[Both]]:
    found: dict[str, list[Both]] = defaultdict(list)
    for one in ratings:
        before, after = (None if value is None else abs(value - one.teacher) for value in one.both)
        found[one.scene].append((before, after))
    return found
