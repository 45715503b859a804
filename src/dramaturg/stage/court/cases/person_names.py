"""Names of people in running text, found without a model, and which of them a case does not know.

A name is told by what stands around it: a title before it (behind it in Chinese), a given name that the word lists
hold, or a family name that somebody in the case bears. So it finds fewer names than there are, and few that are none.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from dramaturg.stage.court.cases.fields import TextField
from dramaturg.stage.court.cases.words import LANGUAGES, CaseWords, case_words
from dramaturg.stage.court.names import plain_name

_CAPITAL = r"[A-ZÀ-ÖØ-Þ]"
_PART = rf"{_CAPITAL}[\w’'-]*[\w]|{_CAPITAL}\."
LATIN_NAME = rf"(?:{_CAPITAL}[\w’'-]+)(?: (?:(?:de|di|da|del|della|van|von|la|le) )?{_CAPITAL}[\w’'-]+){{1,3}}"
"""Pattern of two to four capitalised words."""

_RUN = re.compile(rf"(?:{_PART})(?:\s(?:(?:de|di|da|del|della|van|von|la|le)\s)?(?:{_PART}))+")
_POSSESSIVE = re.compile(r"['’]s$")
_ALIKE = 0.86
"""Two full names at least so alike (Ratcliff and Obershelp's measure) are taken for one person."""

_SHORTEST_ALIKE = 7


@dataclass(frozen=True, slots=True)
class Mention:
    """A person's name in a text.

    Attributes:
        where: The field.
        name: As it stands there, without title.
    """

    where: str
    name: str


@functools.cache
def _given_names() -> frozenset[str]:
    return frozenset(
        name.casefold() for language in LANGUAGES if case_words(language).joiner for name in case_words(language).given
    )


@functools.cache
def _titles() -> frozenset[str]:
    return frozenset(
        title.casefold()
        for language in LANGUAGES
        if case_words(language).joiner
        for title in case_words(language).titles
    )


def mentions(fields: Sequence[TextField], listed: Collection[str], words: CaseWords) -> list[Mention]:
    """Returns the people who are named in texts, one mention of each name and field.

    Args:
        fields: The texts.
        listed: Names that are known; who shares a family name with one of them is a person too.
        words: The case's language.
    """
    family = {plain_name(name).split()[-1] for name in listed if plain_name(name)}
    found: dict[Mention, None] = {}
    for field in fields:
        names = _latin(field.text, family) if words.joiner else _chinese(field.text, words)
        found |= dict.fromkeys(Mention(field.where, name) for name in names)
    return list(found)


def _latin(text: str, family: Collection[str]) -> Iterator[str]:
    for run in _RUN.finditer(text):
        parts = [_POSSESSIVE.sub("", part) for part in run[0].split()]
        title = max((at for at, part in enumerate(parts) if part.strip(".").casefold() in _titles()), default=None)
        if title is not None:
            parts = parts[title + 1 :]
        start = next((at for at, part in enumerate(parts) if part.casefold() in _given_names()), None)
        if start is not None and len(parts) - start >= 2:
            yield " ".join(parts[start : start + 3])
        elif title is not None and parts:
            yield " ".join(parts)
        elif parts and parts[-1].casefold() in family:
            if _begins_sentence(text[: run.start()]):
                parts = parts[1:]
            if len(parts) == 2:
                yield " ".join(parts)


def _begins_sentence(before: str) -> bool:
    """Returns whether a word behind this text is capitalised for its place, whatever it is."""
    return before.rstrip(" \"'“‘«(")[-1:] in {"", ".", "!", "?", ":", ";", "\n"}


def _chinese(text: str, words: CaseWords) -> Iterator[str]:
    for pattern in _chinese_patterns(words.language):
        for found in pattern.finditer(text):
            yield found["name"]


@functools.cache
def _chinese_patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns the patterns of a name before a title, and of a name with a given name of the list."""
    words = case_words(language)
    family = f"[{''.join(words.family)}]"
    return (
        re.compile(rf"(?P<name>{family}[\u4e00-\u9fff]{{1,2}}?)(?:{'|'.join(words.titles)})"),
        re.compile(rf"(?P<name>{family}(?:{'|'.join(words.given)}))"),
    )


def other_name_of(mention: str, listed: Collection[str]) -> str:
    """Returns the listed name that a mention is another spelling of, or empty.

    A mention that is a part of a listed name, or the same name, is no other name.
    """
    plain = plain_name(mention)
    parts = set(plain.split())
    for name in listed:
        known = plain_name(name)
        if plain == known or parts <= set(known.split()) or (known and known in plain) or plain in known:
            return ""
    long_enough = [name for name in listed if min(len(plain), len(name)) >= _SHORTEST_ALIKE]
    for name in long_enough:
        if difflib.SequenceMatcher(None, plain, plain_name(name)).ratio() >= _ALIKE:
            return name
    return ""


def is_known(mention: str, listed: Collection[str], introduced: str) -> bool:
    """Returns whether a mention is of somebody who is listed, or whom the public text introduces.

    Args:
        mention: The name as it stands in a text.
        listed: Names that the case lists.
        introduced: Plain text of the fields that everybody knows.
    """
    plain = plain_name(mention)
    parts = plain.split()
    for name in listed:
        known = plain_name(name)
        if plain == known or plain in known or known in plain or set(parts) <= set(known.split()):
            return True
        if parts and parts[-1:] == known.split()[-1:] and parts[0].rstrip(".") == known[:1]:
            return True
    return plain in introduced or (len(parts) > 1 and parts[-1] in introduced.split() and parts[0] in introduced)


def chinese_spellings(fields: Sequence[TextField], listed: Collection[str]) -> Iterator[tuple[Mention, str]]:
    """Yields mentions, and the listed name from which each differs in one of three Chinese characters."""
    for name in listed:
        if re.fullmatch(r"[\u4e00-\u9fff]{3}", name) is None:
            continue
        pattern = re.compile(f"{name[0]}(?:\\w{name[2]}|{name[1]}\\w)")
        for field in fields:
            for found in pattern.finditer(field.text):
                if found[0] not in listed:
                    yield Mention(field.where, found[0]), name
