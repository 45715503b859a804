"""The case as text: the public record that all see, each role's own knowledge, and the reference for judges."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from dramaturg.stage.court.case import Case, Witness
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Role, Scenario
from dramaturg.text import canonical_json, sha256

UNKNOWN = "not stated"
"""Stands where the case says nothing, so that a blank is not read as the end of a list."""

_DUTIES: Mapping[str, str] = {
    "judge": "Opens the trial, grants questions, rules on objections, asks for final theses, gives the verdict.",
    "prosecutor": "Argues for the charge and questions witnesses.",
    "defence": "Argues for the defence's goal and questions witnesses.",
}


_LANGUAGES = {"de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian", "zh": "Chinese"}


def language_name(code: str) -> str:
    """Returns the English name of a language, or its code where the name is not known here."""
    return _LANGUAGES.get(code, code)


def court_roles(case: Case) -> tuple[Role, ...]:
    """Returns everybody in court: judge, prosecutor, defence, then the witnesses in the order of the case."""
    officers = {"judge": case.judge, "prosecutor": case.prosecutor, "defence": case.defence}
    roles = [
        Role(
            id=kind, kind=kind, name=officer.name, description=f"{_DUTIES[kind]} Manner: {_or_unknown(officer.manner)}"
        )
        for kind, officer in officers.items()
    ]
    taken: set[str] = set()
    for number, witness in enumerate(case.witnesses, start=1):
        slug = _slug(witness.name) or str(number)
        if slug in taken:
            slug = f"{slug}-{number}"
        taken.add(slug)
        roles.append(
            Role(id=f"witness:{slug}", kind="witness", name=witness.name, description=_witness_description(witness))
        )
    return tuple(roles)


def _slug(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").casefold()
    return "-".join("".join(letter if letter.isalnum() else " " for letter in ascii_name).split())


def _witness_description(witness: Witness) -> str:
    occupation, manner = one_line(witness.occupation), one_line(witness.manner)
    return f"Testifies as {occupation}, called by the {witness.called_by}. Manner: {manner}"


def _or_unknown(text: str) -> str:
    return one_line(text) or UNKNOWN


def bullets(lines: Iterable[str]) -> str:
    """Returns a list, one entry a line; the mark for "not stated" where there is none."""
    return "\n".join(f"- {one_line(line)}" for line in lines) or f"- {UNKNOWN}"


def exhibits(case: Case) -> str:
    """Returns the evidence as text, one exhibit a line."""
    return "\n".join(f"{item.id} {one_line(item.name)}: {one_line(item.description)}" for item in case.evidence)


def public_record(case: Case, *, evidence: bool = True) -> str:
    """Returns what is public before the first word is spoken.

    Args:
        case: The case.
        evidence: Whether the exhibits are listed; a witness is bound to its own knowledge and gets no list.
    """
    text = (
        f"The case is called {one_line(case.title)}. It is a {case.kind} case before {one_line(case.setting)} "
        f"The charge: {one_line(case.charge)}. The accused is {one_line(case.accused)}. "
        f"The judge is {one_line(case.judge.name)}, the prosecutor is {one_line(case.prosecutor.name)}, the lawyer of "
        f"the defence is {one_line(case.defence.name)}. {one_line(case.summary)}"
    )
    if not evidence:
        return text
    witnesses = (f"{one_line(w.name)}, {one_line(w.occupation)}, called by the {w.called_by}" for w in case.witnesses)
    return f"{text}\nExhibits:\n{exhibits(case)}\nWitnesses:\n{bullets(witnesses)}"


def reference(case: Case) -> str:
    """Returns the whole case file as text: what a judge may check every statement against."""
    parts = [public_record(case), f"Goal of the defence: {one_line(case.goal)}"]
    for witness in case.witnesses:
        parts.append(f"What {one_line(witness.name)} knows:\n{bullets(witness.knowledge)}")
        if witness.secrets:
            parts.append(f"What {one_line(witness.name)} hides:\n{bullets(witness.secrets)}")
    if case.timeline:
        parts.append(
            f"Timeline:\n{bullets(f'{event.time}: {event.event} ({event.status})' for event in case.timeline)}"
        )
    if case.facts:
        parts.append(f"Facts:\n{bullets(f'{fact.text} ({fact.status})' for fact in case.facts)}")
    return "\n".join(parts)


def scenario(case: Case) -> Scenario:
    """Returns the case as a transcript names it."""
    return Scenario(
        id=case.id,
        title=case.title,
        language=case.language,
        digest=sha256(canonical_json(case.model_dump(mode="json"))),
        reference=reference(case),
    )
