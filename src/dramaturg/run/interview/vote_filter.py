"""The items that people agree on: a set filtered by its votes, and what the rules that did it hide."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias, assert_never

from dramaturg.measure.dawid_skene import dawid_skene
from dramaturg.measure.estimate import Estimate
from dramaturg.measure.vote_agreement import vote_alpha
from dramaturg.measure.votes import Vote, VoteRule, expected_by_chance
from dramaturg.run.interview.votes import YES_NO, RuleName, Votes, counts_by_item, rule_of
from dramaturg.stage.interview.item import CATEGORIES, Category, Item
from dramaturg.stage.interview.item_set import ItemSet, item_set_of

Weighing: TypeAlias = Literal["none", "dawid-skene"]
"""How votes are weighed: each counts one, or by how well its rater seems to answer."""

DEALS = 5
"""How often all answers are drawn anew, where chance is simulated because no formula gives it."""

MOST_LISTED = 12
"""Numbers of votes for which chance is tabled though no item has as many."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When an item is kept. The defaults are the paper's (RPEval, section 3.2).

    Attributes:
        min_votes: Votes that an item needs.
        emotion_above: Share that a label must exceed.
        yes_no_above: Share that yes or no must exceed.
        weighing: With ``dawid-skene``, the estimated probability of the answer takes the place of its share.
    """

    min_votes: int = 3
    emotion_above: Fraction = Fraction(55, 100)
    yes_no_above: Fraction = Fraction(70, 100)
    weighing: Weighing = "none"

    def rule(self, name: RuleName) -> VoteRule:
        """Returns the rule of that name."""
        return VoteRule(self.min_votes, self.emotion_above if name == "emotion" else self.yes_no_above)


@dataclass(frozen=True, slots=True)
class ChanceRow:
    """What a rule lets through at one number of votes.

    Attributes:
        votes: Votes of an item.
        needed: Equal votes that are needed; None where there are too few at all.
        even: Probability that votes are accepted in which every answer is as likely: coins, or random clicks.
        mixed: The same where answers come as often as they do in this file, whatever the item.
        items: Items of the file with so many votes.
        accepted: Those of them that are accepted, counting votes.
    """

    votes: int
    needed: int | None
    even: float
    mixed: float
    items: int
    accepted: int


@dataclass(frozen=True, slots=True)
class RuleReport:
    """What a rule did, and what it would have done to votes that mean nothing.

    Attributes:
        name: The rule.
        above: Share to exceed.
        answers: How many answers there are to choose from.
        accepted: Items accepted.
        even: How many would be accepted on average, were every vote a random click.
        mixed: The same, were every vote drawn from the mix of answers in this file.
        table: By number of votes.
    """

    name: RuleName
    above: float
    answers: int
    accepted: int
    even: float
    mixed: float
    table: tuple[ChanceRow, ...]


@dataclass(frozen=True, slots=True)
class CategoryReport:
    """What became of the items of one category.

    Attributes:
        category: The category.
        items: Items of the set.
        votes: Votes that count.
        unvoted: Items without any vote.
        too_few: Items with some, but fewer than are needed.
        no_agreement: Items with enough, of which no answer has its share.
        kept: Items kept.
        changed: Kept items whose answer in the set was another.
        alpha: Krippendorff's alpha of the votes, with its interval over characters.
    """

    category: Category
    items: int
    votes: int
    unvoted: int
    too_few: int
    no_agreement: int
    kept: int
    changed: int
    alpha: Estimate


@dataclass(frozen=True, slots=True)
class Dropped:
    """An item or a character that is left out, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Changed:
    """An item whose answer is another than the set said."""

    id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Filtered:
    """A filtered set, and how it came about.

    Attributes:
        item_set: The set.
        categories: Categories that need votes.
        rules: What each rule did.
        dropped: Items left out.
        characters: Characters left out.
        changed: Items with another answer than before.
        accuracy: Rater → estimated share of right answers by rule, where votes were weighed.
        settled: Whether every weighing stood still before its rounds ran out.
    """

    item_set: ItemSet
    categories: tuple[CategoryReport, ...]
    rules: tuple[RuleReport, ...]
    dropped: tuple[Dropped, ...]
    characters: tuple[Dropped, ...]
    changed: tuple[Changed, ...]
    accuracy: Mapping[RuleName, Mapping[str, float]] = field(default_factory=dict[RuleName, Mapping[str, float]])
    settled: bool = True


