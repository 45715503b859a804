"""The rubric: what is rated on a scale from 1 to 5, with words for 1, 3 and 5.

Source: CharacterBox, section 4 and appendix G: seven metrics under three dimensions. The words are our own.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from dramaturg.files import find, load_yaml, shipped
from dramaturg.text import canonical_json, sha256

LOWEST, HIGHEST = 1, 5
"""Ends of the scale."""

ANCHORED = (1, 3, 5)
"""Points of the scale that have words of their own."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Metric(_Strict):
    """One thing that is rated.

    Attributes:
        id: Unique in the rubric, the same in every language.
        short: For the heads of tables.
        name: As a judge sees it and answers by it; unique in the rubric.
        dimension: Id of its dimension.
        definition: The question that it answers.
        anchors: What 1, 3 and 5 mean.
    """

    id: Name
    short: Text
    name: Text
    dimension: Name
    definition: Text
    anchors: dict[Literal[1, 3, 5], Text]

    @field_validator("anchors", mode="before")
    @classmethod
    def _points_are_numbers(cls, anchors: object) -> object:
        """Takes points that JSON wrote as text."""
        if not isinstance(anchors, dict):
            return anchors
        given = cast("dict[object, object]", anchors)
        return {int(key) if isinstance(key, str) and key.isdecimal() else key: text for key, text in given.items()}

    @model_validator(mode="after")
    def _has_all_anchors(self) -> Self:
        if missing := [point for point in ANCHORED if point not in self.anchors]:
            raise ValueError(f"the metric {self.id} has no words for {', '.join(map(str, missing))}")
        return self


class Rubric(_Strict):
    """What is rated, and what the points of the scale mean.

    Attributes:
        id: Its name.
        version: Of its text.
        title: For people.
        language: ISO 639-1; of the prompts too.
        rates: Kind of the roles that it is about.
        dimensions: Id → name.
        metrics: In the order in which they are asked.
    """

    id: Text
    version: Annotated[int, Field(ge=1)]
    title: Text
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
    rates: Text
    dimensions: Annotated[dict[Name, Text], Field(min_length=1)]
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        for metric in self.metrics:
            if metric.dimension not in self.dimensions:
                raise ValueError(f"the metric {metric.id} is of no dimension {metric.dimension!r}")
        for what in ("id", "name"):
            names = [str(getattr(metric, what)).casefold() for metric in self.metrics]
            if len(set(names)) < len(names):
                raise ValueError(f"two metrics share the {what} {next(n for n in names if names.count(n) > 1)!r}")
        return self

    @property
    def hash(self) -> str:
        """Of its content."""
        return sha256(canonical_json(self.model_dump(mode="json")))

    @property
    def family(self) -> str:
        """What it shares with its translations: its id without the language."""
        return self.id.removesuffix(f"-{self.language}")

    def of_dimension(self, dimension: str) -> tuple[Metric, ...]:
        """Returns the metrics of a dimension, in order."""
        return tuple(metric for metric in self.metrics if metric.dimension == dimension)


def load_rubric(path: Path) -> Rubric:
    """Returns the rubric of a file.

    Raises:
        ContentError: The file is wrong; every problem is named with its line.
    """
    return load_yaml(path, Rubric)


@functools.cache
def rubric_in(name: str, language: str) -> Rubric:
    """Returns a rubric in a language: its shipped translation where there is one, else the rubric itself.

    Args:
        name: Name of a shipped rubric, or a path.
        language: Of what is rated, ISO 639-1.

    Raises:
        ContentError: There is no such rubric, or its file is wrong.
    """
    translated = shipped("rubrics").get(f"{name}-{language}")
    return load_rubric(translated or find("rubrics", name, where="--rubric"))
