"""The world of one play: everybody in it, and how what happens is written down."""

from __future__ import annotations

from collections.abc import Sequence

from dramaturg.stage.cast import HumanSeat
from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.chain import together
from dramaturg.stage.world.character import CharacterAgent
from dramaturg.stage.world.chronicle import Chronicle
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.director import Director
from dramaturg.stage.world.narrator import Influenced, Narrator, Outcome
from dramaturg.stage.world.performer import Performer
from dramaturg.stage.world.person import Person
from dramaturg.stage.world.scene import Scene, SceneCharacter
from dramaturg.stage.world.setting import Setting
from dramaturg.stage.world.shared import SharedCharacter, SharedSeat

REACTION = "reaction"
"""Flag of an act by which a character answers another's."""


class World:
    """The world of one play.

    Attributes:
        setting: The play.
        chronicle: What has happened.
        performers: Who plays the characters, in the order in which they act.
        narrator: The narrator.
        director: Who plans the rounds; None where nobody does.
        concluded: Whether the narrator left nothing to be settled after the last round.
    """

    def __init__(self, setting: Setting) -> None:
        """Gathers everybody, and tells the scene.

        Raises:
            UserError: Nobody plays a role, or a person narrates.
        """
        self.setting = setting
        self.chronicle = Chronicle(setting, self._hear)
        self.performers = [self._performer(character) for character in setting.scene.characters]
        self.narrator = Narrator(setting, self.chronicle)
        self.director = Director(setting, self.chronicle, setting.director) if setting.director is not None else None
        self.concluded = False
        self._by_id = {performer.character.id: performer for performer in self.performers}
        self.chronicle.open()

    def performer(self, character: str) -> Performer:
        """Returns who plays a character, by its id."""
        return self._by_id[character]

    async def believe(self, *, apart: bool) -> None:
        """Renews the beliefs of everybody side by side; with `apart`, each of the two of one character in its turn."""
        works = [one.believe_apart() if apart else one.believe() for one in self.performers]
        await together(*works)
        for performer in self.performers:
            performer.settle()

    async def plans(self, order: Sequence[Performer]) -> dict[str, str]:
        """Returns what the director plans for everybody, by the id of the role; nothing where nobody directs."""
        if self.director is None:
            return {}
        found = await self.director.plan(tuple(performer.role for performer in order))
        for role in (performer.role for performer in order if performer.role.id in found):
            text, key = found[role.id]
            self.chronicle.plan(role, self.director.role, text, key)
        self.director.settle()
        return {role: text for role, (text, _) in found.items()}

    def perform(self, performer: Performer, action: Deed, speech: Deed, influenced: Influenced) -> None:
        """Writes down what a character did and said, whom it affected, and that this one is told how."""
        self.chronicle.do(performer.role, "action", action, *influenced.flags)
        performer.settle()
        if speech.text or speech.flags:
            self.chronicle.do(performer.role, "speech", speech)
        if influenced.problem:
            self.chronicle.cure(f"influence:{influenced.problem}", self.narrator.role.id, influenced.detail)
        self.narrator.settle()
        if influenced.target and influenced.influence:
            target = self.performer(influenced.target).role.id
            flags = (f"target:{influenced.target}",)
            self.chronicle.tell(influenced.influence, key=influenced.key, seen_by=(target,), flags=flags)

    async def react(self, performer: Performer, actor: Role) -> Turn:
        """Returns the turn by which a character answers another's act, written down."""
        deed = await performer.react(actor)
        turn = self.chronicle.do(performer.role, "action", deed, REACTION)
        performer.settle()
        return turn

    def come_about(self, outcome: Outcome, *people: SceneCharacter, updated: bool) -> None:
        """Writes down what came of an act and its answer.

        Args:
            outcome: What the narrator said.
            people: Both whom it is about.
            updated: Whether it should tell how it left them.
        """
        if outcome.text:
            self.chronicle.tell(outcome.text, key=outcome.key)
        if outcome.problem:
            self.chronicle.cure(f"result:{outcome.problem}", self.narrator.role.id, outcome.detail)
        self.narrator.settle()
        updates = dict(outcome.updates)
        if not updated or (outcome.problem and not updates):
            return
        for character in people:
            if (update := updates.get(character.id)) is None:
                self.chronicle.cure("update:left_out", self.narrator.role.id, character.id)
            else:
                self._moved(character, update.position, update.state)

    async def update(self, character: SceneCharacter) -> None:
        """Lets the narrator say how what has happened leaves a character."""
        filled = await self.narrator.update(character)
        if filled.value is None:
            self.chronicle.cure(f"update:{filled.failure}", self.narrator.role.id, filled.detail)
        else:
            self._moved(character, filled.value.position, filled.value.state)
        self.narrator.settle()

    def left(self, performer: Performer, influenced: Influenced) -> None:
        """Writes down how an act that affected nobody else left its actor, as it was told along with that."""
        if influenced.update is not None:
            self._moved(performer.character, influenced.update.position, influenced.update.state)

    async def update_environment(self) -> None:
        """Lets the narrator say what surrounds everybody now, and whether the story is over."""
        filled = await self.narrator.environment()
        if filled.value is None:
            self.chronicle.cure(f"environment:{filled.failure}", self.narrator.role.id, filled.detail)
            self.concluded = False
        else:
            self.chronicle.surround(filled.value, filled.keys[-1])
            self.concluded = filled.value.concluded
        self.narrator.settle()

    def _moved(self, character: SceneCharacter, position: str, state: str) -> None:
        role = self.setting.role_of(character)
        if is_called(self.setting.scene, position):  # who it is about, written where a place was asked for
            position = ""
        if self.chronicle.moved(role, position, state):
            self.performer(character.id).stands(self.chronicle.standings[role.id].text)

    def _performer(self, character: SceneCharacter) -> Performer:
        seat = self.setting.cast.seat(self.setting.role_of(character))
        if isinstance(seat, HumanSeat):
            return Person(self.setting, self.chronicle, character, seat)
        if isinstance(seat, SharedSeat):
            return SharedCharacter(self.setting, self.chronicle, character, seat)
        return CharacterAgent(self.setting, self.chronicle, character, seat)

    def _hear(self, turn: Turn) -> None:
        for performer in self.performers:
            performer.hears(turn)
        self.narrator.hears(turn)
        if self.director is not None:
            self.director.hears(turn)


def is_called(scene: Scene, text: str) -> bool:
    """Returns whether a text is no more than what somebody of the scene is called."""
    bare = text.strip(' .。"“”').casefold()
    return any(bare in {name.casefold() for name in (one.id, one.name, *one.aliases)} for one in scene.characters)
