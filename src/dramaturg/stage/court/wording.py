"""Which prompts a procedure is played with: its own, those of its family, those of the court."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from dramaturg.errors import ContentError
from dramaturg.prompts import Prompt, load_prompt, parse_prompt, prompt_names
from dramaturg.stage.court.case import Case, OpenCase
from dramaturg.stage.court.procedure import UNDECIDED, VERDICT, Procedure

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")

_STEMS = (
    *("rules", "history", "note-lead", "note-objection", "note-reminder"),
    *("tag-next-speaker", "tag-next-witness", "tag-questions", "tag-accept", "tag-verdict"),
    *("route", "route-lines", "count", "count-lines", "read-ruling", "read-ruling-lines"),
    *("read-acceptance", "read-acceptance-lines"),
    *("ruling-form", "ruling-form-lines", "grant-form", "grant-form-lines"),
    *("strength", "strength-rating", "strength-rating-lines", "witness-check", "witness-check-lines", "left-out"),
    *("summary", "summary-above", "verdict", "verdict-form", "verdict-lines"),
)
"""Prompts of every performance; those of roles, notes, fallbacks and outcomes are named by the procedure."""


@functools.lru_cache(maxsize=64)
def prompts_known(procedure: Procedure) -> frozenset[str]:
    """Returns the full names of all prompts that there are: the shipped ones, and those that a procedure brings."""
    return frozenset({*prompt_names(), *(name for texts in procedure.texts.values() for name in texts)})


def prompt_name(procedure: Procedure, stem: str) -> str:
    """Returns the full name of a prompt: the procedure's family has it, else the court.

    Raises:
        ContentError: Neither has it.
    """
    known = prompts_known(procedure)
    for name in (f"{procedure.family}-{stem}", f"court-{stem}"):
        if name in known:
            return name
    raise ContentError(
        f"procedure {procedure.id!r} has no prompt {procedure.family}-{stem}",
        allowed=f"write {procedure.family}-{stem} under texts",
    )


def procedure_prompt(procedure: Procedure, name: str, language: str, variant: Path | None = None) -> Prompt:
    """Returns a prompt by its full name, in the case's language; English where there is none.

    Args:
        procedure: May bring the text itself.
        name: Full name of the prompt.
        language: Of the case.
        variant: Folder with prompts that replace shipped ones.

    Raises:
        ContentError: There is no such prompt, or its text is wrong.
    """
    for code in dict.fromkeys((language, "en", *procedure.texts)):
        text = procedure.texts.get(code, {}).get(name)
        if text is not None:
            variables = ", ".join(sorted({name for name in _VARIABLE.findall(text) if name == name.lower()}))
            where = f"procedure {procedure.id}: texts.{code}.{name}"
            return parse_prompt(f"{{# variables: {variables} #}}\n{text}", name=name, language=code, where=where)
    return load_prompt(name, language, variant)


def fallback_stem(purpose: str) -> str:
    """Returns the prompt with the line that stands where nothing usable was said."""
    return f"fallback-{purpose.replace('_', '-')}"


def prompts_played(procedure: Procedure) -> tuple[str, ...]:
    """Returns the full names of the prompts that a performance may use and a procedure may bring.

    Raises:
        ContentError: One of them does not exist.
    """
    purposes = {state.purpose for state in procedure.states if state.purpose != VERDICT}
    stems = {
        *_STEMS,
        *procedure.roles,
        *(fallback_stem(purpose) for purpose in purposes),
        *(f"fallback-verdict-{label}" for label in (*procedure.outcomes, UNDECIDED)),
    }
    notes = {state.note for state in procedure.states if state.note}
    return tuple(sorted({*(prompt_name(procedure, stem) for stem in stems), *notes}))


def prompts_of(procedure: Procedure) -> tuple[str, ...]:
    """Returns the full names of all prompts that a performance under this procedure may use.

    Raises:
        ContentError: One of them does not exist.
    """
    return tuple(sorted({*prompts_played(procedure), Case.record_prompt, OpenCase.record_prompt}))


def prompt_hashes(procedure: Procedure, language: str, variant: Path | None = None) -> dict[str, str]:
    """Returns the hash of each prompt of a procedure by name, for records.

    Raises:
        ContentError: One of them does not exist, or is wrong.
    """
    return {name: procedure_prompt(procedure, name, language, variant).hash for name in prompts_of(procedure)}
