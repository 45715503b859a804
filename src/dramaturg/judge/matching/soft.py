"""Credit by the votes of people: a reply earns the share of annotators who chose the same answer.

A majority of 56 % is the right answer for all who count hits; it is not for 44 % of the people. How well a reply can
do at all, and how well people do by each other, stand beside the model's figure: a score above what people reach is
no proof of more than people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dramaturg.judge.matching.measures import grouped, names, together
from dramaturg.judge.matching.scored import ItemCredit, outcome
from dramaturg.measure import Estimate, pooled_share


@dataclass(frozen=True, slots=True)
class Soft:
    """Soft credit over the items that people voted on.

    Attributes:
        score: The model's mean credit, with its interval over characters.
        ceiling: Mean share of the answer with the most votes: nobody can earn more. It is also how often one annotator,
            drawn at random, is right by a majority that counts the own vote too.
        people: Mean credit of an annotator, drawn at random, by the votes of the others; None without an item that
            two people voted on.
        people_items: Items that two or more people voted on.
    """

    score: Estimate
    ceiling: float
    people: float | None
    people_items: int


def soft(items: Iterable[ItemCredit]) -> Soft | None:
    """Returns the soft credit, or None where nobody voted.

    Source: B. Plank, D. Hovy and A. Søgaard, "Linguistically debatable or just plain wrong?", ACL 2014, on why votes
    are kept; the annotators' agreement with each other is Krippendorff's observed one, item by item.

    Args:
        items: All items; those without votes are left out.
    """
    voted = [item for item in items if sum(item.question.votes.values()) > 0]
    if not voted:
        return None
    values = [(item, credit) for item in voted if (credit := _credit(item)) is not None]
    agreement = [one for item in voted if (one := _agreement(list(item.question.votes.values()))) is not None]
    strata = together(item.kind for item in voted)
    return Soft(
        pooled_share(grouped(values, strata), names(strata), n_planned=len(voted)),
        math.fsum(max(item.question.votes.values()) / sum(item.question.votes.values()) for item in voted) / len(voted),
        math.fsum(agreement) / len(agreement) if agreement else None,
        len(agreement),
    )


def _credit(item: ItemCredit) -> float | None:
    """Returns the mean share of votes that its replies earned; one that gives no answer earns none."""
    votes = item.question.votes
    total = sum(votes.values())
    earned = [votes.get(outcome(one), 0) / total for one in item.replies.values() if one.credit is not None]
    return math.fsum(earned) / len(earned) if earned else None


def _agreement(votes: list[int]) -> float | None:
    """Returns how often two different annotators of an item agree."""
    total = sum(votes)
    return math.fsum(count * (count - 1) for count in votes) / (total * (total - 1)) if total > 1 else None