def filter_by_votes(item_set: ItemSet, votes: Votes, rules: Rules, *, seed: int = 1) -> Filtered:
    """Returns the items that people agree on, with their votes written into them.

    Items of the categories in_character and knows need no votes and stay as they are. An item whose answer changes
    loses its reason, which explained another answer. A character without an item is dropped.

    Args:
        item_set: The set.
        votes: People's votes.
        rules: When an item is kept.
        seed: Of the intervals, and of simulated chance.

    Raises:
        ValueError: Votes are weighed by rater, and not every rater is known.
    """
    if rules.weighing == "dawid-skene" and any(not vote.rater for vote in votes.votes):
        raise ValueError("votes are weighed by rater, but some have none")
    counts = counts_by_item(votes.votes)
    accepted: dict[str, str] = {}
    accuracy: dict[RuleName, Mapping[str, float]] = {}
    settled = True
    reports: list[RuleReport] = []
    questions: Mapping[RuleName, Sequence[str]] = {"emotion": item_set.labels, "yes_no": YES_NO}
    for name, answers in questions.items():
        given = [vote for vote in votes.votes if vote.group == name]
        decided = _decide(given, answers, rules, name)
        accepted.update(decided.accepted)
        settled = settled and decided.settled
        if decided.accuracy:
            accuracy[name] = decided.accuracy
        reports.append(_rule_report(name, given, answers, rules, len(decided.accepted), seed))
    kept, dropped, changed = _apply(item_set.items, counts, accepted, rules)
    characters = tuple(_without_items(item_set, kept, dropped))
    gone = {one.id for one in characters}
    return Filtered(
        item_set=item_set_of(
            item_set.head.model_copy(
                update={"id": f"{item_set.id[:74]}-voted", "title": f"{item_set.title}, as voted"}
            ),
            (one for name, one in item_set.characters.items() if name not in gone),
            kept,
        ),
        categories=tuple(
            _category_report(category, item_set, counts, accepted, rules, seed)
            for category in CATEGORIES
            if rule_of(category) is not None
        ),
        rules=tuple(reports),
        dropped=tuple(Dropped(name, why) for name, (_, why) in dropped.items()),
        characters=characters,
        changed=changed,
        accuracy=accuracy,
        settled=settled,
    )


@dataclass(frozen=True, slots=True)
class _Decided:
    accepted: Mapping[str, str]
    accuracy: Mapping[str, float]
    settled: bool


def _decide(votes: Sequence[Vote], answers: Sequence[str], rules: Rules, name: RuleName) -> _Decided:
    counts, rule = counts_by_item(votes), rules.rule(name)
    match rules.weighing:
        case "none":
            plain = {item: rule.accepted(given) for item, given in counts.items()}
            return _Decided({item: answer for item, answer in plain.items() if answer is not None}, {}, settled=True)
        case "dawid-skene":
            weighed = dawid_skene(votes, answers)
            accepted: dict[str, str] = {}
            for item, probable in weighed.answers.items():
                best = max(probable, key=probable.__getitem__)
                if counts[item].total() >= rules.min_votes and probable[best] > rule.above:
                    accepted[item] = best
            return _Decided(accepted, weighed.raters, weighed.settled)
        case _:
            assert_never(rules.weighing)


def _rule_report(
    name: RuleName, votes: Sequence[Vote], answers: Sequence[str], rules: Rules, accepted: int, seed: int
) -> RuleReport:
    rule = rules.rule(name)
    counts = counts_by_item(votes)
    even = [1] * len(answers)
    mixed = [Counter(vote.answer for vote in votes)[answer] for answer in answers] if votes else even
    sizes = Counter(given.total() for given in counts.values())
    passed = Counter(given.total() for given in counts.values() if rule.accepted(given) is not None)
    listed = sorted({*range(rules.min_votes, max(rules.min_votes, MOST_LISTED) + 1), *sizes})
    match rules.weighing:
        case "none":
            by_chance = [expected_by_chance(sizes.elements(), rule, weights) for weights in (even, mixed)]
        case "dawid-skene":
            by_chance = [_simulated(votes, answers, rules, name, weights, seed) for weights in (even, mixed)]
        case _:
            assert_never(rules.weighing)
    return RuleReport(
        name=name,
        above=float(rule.above),
        answers=len(answers),
        accepted=accepted,
        even=by_chance[0],
        mixed=by_chance[1],
        table=tuple(
            ChanceRow(
                number,
                rule.needed(number),
                float(rule.chance(number, even)),
                float(rule.chance(number, mixed)),
                sizes[number],
                passed[number],
            )
            for number in listed
        ),
    )


