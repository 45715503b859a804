"""The story as a page tells it: acts and speeches, who acts on whom, and what the narrator tells."""

from __future__ import annotations

from dramaturg.stage.transcript import Turn
from dramaturg.stage.world.chronicle import SCENE_TURN
from dramaturg.stage.world.setting import ENVIRONMENT
from dramaturg.stage.world.world import REACTION
from dramaturg.web.elements import tag
from dramaturg.web.frame import Visit
from dramaturg.web.turn_list import Spoken, TurnList
from dramaturg.web.world.troupe import Troupe

_ROUND = "round-"
_TARGET = "target:"
_REMARKS = {"cut:length": "court.cut", "repeat": "stage.repeat", "refused": "stage.refused"}
"""Flags of a turn, and the words that tell them."""


def round_of(phase: str) -> int:
    """Returns the number of the round that a phase is; 0 for what happens before the first."""
    number = phase.removeprefix(_ROUND)
    return int(number) if number != phase and number.isdecimal() else 0


class StoryTurns(TurnList):
    """The list of what has happened."""

    def __init__(self, troupe: Troupe, visit: Visit) -> None:
        """Shows an empty list.

        Args:
            troupe: Who takes part.
            visit: Who looks.
        """
        super().__init__(troupe, visit)
        self._troupe = troupe
        self._act: tuple[str, Spoken] | None = None

    def clear(self) -> None:
        """Takes everything away."""
        super().clear()
        self._act = None

    def phase_words(self, phase: str) -> str:
        """Returns what a round is called."""
        number = round_of(phase)
        return self._say("stage.round", number=number) if number else self._say("stage.before")

    def show(self, turn: Turn, *, fresh: bool) -> None:
        """Shows a final turn: what a director plans is not shown, an opening act stands with the scene."""
        heard = self._speaking is not None
        self.hush()
        if turn.kind == "procedure":
            if turn.id == SCENE_TURN:
                self._open()
            return
        self._enter(turn.phase)
        pace = self._pace if fresh and not turn.human and not heard else 0
        match turn.kind:
            case "narration":
                self._narrate(turn, pace)
            case "action":
                self._acts(turn, pace)
            case "speech":
                self._speaks(turn, pace)

    def _open(self) -> None:
        scene = self._troupe.scene
        with self._list, tag("section", classes="scene-opening"):
            tag("p", scene.event, "event", dir="auto")
        for character in scene.characters:
            opening = character.opening
            if opening is None or not (opening.action.strip() or opening.speech.strip()):
                continue
            role = next(role for role in self._troupe.roles if role.name == character.name)
            words = opening.action.strip() or _quoted(opening.speech.strip())
            spoken = self._add(role.name, role, words, live=False, pace=0, about=self._say("stage.at_first"))
            if opening.action.strip() and opening.speech.strip():
                self._say_below(spoken, opening.speech.strip(), pace=0)

    def _acts(self, turn: Turn, pace: int) -> None:
        about = self._say("stage.reacts" if REACTION in turn.flags else "stage.acts")
        role = self._troupe.role(turn.role)
        spoken = self._add(turn.speaker, role, turn.text, live=False, pace=pace, own=turn.human, about=about)
        spoken.box.classes("act")
        target = self._named(turn)
        if target:
            with spoken.head:
                tag("span", f"{turn.speaker} → {target}", "arrow", dir="auto")
        self._remark(turn, spoken)
        self._act = (turn.role, spoken)

    def _speaks(self, turn: Turn, pace: int) -> None:
        if not turn.text:
            return
        if self._act is not None and self._act[0] == turn.role:
            spoken = self._act[1]
            self._say_below(spoken, turn.text, pace=pace, silent=turn.human)
        else:
            role, words, about = self._troupe.role(turn.role), _quoted(turn.text), self._say("stage.says")
            spoken = self._add(turn.speaker, role, words, live=False, pace=pace, own=turn.human, about=about)
        self._remark(turn, spoken)

    def _narrate(self, turn: Turn, pace: int) -> None:
        self._act = None
        target = self._named(turn)
        surrounds = ENVIRONMENT in turn.flags
        with self._list, tag("article", classes=f"turn narration {'surrounds' if surrounds else ''}"):
            tag("span")
            with tag("div", classes="turn-body"):
                if target or surrounds:
                    about = self._say("stage.surroundings") if surrounds else self._say("stage.happens_to", name=target)
                    with tag("header", classes="turn-head"):
                        tag("span", about, dir="auto")
                self._speech(turn.text, turn.speaker, live=False, pace=pace)

    def _say_below(self, spoken: Spoken, text: str, *, pace: int, silent: bool = False) -> None:
        with spoken.body:
            self._speech(_quoted(text), spoken.speaker, live=False, pace=pace, silent=silent).classes("says")

    def _remark(self, turn: Turn, spoken: Spoken) -> None:
        with spoken.body:
            if not turn.text:
                tag("p", self._say("stage.nothing"), "turn-note")
            for flag, key in _REMARKS.items():
                if flag in turn.flags and turn.text:
                    tag("p", self._say(key), "turn-note")

    def _named(self, turn: Turn) -> str:
        """Returns the name of whom a turn affects; empty where nobody is named."""
        found = next((flag.removeprefix(_TARGET) for flag in turn.flags if flag.startswith(_TARGET)), "")
        character = self._troupe.character(found)
        return character.name if character is not None else ""


def _quoted(text: str) -> str:
    return f"“{text}”"
