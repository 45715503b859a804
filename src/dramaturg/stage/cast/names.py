"""Names by culture: which given names go with which family names, in which order."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from random import Random
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from dramaturg.files import load_yaml

Gender = Literal["female", "male", "none"]
"""What a drawn character is; ``none`` is for machines."""


def _names(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in (value.split("|") if "|" in value else value.split()))


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
"""Names in one text, parted by blanks, or by bars where a name holds a blank."""


class GenderNames(BaseModel):
    """The names of one gender.

    Attributes:
        given: Given names.
        family: Family names, as this gender bears them; empty where a person has one name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    given: Annotated[Names, Field(min_length=5)]
    family: Names = ()


class Culture(BaseModel):
    """The names of one culture.

    Attributes:
        id: Its name.
        pattern: How the parts stand together: ``{given}`` and ``{family}``.
        female: Names of women.
        male: Names of men.
        none: Names of whoever is neither.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    pattern: str
    female: GenderNames | None = None
    male: GenderNames | None = None
    none: GenderNames | None = None

    @property
    def by_gender(self) -> Mapping[Gender, GenderNames]:
        """The names by gender, those that it has."""
        every: dict[Gender, GenderNames | None] = {"female": self.female, "male": self.male, "none": self.none}
        return {gender: names for gender, names in every.items() if names is not None}

    def draw(self, gender: Gender, rng: Random) -> str:
        """Returns a name of this gender; equal generators give equal names."""
        names = self.by_gender[gender]
        family = rng.choice(names.family) if names.family else ""
        return self.pattern.format(given=rng.choice(names.given), family=family).strip()

    def has(self, name: str, gender: Gender) -> bool:
        """Returns whether a name is made of this culture's parts for this gender."""
        names = self.by_gender.get(gender)
        if names is None:
            return False
        return any(
            name == self.pattern.format(given=given, family=family).strip()
            for given in names.given
            for family in names.family or ("",)
        )


class _Cultures(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    cultures: tuple[Culture, ...]


@functools.cache
def cultures() -> dict[str, Culture]:
    """Returns the shipped cultures by their id."""
    path = Path(str(resources.files("dramaturg"))) / "content" / "cast" / "names.yaml"
    return {culture.id: culture for culture in load_yaml(path, _Cultures).cultures}
