"""The turns on a courtroom's page."""

from __future__ import annotations

from dramaturg.stage.transcript import Turn
from dramaturg.web.elements import tag
from dramaturg.web.turn_list import TurnList

_REMARKS = {"cut:length": "court.cut", "fallback:empty": "court.silent", "objection:spent": "court.objection_spent"}
"""Flags of a person's turn, and the words that tell them."""


class Turns(TurnList):
    """The list of turns in court."""

    def show(self, turn: Turn, *, fresh: bool) -> None:
        """Shows a final turn; what the procedure tells somebody is not shown."""
        if turn.kind == "procedure":
            return
        role = self._company.role(turn.role)
        if self._speaking is not None and self._speaking.speaker == turn.speaker:
            spoken, self._speaking = self._speaking, None
            spoken.speech.say(turn.text, live=False)
            spoken.draft.delete()
        else:
            self.hush()
            self._enter(turn.phase)
            pace = self._pace if fresh and not turn.human else 0
            spoken = self._add(turn.speaker, role, turn.text, live=False, pace=pace, own=turn.human)
        if role is not None and role.kind == "judge":
            spoken.box.classes("judge")
        for flag, key in _REMARKS.items():
            if turn.human and flag in turn.flags:
                with spoken.body:
                    tag("p", self._say(key), "turn-note")