def _simulated(
    votes: Sequence[Vote], answers: Sequence[str], rules: Rules, name: RuleName, weights: Sequence[int], seed: int
) -> float:
    """Returns how many items are accepted on average when the same raters answer the same items without looking."""
    generator = random.Random(seed)
    accepted = 0
    for _ in range(DEALS):
        drawn = generator.choices(answers, weights, k=len(votes))
        dealt = [Vote(vote.item, vote.rater, answer, vote.group) for vote, answer in zip(votes, drawn, strict=True)]
        accepted += len(_decide(dealt, answers, rules, name).accepted)
    return accepted / DEALS


def _apply(
    items: Sequence[Item], counts: Mapping[str, Counter[str]], accepted: Mapping[str, str], rules: Rules
) -> tuple[list[Item], dict[str, tuple[Item, str]], tuple[Changed, ...]]:
    kept: list[Item] = []
    dropped: dict[str, tuple[Item, str]] = {}
    changed: list[Changed] = []
    for item in items:
        name = rule_of(item.category)
        if name is None:
            kept.append(item)
        elif item.id not in accepted:
            dropped[item.id] = (item, _why(counts.get(item.id, Counter()), rules, name))
        else:
            answer = accepted[item.id]
            if item.expected and item.expected != answer:
                changed.append(Changed(item.id, item.expected, answer))
            reason = item.reason if item.expected == answer else ""
            votes = dict(counts[item.id].most_common())
            kept.append(item.model_copy(update={"expected": answer, "reason": reason, "votes": votes}))
    return kept, dropped, tuple(changed)


def _why(counts: Counter[str], rules: Rules, name: RuleName) -> str:
    votes = counts.total()
    if votes < rules.min_votes:
        return f"{votes} votes, {rules.min_votes} are needed"
    above = f"{float(rules.rule(name).above):g}"
    if rules.weighing == "dawid-skene":
        return f"no answer is more than {above} probable, weighed over {votes} votes"
    most = max(counts.values())
    ties = [answer for answer, count in counts.items() if count == most]
    each = " each" if len(ties) > 1 else ""
    return f"{' and '.join(ties)}: {most} of {votes} votes{each}, more than {above} of them is needed"


def _without_items(
    item_set: ItemSet, kept: Sequence[Item], dropped: Mapping[str, tuple[Item, str]]
) -> Iterator[Dropped]:
    left = {item.character for item in kept}
    lost: dict[str, int] = defaultdict(int)
    for item, _ in dropped.values():
        lost[item.character] += 1
    for name in item_set.characters:
        if name not in left:
            count = lost[name]
            why = f"all {count} items were dropped" if count > 1 else "its only item was dropped"
            yield Dropped(name, why if count else "it had no item")


def _category_report(
    category: Category,
    item_set: ItemSet,
    counts: Mapping[str, Counter[str]],
    accepted: Mapping[str, str],
    rules: Rules,
    seed: int,
) -> CategoryReport:
    items = [item for item in item_set.items if item.category == category]
    answers = item_set.labels if category == "emotion" else YES_NO
    sizes = {item.id: counts[item.id].total() if item.id in counts else 0 for item in items}
    by_character: dict[str, list[list[int]]] = defaultdict(list)
    for item in items:
        if sizes[item.id]:
            by_character[item.character].append([counts[item.id][answer] for answer in answers])
    enough = [item for item in items if sizes[item.id] >= rules.min_votes]
    kept = [item for item in items if item.id in accepted]
    return CategoryReport(
        category=category,
        items=len(items),
        votes=sum(sizes.values()),
        unvoted=sum(not size for size in sizes.values()),
        too_few=sum(0 < size < rules.min_votes for size in sizes.values()),
        no_agreement=len(enough) - len(kept),
        kept=len(kept),
        changed=sum(bool(item.expected) and item.expected != accepted[item.id] for item in kept),
        alpha=vote_alpha(by_character, seed=seed),
    )
