"""Raters who answer without looking: whose answers fit the others' no better than the same answers dealt out anew."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dramaturg.measure.proportions import wilson_bounds
from dramaturg.measure.votes import Vote

FEWEST_ANSWERS = 10
"""Answers that can be compared, below which nothing is said of a rater."""

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class RaterCheck:
    """How a rater's answers fit those of the others.

    Attributes:
        rater: Who answered.
        answers: Answers given.
        compared: Those to items on which the other raters have one most frequent answer.
        agreed: Those that are that answer.
        kappa: Agreement beyond what the rater's own mix of answers brings about; None where that mix says all.
        usual: Share that agrees among all raters, on as many items of each group.
        p: Probability that the same answers, dealt out anew over the items, fit at least as well; None with too few.
        at_random: Whether the answers fit no better than dealt out anew, and clearly worse than is usual.
    """

    rater: str
    answers: int
    compared: int
    agreed: int
    kappa: float | None
    usual: float | None
    p: float | None
    at_random: bool


def check_raters(votes: Sequence[Vote], *, seed: int, deals: int = 199) -> tuple[RaterCheck, ...]:
    """Returns a check of each rater, in the order in which they come.

    Args:
        votes: Every vote, of known raters.
        seed: Of the dealing.
        deals: How often a rater's answers are dealt out anew, within each group.
    """
    pairs = _pairs(votes)
    together: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    for groups in pairs.values():
        for group, compared in groups.items():
            together[group] += len(compared)
            equal[group] += sum(own == others for own, others in compared)
    usual = {group: equal[group] / count for group, count in together.items()}
    given = Counter(vote.rater for vote in votes)
    return tuple(_check(rater, given[rater], pairs[rater], usual, seed, deals) for rater in given)


_Pairs = Mapping[str, Sequence[tuple[str, str]]]
"""Group → the rater's answer and the others', for each item that can be compared."""


def _pairs(votes: Sequence[Vote]) -> dict[str, dict[str, list[tuple[str, str]]]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        counts[vote.item][vote.answer] += 1
    pairs: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for vote in votes:
        others = counts[vote.item].copy()
        others[vote.answer] -= 1
        ranked = others.most_common(2)
        if ranked[0][1] and (len(ranked) == 1 or ranked[1][1] < ranked[0][1]):
            pairs[vote.rater][vote.group].append((vote.answer, ranked[0][0]))
    return pairs


def _check(rater: str, answers: int, groups: _Pairs, usual: Mapping[str, float], seed: int, deals: int) -> RaterCheck:
    compared = sum(len(pairs) for pairs in groups.values())
    agreed = sum(own == others for pairs in groups.values() for own, others in pairs)
    if not compared:
        return RaterCheck(rater, answers, 0, 0, None, None, None, at_random=False)
    dealt = sum(_by_mix(pairs) for pairs in groups.values())
    kappa = None if dealt >= compared else (agreed - dealt) / (compared - dealt)
    expected = sum(usual[group] * len(pairs) for group, pairs in groups.items()) / compared
    if compared < FEWEST_ANSWERS:
        return RaterCheck(rater, answers, compared, agreed, kappa, expected, None, at_random=False)
    generator = np.random.default_rng([seed, zlib.crc32(rater.encode("utf-8", "replace"))])
    p = _p(groups, agreed, generator, deals)
    _, high = wilson_bounds(agreed, compared, 1 - ALPHA)
    return RaterCheck(rater, answers, compared, agreed, kappa, expected, p, at_random=p > ALPHA and high < expected)


def _by_mix(pairs: Sequence[tuple[str, str]]) -> float:
    """Returns how many answers agree on average when a rater's answers are dealt out anew."""
    own, others = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    return sum(count * others[answer] for answer, count in own.items()) / len(pairs)


def _p(groups: _Pairs, agreed: int, generator: np.random.Generator, deals: int) -> float:
    fits = np.zeros(deals, dtype=np.int64)
    for pairs in groups.values():
        code = {
            answer: place for place, answer in enumerate(dict.fromkeys(answer for pair in pairs for answer in pair))
        }
        own = np.array([code[one] for one, _ in pairs])
        others = np.array([code[other] for _, other in pairs])
        fits += (generator.permuted(np.tile(own, (deals, 1)), axis=1) == others).sum(axis=1)
    return float(1 + np.count_nonzero(fits >= agreed)) / (1 + deals)
