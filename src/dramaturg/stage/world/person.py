"""A character that a person plays: it is shown what has happened and what is asked, and has its beliefs to itself."""

from __future__ import annotations

from dramaturg.stage.cast import HumanSeat
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.chain import Made, deeper
from dramaturg.stage.world.character import shown
from dramaturg.stage.world.chronicle import Chronicle, is_news
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.setting import Setting, surroundings


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
        others = [other for other in setting.scene.characters if other is not character]
        opening = setting.prompt("person-opening").fill(
            name=one_line(character.name),
            profile=setting.profile(character),
            event=one_line(setting.scene.event),
            environment=surroundings(setting.scene.environment),
            others="\n".join(shown(other) for other in others) or setting.word("nobody"),
        )
        self._news: list[tuple[str, bool]] = [(opening, False)]
        self._asked = 0

    def hears(self, turn: Turn) -> None:
        """Takes a turn, to be shown when the person is asked next."""
        told = is_news(turn) and turn.role != self.role.id
        if told and turn.text and (not turn.seen_by or self.role.id in turn.seen_by):
            self._news.append((self._setting.line(turn), turn.kind != "procedure"))

    def stands(self, standing: str) -> None:
        """Takes how the narrator left the character."""
        self._news.append((f"- {self._setting.word('you')}: {one_line(standing)}", False))

    def settle(self) -> None:
        """Does nothing: what a person thinks is not asked."""

    async def believe_apart(self) -> None:
        """Does nothing: what a person thinks is not asked."""

    async def believe(self) -> None:
        """Does nothing: what a person thinks is not asked."""

    async def act(self, plan: str = "") -> Deed:
        """Returns what the person does."""
        del plan
        return await self._read("action", self._setting.prompt("person-action").fill(name=self.character.name))

    async def speak(self, plan: str = "") -> Deed:
        """Returns what the person says."""
        del plan
        return await self._read("speech", self._setting.prompt("person-speech").fill(name=self.character.name))

    async def act_and_speak(self, plan: str = "") -> tuple[Deed, Deed]:
        """Returns both, one after the other."""
        action = await self.act(plan)
        return action, await self.speak(plan)

    async def react(self, actor: Role) -> Deed:
        """Returns what the person does at once."""
        told = self._setting.prompt("person-reaction").fill(name=self.character.name, actor=one_line(actor.name))
        return await self._read("reaction", told)

    async def _read(self, purpose: str, task: str) -> Deed:
        self._asked += 1
        is_watching = self._setting.audience is not None  # and has seen what was played already
        note = "\n".join([*(line for line, played in self._news if not (played and is_watching)), task])
        self._news.clear()
        self._chronicle.gives(self.role, purpose)
        asked = await self._setting.calls.human(
            lambda: self._seat.read(note),
            step=f"round/{self._chronicle.round}/{self.role.id}/{self._asked}/{purpose}",
            role=self.role.kind,
            purpose=purpose,
        )
        depth = deeper()
        if self._setting.on_call is not None:
            self._setting.on_call(Made(asked.key, self._chronicle.round, self.role.id, purpose, depth))
        raw = asked.reply.text
        text, most = raw.strip(), self._setting.limits.heard_characters
        flags: tuple[str, ...] = ()
        if len(text) > most:
            text, flags = text[:most].rstrip(), ("cut:length",)
        if not text and purpose != "speech":
            flags = ("empty",)
        return Deed(text, raw, asked.key, flags, human=True)
