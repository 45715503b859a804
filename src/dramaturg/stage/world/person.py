"""A character that a person plays: it is shown what has happened and what is asked, and has its beliefs to itself."""

from __future__ import annotations

from dramaturg.stage.cast import HumanSeat
from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.briefing import Briefing, Purpose
from dramaturg.stage.world.chronicle import Chronicle
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.setting import Setting


class Person:
    """A person in a play; see `dramaturg.stage.world.performer.Performer`.

    Attributes:
        character: Who is played.
        role: Its role.
    """

    def __init__(self, setting: Setting, chronicle: Chronicle, character: SceneCharacter, seat: HumanSeat) -> None:
        """Gives the person a seat.

        Args:
            setting: The play.
            chronicle: What has happened.
            character: Who is played.
            seat: The person.
        """
        self.character = character
        self.role = setting.role_of(character)
        self._setting = setting
        self._chronicle = chronicle
        self._seat = seat
        self._briefing = Briefing(setting, chronicle, character)
        self._asked = 0

    def hears(self, turn: Turn) -> None:
        """Takes a turn, to be shown when the person is asked next."""
        self._briefing.hears(turn)

    def stands(self, standing: str) -> None:
        """Takes how the narrator left the character."""
        self._briefing.stands(standing)

    def settle(self) -> None:
        """Does nothing: what a person thinks is not asked."""

    async def believe_apart(self) -> None:
        """Does nothing: what a person thinks is not asked."""

    async def believe(self) -> None:
        """Does nothing: what a person thinks is not asked."""

    async def act(self, plan: str = "") -> Deed:
        """Returns what the person does."""
        del plan
        return await self._read("action")

    async def speak(self, plan: str = "") -> Deed:
        """Returns what the person says."""
        del plan
        return await self._read("speech")

    async def act_and_speak(self, plan: str = "") -> tuple[Deed, Deed]:
        """Returns both, one after the other."""
        action = await self.act(plan)
        return action, await self.speak(plan)

    async def react(self, actor: Role) -> Deed:
        """Returns what the person does at once."""
        return await self._read("reaction", actor)

    async def _read(self, purpose: Purpose, actor: Role | None = None) -> Deed:
        self._asked += 1
        note = self._briefing.note(purpose, actor)
        self._chronicle.gives(self.role, purpose)
        asked = await self._setting.calls.human(
            lambda: self._seat.read(note),
            step=f"round/{self._chronicle.round}/{self.role.id}/{self._asked}/{purpose}",
            role=self.role.kind,
            purpose=purpose,
        )
        return self._briefing.deed(asked.reply.text, asked.key, purpose)
