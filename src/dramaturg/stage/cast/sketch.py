"""The sketch: a character that is drawn and not yet described."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.stage.cast.character import Character, CharacterId, Origin
from dramaturg.stage.cast.profile import Profile


class Sketch(BaseModel):
    """A profile, and what is known of it beside.

    Attributes:
        id: Of the character.
        setting: Id of the setting in which it was drawn.
        origin: See `Character`.
        culture: See `Character`.
        knows_until: See `Character`.
        machine: See `Character`.
        profile: Its traits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: CharacterId
    setting: str
    origin: Origin
    culture: str
    knows_until: Annotated[int, Field(ge=-10_000, le=9_999, strict=True)] | None = None
    machine: bool = False
    profile: Profile

    def described(self, description: str) -> Character:
        """Returns the character of this sketch."""
        return Character(
            id=self.id,
            name=self.profile.name,
            description=description,
            origin=self.origin,
            culture=self.culture,
            era=self.profile.era,
            knows_until=self.knows_until,
            machine=self.machine,
            profile=self.profile,
        )
