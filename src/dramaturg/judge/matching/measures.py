"""Which items make up a score, and what weighs alike in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, get_args

from dramaturg.judge.matching.question import Kind
from dramaturg.judge.matching.scored import ItemCredit

Measure: TypeAlias = Literal[
    "macro",
    "published_macro",
    "micro",
    "published_micro",
    "emotion",
    "decision",
    "moral",
    "decision_moral",
    "in_character",
    "knows",
]
"""A score. macro: mean over all categories that were asked. published_macro: mean over the three published ones,
decision and moral being one. micro: mean over all items. published_micro: over the items of those three."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""The categories, in the order of all tables."""

PUBLISHED: Mapping[Kind, str] = {
    "emotion": "emotion",
    "decision": "decision_moral",
    "moral": "decision_moral",
    "in_character": "in_character",
}
"""The published category of each, RPEval's Tables 1 and 2; what is known and must be is none of theirs."""

Strata: TypeAlias = Mapping[Kind, str]
"""The categories that go into a score, each with what weighs alike in it."""

Valued: TypeAlias = Iterable[tuple[ItemCredit, float]]
"""Items with a value each."""


def strata_by_measure(asked: Iterable[Kind]) -> dict[Measure, Strata]:
    """Returns the scores that there can be, the whole first.

    Args:
        asked: The categories of the planned items; the published scores need all three of theirs.
    """
    here = set(asked)
    kinds: list[Kind] = [kind for kind in KINDS if kind in here]
    found: dict[Measure, Strata] = {}
    if kinds:
        found["macro"] = _each_by_itself(kinds)
    published: Strata = {kind: PUBLISHED[kind] for kind in kinds if kind in PUBLISHED}
    if set(published.values()) == set(PUBLISHED.values()):
        found["published_macro"] = published
        found["published_micro"] = together(published)
    if kinds:
        found["micro"] = together(kinds)
    for kind in kinds:
        found[kind] = together([kind])
    if {"decision", "moral"} <= here:
        found["decision_moral"] = together(["decision", "moral"])
    return found


def grouped(values: Valued, strata: Strata) -> dict[str, list[tuple[str, float]]]:
    """Returns the values of a score's items by character, each with its stratum.

    Args:
        values: Items with a value each; those of other categories are left out.
        strata: What goes in.
    """
    clusters: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for item, value in values:
        stratum = strata.get(item.kind)
        if stratum is not None:
            clusters[item.character].append((stratum, value))
    return clusters


def names(strata: Strata) -> tuple[str, ...]:
    """Returns the strata, each once."""
    return tuple(dict.fromkeys(strata.values()))


def together(kinds: Iterable[Kind]) -> Strata:
    """Returns categories of which every item weighs alike."""
    return dict.fromkeys(kinds, "all")


def _each_by_itself(kinds: Iterable[Kind]) -> Strata:
    return {kind: kind for kind in kinds}
