"""What a build did, stage by stage, and what differs between two checklists."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dramaturg.judge.checklist.build.account import Account, Entry
from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.text import Json


@dataclass(frozen=True, slots=True)
class PlaceCount:
    """How many questions a place had, and what became of them.

    Attributes:
        place: Id of the sub-dimension, or of the dimension that has none.
        seeds: Seeds.
        diversified: Written by diversification.
        elaborated: Written by elaboration.
        gone: Stage → how many were removed or merged there.
        kept: How many are in the checklist.
        kept_seeds: How many of these are seeds.
    """

    place: str
    seeds: int
    diversified: int
    elaborated: int
    gone: dict[str, int]
    kept: int
    kept_seeds: int


@dataclass(frozen=True, slots=True)
class Change:
    """One indicator that differs between two checklists.

    Attributes:
        kind: Whether it came, went, or says something else.
        id: Its id.
        text: The question; the new one where it changed.
        fields: Key → old and new value, of what changed.
    """

    kind: str
    id: str
    text: str
    fields: dict[str, tuple[Json, Json]]


def counts(account: Account) -> list[PlaceCount]:
    """Returns the counts of each place, in the account's order."""
    by_place: dict[str, list[Entry]] = {}
    for entry in account.questions:
        by_place.setdefault(entry.place, []).append(entry)
    return [_count(place, entries) for place, entries in by_place.items()]


def compare(old: Checklist, new: Checklist) -> list[Change]:
    """Returns what differs between two checklists, indicator by indicator; matched by id.

    Args:
        old: The one before.
        new: The one after.
    """
    before = {indicator.id: indicator for indicator in old.indicators}
    after = {indicator.id: indicator for indicator in new.indicators}
    changes = [Change("removed", name, one.text, {}) for name, one in before.items() if name not in after]
    for name, indicator in after.items():
        if name not in before:
            changes.append(Change("added", name, indicator.text, {}))
        elif fields := _changed(before[name], indicator):
            changes.append(Change("changed", name, indicator.text, fields))
    return changes


def _count(place: str, entries: list[Entry]) -> PlaceCount:
    made = Counter(entry.provenance.strategy for entry in entries)
    gone = Counter(entry.stage for entry in entries if not entry.kept and entry.stage)
    kept = [entry for entry in entries if entry.kept]
    return PlaceCount(
        place,
        seeds=made["seed"],
        diversified=made["diversification"],
        elaborated=made["elaboration"],
        gone=dict(gone),
        kept=len(kept),
        kept_seeds=sum(entry.is_seed for entry in kept),
    )


def _changed(old: Indicator, new: Indicator) -> dict[str, tuple[Json, Json]]:
    before, after = (one.model_dump(mode="json", exclude={"provenance"}) for one in (old, new))
    return {key: (before[key], after[key]) for key in after if before[key] != after[key]}
