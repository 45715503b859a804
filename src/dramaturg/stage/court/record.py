"""The case as text: the public record that all see, each role's own knowledge, and the reference for judges."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from dramaturg.files import load_yaml, shipped
from dramaturg.prompts import load_prompt
from dramaturg.stage.court.case import AnyCase, Case, Person
from dramaturg.stage.court.procedure import Procedure
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Role, Scenario
from dramaturg.text import canonical_json, sha256


class RecordWords(BaseModel):
    """The words around a case in one language; those with names in braces are filled.

    Attributes:
        called: Which side called a witness.
        kinds: Kinds of a court case.
        unknown: Stands where the case says nothing, so that a blank is not read as the end of a list.
        exhibits: Heading.
        witnesses: Heading.
        goal: Heading of the player's goal.
        manner: How somebody speaks.
        testifies: What a witness testifies as.
        knows: Heading of what somebody knows.
        hides: Heading of what somebody hides.
        timeline: Heading.
        facts: Heading.
        statuses: What is established, contested or true.
        questions: How many questions: none said, one, or many.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    called: Mapping[str, str]
    kinds: Mapping[str, str]
    unknown: str
    exhibits: str
    witnesses: str
    goal: str
    manner: str
    testifies: str
    knows: str
    hides: str
    timeline: str
    facts: str
    statuses: Mapping[str, str]
    questions: Mapping[Literal["some", "one", "many"], str]

    def count(self, questions: int) -> str:
        """Returns a number of questions in words."""
        return self.questions["one" if questions == 1 else "many"].format(count=questions)


@functools.cache
def record_words(language: str) -> RecordWords:
    """Returns the words of a language; the English ones where it has none."""
    files = shipped("records")
    return load_yaml(files.get(language, files["en"]), RecordWords)


