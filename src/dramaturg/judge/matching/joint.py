"""Keeping to one's character and knowing what it knows, together: neither alone is worth anything.

Who refuses everything gives nothing away and knows nothing; an encyclopaedia knows all and gives all away. For each
character that has items of both kinds, the joint score is the chance that a reply to one of each, drawn at random, is
right both times: the product of its two shares. Dramaturg's own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dramaturg.judge.matching.scored import ItemCredit
from dramaturg.measure import Estimate, cluster_interval


@dataclass(frozen=True, slots=True)
class Joint:
    """The four ways that a pair of replies can go, over the characters that have both kinds.

    Attributes:
        both: Share of pairs right both times, with its interval over characters; those planned count in `n_planned`.
        only_in_character: Share that gave nothing away and did not know what it must.
        only_knows: Share that knew, and gave away what it cannot know.
        neither: Share of neither.
        by_character: Each character's share of pairs right both times.
        one_kind_alone: Characters that have items of one of the two kinds alone, and so no part in this.
    """

    both: Estimate
    only_in_character: float | None
    only_knows: float | None
    neither: float | None
    by_character: Mapping[str, float]
    one_kind_alone: int


def joint(items: Iterable[ItemCredit]) -> Joint | None:
    """Returns the joint score, or None where no character has items of both kinds.

    Args:
        items: All items; a character whose replies of one kind are all missing is planned, not used.
    """
    planned: defaultdict[str, set[str]] = defaultdict(set)
    means: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        if item.kind in ("in_character", "knows"):
            planned[item.character].add(item.kind)
            if item.mean is not None:
                means[item.character][item.kind].append(item.mean)
    both_kinds = sorted(character for character, kinds in planned.items() if len(kinds) == 2)
    if not both_kinds:
        return None
    shares = {
        character: (_mean(means[character]["in_character"]), _mean(means[character]["knows"]))
        for character in both_kinds
        if len(means[character]) == 2
    }
    both = {character: kept * known for character, (kept, known) in shares.items()}
    estimate = cluster_interval({character: [share] for character, share in both.items()}, n_planned=len(both_kinds))
    pairs = list(shares.values())
    return Joint(
        estimate,
        _mean([kept * (1 - known) for kept, known in pairs]) if pairs else None,
        _mean([(1 - kept) * known for kept, known in pairs]) if pairs else None,
        _mean([(1 - kept) * (1 - known) for kept, known in pairs]) if pairs else None,
        both,
        len(planned) - len(both_kinds),
    )


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
