"""What a model-played turn names though nobody told of it: exhibits and persons that were made up.

Only sure cases are found. What the reference, the roles or an earlier turn of a person or a script names is
known. A reference that is empty, or that numbers no exhibits, knows of nothing, so nothing can be unknown to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dramaturg.stage.transcript import Transcript, Turn

_ID = re.compile(r"(?<![\w-])([A-Z]{1,3})[-–]?(\d{1,3})(?![\w-])")
_NUMBERED = re.compile(
    r"\b(?:exhibit|evidence|item of evidence|prova|reperto|allegato)s?\s*(?:no\.?|nr\.?|number|n\.|#)?\s*"
    r"(?:[A-Z]{1,3}[-–]?)?(\d{1,3})\b|(?:证据|证物|物证)\s*(?:[A-Z]{1,3}[-–]?)?(\d{1,3})",
    re.IGNORECASE,
)
_CAPITALISED = r"(?:[A-ZÀ-ÖØ-Þ]['’])?[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]+(?:[-'’][A-ZÀ-ÖØ-Þ]?[a-zà-öø-ÿ]+)*"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Doctor|Prof|Professor|Inspector|Detective|Sergeant|Constable|Officer|Captain|Colonel|Sir|Lady|"
    r"Lord|Madam|Signor|Signora|Signorina|Dottor|Dottoressa|Ispettore|Agente)\.?"
)
_NAME = re.compile(rf"(?:\b({_TITLE})\s+)?\b({_CAPITALISED}(?:[ \t]+(?:[A-Z]\.[ \t]+)?{_CAPITALISED}){{1,2}})\b")
_SENTENCE_START = re.compile(r"(?:\A|[.!?:;…\n\"“”«»(\[—–-])[\s\"'“”«»(\[*_]*\Z")
_WORD = re.compile(r"[^\W\d_]+")

_NO_NAMES = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december honour honor majesty excellency worship court counsel defence defense
    prosecution prosecutor judge justice witness jury plaintiff defendant accused exhibit evidence article section
    street road lane avenue square park bridge river hall house hotel bank school college university museum library
    hospital church station airport harbour harbor castle manor estate farm mill hill ridge mountain valley lake
    forest wood north south east west company limited ltd inc corporation department ministry office police service
    support team customer manager agent act law code bill charter constitution god lord new saint the a an i your my
    his her our their this that mr mrs ms miss dr sir lady madam yes no and but so then now if when where who what why
    how as in on at for from with not please thank thanks dear hello good let
    """.split()
)
"""Words, in lower case, that make a pair of capitalised words something else than a person's full name."""

NOUNS_CAPITALISED = frozenset({"de", "lb"})
"""Languages in which every noun has a capital, so that one does not tell a name."""

BEFORE_NAME = 12
"""Characters before a name in which the end of a sentence is looked for."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something named that nobody told of.

    Attributes:
        turn: Id of the turn.
        name: What it names.
    """

    turn: str
    name: str


def unknown_exhibits(transcript: Transcript) -> list[Unknown]:
    """Returns exhibits that model-played turns cite and that neither the reference nor a person named before.

    An id such as ``E9`` counts where the reference has ids with the same letters; ``Exhibit 9`` where it has any.
    """
    ids = set(_ids(transcript.scenario.reference))
    letters = {letter for letter, _ in ids}
    numbered = bool(ids) or _NUMBERED.search(transcript.scenario.reference) is not None
    numbers = {number for _, number in ids} | set(_numbers(transcript.scenario.reference))
    found: list[Unknown] = []
    for turn in transcript.turns:
        if transcript.is_judged(turn):
            cited = [f"{letter}{number}" for letter, number in _ids(turn.text) if letter in letters]
            made_up = [one for one in cited if one not in {f"{letter}{number}" for letter, number in ids}]
            if numbered:
                made_up += [f"exhibit {number}" for number in _numbers(turn.text) if number not in numbers]
            found += [Unknown(turn.id, name) for name in dict.fromkeys(made_up)]
        else:
            ids |= set(_ids(turn.text))
            numbers |= {number for _, number in _ids(turn.text)} | set(_numbers(turn.text))
    return found


def unknown_names(transcript: Transcript) -> list[Unknown]:
    """Returns full names of persons in model-played turns of which no part was named before by another source.

    A name is two or three capitalised words, or a title with them; at the beginning of a sentence, where any word has a
    capital, only behind a title. What a model-played turn was first to name is as unknown the second time.
    """
    if not transcript.scenario.reference.strip() or transcript.scenario.language in NOUNS_CAPITALISED:
        return []
    told = [transcript.scenario.reference, transcript.scenario.title]
    told += [text for role in transcript.roles for text in (role.name, role.description)]
    told += [turn.speaker for turn in transcript.turns]
    known = {word for text in told for word in _words(text)}
    found: list[Unknown] = []
    for turn in transcript.turns:
        if transcript.is_judged(turn):
            found += [Unknown(turn.id, name) for name in _full_names(turn) if known.isdisjoint(_words(name))]
        else:
            known.update(_words(turn.text))
    return found


def _ids(text: str) -> Iterator[tuple[str, int]]:
    for letter, number in _ID.findall(text):
        yield letter, int(number)


def _numbers(text: str) -> Iterator[int]:
    for spaced, unspaced in _NUMBERED.findall(text):
        yield int(spaced or unspaced)


def _full_names(turn: Turn) -> Iterator[str]:
    for found in _NAME.finditer(turn.text):
        words = _words(found[2])
        starts_sentence = (
            _SENTENCE_START.search(turn.text, max(0, found.start() - BEFORE_NAME), found.start()) is not None
        )
        if _NO_NAMES.isdisjoint(words) and (found[1] or not starts_sentence):
            yield " ".join(found[0].split())


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
