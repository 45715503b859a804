"""LLM Court's own files: read into our form, and written back as they were.

A file is a list of objects with title, playerGoal, summary, shortSummary, evidence[], witnessNames[],
witnessDescriptions[], witnessGenders[], additionalInfo[] and language (a case, and translations of it). That form has
no officers, no charge and no private knowledge: names of officers are filled in, seeded by the case; charge and accused
are looked for in the summary; a witness knows what its description says. The object itself is kept in the case's
`origin`, and every field that nobody changed since is exported from there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError, model_validator

from dramaturg.errors import ContentError
from dramaturg.files import read_text
from dramaturg.stage.court.case import Case, Evidence, Fact, Officer, Witness
from dramaturg.stage.court.cases.person_names import LATIN_NAME
from dramaturg.stage.court.cases.words import LANGUAGES, CaseKind, CaseWords, case_words, pick_names
from dramaturg.stage.court.cases.writing import case_id
from dramaturg.text import canonical_json, sha256, storable

FORM = "llm-court"
"""Value of ``origin.form``."""

_UNNAMED_WORDS = 7
_UNNAMED_SIGNS = 16
_LONGEST_CHARGE = 240
_SENTENCE = re.compile(r"(?<=[.!?。！？;；])\s*(?=\S)")
_ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Sig|Dott|Prof|St)\.$")

NotBlank = Annotated[str, StringConstraints(pattern=r"\S")]


class _Upstream(BaseModel):
    """One object of LLM Court's file; keys that are not known are kept in the case's origin alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: NotBlank
    player_goal: NotBlank = Field(alias="playerGoal")
    summary: NotBlank
    short_summary: str = Field("", alias="shortSummary")
    evidence: Annotated[tuple[NotBlank, ...], Field(min_length=1, max_length=99)]
    witness_names: Annotated[tuple[NotBlank, ...], Field(alias="witnessNames", min_length=1)]
    witness_descriptions: Annotated[tuple[NotBlank, ...], Field(alias="witnessDescriptions")]
    witness_genders: tuple[str, ...] = Field((), alias="witnessGenders")
    additional_info: tuple[str, ...] = Field((), alias="additionalInfo")
    language: str = "english"

    @model_validator(mode="after")
    def _lists_fit(self) -> _Upstream:
        if len(self.witness_names) != len(self.witness_descriptions):
            raise ValueError(
                f"witnessNames has {len(self.witness_names)} entries and "
                f"witnessDescriptions {len(self.witness_descriptions)}"
            )
        return self


def read_llm_court(path: Path) -> list[Case]:
    """Returns the cases of a file of LLM Court, with ids that differ.

    Raises:
        ContentError: It is no such file; the message names the object and the key.
    """
    try:
        data = json.loads(read_text(path), parse_constant=_no_number)
        if storable(text := canonical_json(data)) != text:
            raise ValueError("it holds half of a surrogate pair, or NUL")
    except (ValueError, RecursionError) as error:
        raise ContentError(f"is no JSON of LLM Court: {error}", where=str(path)) from None
    objects = cast("list[JsonValue]", data if isinstance(data, list) else [data])
    if not objects:
        raise ContentError("holds no case", where=str(path), allowed="a list of objects with title, summary …")
    cases: list[Case] = []
    for number, found in enumerate(objects):
        case = case_of(found, where=f"{path}: [{number}]")
        if case.id in {other.id for other in cases}:
            case = case.model_copy(update={"id": f"{case.id}-{case.language}-{number}"})
        cases.append(case)
    return cases


def case_of(found: JsonValue, *, where: str) -> Case:
    """Returns the case that one object of LLM Court describes.

    Args:
        found: The object.
        where: Its place, for errors.

    Raises:
        ContentError: It is no such object.
    """
    try:
        upstream = _Upstream.model_validate(found)
        return _case(upstream, cast("dict[str, JsonValue]", found))
    except ValidationError as problems:
        told = [
            f"{'.'.join(map(str, one['loc'])) or 'case'}: {one['msg'].removeprefix('Value error, ')}"
            for one in problems.errors()
        ]
        raise ContentError("; ".join(told), where=where) from None


def to_llm_court(case: Case) -> dict[str, JsonValue]:
    """Returns a case as LLM Court's object.

    Of an imported case every field is as it was, but for those that were changed since. What that form has no place for
    (officers, secrets, timeline) is left out.
    """
    made = _made(case)
    kept = original(case)
    if kept is None:
        return made
    before = _made(case_of(kept, where=case.id))
    return {**kept, **{key: value for key, value in made.items() if value != before[key]}}


