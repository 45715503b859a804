"""The terminal as a theatre: turns appear as they are spoken, and a person may play."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

from dramaturg.cli.keyboard import InputEnded, Keyboard
from dramaturg.errors import UnitStopped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dramaturg.stage.audience import Floor
    from dramaturg.stage.court.case import AnyCase, Person
    from dramaturg.stage.transcript import Turn

LEFT = "left"
"""Kind of `UnitStopped` when the player leaves; what was said is kept."""

WIDEST = 100
LOG_TURNS = 12
OBJECTIONS = {"en": "Objection", "it": "Obiezione", "zh": "异议"}
"""The word by which a turn is taken for an objection, by language."""

IN_COURT = "Type what you say and press Enter. Name the person whom you address. A paste of several lines is one turn."
IN_A_STORY = "Type what you do or say, as you are asked, and press Enter. A paste of several lines is one turn."
SLASH = "A turn that begins with a slash is typed with two."
COMMANDS = {
    "object": ("/object REASON", "object to what was said last"),
    "log": ("/log [N|all]", "what was said so far: the last N turns"),
    "record": ("/record", "what everybody knows, and your goal"),
    "evidence": ("/evidence", "the exhibits"),
    "witnesses": ("/witnesses", "the people, and who called them"),
    "save": ("/save", "leave; the game is kept, as it is at Ctrl-C, Ctrl-D or when the window closes"),
    "help": ("/help", "this list"),
}
"""Every command by its name: how it is typed, and what it does."""

STAYS = ("/save", "leave; what was answered is kept, as it is at Ctrl-C; at Ctrl-D you stay and are silent")
"""The command to leave, where the end of the input is silence."""


class TerminalAudience:
    """Writes a performance to standard output; on a terminal each word as it comes."""

    def __init__(self) -> None:
        self.said: list[Turn] = []
        self._live = sys.stdout.isatty()
        self._heard = ""
        self._speaker = ""
        self._phase = ""
        self._attempt = 0

    def hears(self, speaker: str, piece: str) -> None:
        """Writes a piece of what is being said."""
        if not self._live:
            return
        if not self._heard or self._speaker != speaker:
            self._end_line()
            self._speaker, self._heard = speaker, ""
            self._write(f"{_printable(speaker)}: ")
        self._heard += piece
        self._write(_printable(piece))

    def sees(self, turn: Turn, attempt: int) -> None:
        """Writes a turn that is final, unless it was heard word for word."""
        if attempt != self._attempt:
            self._attempt, self._phase = attempt, ""
            self.said.clear()
            self._end_line()
            self._write(f"\n=== It broke off and begins anew: attempt {attempt + 1} ===\n")
        is_known = self._is_known(turn)
        self._end_line()
        self._enter(turn.phase)
        if turn.kind == "procedure":
            return
        self.said.append(turn)
        if not is_known:
            self._write_lines([f"{turn.speaker}: {turn.text}"])

    def gives(self, floor: Floor) -> None:
        """Writes the phase where a new one begins."""
        self._end_line()
        self._enter(floor.phase)

    def _enter(self, phase: str) -> None:
        if phase and phase != self._phase:
            self._phase = phase
            self._write(f"\n--- {_readable(phase)} ---\n")

    def _is_known(self, turn: Turn) -> bool:
        """Returns whether the turn stands on the terminal already."""
        return self._speaker == turn.speaker and self._heard.strip() == turn.text.strip()

    def _write_lines(self, lines: Iterable[str]) -> None:
        width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
        for line in lines:
            self._write("\n".join(textwrap.wrap(_printable(line), width, subsequent_indent="  ")) + "\n")

    def _end_line(self) -> None:
        if self._heard:
            self._write("\n")
        self._heard, self._speaker = "", ""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


class Playhouse(TerminalAudience):
    """An audience of which one person plays along."""

    def __init__(self, case: AnyCase | None = None, *, most: int, stays: bool = False, in_court: bool = True) -> None:
        """Opens the house.

        Args:
            case: What may be looked up; None where several cases are played, or none.
            most: Characters of a turn that are heard.
            stays: Whether the end of the input is silence from then on, and not that the person leaves.
            in_court: Whether turns are addressed and may be objections; in a story they are deeds too.
        """
        super().__init__()
        self._case = case
        self._most = most
        self._stays = stays
        self._in_court = in_court
        self._keyboard = Keyboard()
        self._floor: Floor | None = None
        self._typed = ""
        self._knows_help = False

    def gives(self, floor: Floor) -> None:
        """Remembers who has the floor."""
        super().gives(floor)
        self._floor = floor

    async def read(self, note: str) -> str:
        """Returns what the person says after reading the note; nothing where the person chose to stay silent.

        Raises:
            UnitStopped: The person left, of the kind `LEFT`.
        """
        self._end_line()
        await self._keyboard.forget()
        self._write("\n")
        self._write_lines([f"[{self._standing()}]", note])
        if not self._knows_help:
            self._knows_help = True
            self._write_lines(["(Enter says it, /help tells what else you can do, /save leaves.)"])
        was_empty = False
        while True:
            try:
                text = (await self._answer()).strip()
            except InputEnded:
                self._write("\n")
                if self._stays:
                    return ""
                raise UnitStopped(LEFT, "the player left") from None
            if text.startswith("/"):
                text = self._looked_up(text)
                if text is None:
                    continue
            elif not text and not was_empty:
                was_empty = True
                self._write_lines(["Nothing was heard. Say something, or press Enter again to stay silent."])
                continue
            if len(text) > self._most:
                self._write_lines([f"That has {len(text):,} characters; the first {self._most:,} are heard."])
            self._typed = text
            return text

    def _is_known(self, turn: Turn) -> bool:
        typed, self._typed = self._typed, ""
        was_typed = self._live and turn.human and bool(turn.text) and typed.startswith(turn.text)
        return was_typed or super()._is_known(turn)

    def _standing(self) -> str:
        """Returns phase, turn and what is left, on one line."""
        parts = [_readable(self._phase), f"turn {len(self.said) + 1}"]
        floor = self._floor
        if floor is not None and {"addressed", "objected"} & {*floor.events}:
            parts += [f"{_readable(name)}: {left} left" for name, left in floor.left.items()]
        return " · ".join(part for part in parts if part)

    async def _answer(self) -> str:
        self._write("> ")
        return await self._keyboard.read(pasted=self._tell_of_paste)

    def _tell_of_paste(self, lines: int) -> None:
        self._write(f"({lines} lines were pasted; press Enter to say them as one turn)\n> ")

    def _looked_up(self, text: str) -> str | None:
        """Returns what a command says, or None where it only shows something.

        Raises:
            UnitStopped: The command leaves.
        """
        name, _, rest = text[1:].partition(" ")
        if name.startswith("/"):
            return text[1:]
        if name not in self._commands():
            opening = self._help()[0]
            self._write_lines([f"There is no command /{name}. {opening} /help lists the commands."])
            return None
        match name:
            case "help":
                self._write("\n".join(self._help()) + "\n")
            case "log":
                self._show_log(rest.strip())
            case "save":
                raise UnitStopped(LEFT, "the player left")
            case "object":
                return self._objection(rest.strip())
            case _:
                if self._case is not None:
                    self._write_lines(_of_the_case(self._case, name))
        return None

    def _commands(self) -> dict[str, tuple[str, str]]:
        """Returns the commands that hold here."""
        left_out = set[str]() if self._case is not None else {"record", "evidence", "witnesses"}
        if not self._in_court:
            left_out.add("object")
        found = {name: told for name, told in COMMANDS.items() if name not in left_out}
        if self._stays:
            found["save"] = STAYS
        return found

    def _help(self) -> list[str]:
        opening = IN_COURT if self._in_court else IN_A_STORY
        return [opening, *(f"  {typed:<15} {does}" for typed, does in self._commands().values()), SLASH]

    def _show_log(self, which: str) -> None:
        turns = len(self.said) if which == "all" else int(which) if which.isdecimal() else LOG_TURNS
        shown = self.said[-turns:] if turns else []
        self._write_lines([f"{turn.id} {turn.speaker}: {turn.text}" for turn in shown] or ["Nothing was said so far."])

    def _objection(self, reason: str) -> str | None:
        if self._floor is not None and "objected" not in self._floor.events:
            self._write_lines(["You cannot object now."])
            return None
        if not reason:
            self._write_lines(["Say why: /object REASON"])
            return None
        language = self._case.language if self._case is not None else "en"
        return f"{OBJECTIONS.get(language, OBJECTIONS['en'])}: {reason}"


def _of_the_case(case: AnyCase, what: str) -> list[str]:
    """Returns what everybody may look up: the record, the evidence or the witnesses."""
    match what:
        case "record":
            return [case.title, case.setting, case.at_issue, case.summary, f"Your goal: {case.goal}"]
        case "evidence":
            return [f"{e.id} {e.name}: {e.description}" for e in case.evidence] or ["There are no exhibits."]
        case _:
            return [_introduced(person) for person in case.everybody]


def _introduced(person: Person) -> str:
    """Returns what everybody may know of a person; what it knows and hides is for its player alone."""
    called = f"called by the {person.called_by}" if person.called_by else ""
    return ", ".join(part for part in (person.name, person.role, person.occupation, called) if part)


def _readable(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").capitalize()


def _printable(text: str) -> str:
    """Returns the text without control characters: what a model says must not steer the terminal."""
    return "".join(character if character.isprintable() or character == "\n" else " " for character in text)
