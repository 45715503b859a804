"""What a person who plays a character is told, and how what it types becomes a deed."""

from __future__ import annotations

from typing import Literal

from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.chain import Made, deeper
from dramaturg.stage.world.character import shown
from dramaturg.stage.world.chronicle import Chronicle, is_news
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.setting import Setting, surroundings

Purpose = Literal["action", "speech", "reaction"]
"""What a person is asked for."""


class Briefing:
    """The briefing of a person.

    Attributes:
        character: Who is played.
        role: Its role.
    """

    def __init__(self, setting: Setting, chronicle: Chronicle, character: SceneCharacter) -> None:
        """Tells who is played, and where the story begins.

        Args:
            setting: The play.
            chronicle: What has happened.
            character: Who is played.
        """
        self.character = character
        self.role = setting.role_of(character)
        self._setting = setting
        self._chronicle = chronicle
        others = [other for other in setting.scene.characters if other is not character]
        opening = setting.prompt("person-opening").fill(
            name=one_line(character.name),
            profile=setting.profile(character),
            event=one_line(setting.scene.event),
            environment=surroundings(setting.scene.environment),
            others="\n".join(shown(other) for other in others) or setting.word("nobody"),
        )
        self._news: list[tuple[str, bool]] = [(opening, False)]

    def hears(self, turn: Turn) -> None:
        """Takes a turn, to be shown when the person is asked next."""
        told = is_news(turn) and turn.role != self.role.id
        if told and turn.text and (not turn.seen_by or self.role.id in turn.seen_by):
            self._news.append((self._setting.line(turn), turn.kind != "procedure"))

    def stands(self, standing: str) -> None:
        """Takes how the narrator left the character."""
        self._news.append((f"- {self._setting.word('you')}: {one_line(standing)}", False))

    def note(self, purpose: Purpose, actor: Role | None = None) -> str:
        """Returns what the person is told: what is new since the last time, and in the last line what is asked.

        Args:
            purpose: What for.
            actor: Whose act is reacted to.
        """
        values = {"name": self.character.name} | ({"actor": one_line(actor.name)} if actor is not None else {})
        task = self._setting.prompt(f"person-{purpose}").fill(**values)
        is_watching = self._setting.audience is not None  # and has seen what was played already
        told = [line for line, played in self._news if not (played and is_watching)]
        self._news.clear()
        return "\n".join([*told, task])

    def deed(self, raw: str, key: str, purpose: Purpose) -> Deed:
        """Returns what was typed, as a deed; saying nothing is an answer, doing nothing is flagged.

        Args:
            raw: What was typed.
            key: The call in the ledger.
            purpose: What for.
        """
        depth = deeper()
        if self._setting.on_call is not None:
            self._setting.on_call(Made(key, self._chronicle.round, self.role.id, purpose, depth))
        text, most = raw.strip(), self._setting.limits.heard_characters
        flags: tuple[str, ...] = ()
        if len(text) > most:
            text, flags = text[:most].rstrip(), ("cut:length",)
        if not text and purpose != "speech":
            flags = ("empty",)
        return Deed(text, raw, key, flags, human=True)
