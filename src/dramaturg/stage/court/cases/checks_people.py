"""Checks of the people: names that differ, that everybody uses alike, and that are no roles'."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from dramaturg.stage.court.case import AnyCase, Case
from dramaturg.stage.court.cases.checks_text import shown
from dramaturg.stage.court.cases.fields import TextField, listed_people, text_fields, whole_text
from dramaturg.stage.court.cases.finding import Finding
from dramaturg.stage.court.cases.person_names import (
    chinese_spellings,
    is_known,
    mentions,
    other_name_of,
)
from dramaturg.stage.court.cases.words import LANGUAGES, case_words
from dramaturg.stage.court.names import plain_name

USUAL_WITNESSES = 8
MOST_WITNESSES = 20
"""More do not fit into the record that every role reads."""

_ARTICLES = frozenset({"the", "a", "il", "la", "lo", "l"})
_PUBLIC = frozenset({"title", "setting", "charge", "matter", "accused", "summary"})


def check_people(case: AnyCase) -> Iterator[Finding]:
    """Yields what is doubtful about the people of a case."""
    people = listed_people(case)
    speakers = {where: name for where, name in people.items() if where != "accused"}
    yield from _duplicates(speakers)
    for where, name in speakers.items():
        yield from _name(where, name)
    yield from _count(case)
    fields = [field for field in text_fields(case) if field.where not in people]
    yield from _mentions(case, people, fields)
    yield from _accused(case, people)


def _duplicates(speakers: dict[str, str]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for where, name in speakers.items():
        plain = plain_name(_as_seen(name))
        if plain in first:
            told = f"{shown(name)} is the same name as that of {first[plain]}; nobody could tell who is addressed"
            yield Finding("duplicate-name", "error", where, told)
        first.setdefault(plain, where)


def _as_seen(name: str) -> str:
    """Returns a name without its accents and without signs that nobody sees."""
    signs = unicodedata.normalize("NFD", name)
    return "".join(sign for sign in signs if not unicodedata.combining(sign) and unicodedata.category(sign) != "Cf")


def _name(where: str, name: str) -> Iterator[Finding]:
    parts = re.findall(r"[^\W\d_]+", name.casefold())
    if not parts:
        yield Finding("strange-name", "error", where, f"the name {shown(name)} has no letter")
        return
    if re.search(r"[\d\n:：;；<>{}\[\]()（）|#@/\\]", name):
        yield Finding("strange-name", "warning", where, f"the name {shown(name)} holds signs that no name has")
    for language in LANGUAGES:
        words = case_words(language)
        for word in words.role_words:
            if not words.joiner and word in name:
                told = f"{shown(name)} holds {word!r}, a role's name, and would be taken for that role"
                yield Finding("named-like-role", "error", where, told)
                return
            if words.joiner and word in parts:
                leads = next(part for part in parts if part not in _ARTICLES) == word
                told = f"{shown(name)} holds {word!r}, a role's name" + (
                    ", and would be taken for that role" if leads else ""
                )
                yield Finding("named-like-role", "error" if leads else "warning", where, told)
                return


def _count(case: AnyCase) -> Iterator[Finding]:
    witnesses = sum(person.role == "witness" for person in case.everybody)
    if witnesses > USUAL_WITNESSES:
        severity = "error" if witnesses > MOST_WITNESSES else "warning"
        told = f"{witnesses} witnesses; up to {USUAL_WITNESSES} are usual, and more than {MOST_WITNESSES} do not fit"
        yield Finding("many-witnesses", severity, "witnesses", told)


def _mentions(case: AnyCase, people: dict[str, str], fields: list[TextField]) -> Iterator[Finding]:
    """Yields names that are nobody's: spelt otherwise than in the list, or introduced nowhere."""
    words = case_words(case.language)
    listed = list(people.values())
    introduced = plain_name(" ".join(field.text for field in fields if field.where in _PUBLIC))
    told: set[str] = set()
    for mention in mentions(fields, listed, words):
        plain = plain_name(mention.name)
        if plain in told:
            continue
        other = other_name_of(mention.name, listed)
        if other:
            told.add(plain)
            text = f"{shown(mention.name)} looks like another name of {shown(other)}"
            yield Finding("two-names", "warning", mention.where, text)
        elif mention.where not in _PUBLIC and not is_known(mention.name, listed, introduced):
            told.add(plain)
            text = f"{shown(mention.name)} is named here, is in no list, and the public record does not introduce them"
            yield Finding("unlisted-name", "warning", mention.where, text)
    for mention, name in chinese_spellings(fields, listed):
        if mention.name not in told:
            told.add(mention.name)
            text = f"{shown(mention.name)} looks like another name of {shown(name)}"
            yield Finding("two-names", "warning", mention.where, text)


def _accused(case: AnyCase, people: dict[str, str]) -> Iterator[Finding]:
    if not isinstance(case, Case) or case.accused in case_words(case.language).accused.values():
        return
    rest = case.model_copy(update={"accused": ""})
    parts = [part for part in re.findall(r"[^\W\d_]{2,}", case.accused.casefold())]
    if parts and not any(part in whole_text(rest).casefold() for part in parts):
        yield Finding("accused-absent", "warning", "accused", f"{shown(people['accused'])} is named nowhere else")
