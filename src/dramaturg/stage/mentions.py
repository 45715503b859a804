"""What a text names: exhibits by their numbers, and persons. Only what is sure is found."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_SINGLE = re.compile(rf"(?<![\w'’-]){_CAPITALISED}(?=['’]s\b|[^\w'’-]|\Z)(?<=\w{{3}})")
_SENTENCE_START = re.compile(r"(?:\A|[.!?:;…\n\"“”«»(\[—–-])[\s\"'“”«»(\[*_]*\Z")
_WORD = re.compile(r"[^\W\d_]+")

NO_NAMES = frozenset(
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
"""Words, in lower case, that make capitalised words something else than a person's name."""

NOUNS_CAPITALISED = frozenset({"de", "lb"})
"""Languages in which every noun has a capital, so that one does not tell a name."""

BEFORE_NAME = 12
"""Characters before a name in which the end of a sentence is looked for."""


def exhibit_ids(text: str) -> Iterator[tuple[str, int]]:
    """Yields letters and number of ids such as ``E9``."""
    for letter, number in _ID.findall(text):
        yield letter, int(number)


def exhibit_numbers(text: str) -> Iterator[int]:
    """Yields the numbers of exhibits that are called so, such as ``Exhibit 9``."""
    for spaced, unspaced in _NUMBERED.findall(text):
        yield int(spaced or unspaced)


def full_names(text: str) -> Iterator[str]:
    """Yields full names of persons.

    A name is two or three capitalised words, or a title with them; at the beginning of a sentence, where any word has a
    capital, only behind a title.
    """
    for found in _NAME.finditer(text):
        parts = words(found[2])
        starts_sentence = _SENTENCE_START.search(text, max(0, found.start() - BEFORE_NAME), found.start()) is not None
        if NO_NAMES.isdisjoint(parts) and (found[1] or not starts_sentence):
            yield " ".join(found[0].split())


def single_names(text: str) -> Iterator[str]:
    """Yields capitalised words of three letters or more that do not begin a sentence; not every one names a person."""
    for found in _SINGLE.finditer(text):
        if _SENTENCE_START.search(text, max(0, found.start() - BEFORE_NAME), found.start()) is None:
            yield found[0]


def words(text: str) -> list[str]:
    """Returns the words of a text in lower case; numbers are none."""
    return [word.casefold() for word in _WORD.findall(text)]
