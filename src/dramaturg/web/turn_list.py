"""The list of turns on a page: final ones, and the one that is being said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nicegui.elements.mixins.text_element import TextElement

from dramaturg.stage.transcript import Role, Turn
from dramaturg.text import Json, sha256
from dramaturg.web.elements import Speech, picture, tag
from dramaturg.web.frame import Visit
from dramaturg.web.live import Live
from dramaturg.web.portraits import Portrait
from dramaturg.web.preferences import CHARACTERS_PER_SECOND


class Company(Protocol):
    """Everybody who takes part in a performance."""

    @property
    def language(self) -> str:
        """In which they speak, ISO 639-1."""
        ...

    @property
    def roles(self) -> Sequence[Role]:
        """Everybody."""
        ...

    def role(self, role_id: str) -> Role | None:
        """Returns a role by its id, or None."""
        ...

    def portrait(self, role: Role) -> Portrait:
        """Returns the portrait of a role."""
        ...


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn on the page.

    Attributes:
        speaker: Whose it is.
        box: The whole.
        head: Who speaks, and how.
        draft: The mark of what is not final.
        body: Head and words.
        speech: The words.
    """

    speaker: str
    box: TextElement
    head: TextElement
    draft: TextElement
    body: TextElement
    speech: Speech


class TurnList(ABC):
    """The list of turns of one page."""

    def __init__(self, company: Company, visit: Visit) -> None:
        """Shows an empty list.

        Args:
            company: Who takes part.
            visit: Who looks.
        """
        self._company = company
        self._say = visit.words
        self._pace = CHARACTERS_PER_SECOND[visit.preferences.speed]
        self._voices = visit.preferences.voices
        self._phase = ""
        self._shown = 0
        self._attempt = 0
        self._speaking: Spoken | None = None
        self._list = tag("div", classes="feed-turns")

    @abstractmethod
    def show(self, turn: Turn, *, fresh: bool) -> None:
        """Shows a final turn.

        Args:
            turn: The turn.
            fresh: Whether it was said just now, so that it appears at the chosen speed.
        """

    def phase_words(self, phase: str) -> str:
        """Returns what a phase is called."""
        return self._say.name("phases", phase)

    def role_words(self, role: Role) -> str:
        """Returns what stands beside the name of who speaks."""
        return self._say.name("roles", role.kind)

    def follow(self, live: Live[Any], *, fresh: bool) -> Turn | None:
        """Shows what was said since the last time; returns the last turn that was said just now, to be announced.

        Args:
            live: The performance.
            fresh: Whether what is new was said just now; the history of a performance is not.
        """
        if len(live.said) < self._shown:
            self.clear()
        new = live.said[self._shown :]
        self._shown = len(live.said)
        fresh = fresh and len(new) <= 2  # a replay brings many at once
        announced: Turn | None = None
        for said in new:
            if said.attempt != self._attempt:
                self._attempt = said.attempt
                if said is not live.said[0]:
                    self._begin_anew()
            self.show(said.turn, fresh=fresh)
            if fresh and said.turn.kind != "procedure":
                announced = said.turn
        if live.heard:
            self._hear(live.speaker, live.heard, live.floor.phase if live.floor is not None else "")
        else:
            self.hush()
        return announced

    def clear(self) -> None:
        """Takes everything away."""
        self._list.clear()
        self._phase, self._speaking = "", None
        self._shown, self._attempt = 0, 0

    def hush(self) -> None:
        """Takes away what was being said."""
        if self._speaking is not None:
            self._speaking.box.delete()
            self._speaking = None

    def _begin_anew(self) -> None:
        """Marks that what stands above has broken off."""
        self.hush()
        for element in self._list.default_slot.children:
            element.classes("broken")
        self._phase = ""
        self._divide(self._say("court.anew"), "anew")

    def _hear(self, speaker: str, text: str, phase: str) -> None:
        """Shows what somebody is saying; it is not final."""
        if self._speaking is None or self._speaking.speaker != speaker:
            self.hush()
            self._enter(phase)
            role = next((role for role in self._company.roles if role.name == speaker), None)
            self._speaking = self._add(speaker, role, text, live=True, pace=self._pace)
        else:
            self._speaking.speech.say(text, live=True)

    def _add(
        self, speaker: str, role: Role | None, text: str, *, live: bool, pace: int, own: bool = False, about: str = ""
    ) -> Spoken:
        """Adds a turn.

        Args:
            speaker: Whose it is.
            role: Its role; None where nobody plays it.
            text: The words.
            live: Whether they are not final.
            pace: Characters a second; 0 is at once.
            own: Whether a person said it.
            about: What stands beside the name; what the role is called by default.
        """
        with self._list, tag("article", classes=f"turn {'own' if own else ''}") as box:
            if role is not None:
                picture(self._company.portrait(role).address)
            else:
                tag("span")
            with tag("div", classes="turn-body") as body:
                with tag("header", classes="turn-head") as head:
                    tag("b", speaker, dir="auto")
                    kind = about or (self.role_words(role) if role is not None else "")
                    you = self._say("court.you") if own else ""
                    tag("span", " · ".join(part for part in (kind, you) if part))
                    draft = tag("span", self._say("court.provisional") if live else "", "draft")
                speech = self._speech(text, speaker, live=live, pace=pace, silent=own)
        return Spoken(speaker, box, head, draft, body, speech)

    def _speech(self, text: str, speaker: str, *, live: bool, pace: int, silent: bool = False) -> Speech:
        return Speech(text, live=live, pace=pace, voice=None if silent else self._voice(speaker))

    def _voice(self, speaker: str) -> dict[str, Json] | None:
        if not self._voices:
            return None
        number = int(sha256(f"voice {speaker}")[:4], 16)
        return {"language": self._company.language, "pitch": 0.8 + number % 5 / 10, "number": number}

    def _enter(self, phase: str) -> None:
        if phase and phase != self._phase:
            self._phase = phase
            self._divide(self.phase_words(phase))

    def _divide(self, text: str, classes: str = "") -> None:
        with self._list:
            tag("div", text, f"divider {classes}")
