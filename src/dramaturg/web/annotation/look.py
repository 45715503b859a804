"""How a visitor wants the pages: language and light or dark, kept by the browser alone."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from dramaturg.web.preferences import Theme
from dramaturg.web.words import Words, preferred, read_words

COOKIE = "annotation-look"

LANGUAGES: Mapping[str, str] = {"en": "English", "fr": "Français", "it": "Italiano", "zh": "中文"}
"""Languages of the annotation pages with their own names."""

THEMES: tuple[Theme, ...] = get_args(Theme)


@dataclass(frozen=True, slots=True)
class Look:
    """How the pages look.

    Attributes:
        language: Of the interface, one of `LANGUAGES`.
        theme: Light, dark, or as the system is.
    """

    language: str
    theme: Theme

    @property
    def cookie(self) -> str:
        """The cookie's value."""
        return f"{self.language}.{self.theme}"

    def with_choices(self, language: str, theme: str) -> Look:
        """Returns the look with another language and theme; what there is not stays as it was."""
        return Look(
            language if language in LANGUAGES else self.language,
            theme if theme in THEMES else self.theme,
        )

    @property
    def words(self) -> Words:
        """The interface's words."""
        return annotation_words(self.language)


def read_look(cookie: str, accepted: str) -> Look:
    """Returns what a cookie says; whatever is wrong in it counts as not said.

    Args:
        cookie: Its value, or empty.
        accepted: The request's ``Accept-Language``.
    """
    language, _, theme = cookie.partition(".")
    return Look(preferred(accepted, LANGUAGES), "auto").with_choices(language, theme)


@functools.cache
def annotation_words(language: str) -> Words:
    """Returns the words of one of `LANGUAGES`.

    Raises:
        ContentError: The file is wrong.
    """
    return read_words(f"annotation-{language}.yaml", language)
