"""A character that a model plays until a person takes it over, and again once the person hands it back.

Who plays is asked before every act, as a call whose answer is committed: an act of a person with the words of the
person in it, an act of the model as the one word that says so. So a play that is played again changes hands where it
did, and whoever is asked may hold the play for as long as it likes: nothing is asked of a model meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.briefing import Briefing, Purpose
from dramaturg.stage.world.character import CharacterAgent
from dramaturg.stage.world.chronicle import Chronicle
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.setting import Setting

PLAYED_BY = "played_by"
"""Name of the state that holds who plays a character from a turn on: `PERSON` or `MODEL`."""

PERSON = "person"
MODEL = "model"
CUE = "cue"
"""Purpose of the call that asks who plays."""


class Prompter(Protocol):
    """Is asked before every act who plays, and may hold the play."""

    async def __call__(self, role: Role, purpose: Purpose, note: str, /) -> str | None:
        """Returns what a person does in the character's place, or None where its model plays.

        Args:
            role: Whose act it is.
            purpose: What is asked; a speech is asked only of a person who has just acted.
            note: What a person is told; see `dramaturg.stage.world.briefing.Briefing.note`.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSeat(ModelSeat):
    """A seat of a model that a person may take over.

    Attributes:
        prompter: Is asked who plays.
        begins: Whether a person plays at first.
    """

    prompter: Prompter
    begins: bool = False


class SharedCharacter:
    """A character with a shared seat; see `dramaturg.stage.world.performer.Performer`.

    Attributes:
        character: Who is played.
        role: Its role.
    """

    def __init__(self, setting: Setting, chronicle: Chronicle, character: SceneCharacter, seat: SharedSeat) -> None:
        """Prepares both players.

        Args:
            setting: The play.
            chronicle: What has happened.
            character: Who is played.
            seat: Its seat.
        """
        self.character = character
        self.role = setting.role_of(character)
        self._setting = setting
        self._chronicle = chronicle
        self._seat = seat
        self._agent = CharacterAgent(setting, chronicle, character, seat)
        self._briefing = Briefing(setting, chronicle, character)
        self._by_person = seat.begins
        self._told = False
        self._asked = 0

    def hears(self, turn: Turn) -> None:
        """Takes a turn, for both."""
        self._agent.hears(turn)
        self._briefing.hears(turn)

    def stands(self, standing: str) -> None:
        """Takes how the narrator left the character, for both."""
        self._agent.stands(standing)
        self._briefing.stands(standing)

    def settle(self) -> None:
        """Writes down what changed in the model, and into whose hands the character came."""
        self._agent.settle()
        if self._told != self._by_person and self._asked:
            self._told = self._by_person
            self._chronicle.change(self.role.id, PLAYED_BY, PERSON if self._by_person else MODEL)

    async def believe_apart(self) -> None:
        """Renews what the model believes while it plays; what a person thinks is not asked."""
        if not self._by_person:
            await self._agent.believe_apart()

    async def believe(self) -> None:
        """Renews what the model believes while it plays; what a person thinks is not asked."""
        if not self._by_person:
            await self._agent.believe()

    async def act(self, plan: str = "") -> Deed:
        """Returns what the character does."""
        deed = await self._taken("action")
        return await self._agent.act(plan) if deed is None else deed

    async def speak(self, plan: str = "") -> Deed:
        """Returns what the character says; a person who has handed it back since the act says nothing."""
        return await self._agent.speak(plan) if not self._by_person else await self._spoken()

    async def act_and_speak(self, plan: str = "") -> tuple[Deed, Deed]:
        """Returns both."""
        action = await self._taken("action")
        return await self._agent.act_and_speak(plan) if action is None else (action, await self._spoken())

    async def react(self, actor: Role) -> Deed:
        """Returns what the character does at once."""
        deed = await self._taken("reaction", actor)
        return await self._agent.react(actor) if deed is None else deed

    async def _spoken(self) -> Deed:
        deed = await self._cued("speech")
        return Deed("", human=True) if deed is None else deed

    async def _taken(self, purpose: Purpose, actor: Role | None = None) -> Deed | None:
        """Returns what a person does, or None where the model plays from now on."""
        deed = await self._cued(purpose, actor)
        self._by_person = deed is not None
        return deed

    async def _cued(self, purpose: Purpose, actor: Role | None = None) -> Deed | None:
        self._asked += 1
        self._chronicle.gives(self.role, purpose)

        async def read() -> str:
            typed = await self._seat.prompter(self.role, purpose, self._briefing.note(purpose, actor))
            return MODEL if typed is None else f"{PERSON}\n{typed}"

        asked = await self._setting.calls.human(
            read,
            step=f"round/{self._chronicle.round}/{self.role.id}/{CUE}/{self._asked}/{purpose}",
            role=self.role.kind,
            purpose=CUE,
        )
        by, _, typed = asked.reply.text.partition("\n")
        return self._briefing.deed(typed, asked.key, purpose) if by == PERSON else None
