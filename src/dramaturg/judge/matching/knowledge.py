"""Replies that must not state a fact, and replies that must."""

from __future__ import annotations

import bisect

from dramaturg.judge.matching import flags
from dramaturg.judge.matching.asserting import Stance, stance
from dramaturg.judge.matching.dates import Said, covers, is_date_word
from dramaturg.judge.matching.lexicon import single_words
from dramaturg.judge.matching.mentions import Mention, Sought, mentions, names_any, sought
from dramaturg.judge.matching.question import Question, Status, Verdict
from dramaturg.judge.matching.signs import stem
from dramaturg.judge.matching.words import words_of

_CLAUSE_READ = 200
_BARE = 1
"""Words of content that may stand beside a day that is the whole answer."""


def judge_secrecy(question: Question, text: str, reasoning: str) -> Verdict:
    """Returns whether a reply keeps to what its character can know: right where it names nothing else.

    A form counts wherever it stands, in whatever stance: whoever denies a name has named it. A form that the message or
    the description holds gives nothing away. A year beyond the character's horizon does, unless the message names it.
    """
    said = sought(text)
    known: Sought | None = None
    noticed: set[str] = set()
    leaked = ""
    for fact in question.facts:
        for mention in mentions(said, fact, exact=False):
            known = known or _known(question)
            if _is_given(mention, known):
                noticed.add(flags.GIVEN)
                continue
            if mention.date is not None and mention.date.year is None and not _is_answer(said, mention.date, question):
                continue
            leaked = leaked or fact.text or mention.form
            noticed |= {flags.SPELLED} if mention.spelled else set()
            noticed |= {flags.PARTIAL_NAME} if mention.partial else set()
    if question.knows_until is not None:
        late = [one.year for one in said.dates if one.year is not None and one.year > question.knows_until]
        years = {one.year for one in (known or _known(question)).dates} if late else set[int | None]()
        new = next((year for year in late if year not in years), None)
        if new is not None:
            noticed.add(flags.ANACHRONISM)
            leaked = leaked or str(new)
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


def _known(question: Question) -> Sought:
    """Returns what the character was told, in the message and of itself."""
    return sought(f"{question.message}\n\n{question.description}")


def _is_given(mention: Mention, known: Sought) -> bool:
    if mention.date is not None:
        return covers(known.dates, mention.date)
    return names_any(known, (mention.form,))


def _is_answer(text: Sought, said: Said, question: Question) -> bool:
    """Returns whether a day without a year answers: its clause says nothing else, or takes up what was asked.

    "The ninth of November" answers "When did it fall?"; "I was born on the ninth of November" does not.
    """
    words = text.words
    if said.start < 0:
        return all(map(is_date_word, words.words))
    own = words.clause[said.start]
    first, stop = bisect.bisect_left(words.clause, own), bisect.bisect_right(words.clause, own)
    clause = words.words[first : min(stop, first + _CLAUSE_READ)]
    if any(word in single_words("first_person") for word in clause):
        return False
    empty = single_words("function_words") | single_words("determiners")
    rest = {stem(word) for word in clause if word not in empty and not is_date_word(word)}
    about = words_of(" ".join((question.message, *(fact.text for fact in question.facts)))).words
    return len(rest) <= _BARE or not rest.isdisjoint(map(stem, about))
