"""The character: who is played, whatever plays it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dramaturg.stage.cast.profile import Profile

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank."""

CharacterId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=80)]
"""Lower-case letters, digits and hyphens."""

Origin = Literal["historical", "contemporary", "fictional", "non_human"]
"""What a character is: of the past (real or invented), of today, of an invented world, or no human being."""


class Character(BaseModel):
    """A character, as a model is told to be it.

    Attributes:
        id: Unique in its set.
        name: As others call the character.
        description: Who the character is, in the second person; this is what a model reads.
        origin: Whether it belongs to the past, to today, to an invented world, or is no human being.
        culture: Where its name and its ways come from, for example ``Yoruba`` or ``Heian Japan``.
        era: When it lives, for people, for example ``Florence, 1504``.
        knows_until: Last year of our calendar of which it can know anything; None where our calendar says nothing.
        machine: Whether it is a machine or a program, so that it may truly call itself one.
        language: ISO 639-1, of the description.
        profile: What the description was written from, where it was.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: CharacterId
    name: Text
    description: Text
    origin: Origin | None = None
    culture: str = ""
    era: str = ""
    knows_until: Annotated[int, Field(ge=-10_000, le=9_999, strict=True)] | None = None
    machine: bool = False
    language: str = "en"
    profile: Profile | None = None
