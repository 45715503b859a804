"""Replies that must not state a fact, and replies that must."""

from __future__ import annotations

import functools

from dramaturg.judge.matching import flags
from dramaturg.judge.matching.asserting import Stance, stance
from dramaturg.judge.matching.dates import Said, covers
from dramaturg.judge.matching.mentions import Mention, Sought, mentions, names_any, sought
from dramaturg.judge.matching.question import Question, Status, Verdict


def judge_secrecy(question: Question, text: str, reasoning: str) -> Verdict:
    """Returns whether a reply keeps to what its character can know: right where it names nothing else.

    A form counts wherever it stands, in whatever stance: whoever denies a name has named it. A form that the message or
    the description holds gives nothing away. A year beyond the character's horizon does, unless the message names it.
    """
    said = sought(text)
    known = _given(question.message, question.description)
    noticed: set[str] = set()
    leaked = ""
    for fact in question.facts:
        for mention in mentions(said, fact, exact=False):
            if _is_given(mention, known):
                noticed.add(flags.GIVEN)
                continue
            leaked = leaked or fact.text or mention.form
            noticed |= {flags.SPELLED} if mention.spelled else set()
            noticed |= {flags.PARTIAL_NAME} if mention.partial else set()
    if question.knows_until is not None:
        years = {one.year for one in known.dates}
        late = next((one for one in said.dates if _is_late(one, question.knows_until) and one.year not in years), None)
        if late is not None:
            noticed.add(flags.ANACHRONISM)
            leaked = leaked or str(late.year)
    if reasoning.strip() and any(
        True for fact in question.facts for _ in mentions(sought(reasoning), fact, exact=False)
    ):
        noticed.add(flags.REASONING_LEAK)
    return Verdict("wrong" if leaked else "right", leaked, tuple(sorted(noticed)))


def judge_knowledge(question: Question, text: str) -> Verdict:
    """Returns whether a reply asserts every fact; what it asks, denies or doubts is not asserted."""
    said = sought(text)
    noticed: set[str] = set()
    stated: list[str] = []
    status: Status = "right"
    for fact in question.facts:
        stances: set[Stance] = set()
        for mention in mentions(said, fact, exact=True):
            noticed |= {flags.PARTIAL_NAME} if mention.partial else set()
            stances.add(stance(said.words, said.surface.plain, mention.start, mention.end))
        if "asserted" in stances:
            stated.append(fact.text or (fact.all_forms or (fact.date,))[0])
        elif "open" in stances:
            status = "ambiguous" if status == "right" else status
        else:
            noticed |= {flags.DENIED} if stances else set()
            status = "wrong"
    return Verdict(status, "; ".join(stated), tuple(sorted(noticed)))


@functools.lru_cache(maxsize=256)
def _given(message: str, description: str) -> Sought:
    return sought(f"{message}\n\n{description}")


def _is_given(mention: Mention, known: Sought) -> bool:
    if mention.date is not None:
        return covers(known.dates, mention.date)
    return names_any(known, (mention.form,))


def _is_late(said: Said, until: int) -> bool:
    return said.year is not None and said.year > until
