"""Checks of what is known and wanted: witnesses know something, evidence is spoken of, nothing is decided yet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dramaturg.model.lexical import tokens
from dramaturg.stage.court.case import AnyCase, Case
from dramaturg.stage.court.cases.checks_text import shown, weight
from dramaturg.stage.court.cases.fields import text_fields
from dramaturg.stage.court.cases.finding import Finding
from dramaturg.stage.court.cases.words import case_words

_LEAST_KNOWN = 20
_NOTHING = re.compile(
    r"\A\W*(?:(?:knows?|saw|heard) nothing\b.{0,30}|nothing|none|unknown|not known|n/?a|nulla|niente|non sa nulla"
    r"|sconosciuto|什么都不知道|一无所知|没有|无)\W*\Z",
    re.IGNORECASE,
)
_EXHIBIT = re.compile(r"(?<![A-Za-z0-9])E\d{1,2}(?!\d)")
_STEM = 5
_SENTENCE = re.compile(r"[^.!?。！？；;\n]+")
_NO_VERDICT_IN = frozenset({"goal", "people.goal"})


def check_knowledge(case: AnyCase) -> Iterator[Finding]:
    """Yields witnesses who know nothing."""
    at = 0
    for person in case.everybody:
        if person.role != "witness":
            continue
        known = [line for line in person.knowledge if _NOTHING.match(line) is None]
        if sum(map(weight, known)) < _LEAST_KNOWN:
            told = f"{shown(person.name)} knows next to nothing, and can answer no question"
            yield Finding("witness-knows-nothing", "error", f"witnesses[{at}].knowledge", told)
        at += 1


def check_evidence(case: AnyCase) -> Iterator[Finding]:
    """Yields exhibits of which nobody speaks, and ids that no exhibit has."""
    ids = {exhibit.id for exhibit in case.evidence}
    outside = [field for field in text_fields(case) if not field.where.startswith("evidence")]
    for field in text_fields(case):
        for unknown in sorted(set(_EXHIBIT.findall(field.text)) - ids):
            if ids:
                yield Finding("evidence-unknown", "error", field.where, f"speaks of {unknown}, which is no exhibit")
    rest = "\n".join(field.text for field in outside)
    spoken = {_stem(word) for word in tokens(rest)}
    people = {person.name.casefold() for person in case.everybody}
    for number, exhibit in enumerate(case.evidence):
        if exhibit.name.casefold() in people:
            told = f"{exhibit.id} is a person: {shown(exhibit.name)}"
            yield Finding("evidence-is-person", "error", f"evidence[{number}].name", told)
        if re.search(rf"(?<![A-Za-z0-9]){exhibit.id}(?!\d)", rest):
            continue
        if _content(exhibit.name, case.language) & spoken:
            continue
        if len(_content(exhibit.description, case.language) & spoken) >= 2:
            continue
        told = f"nobody speaks of {exhibit.id} ({shown(exhibit.name)})"
        yield Finding("evidence-unreferenced", "warning", f"evidence[{number}]", told)


def check_goal(case: AnyCase) -> Iterator[Finding]:
    """Yields the goal of a defence that wants what the prosecution wants."""
    words = case_words(case.language)
    if not isinstance(case, Case) or re.search(words.denied, case.goal, re.IGNORECASE):
        return
    if found := re.search(words.against, case.goal, re.IGNORECASE):
        told = f"the defence's goal is the other side's: {shown(found[0])}"
        yield Finding("goal-against-player", "error", "goal", told)


def _stem(word: str) -> str:
    return word[:_STEM]


def _content(text: str, language: str) -> set[str]:
    """Returns the stems of the words of a text that carry meaning."""
    spaced = bool(case_words(language).joiner)
    return {_stem(word) for word in tokens(text) if not spaced or len(word) >= _STEM}


def check_verdict(case: AnyCase) -> Iterator[Finding]:
    """Yields sentences that tell how the case ends; what somebody says, wants or denies is none."""
    words = case_words(case.language)
    for field in text_fields(case):
        if field.kind in _NO_VERDICT_IN:
            continue
        for sentence in _SENTENCE.findall(field.text):
            found = re.search(words.verdict, sentence, re.IGNORECASE)
            if found and not re.search(words.reported, sentence[: found.start()], re.IGNORECASE):
                yield Finding("verdict-given", "error", field.where, f"gives the verdict away: {shown(found[0])}")
