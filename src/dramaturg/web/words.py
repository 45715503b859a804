"""The words of the interface, one file for each language."""

from __future__ import annotations

import functools
from collections.abc import Container
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import RootModel

from dramaturg.errors import ContentError
from dramaturg.files import load_yaml

LANGUAGES = {"en": "English", "it": "Italiano", "zh": "中文"}
"""Languages of the interface with their own names."""


class _File(RootModel[dict[str, dict[str, str]]]):
    """Texts by section and key."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language.

    Attributes:
        language: ISO 639-1.
        texts: Text by ``section.key``.
    """

    language: str
    texts: dict[str, str]

    def __call__(self, key: str, **values: str | int) -> str:
        """Returns a text with its places filled in.

        Args:
            key: ``section.key``.
            values: What stands in the places; it is put in as it is, and never read as a text with places itself.

        Raises:
            ContentError: There is no such text.
        """
        text = self.texts.get(key)
        if text is None:
            raise ContentError(f"the interface has no text {key!r}", where=f"interface/{self.language}.yaml")
        return text.format(**values) if values else text

    def name(self, section: str, key: str) -> str:
        """Returns what a role or a phase is called; its own name, made readable, where no text says it."""
        return self.texts.get(f"{section}.{key}") or key.replace("-", " ").replace("_", " ")


@functools.cache
def words(language: str) -> Words:
    """Returns the words of a language; the English ones where there are none.

    Raises:
        ContentError: The file is wrong.
    """
    chosen = language if language in LANGUAGES else "en"
    return read_words(f"{chosen}.yaml", chosen)


def read_words(name: str, language: str) -> Words:
    """Returns the words of an interface's file.

    Args:
        name: Of the file in ``content/interface``.
        language: ISO 639-1.

    Raises:
        ContentError: The file is wrong.
    """
    folder = Path(str(resources.files("dramaturg"))) / "content" / "interface"
    file = load_yaml(folder / name, _File)
    return Words(
        language, {f"{section}.{key}": text for section, keys in file.root.items() for key, text in keys.items()}
    )


def preferred(accepted: str, languages: Container[str] = LANGUAGES) -> str:
    """Returns the language that a browser asks for by its ``Accept-Language``; English where we do not speak it.

    Args:
        accepted: The header's value.
        languages: Those that we speak.
    """
    for part in accepted.split(",")[:20]:
        language = part.split(";")[0].strip().lower()[:2]
        if language in languages:
            return language
    return "en"
