"""What an evaluator answers: a critique, and a mark from 1 to 5 for each of four criteria.

Source: CharacterBox, section 3.1: scenes are judged by creativity, coherence, conformity and detail.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from dramaturg.stage.world.importing import Told

Criterion = Literal["creativity", "coherence", "conformity", "detail"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

HIGHEST_MARK = 5
LEAST_MARK = 2
"""A scene with a lower mark is not accepted, however good the others are."""

_WRITTEN = re.compile(
    r"\A[\s*_]*([1-5１-５一二三四五])(?:\s*(?:/\s*5|out of 5|of 5|分|points?))?[\s*_.。]*\Z", re.IGNORECASE
)
_CHINESE = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5}


def _number(value: object) -> object:
    """Returns a mark that was written as text as a number; what is no mark at all is refused by what comes next."""
    if isinstance(value, bool):
        raise ValueError("a mark is a number from 1 to 5")
    if isinstance(value, str) and (written := _WRITTEN.match(value)):
        return _CHINESE.get(written[1]) or int(written[1])
    return value


Mark = Annotated[int, Field(ge=1, le=HIGHEST_MARK), BeforeValidator(_number)]


class Marks(BaseModel):
    """An evaluator's reading of a scene."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    critique: Told = ""
    creativity: Mark
    coherence: Mark
    conformity: Mark
    detail: Mark

    def by_criterion(self) -> dict[str, int]:
        """Returns the marks, in the order of the criteria."""
        return {criterion: getattr(self, criterion) for criterion in CRITERIA}

    @property
    def mean(self) -> float:
        """Mean of the four marks, from 1 to 5."""
        return math.fsum(self.by_criterion().values()) / len(CRITERIA)

    def reach(self, threshold: float) -> bool:
        """Returns whether the mean is at or above the threshold and no mark is below `LEAST_MARK`."""
        return self.mean >= threshold and min(self.by_criterion().values()) >= LEAST_MARK
