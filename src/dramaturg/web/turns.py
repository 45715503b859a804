"""The turns on a courtroom's page: final ones, and the one that is being said."""

from __future__ import annotations

from dataclasses import dataclass

from nicegui.elements.mixins.text_element import TextElement

from dramaturg.stage.transcript import Role, Turn
from dramaturg.text import Json, sha256
from dramaturg.web.elements import Speech, picture, tag
from dramaturg.web.frame import Visit
from dramaturg.web.preferences import CHARACTERS_PER_SECOND
from dramaturg.web.room import Room

_REMARKS = {"cut:length": "court.cut", "fallback:empty": "court.silent", "objection:spent": "court.objection_spent"}
"""Flags of a person's turn, and the words that tell them."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A turn that is being said."""

    speaker: str
    box: TextElement
    draft: TextElement
    body: TextElement
    speech: Speech


class Turns:
    """The list of turns of one page."""

    def __init__(self, room: Room, visit: Visit) -> None:
        """Shows an empty list.

        Args:
            room: The game's public side.
            visit: Who looks.
        """
        self._room = room
        self._say = visit.words
        self._pace = CHARACTERS_PER_SECOND[visit.preferences.speed]
        self._voices = visit.preferences.voices
        self._phase = ""
        self._speaking: _Spoken | None = None
        self._list = tag("div", classes="feed-turns")

    def clear(self) -> None:
        """Takes everything away."""
        self._list.clear()
        self._phase, self._speaking = "", None

    def begin_anew(self) -> None:
        """Marks that what stands above has broken off."""
        self.hush()
        for element in self._list.default_slot.children:
            element.classes("broken")
        self._phase = ""
        self._divide(self._say("court.anew"), "anew")

    def hear(self, speaker: str, text: str, phase: str) -> None:
        """Shows what somebody is saying; it is not final."""
        if self._speaking is None or self._speaking.speaker != speaker:
            self.hush()
            self._enter(phase)
            role = next((role for role in self._room.roles if role.name == speaker), None)
            self._speaking = self._turn(speaker, role, text, live=True, pace=self._pace, own=False)
        else:
            self._speaking.speech.say(text, live=True)

    def hush(self) -> None:
        """Takes away what was being said."""
        if self._speaking is not None:
            self._speaking.box.delete()
            self._speaking = None

    def show(self, turn: Turn, *, fresh: bool) -> None:
        """Shows a final turn.

        Args:
            turn: The turn; what the procedure tells somebody is not shown.
            fresh: Whether it was said just now, so that it appears at the chosen speed.
        """
        if turn.kind == "procedure":
            return
        if self._speaking is not None and self._speaking.speaker == turn.speaker:
            spoken, self._speaking = self._speaking, None
            spoken.speech.say(turn.text, live=False)
            spoken.draft.delete()
        else:
            self.hush()
            self._enter(turn.phase)
            role = self._room.role(turn.role)
            pace = self._pace if fresh and not turn.human else 0
            spoken = self._turn(turn.speaker, role, turn.text, live=False, pace=pace, own=turn.human)
            spoken.draft.delete()
        for flag, key in _REMARKS.items():
            if turn.human and flag in turn.flags:
                with spoken.body:
                    tag("p", self._say(key), "turn-note")

    def _turn(self, speaker: str, role: Role | None, text: str, *, live: bool, pace: int, own: bool) -> _Spoken:
        kind = role.kind if role is not None else ""
        with self._list, tag("article", classes=f"turn {'own' if own else ''}") as box:
            if kind == "judge":
                box.classes("judge")
            if role is not None:
                picture(self._room.portrait(role).address)
            else:
                tag("span")
            with tag("div", classes="turn-body") as body:
                with tag("header", classes="turn-head"):
                    tag("b", speaker, dir="auto")
                    you = f" · {self._say('court.you')}" if own else ""
                    tag("span", f"{self._say.name('roles', kind)}{you}" if kind else "")
                    draft = tag("span", self._say("court.provisional"), "draft")
                speech = Speech(text, live=live, pace=pace, voice=None if own else self._voice(speaker))
        return _Spoken(speaker, box, draft, body, speech)

    def _voice(self, speaker: str) -> dict[str, Json] | None:
        if not self._voices:
            return None
        number = int(sha256(f"voice {speaker}")[:4], 16)
        return {"language": self._room.case.language, "pitch": 0.8 + number % 5 / 10, "number": number}

    def _enter(self, phase: str) -> None:
        if phase and phase != self._phase:
            self._phase = phase
            self._divide(self._say.name("phases", phase))

    def _divide(self, text: str, classes: str = "") -> None:
        with self._list:
            tag("div", text, f"divider {classes}")
