"""Cases from templates and word lists, without any model: the baseline that a generator must beat."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from random import Random
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.files import load_yaml
from dramaturg.stage.court.case import Text
from dramaturg.stage.court.cases.draft import MOST_WITNESSES, Draft, ExhibitDraft, Exhibits, Plot, Premise, Testimony
from dramaturg.stage.court.cases.words import CaseKind, Language

NAME = "template"
"""What ``--model`` calls it."""

Texts = Annotated[tuple[Text, ...], Field(min_length=1)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TemplateWitness(_Frozen):
    """A witness with slots."""

    occupation: Text
    manner: Text
    knowledge: Texts
    secret: Text


class TemplatePlot(_Frozen):
    """A case with slots in braces: those of the language, and accused, place, time and detail.

    Attributes:
        about: Words in a prior that choose this plot.
        kind: Of the case.
        title: With slots, as are all that follow.
        setting: See `title`.
        charge: See `title`.
        summary: See `title`.
        goal: See `title`.
        evidence: See `title`.
        witnesses: One for each side that a premise may draw.
        true_facts: See `title`.
        open_questions: See `title`.
    """

    about: Texts
    kind: CaseKind
    title: Text
    setting: Text
    charge: Text
    summary: Text
    goal: Text
    evidence: tuple[ExhibitDraft, ...]
    witnesses: Annotated[tuple[TemplateWitness, ...], Field(min_length=MOST_WITNESSES, max_length=MOST_WITNESSES)]
    true_facts: Texts
    open_questions: Texts


class Templates(_Frozen):
    """The templates of a language.

    Attributes:
        slots: What each slot may be filled with.
        plots: The cases.
    """

    slots: Mapping[str, Texts]
    plots: Annotated[tuple[TemplatePlot, ...], Field(min_length=1)]


@functools.cache
def templates(language: Language) -> Templates:
    """Returns the templates of a language."""
    folder = Path(str(resources.files("dramaturg"))) / "content" / "case-templates"
    return load_yaml(folder / f"{language}.yaml", Templates)


def templated_draft(premise: Premise, rng: Random) -> Draft:
    """Returns a case from a template; equal premises and generators give equal cases.

    Args:
        premise: What was drawn; its prior chooses among the plots, where it has a word of one.
        rng: Fills the slots.
    """
    known = templates(premise.language)
    prior = premise.prior.casefold()
    fitting = [plot for plot in known.plots if any(word.casefold() in prior for word in plot.about)]
    plot = rng.choice(fitting or known.plots)
    values = {name: rng.choice(options) for name, options in known.slots.items()}
    values |= {"accused": premise.accused, "place": premise.place, "time": premise.time, "detail": premise.detail}

    def filled(text: str) -> str:
        return _capital(text.format_map(values))

    def all_filled(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(filled, texts))

    return Draft(
        premise,
        Plot(
            title=filled(plot.title),
            kind=plot.kind,
            setting=filled(plot.setting),
            charge=filled(plot.charge),
            summary=filled(plot.summary),
            goal=filled(plot.goal),
        ),
        Exhibits(
            evidence=tuple(
                ExhibitDraft(name=filled(item.name), description=filled(item.description)) for item in plot.evidence
            ),
            true_facts=all_filled(plot.true_facts),
            open_questions=all_filled(plot.open_questions),
        ),
        tuple(
            Testimony(
                occupation=filled(witness.occupation),
                manner=filled(witness.manner),
                knowledge=all_filled(witness.knowledge),
                secret=filled(witness.secret),
            )
            for witness, _ in zip(plot.witnesses, premise.witnesses, strict=False)
        ),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
