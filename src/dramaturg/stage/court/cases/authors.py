"""Who writes the cases of a corpus: a model through the ledger, or the templates."""

from __future__ import annotations

from random import Random

from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.stage.court.cases.checks import check_case
from dramaturg.stage.court.cases.corpus import Author
from dramaturg.stage.court.cases.draft import Premise
from dramaturg.stage.court.cases.generating import Generated, generate_case
from dramaturg.stage.court.cases.template import templated_draft
from dramaturg.stage.finding import has_errors


def model_author(model: Model, critic: Model, ledger: Ledger, budget: Budget, *, seed: int, repairs: int) -> Author:
    """Returns an author that asks a model; what the ledger holds is not asked again.

    Args:
        model: Who writes.
        critic: Who reads.
        ledger: Keeps every answer.
        budget: Of the run.
        seed: Of the corpus.
        repairs: Most rounds of repair of a case.
    """

    async def write(premise: Premise, unit: str) -> Generated:
        calls = ledger.calls(unit=unit, seed=seed, budget=budget)
        return await generate_case(calls, model, premise, critic=critic, repairs=repairs)

    return write


async def template_author(premise: Premise, unit: str) -> Generated:
    """Returns a case from a template, seeded by the unit."""
    case = templated_draft(premise, Random(f"{unit}/template")).case()
    findings = check_case(case)
    return Generated(case, findings, at_once=not has_errors(findings))
