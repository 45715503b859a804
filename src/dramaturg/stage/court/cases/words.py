"""The words of a language that cases are made and checked with: names, manners, patterns, circumstances."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from pathlib import Path
from random import Random
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from dramaturg.errors import UserError
from dramaturg.files import load_yaml

Language = Literal["en", "it", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "it", "zh")
"""Languages in which cases can be generated."""

CaseKind = Literal["criminal", "civil"]


def _words(value: object) -> object:
    return tuple(value.split()) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_words)]


class CaseWords(BaseModel):
    """What one language brings.

    Attributes:
        language: ISO 639-1.
        upstream: What LLM Court's files call the language, in lower case.
        joiner: Stands between the parts of a name; where it is empty, the family name comes first.
        given: Given names.
        family: Family names.
        manners: How an officer of the court may speak.
        setting: Where a case is heard, by kind, where nothing else is known.
        accused: Who is accused, by kind, where no name is known.
        occupation: What a witness is, where nothing else is known.
        manner: How a witness speaks, where nothing else is known.
        charge_lead: What stands for the charge, by kind, where none is found.
        titles: Words before or, in Chinese, behind the name of a person.
        role_words: Names of roles, which no person may bear.
        testimony: Pattern of verbs of testimony.
        occupation_is: Pattern with the group ``what``.
        charge_is: Pattern with the group ``what``.
        accused_is: Pattern with the groups ``who`` and ``who2``; ``{name}`` stands for a name.
        criminal: Pattern of words of a criminal case.
        civil: Pattern of words of a civil case.
        verdict: Pattern of a verdict.
        reported: Pattern of words that make a verdict a thing said or wanted.
        against: Pattern of a goal that is the other side's: a finding of guilt, or a punishment.
        denied: Pattern of words that turn such a goal round.
        function_words: Commonest words, by which the language is known.
        placeholder: Pattern of text that was to be replaced.
        instructions: Pattern of text that speaks to a model.
        places: Where something may happen.
        times: When it may happen.
        details: What a case may turn on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: Language
    upstream: tuple[str, ...]
    joiner: str
    given: Names
    family: Names
    manners: tuple[str, ...]
    setting: Mapping[CaseKind, str]
    accused: Mapping[CaseKind, str]
    occupation: str
    manner: str
    charge_lead: Mapping[CaseKind, str]
    titles: tuple[str, ...]
    role_words: tuple[str, ...]
    testimony: str
    occupation_is: str
    charge_is: str
    accused_is: str
    criminal: str
    civil: str
    verdict: str
    reported: str
    against: str
    denied: str
    function_words: tuple[str, ...]
    placeholder: str
    instructions: str
    places: tuple[str, ...]
    times: tuple[str, ...]
    details: tuple[str, ...]

    def full_name(self, given: str, family: str) -> str:
        """Returns a name in the order of the language."""
        return f"{given}{self.joiner}{family}" if self.joiner else f"{family}{given}"


@functools.cache
def case_words(language: str) -> CaseWords:
    """Returns the words of a language; the English ones where it has none."""
    folder = Path(str(resources.files("dramaturg"))) / "content" / "case-words"
    known = language if language in LANGUAGES else "en"
    return load_yaml(folder / f"{known}.yaml", CaseWords)


def known_language(code: str, *, where: str) -> Language:
    """Returns the code of a language in which cases can be generated.

    Raises:
        UserError: It is another.
    """
    for language in LANGUAGES:
        if code == language:
            return language
    raise UserError(f"no cases are made in the language {code!r}", where=where, allowed=", ".join(LANGUAGES))


def pick_names(words: CaseWords, count: int, rng: Random, *, beside: str = "") -> list[str]:
    """Returns plausible names, no two of which share a part, and none a part with the text beside them.

    Args:
        words: The language.
        count: How many.
        rng: Picks them.
        beside: Text whose people must not be met again.
    """
    given = _fresh(words.given, count, rng, beside, spaced=bool(words.joiner))
    family = _fresh(words.family, count, rng, beside, spaced=bool(words.joiner))
    return [words.full_name(*parts) for parts in zip(given, family, strict=True)]


def _fresh(names: Sequence[str], count: int, rng: Random, beside: str, *, spaced: bool) -> list[str]:
    """Returns names in random order, those first that do not stand in the text."""
    shuffled = rng.sample(names, len(names))
    used: Collection[str] = set(re.findall(r"\w+", beside.casefold())) if spaced else beside
    return sorted(shuffled, key=lambda name: name.casefold() in used)[:count]
