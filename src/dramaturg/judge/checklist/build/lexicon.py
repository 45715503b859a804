"""The words of a language that give away what is wrong with a question.

They lie in `content/lexicons`, one file for each language. A language without a file has an empty lexicon: the rules
that need words then find nothing, and who uses them says so.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dramaturg.files import load_yaml, shipped

Terms = tuple[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], ...]
"""Words and phrases. `word*`: every word that begins so; `*word`: every one that ends so; `*`: up to four words."""

_DENSE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Scripts that are written without blanks between words."""

_UNSPACED = frozenset({"zh", "ja", "th"})


class Lexicon(BaseModel):
    """Word lists of one language.

    Attributes:
        language: ISO 639-1.
        name: Its English name, for prompts.
        common: Frequent words, by which the language of a text is told.
        openings: Words one of which begins a yes/no question; empty where the language has no such words.
        markers: Words one of which stands in a yes/no question; empty where the language has no such words.
        question_words: Words that begin a question which wants more than yes or no.
        subclauses: Words that begin a clause before the question itself: `When it rains, does …`.
        conditions: Those of them that name a condition.
        condition_form: How to say that a condition never occurs; it holds `{clause}`.
        clause_end: What ends such a clause.
        padding: Phrases that add nothing to a question, and are taken out.
        illustrations: Words that begin an example behind a question.
        joints: Words that join two concepts.
        fixed_pairs: Phrases with a joint that are one concept.
        negations: Words that turn a question round.
        neutral: Phrases with a negation in them that turn nothing round.
        avoidance: Words that ask for an absence.
        faults: Words that name a fault: with a positive sign, a yes would praise it.
        vague: Words that leave the measure to the reader.
        exaggerated: Words that no performance lives up to, or that nobody can check.
        unanswerable: Words about what no transcript shows: minds, voices, the world outside, the future.
        leaking: Words that give the expected answer away, or speak of the test.
        people: General names of a person who takes part.
        longest: Most words of a question; characters in a language without blanks.
        shortest: Fewest.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str
    name: str
    common: Terms = ()
    openings: Terms = ()
    markers: Terms = ()
    question_words: Terms = ()
    subclauses: Terms = ()
    conditions: Terms = ()
    condition_form: str = ""
    clause_end: str = ","
    padding: Terms = ()
    illustrations: Terms = ()
    joints: Terms = ()
    fixed_pairs: Terms = ()
    negations: Terms = ()
    neutral: Terms = ()
    avoidance: Terms = ()
    faults: Terms = ()
    vague: Terms = ()
    exaggerated: Terms = ()
    unanswerable: Terms = ()
    leaking: Terms = ()
    people: Terms = ()
    longest: Annotated[int, Field(ge=1)] = 40
    shortest: Annotated[int, Field(ge=1)] = 2

    @property
    def empty(self) -> bool:
        """Whether it has no words."""
        return not self.common

    def length(self, text: str) -> int:
        """Returns how long a text is, as `longest` counts."""
        if self.language in _UNSPACED:
            return sum(1 for sign in text if sign.isalnum())
        return len(text.split())


@functools.cache
def lexicon(language: str) -> Lexicon:
    """Returns the lexicon of a language; an empty one where none ships.

    Args:
        language: ISO 639-1.
    """
    path = shipped("lexicons").get(language)
    return load_yaml(path, Lexicon) if path is not None else Lexicon(language=language, name=language)


def lexicons() -> tuple[Lexicon, ...]:
    """Returns all shipped lexicons."""
    return tuple(lexicon(language) for language in shipped("lexicons"))


def found_in(text: str, terms: Terms) -> tuple[str, ...]:
    """Returns the parts of a text that are one of the terms, as written there, each once."""
    if not terms:
        return ()
    return tuple(dict.fromkeys(found[0] for found in _pattern(terms).finditer(text)))


def without(text: str, terms: Terms) -> str:
    """Returns the text without the terms."""
    return _pattern(terms).sub(" ", text) if terms else text


def begins_with(text: str, terms: Iterable[str]) -> str:
    """Returns the term that a text begins with, or nothing; the longest where several do."""
    for term in sorted(terms, key=len, reverse=True):
        if (found := _pattern((term,)).match(text.strip())) is not None:
            return found[0]
    return ""


@functools.lru_cache(maxsize=512)
def _pattern(terms: Terms) -> re.Pattern[str]:
    return re.compile("|".join(_one(term) for term in sorted(terms, key=len, reverse=True)), re.IGNORECASE)


def _one(term: str) -> str:
    if _DENSE.search(term):
        return re.escape(term)
    words = [r"\S+(?:\s+\S+){0,3}?" if word == "*" else _word(word) for word in term.split()]
    phrase = r"\s+".join(words)
    return rf"(?<![\w-]){phrase}(?![\w-])" if _is_word(term) else re.escape(term)


def _word(word: str) -> str:
    core = re.escape(word.strip("*")).replace("'", "['’]")
    ends = r"[\w-]*" if word.endswith("*") else ""
    begins = r"[\w-]*" if word.startswith("*") else ""
    return f"{begins}{core}{ends}"


def _is_word(term: str) -> bool:
    return term[0].isalnum() or term[0] == "*"
