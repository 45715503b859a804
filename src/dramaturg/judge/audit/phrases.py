"""Words that are written into transcripts: text files by language, so that no fault hangs on one phrase."""

from __future__ import annotations

import functools
import re
from importlib import resources
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dramaturg.files import load_yaml
from dramaturg.judge.checklist.checklist import FaultKind

Lines = Annotated[tuple[str, ...], Field(min_length=1)]

_QUOTED = re.compile(r'"[^"]*"|\u201c[^\u201d]*\u201d')


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Wordings(_Frozen):
    """Ways to say one fault.

    Attributes:
        insert: Sentences that are put into a turn.
        replace: Texts that take the place of a turn.
    """

    insert: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.insert and not self.replace:
            raise ValueError("needs insert or replace")
        return self


class Severities(_Frozen):
    """Ways to say one fault mildly and severely."""

    mild: Wordings
    severe: Wordings


class Rewording(_Frozen):
    """A change of a few words: a regular expression, and what takes the place of what it finds."""

    find: str
    put: str

    def of(self, text: str, *, most: int = 0) -> str:
        """Returns the text with the change; words between quotation marks are somebody else's and stay.

        Args:
            text: What is changed.
            most: Places that are changed at most; 0 for all.
        """
        quoted = [found.span() for found in _QUOTED.finditer(text)]
        places = [
            found
            for found in re.finditer(self.find, text)
            if not any(start < found.end() and found.start() < end for start, end in quoted)
        ]
        for found in reversed(places[: most or len(places)]):
            text = text[: found.start()] + found.expand(self.put) + text[found.end() :]
        return text


class Phrases(_Frozen):
    """What is written into transcripts of one language.

    Attributes:
        faults: Fault kind → ways to say it. `{name}`, `{kind}` and `{line}` stand for another role's.
        lines: Kind of role → what only such a role would say; `other` for those not listed.
        grammar: Correct words → the same with a mistake in them.
        ungrammatical: Sentences that no grammar allows.
        articles: Words that a broken sentence lacks.
        surnames: Names that take the place of others.
        rewordings: Changes that keep the sense.
        back_references: Words, in lower case, by which a sentence hangs on another one.
    """

    faults: dict[FaultKind, Severities]
    lines: dict[str, Lines]
    grammar: tuple[Rewording, ...]
    ungrammatical: Lines
    articles: Lines
    surnames: Lines
    rewordings: tuple[Rewording, ...]
    back_references: frozenset[str]


@functools.cache
def phrases(language: str) -> Phrases | None:
    """Returns the phrases of a language, or None where there are none.

    Args:
        language: ISO 639-1.

    Raises:
        ContentError: The file is wrong.
    """
    path = Path(str(resources.files("dramaturg"))) / "content" / "mutations" / f"{language}.yaml"
    return load_yaml(path, Phrases) if path.is_file() else None
