"""How a visitor wants the pages: language and light or dark, kept by the browser alone."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import get_args

from dramaturg.web.preferences import Theme
from dramaturg.web.words import preferred

THEMES: tuple[Theme, ...] = get_args(Theme)


@dataclass(frozen=True, slots=True)
class Look:
    """How the pages look.

    Attributes:
        language: Of the interface.
        theme: Light, dark, or as the system is.
    """

    language: str
    theme: Theme

    @property
    def cookie(self) -> str:
        """The cookie's value."""
        return f"{self.language}.{self.theme}"

    def with_choices(self, language: str, theme: str, languages: Container[str]) -> Look:
        """Returns the look with another language and theme; what there is not stays as it was."""
        return Look(
            language if language in languages else self.language,
            theme if theme in THEMES else self.theme,
        )


def read_look(cookie: str, accepted: str, languages: Container[str]) -> Look:
    """Returns what a cookie says; whatever is wrong in it counts as not said.

    Args:
        cookie: Its value, or empty.
        accepted: The request's ``Accept-Language``.
        languages: Those of the pages.
    """
    language, _, theme = cookie.partition(".")
    return Look(preferred(accepted, languages), "auto").with_choices(language, theme, languages)
