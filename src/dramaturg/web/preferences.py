"""What a visitor prefers: kept in a cookie of the browser, nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from dramaturg.web.words import LANGUAGES, preferred

COOKIE = "dramaturg"

Theme = Literal["auto", "light", "dark"]
Speed = Literal["instant", "brisk", "calm"]

CHARACTERS_PER_SECOND: Mapping[Speed, int] = {"instant": 0, "brisk": 90, "calm": 35}
"""How fast a turn appears; 0 is at once."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a visitor prefers.

    Attributes:
        language: Of the interface.
        theme: Light, dark, or as the system is.
        speed: Of text that appears.
        voices: Whether turns are read aloud, where the browser can.
        dictation: Whether dictation is offered, where the browser can.
    """

    language: str = "en"
    theme: Theme = "auto"
    speed: Speed = "brisk"
    voices: bool = False
    dictation: bool = False

    @property
    def cookie(self) -> str:
        """The cookie's value: letters, digits and dots alone."""
        return f"{self.language}.{self.theme}.{self.speed}.{self.voices:d}.{self.dictation:d}"


def read_preferences(cookie: str, accepted: str) -> Preferences:
    """Returns what the cookie says; whatever is wrong in it counts as not said.

    Args:
        cookie: Its value, or empty.
        accepted: The request's ``Accept-Language``.
    """
    language, theme, speed, voices, dictation = (*cookie[:100].split("."), *[""] * 5)[:5]
    return Preferences(
        language=language if language in LANGUAGES else preferred(accepted),
        theme=cast("Theme", theme) if theme in get_args(Theme) else "auto",
        speed=cast("Speed", speed) if speed in get_args(Speed) else "brisk",
        voices=voices == "1",
        dictation=dictation == "1",
    )