_LANGUAGES = {"de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "italiano", "zh": "中文"}
"""As prompts name them, which speak the language themselves where they are translated, and English elsewhere."""


def language_name(code: str) -> str:
    """Returns the name of a language for its prompts, or its code where the name is not known here."""
    return _LANGUAGES.get(code, code)


def roles_of(case: AnyCase, procedure: Procedure) -> tuple[Role, ...]:
    """Returns everybody who has a role in the procedure, in the order of the case.

    Of a kind that only one person has, the id is the kind; of the others it is the kind and the name.
    """
    roles: list[Role] = []
    taken: set[str] = set()
    number = 0
    for person in case.everybody:
        rule = procedure.roles.get(person.role)
        if rule is None:
            continue
        role_id = person.role
        if rule.many:
            number += 1
            slug = _slug(person.name) or str(number)
            role_id = f"{person.role}:{slug}"
            if role_id in taken:
                role_id = f"{role_id}-{number}"
        taken.add(role_id)
        duties = rule.duties.get(case.language, rule.duties.get("en", ""))
        roles.append(
            Role(id=role_id, kind=person.role, name=person.name, description=_description(person, duties, case))
        )
    return tuple(roles)


def _slug(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").casefold()
    return "-".join("".join(letter if letter.isalnum() else " " for letter in ascii_name).split())


def _description(person: Person, duties: str, case: AnyCase) -> str:
    words = record_words(case.language)
    if person.called_by:
        called = words.called.get(person.called_by, person.called_by)
        duties = words.testifies.format(occupation=one_line(person.occupation), called=called)
    elif person.occupation:
        duties = f"{one_line(person.occupation)}. {duties}".strip()
    return f"{duties} {words.manner.format(manner=one_line(person.manner) or words.unknown)}".strip()


def bullets(lines: Iterable[str], language: str = "en") -> str:
    """Returns a list, one entry a line; the mark for "not stated" where there is none."""
    return "\n".join(f"- {one_line(line)}" for line in lines) or f"- {record_words(language).unknown}"


def exhibits(case: AnyCase) -> str:
    """Returns the evidence as text, one exhibit a line."""
    return "\n".join(f"{item.id} {one_line(item.name)}: {one_line(item.description)}" for item in case.evidence)


def public_record(case: AnyCase, *, evidence: bool = True, variant: Path | None = None) -> str:
    """Returns what is public before the first word is spoken.

    Args:
        case: The case.
        evidence: Whether exhibits and witnesses are listed; a witness is bound to its own knowledge and gets no list.
        variant: Folder with prompts that replace shipped ones.
    """
    words = record_words(case.language)
    prompt = load_prompt(case.record_prompt, case.language, variant)
    values = _record_values(case, words)
    text = prompt.fill(**{name: values[name] for name in prompt.variables})
    if not evidence:
        return text
    if case.evidence:
        text = f"{text}\n{words.exhibits}\n{exhibits(case)}"
    called = [person for person in case.everybody if person.called_by]
    if called:
        witnesses = (
            ", ".join((one_line(w.name), one_line(w.occupation), words.called.get(w.called_by, w.called_by)))
            for w in called
        )
        text = f"{text}\n{words.witnesses}\n{bullets(witnesses, case.language)}"
    return text


def _record_values(case: AnyCase, words: RecordWords) -> dict[str, str]:
    shared = {
        "title": one_line(case.title),
        "setting": one_line(case.setting),
        "summary": one_line(case.summary),
        "matter": one_line(case.at_issue),
    }
    if isinstance(case, Case):
        return shared | {
            "kind": words.kinds[case.kind],
            "accused": one_line(case.accused),
            "judge": one_line(case.judge.name),
            "prosecutor": one_line(case.prosecutor.name),
            "defence": one_line(case.defence.name),
        }
    people = "; ".join(
        f"{one_line(person.name)}, {one_line(person.occupation) or person.role}" for person in case.everybody
    )
    return shared | {"people": people}


PRIVATE_NAMES = frozenset(
    {"name", "occupation", "manner", "goal", "knowledge", "secrets", "accused", "matter", "setting"}
)
"""What a role's own prompt may name."""


def private_values(case: AnyCase, role: Role) -> dict[str, str]:
    """Returns what a role's own prompt may name: who it is, and what it knows and wants beside the public record."""
    words = record_words(case.language)
    person = next(person for person in case.everybody if person.name == role.name)
    return {
        "name": one_line(person.name),
        "occupation": one_line(person.occupation) or words.unknown,
        "manner": one_line(person.manner) or words.unknown,
        "goal": one_line(person.goal) or words.unknown,
        "knowledge": bullets(person.knowledge, case.language),
        "secrets": bullets(person.secrets, case.language),
        "accused": one_line(case.accused) if isinstance(case, Case) else "",
        "matter": one_line(case.at_issue),
        "setting": one_line(case.setting),
    }


def reference(case: AnyCase, procedure: Procedure) -> str:
    """Returns the whole case file as text: what a judge may check every statement against."""
    words = record_words(case.language)
    title = procedure.title_of(procedure.player, case.language)
    the_player = f"the {title}" if case.language == "en" else title
    parts = [public_record(case), f"{words.goal.format(name=the_player)} {one_line(case.goal)}"]
    for person in case.everybody:
        if person.knowledge:
            known = bullets(person.knowledge, case.language)
            parts.append(f"{words.knows.format(name=one_line(person.name))}\n{known}")
        if person.secrets:
            hidden = bullets(person.secrets, case.language)
            parts.append(f"{words.hides.format(name=one_line(person.name))}\n{hidden}")
    if case.timeline:
        events = (f"{event.time}: {event.event} ({words.statuses[event.status]})" for event in case.timeline)
        parts.append(f"{words.timeline}\n{bullets(events, case.language)}")
    if case.facts:
        facts = (f"{fact.text} ({words.statuses[fact.status]})" for fact in case.facts)
        parts.append(f"{words.facts}\n{bullets(facts, case.language)}")
    return "\n".join(parts)


def case_digest(case: AnyCase) -> str:
    """Returns the hash of all that is played; where a case was imported from is no part of it."""
    return sha256(canonical_json(case.model_dump(mode="json", exclude={"origin"})))


def scenario(case: AnyCase, procedure: Procedure) -> Scenario:
    """Returns the case as a transcript names it."""
    return Scenario(
        id=case.id,
        title=case.title,
        language=case.language,
        digest=case_digest(case),
        reference=reference(case, procedure),
    )
