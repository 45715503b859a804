"""The performer: whoever plays a character, be it a model, a script or a person."""

from __future__ import annotations

from typing import Protocol

from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.scene import SceneCharacter


class Performer(Protocol):
    """Plays a character."""

    @property
    def character(self) -> SceneCharacter:
        """Who is played."""
        ...

    @property
    def role(self) -> Role:
        """Its role."""
        ...

    def hears(self, turn: Turn) -> None:
        """Takes a turn."""
        ...

    def stands(self, standing: str) -> None:
        """Takes how the narrator left the character."""
        ...

    def settle(self) -> None:
        """Writes down what changed in the performer."""
        ...

    async def believe_apart(self) -> None:
        """Renews what the character makes of itself, then what it makes of what is around it: two calls."""
        ...

    async def believe(self) -> None:
        """Renews both at once: one call."""
        ...

    async def act(self, plan: str = "") -> Deed:
        """Returns what the character does; `plan` is what a director wants."""
        ...

    async def speak(self, plan: str = "") -> Deed:
        """Returns what the character says to what it does."""
        ...

    async def act_and_speak(self, plan: str = "") -> tuple[Deed, Deed]:
        """Returns both at once: one call."""
        ...

    async def react(self, actor: Role) -> Deed:
        """Returns what the character does at once when somebody else's act has affected it."""
        ...
