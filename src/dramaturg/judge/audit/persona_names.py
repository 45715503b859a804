"""Names of personas in replies: those that are known, and those that look like some."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

FEWEST_ROWS = 4
"""Rows that name a persona, below which no block can be told."""

_SHORTEST = 3
_MOST_LOWER = 0.1
"""Share of small spellings above which a name is a word like any other: Hope, Rose, Hunter."""

_MOST_OWNERS = 3
"""Characters who share a part of a name, above which it says nothing of any of them."""

_WORD = re.compile(r"[^\W\d_][\w'’]*(?:-\w+)*")
_OPENING = re.compile('(?:^|[.!?…:;"“”«»¿¡\n])[)\\]*_]*\\s*$')
_TITLES = frozenset(
    "the sir dame lord lady king queen prince princess duke duchess count countess baron saint father mother brother "
    "sister uncle aunt doctor professor captain sergeant lieutenant colonel major general detective inspector officer "
    "master mistress miss missus mister madame don donna signor signora abbot abbess judge chief elder old young von "
    "van der del des los las ibn bin bint".split()
)
_SAID = re.compile(r"\b(?:you are|you['’]re|your name is|known as|called|named)\s+", re.IGNORECASE)
_BEFORE_NAME = 3
"""Words that may stand before a name: the old goblin Shadbak."""


def words_of(text: str) -> list[str]:
    """Returns the words of a text as they are written, an English genitive cut off."""
    return [re.sub(r"['’]s?$", "", word) for word in _WORD.findall(text)]


def name_in(description: str) -> str:
    """Returns the name that a description in the second person gives near its start; empty where it gives none."""
    for said in _SAID.finditer(description[:400]):
        name: list[str] = []
        for place, word in enumerate(description[said.end() :].split()[:8]):
            bare = word.strip(".,;:!?()\"“”'’")
            large = bool(bare) and bare[0].isupper()
            if large and bare.casefold() not in _TITLES:
                name.append(bare)
            stops = word[-1] in ".,;:!?)" or bare in ("a", "an")  # a name has no such article: an English monk
            if stops or (not large and (name or place >= _BEFORE_NAME)):
                break
        if name:
            return " ".join(name)
    return ""


def parts_of(name: str) -> tuple[str, ...]:
    """Returns the parts of a name by which a reply may give it, in small letters; a name without blanks is one."""
    if not any(letter.isupper() or letter.islower() for letter in name):  # a script without capitals
        return (name,) if len(name) > 1 else ()
    return tuple(
        dict.fromkeys(
            word.casefold()
            for word in words_of(name)
            if len(word) >= _SHORTEST and word[0].isupper() and word.casefold() not in _TITLES
        )
    )


def owners_of_parts(names: Mapping[str, str]) -> dict[str, set[str]]:
    """Returns part of a name → ids of the characters who have it; parts that many share are left out.

    Args:
        names: Character's id → name.
    """
    owners: dict[str, set[str]] = defaultdict(set)
    for character, name in names.items():
        for part in parts_of(name):
            owners[part].add(character)
    return {part: found for part, found in owners.items() if len(found) <= _MOST_OWNERS}


def rows_naming(texts: Sequence[str], parts: Iterable[str]) -> dict[str, list[int]]:
    """Returns part of a name → numbers of the texts that give it, ascending; plain words are left out.

    Args:
        texts: The replies, in order.
        parts: Parts of names, in small letters; those of scripts without capitals as they are.
    """
    wanted = set(parts)
    unspaced = [part for part in wanted if part == part.upper() == part.lower()]
    large: Counter[str] = Counter()
    small: Counter[str] = Counter()
    rows: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        seen: set[str] = set()
        for word in words_of(text):
            folded = word.casefold()
            if folded not in wanted:
                continue
            if word[0].isupper():
                large[folded] += 1
                seen.add(folded)
            else:
                small[folded] += 1
        seen.update(part for part in unspaced if part in text)
        for part in seen:
            rows[part].append(number)
    return {
        part: found
        for part, found in rows.items()
        if small[part] <= _MOST_LOWER * (small[part] + large[part]) or not large[part]
    }


def likely_names(texts: Sequence[str]) -> set[str]:
    """Returns capitalised words, in small letters, that several replies write inside a sentence.

    Args:
        texts: The replies, in order.
    """
    rows: Counter[str] = Counter()
    for text in texts:
        inside: set[str] = set()
        for found in _WORD.finditer(text):
            word = re.sub(r"['’]s?$", "", found[0])
            if (
                len(word) >= _SHORTEST
                and word[0].isupper()
                and not word.isupper()
                and word.casefold() not in _TITLES
                and not _OPENING.search(text, max(0, found.start() - 8), found.start())
            ):
                inside.add(word.casefold())
        rows.update(inside)
    return {word for word, count in rows.items() if count >= FEWEST_ROWS}
