"""The audience: who watches a performance while it goes on."""

from __future__ import annotations

from typing import Protocol

from dramaturg.stage.transcript import Turn


class Audience(Protocol):
    """Watches a performance. What it hears is provisional until it sees the turn."""

    def hears(self, speaker: str, piece: str) -> None:
        """Takes a piece of what is being said; a guarded court may yet draw it anew or cut it."""
        ...

    def sees(self, turn: Turn, attempt: int) -> None:
        """Takes a turn that is final, with the number of the attempt."""
        ...
