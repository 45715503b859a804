"""The site: which pages, words and cookies a campaign has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from dramaturg.web.survey.look import Look, read_look
from dramaturg.web.words import Words, read_words


@dataclass(frozen=True, slots=True)
class Site:
    """How a campaign's pages are made.

    Attributes:
        name: Heads the names of its cookies, and names its style.
        title: Of what is asked, for people.
        folder: Where its ``pages`` and its ``static`` files are.
        languages: Languages of its pages with their own names.
        words: The words of one of them.
    """

    name: str
    title: str
    folder: Path
    languages: Mapping[str, str]
    words: Callable[[str], Words]

    @property
    def look_cookie(self) -> str:
        """Name of the cookie that keeps how the pages look."""
        return f"{self.name}-look"

    @property
    def visitor_cookie(self) -> str:
        """Name of the cookie that keeps who asks."""
        return f"{self.name}-visitor"

    @property
    def owner_cookie(self) -> str:
        """Name of the cookie that keeps the owner's session."""
        return f"{self.name}-owner"

    def look_of(self, request: Request) -> Look:
        """Returns how a visitor wants the pages."""
        accepted = request.headers.get("accept-language", "")
        return read_look(request.cookies.get(self.look_cookie, ""), accepted, self.languages)


def survey_words(name: str, language: str) -> Words:
    """Returns the words of a campaign's pages: those that all campaigns share, and its own.

    Args:
        name: Heads its files' names.
        language: ISO 639-1.

    Raises:
        ContentError: A file is wrong.
    """
    shared, own = read_words(f"survey-{language}.yaml", language), read_words(f"{name}-{language}.yaml", language)
    return Words(language, shared.texts | own.texts)
