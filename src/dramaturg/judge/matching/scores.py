"""From verdicts to scores: each category, and what they come to together.

The rule of the denominator, everywhere: a reply that is missing leaves it, is counted, and opens the bounds between
"all missing were wrong" and "all were right"; an item that cannot be scored belongs to no score at all.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dramaturg.judge.matching.compat import Crash
from dramaturg.judge.matching.joint import Joint, joint
from dramaturg.judge.matching.measures import KINDS, Measure, Strata, grouped, names, strata_by_measure
from dramaturg.judge.matching.question import Kind
from dramaturg.judge.matching.repeats import Repeats, repeats
from dramaturg.judge.matching.scored import ItemCredit, Scored, by_item, is_invalid, outcome
from dramaturg.judge.matching.soft import Soft, soft
from dramaturg.measure import Classification, Estimate, classification, pooled_share
from dramaturg.measure.proportions import wilson_bounds

RULE = (
    "An item's credit is the mean over its replies of 1 for right and 0 for anything else that the model replied. "
    "Micro: plain mean over all items. Macro: plain mean over the categories. Published macro: plain mean over three "
    "categories, emotion, decision and moral as one, in character. Joint: for each character the share of items in "
    "character times the share of items that it knows, then the plain mean over characters. Replies that are missing "
    "leave the denominator; the bounds count them as all wrong and all right."
)
"""The formulas, for reports."""

YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Score:
    """One score of one subject.

    Attributes:
        estimate: The mean over items or categories, items of one character kept together; its counts are items.
        wilson: The interval as if items were independent, for a plain mean over items; None for the others.
        low: The score if all missing replies were wrong.
        high: The score if all missing replies were right.
        used: Replies that went in.
        planned: Replies that should have.
        characters: Characters that they are about.
    """

    estimate: Estimate
    wilson: tuple[float, float] | None
    low: float
    high: float
    used: int
    planned: int
    characters: int


@dataclass(frozen=True, slots=True)
class InterviewScores:
    """All scores of one subject.

    Attributes:
        scores: Each score that there can be.
        joint: In character and knowing, together; None where no character has both.
        labels: Emotion, decision, moral: how the answers fall on the labels.
        statuses: Category → what became of the replies, with how many.
        flags: What was noticed beside the verdicts, with how many replies.
        repeats: What repeats show; None with one run.
        soft: Credit by people's votes; None where nobody voted.
        judged: Replies that a model read, because rules left them open.
        invalid: Planned replies to items that cannot be scored.
        items: The replies by item, as `dramaturg.judge.matching.beating` compares them.
    """

    scores: Mapping[Measure, Score]
    joint: Joint | None
    labels: Mapping[Kind, Classification]
    statuses: Mapping[Kind, Mapping[str, int]]
    flags: Mapping[str, int]
    repeats: Repeats | None
    soft: Soft | None
    judged: int
    invalid: int
    items: Mapping[str, ItemCredit]

    @property
    def used(self) -> int:
        """Replies that count."""
        return sum(len(item.credits) for item in self.items.values())

    @property
    def planned(self) -> int:
        """Replies that should have counted."""
        return sum(len(item.replies) for item in self.items.values())


def scores_of(scored: Iterable[Scored]) -> InterviewScores:
    """Returns all scores of one subject. The order of the input changes nothing.

    Args:
        scored: One entry for each item and repeat that was planned, whether it was answered or not.

    Raises:
        ValueError: A repeat of an item stands twice.
    """
    everything = list(scored)
    items = by_item(everything)
    kinds = {item.kind for item in items.values()}
    categories: dict[Kind, _Category] = {kind: _category(kind, items.values()) for kind in KINDS if kind in kinds}
    measures = strata_by_measure(categories)
    counted = [one for one in everything if not is_invalid(one)]
    verdicts = [one.verdict for one in counted if not isinstance(one.verdict, Crash)]
    statuses: defaultdict[Kind, Counter[str]] = defaultdict(Counter)
    for one in counted:
        statuses[one.question.kind]["crash" if isinstance(one.verdict, Crash) else one.verdict.status] += 1
    return InterviewScores(
        {measure: _score(categories, strata) for measure, strata in measures.items()},
        joint(items.values()),
        _labels(items.values()),
        {kind: _frequent_first(statuses[kind]) for kind in KINDS if kind in statuses},
        _frequent_first(Counter(flag for verdict in verdicts for flag in verdict.flags)),
        repeats(items.values(), measures),
        soft(items.values()),
        sum(verdict.by == "judge" for verdict in verdicts),
        len(everything) - len(counted),
        items,
    )


@dataclass(frozen=True, slots=True)
class _Category:
    """What the scores need of one category: items are many, and scores share them.

    Attributes:
        values: The items that were answered, with their means.
        items: Planned items.
        low: Sum of their credits if all missing replies were wrong.
        high: Sum of their credits if all missing replies were right.
        used: Replies that go in.
        planned: Replies that should.
        characters: Characters that the items are about.
    """

    values: list[tuple[ItemCredit, float]]
    items: int
    low: float
    high: float
    used: int
    planned: int
    characters: frozenset[str]


def _category(kind: Kind, items: Iterable[ItemCredit]) -> _Category:
    here = [item for item in items if item.kind == kind]
    return _Category(
        [(item, item.mean) for item in here if item.mean is not None],
        len(here),
        math.fsum(math.fsum(item.credits) / len(item.replies) for item in here),
        math.fsum(1 - math.fsum(1 - credit for credit in item.credits) / len(item.replies) for item in here),
        sum(len(item.credits) for item in here),
        sum(len(item.replies) for item in here),
        frozenset(item.character for item in here),
    )


def _score(categories: Mapping[Kind, _Category], strata: Strata) -> Score:
    here = [categories[kind] for kind in strata]
    values = [value for category in here for value in category.values]
    parts = names(strata)
    plain_mean = len(parts) == 1 and bool(values)
    together = {part: [categories[kind] for kind, own in strata.items() if own == part] for part in parts}
    low = [math.fsum(one.low for one in part) / sum(one.items for one in part) for part in together.values()]
    high = [math.fsum(one.high for one in part) / sum(one.items for one in part) for part in together.values()]
    return Score(
        pooled_share(grouped(values, strata), parts, n_planned=sum(category.items for category in here)),
        wilson_bounds(math.fsum(mean for _, mean in values), len(values), 0.95) if plain_mean else None,
        math.fsum(low) / len(parts),
        math.fsum(high) / len(parts),
        sum(category.used for category in here),
        sum(category.planned for category in here),
        len(frozenset[str]().union(*(category.characters for category in here))),
    )


def _labels(items: Iterable[ItemCredit]) -> dict[Kind, Classification]:
    """Returns how the answers fall on the labels, each item with weight 1, whatever the number of its replies."""
    answers: defaultdict[Kind, list[tuple[str, str, float]]] = defaultdict(list)
    allowed: defaultdict[Kind, dict[str, None]] = defaultdict(dict)
    for item in items:
        if item.kind in ("in_character", "knows"):
            continue
        allowed[item.kind].update(dict.fromkeys(item.question.labels if item.kind == "emotion" else YES_NO))
        for verdict in item.replies.values():
            if verdict.credit is not None:
                answers[item.kind].append((item.question.expected, outcome(verdict), 1 / len(item.credits)))
    return {kind: classification(answers[kind], allowed[kind]) for kind in KINDS if kind in allowed}


def _frequent_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
