"""Whether one subject does better than another on the same items: by an interval, or it is not said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dramaturg.judge.matching.measures import Measure, grouped, names, strata_by_measure
from dramaturg.judge.matching.scores import InterviewScores
from dramaturg.measure import Estimate, pooled_difference

Standing: TypeAlias = Literal["better", "worse", "unclear"]
"""better, worse: the interval of the difference lies wholly above or below 0. unclear: it does not, or is missing."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A subject's score minus another's, item by item.

    Attributes:
        estimate: The difference with its interval over characters.
        standing: What may be said.
    """

    estimate: Estimate

    @property
    def standing(self) -> Standing:
        """Whether the interval leaves out 0, and on which side it lies."""
        if self.estimate.low is not None and self.estimate.low > 0:
            return "better"
        if self.estimate.high is not None and self.estimate.high < 0:
            return "worse"
        return "unclear"


@dataclass(frozen=True, slots=True)
class Beating:
    """One subject against another.

    Attributes:
        differences: Of each score that both have, over the items that both answered.
        joint: Of the joint score, over the characters that both have; None where there is none.
    """

    differences: Mapping[Measure, Difference]
    joint: Difference | None


def beating(one: InterviewScores, other: InterviewScores) -> Beating:
    """Returns the differences of two subjects, paired item by item.

    Args:
        one: The subject that may be better.
        other: The one, or the baseline, that it is compared with.
    """
    both = [(item, other.items[name]) for name, item in one.items.items() if name in other.items]
    values = [
        (item, item.mean - rival.mean) for item, rival in both if item.mean is not None and rival.mean is not None
    ]
    differences: dict[Measure, Difference] = {
        measure: Difference(
            pooled_difference(
                grouped(values, strata),
                names(strata),
                n_planned=sum(item.kind in strata for item in one.items.values()),
            )
        )
        for measure, strata in strata_by_measure(item.kind for item, _ in both).items()
    }
    return Beating(differences, _joint(one, other))


def _joint(one: InterviewScores, other: InterviewScores) -> Difference | None:
    if one.joint is None or other.joint is None:
        return None
    rival = other.joint.by_character
    values = {
        character: [("all", share - rival[character])]
        for character, share in one.joint.by_character.items()
        if character in rival
    }
    return Difference(pooled_difference(values, ("all",))) if values else None
