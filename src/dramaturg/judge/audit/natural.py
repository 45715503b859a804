"""Natural text: questions about turns that models wrote freely, labelled by hand; no operator made their faults.

A judge that knows the phrases of operators sees planted faults and nothing else. What it does with these excerpts tells
the two apart. They are asked in mode `glance`, whose questions are about single turns, as these are.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from dramaturg.judge.audit.excerpts import Excerpt, load_excerpts, transcript_of
from dramaturg.judge.audit.marks import Mark
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.asking import Questioning
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.glance import ask_glance, glance_at
from dramaturg.ledger import Calls
from dramaturg.model import Model


def natural_excerpts(language: str) -> tuple[Excerpt, ...]:
    """Returns the excerpts that ship in a language; none where there are none.

    Raises:
        ContentError: The file is wrong.
    """
    path = Path(str(resources.files("dramaturg"))) / "content" / "natural" / f"{language}.yaml"
    return load_excerpts(path) if path.is_file() else ()


async def natural_marks(excerpt: Excerpt, checklist: Checklist, *, judge: Model, calls: Calls) -> list[Mark]:
    """Returns what a judge answers about the turns of an excerpt.

    Args:
        excerpt: With its questions.
        checklist: That the judge is tested by; it gives the language.
        judge: Who is asked.
        calls: Through which.

    Raises:
        UnitStopped: The judge's endpoint failed.
        LimitReached: A budget is used up.
    """
    transcript = transcript_of(excerpt, checklist.language)
    questioning = Questioning(transcript, checklist, judge, calls, votes=1, concurrency=1, wording="text")
    asked = [(one, True) for one in excerpt.present] + [(one, False) for one in excerpt.absent]
    on_facts = {text for one in checklist.indicators if one.uses_reference for text in (one.text, one.ask)}
    marks: list[Mark] = []
    for number, (question, holds) in enumerate(sorted(asked, key=lambda one: int(one[0].turn[1:])), start=1):
        facts = question.ask in on_facts
        indicator = Indicator(id=f"N-{number}", text=question.ask, dimension="N", scope="turn", uses_reference=facts)
        glance = glance_at(transcript, int(question.turn[1:]) - 1, checklist.language)
        vote = await ask_glance(questioning, glance, indicator, 0)
        marks.append(
            Mark(
                specimen=excerpt.id,
                base=excerpt.id,
                nature="mutant" if holds else "clean",
                kind="",
                severity="",
                third=None,
                longer=False,
                indicator=indicator.id,
                dimension="N",
                detects=(),
                claims_fault=None if vote.answer == "missing" else vote.answer == "yes",
                by_code=False,
                missing=vote.reason if vote.answer == "missing" else "",
                suspicion=vote.probability,
                names_turn=None,
                votes=(),
            )
        )
    return marks
