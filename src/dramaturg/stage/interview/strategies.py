"""Prompting strategies: how a character is put to a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import ContentError, did_you_mean
from dramaturg.files import read_text
from dramaturg.prompts import Prompt, load_prompt, parse_prompt

AS_IS = "as-is"
"""The description and not a word more, for sets whose system prompts say all: nothing of the form is added either."""

STRATEGIES = ("bare", "period", AS_IS)
"""The strategies by name: ``bare`` is the description alone, ``period`` adds rules against anachronism."""

_VARIABLES = frozenset({"description"})


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to put a character to a model.

    Attributes:
        name: As the study writes it.
        path: File of one's own; None for a strategy by name.
    """

    name: str
    path: Path | None = None

    @property
    def says_form(self) -> bool:
        """Whether the form of the answer is said behind the character."""
        return self.name != AS_IS

    def prompt(self, language: str = "en") -> Prompt | None:
        """Returns the prompt around the description; None where there is none."""
        if self.path is not None:
            return _own(self.path)
        return None if self.name == AS_IS else load_prompt(f"interview-{self.name}", language)

    def text(self, description: str, language: str = "en") -> str:
        """Returns the character as a model reads it."""
        prompt = self.prompt(language)
        return description if prompt is None else prompt.fill(description=description)


def read_strategy(name: str, *, beside: Path | None = None) -> Strategy:
    """Returns the strategy of a name, or of a prompt file with the one variable ``description``.

    Args:
        name: One of `STRATEGIES`, or a path.
        beside: Folder that relative paths start from; the working folder by default.

    Raises:
        ContentError: There is no such strategy, or the file has other variables.
    """
    if name in STRATEGIES:
        return Strategy(name)
    path = (beside or Path()) / name
    if not path.is_file():
        raise ContentError(
            f"unknown strategy {name!r}", allowed=f"the path of a prompt, or {did_you_mean(name, STRATEGIES)}"
        )
    strategy = Strategy(name, path.resolve())
    _own(strategy.path or path)
    return strategy


def _own(path: Path) -> Prompt:
    prompt = parse_prompt(read_text(path), name=path.stem, language="", where=str(path))
    if prompt.variables != _VARIABLES:
        raise ContentError(
            f"has the variables {sorted(prompt.variables)}", where=f"{path}:1", allowed="exactly ['description']"
        )
    return prompt