def original(case: Case) -> dict[str, JsonValue] | None:
    """Returns the object that a case was imported from, or None."""
    kept = case.origin.get("case") if case.origin is not None and case.origin.get("form") == FORM else None
    return kept if isinstance(kept, dict) else None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _made(case: Case) -> dict[str, JsonValue]:
    words = case_words(case.language)
    return {
        "title": case.title,
        "playerGoal": case.goal,
        "summary": case.summary,
        "shortSummary": " ".join(_sentences(case.summary)[:2]),
        "evidence": [f"{exhibit.name}: {exhibit.description}" for exhibit in case.evidence],
        "witnessNames": [witness.name for witness in case.witnesses],
        "witnessDescriptions": [
            " ".join([f"{witness.name}: {witness.occupation}.", witness.manner, *witness.knowledge])
            for witness in case.witnesses
        ],
        "witnessGenders": ["" for _ in case.witnesses],
        "additionalInfo": [fact.text for fact in case.facts if fact.status == "true"],
        "language": words.upstream[0] if words.language == case.language else case.language,
    }


def _case(upstream: _Upstream, found: dict[str, JsonValue]) -> Case:
    language = _language(upstream.language)
    words = case_words(language)
    text = "\n".join([upstream.title, upstream.summary, *upstream.witness_names, *upstream.witness_descriptions])
    kind = _kind(text, words)
    rng = Random(sha256(canonical_json([upstream.title, upstream.summary, language])))
    names = pick_names(words, 3, rng, beside=text)
    manners = rng.sample(words.manners, 3)
    judge, prosecutor, defence = (
        Officer(name=name, manner=manner) for name, manner in zip(names, manners, strict=True)
    )
    return Case(
        id=case_id(upstream.title),
        title=upstream.title,
        language=language,
        kind=kind,
        setting=words.setting[kind],
        charge=_charge(upstream.summary, words) or f"{words.charge_lead[kind]}: {upstream.title.strip()}",
        accused=_accused(upstream, words) or words.accused[kind],
        summary=upstream.summary,
        goal=upstream.player_goal,
        judge=judge,
        prosecutor=prosecutor,
        defence=defence,
        evidence=tuple(
            Evidence(id=f"E{number}", name=_short(description, words), description=description)
            for number, description in enumerate(upstream.evidence, start=1)
        ),
        witnesses=tuple(
            _witness(name, description, words)
            for name, description in zip(upstream.witness_names, upstream.witness_descriptions, strict=True)
        ),
        facts=tuple(Fact(text=info, status="true") for info in upstream.additional_info if info.strip()),
        origin={"form": FORM, "case": found},
    )


def _language(name: str) -> str:
    plain = name.strip().casefold()
    for language in LANGUAGES:
        if plain in case_words(language).upstream:
            return language
    return plain if re.fullmatch(r"[a-z]{2}", plain) else "en"


def _kind(text: str, words: CaseWords) -> CaseKind:
    if re.search(words.criminal, text, re.IGNORECASE):
        return "criminal"
    return "civil" if re.search(words.civil, text, re.IGNORECASE) else "criminal"


def _charge(summary: str, words: CaseWords) -> str:
    found = re.search(words.charge_is, summary, re.IGNORECASE)
    if found is None:
        return ""
    charge = " ".join(found["what"].split())[:_LONGEST_CHARGE]
    return charge[:1].upper() + charge[1:]


def _accused(upstream: _Upstream, words: CaseWords) -> str:
    """Returns who is accused, by the summary; the short one is asked second."""
    name = LATIN_NAME if words.joiner else f"[{''.join(words.family)}][\u4e00-\u9fff]{{1,2}}?"
    pattern = words.accused_is.replace("{name}", name)
    for text in (upstream.summary, upstream.short_summary):
        found = re.search(pattern, text)
        if found is not None:
            return found["who"] or found["who2"]
    return ""


def _short(description: str, words: CaseWords) -> str:
    """Returns a name for an exhibit that has none: the first words of its description."""
    if not words.joiner:
        first = re.split(r"[，。；,;]", description.strip())[0] or description.strip()
        return first if len(first) <= _UNNAMED_SIGNS else f"{first[:_UNNAMED_SIGNS]}…"
    parts = description.split()
    return " ".join(parts[:_UNNAMED_WORDS]).rstrip(".,;:") + ("…" if len(parts) > _UNNAMED_WORDS else "")


def _witness(name: str, description: str, words: CaseWords) -> Witness:
    parts = _sentences(description)
    of_manner = [part for part in parts if re.search(words.testimony, part, re.IGNORECASE) is None]
    found = re.search(words.occupation_is, description.replace(name.strip(), "", 1))
    return Witness(
        name=name,
        occupation=found["what"].strip() if found is not None else words.occupation,
        called_by="court",
        manner=" ".join(of_manner) if of_manner and len(of_manner) < len(parts) else words.manner,
        knowledge=tuple(parts),
    )


def _sentences(text: str) -> list[str]:
    parts: Sequence[str] = [part.strip() for part in _SENTENCE.split(text)]
    joined: list[str] = []
    for part in parts:
        if joined and _ABBREVIATED.search(joined[-1]):
            joined[-1] = f"{joined[-1]} {part}"
        elif part:
            joined.append(part)
    return joined
