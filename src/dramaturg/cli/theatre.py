"""The terminal as a theatre: turns appear as they are spoken, and a person may play."""

from __future__ import annotations

import asyncio
import sys
import textwrap

from dramaturg.stage.transcript import Turn

WIDTH = 100


class TerminalAudience:
    """Writes a performance to standard output; on a terminal each word as it comes."""

    def __init__(self) -> None:
        self._live = sys.stdout.isatty()
        self._heard = ""
        self._speaker = ""

    def hears(self, speaker: str, piece: str) -> None:
        """Writes a piece of what is being said."""
        if not self._live:
            return
        if not self._heard or self._speaker != speaker:
            self._end_line()
            self._speaker, self._heard = speaker, ""
            self._write(f"{speaker}: ")
        self._heard += piece
        self._write(_printable(piece))

    def sees(self, turn: Turn, attempt: int) -> None:
        """Writes a turn that is final, unless it was heard word for word."""
        del attempt
        was_heard = self._speaker == turn.speaker and self._heard.strip() == turn.text.strip()
        self._end_line()
        if turn.kind == "procedure" or was_heard:
            return
        for line in textwrap.wrap(_printable(f"{turn.speaker}: {turn.text}"), WIDTH, subsequent_indent="  "):
            self._write(f"{line}\n")

    def _end_line(self) -> None:
        if self._heard:
            self._write("\n")
        self._heard, self._speaker = "", ""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


async def read_from_terminal(note: str) -> str:
    """Returns what the person types after reading the note; nothing where the input has ended."""
    sys.stdout.write(f"\n{textwrap.fill(_printable(note), WIDTH)}\n> ")
    sys.stdout.flush()
    return (await asyncio.to_thread(sys.stdin.readline)).rstrip("\n")


def _printable(text: str) -> str:
    """Returns the text without control characters: what a model says must not steer the terminal."""
    return "".join(character if character.isprintable() or character == "\n" else " " for character in text)
