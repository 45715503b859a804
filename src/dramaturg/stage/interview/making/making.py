"""Item sets by a model: every character gets its items, and the folder is complete whenever the work stops.

Each category of each character is a unit of its own, made of the character's content. So the same plan gives the same
set, whatever the concurrency and wherever it was interrupted, and another character changes no other one's items.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from dramaturg.errors import UnitStopped
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.model.lexical import tokens
from dramaturg.prompts import hashes
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview.item import CATEGORIES, LABELS, Category, Item
from dramaturg.stage.interview.item_set import ItemSet, ItemSetHead, item_set_of, write_item_set
from dramaturg.stage.interview.making.checks import can_be_beyond
from dramaturg.stage.interview.making.data_card import data_card
from dramaturg.stage.interview.making.writing import PROMPTS, Dropped, Task, Written, write_items
from dramaturg.stage.made_before import figures_before
from dramaturg.text import Json, canonical_json, sha256, write_atomically

RECORD = "making.json"

Status = Literal["made", "empty", "skipped", "failed", "stopped"]
"""made: at least one item. empty: no scenario passed. skipped: nothing can be shown to lie beyond the character.
failed: the model did not answer a form. stopped: an endpoint failed; asked again on the next run."""

STATUSES: tuple[Status, ...] = get_args(Status)

Author: TypeAlias = Callable[[Task, str], Awaitable[Written]]
"""Writes the items of a task; the text is the unit's id."""


@dataclass(frozen=True, slots=True)
class MakingPlan:
    """What a set is made of.

    Attributes:
        head: What holds for the whole set.
        counts: How many items of each category every character gets, at most.
        seed: Of the set.
        model: Who writes, for the record.
        critic: Who reads, for the record; empty where nobody does.
        repairs: Most rounds of repair of a form.
    """

    head: ItemSetHead
    counts: Mapping[Category, int]
    seed: int
    model: str
    critic: str
    repairs: int

    def tasks(self, characters: Sequence[Character]) -> list[Task]:
        """Returns what is to be written, character by character."""
        return [
            Task(character, category, self.counts[category], self.head.labels, self.head.language)
            for character in characters
            for category in CATEGORIES
            if self.counts.get(category)
        ]

    def unit(self, task: Task) -> str:
        """Returns the id of a task's unit."""
        made_of: dict[str, Json] = {
            "kind": "items",
            "character": task.character.model_dump(mode="json"),
            "category": task.category,
            "labels": list(task.labels),
            "language": task.language,
            "seed": self.seed,
        }
        return sha256(canonical_json(made_of))[:20]

    def settings(self) -> dict[str, Json]:
        """Returns what must not change while a set grows."""
        return {
            "seed": self.seed,
            "language": self.head.language,
            "labels": list(self.head.labels),
            "model": self.model,
            "critic": self.critic,
            "repairs": self.repairs,
            "prompts": dict(hashes(PROMPTS, self.head.language)),
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one category of one character.

    Attributes:
        character: The character's id.
        category: The category.
        status: See `Status`.
        wanted: How many items were wanted.
        items: How many are in the set.
        repeated: How many were left out, because another character was told the same already.
        dropped: Scenarios that did not pass.
        repairs: Rounds of repair.
        detail: Why there are none.
    """

    character: str
    category: Category
    status: Status
    wanted: int
    items: int = 0
    repeated: int = 0
    dropped: tuple[Dropped, ...] = ()
    repairs: int = 0
    detail: str = ""

    def as_json(self) -> dict[str, Json]:
        """Returns the entry as JSON."""
        return {
            "character": self.character,
            "category": self.category,
            "status": self.status,
            "wanted": self.wanted,
            "items": self.items,
            "repeated": self.repeated,
            "dropped": [dropped.as_json() for dropped in self.dropped],
            "repairs": self.repairs,
            "detail": self.detail,
        }


@dataclass(slots=True)
class Making:
    """A set while it is made.

    Attributes:
        plan: What it is made of.
        characters: All that were given.
        entries: One for each task so far, in order.
        items: Those of the set, in order.
        said: Words of every message, by category, so that none is told twice.
    """

    plan: MakingPlan
    characters: tuple[Character, ...]
    entries: list[Entry] = field(default_factory=list[Entry])
    items: list[Item] = field(default_factory=list[Item])
    said: set[tuple[Category, str]] = field(default_factory=set[tuple[Category, str]])

    @property
    def complete(self) -> bool:
        """Whether everything that was planned is decided, so that a rerun changes nothing."""
        tasks = len(self.plan.tasks(self.characters))
        return len(self.entries) == tasks and not self.figures()["stopped"]

    def figures(self) -> dict[str, int]:
        """Returns how many tasks came to what, and how many items were wanted, made, dropped and repeated."""
        statuses = Counter(entry.status for entry in self.entries)
        return {
            "characters": len(self.characters),
            **{status: statuses[status] for status in STATUSES},
            "wanted": sum(task.count for task in self.plan.tasks(self.characters)),
            "items": len(self.items),
            "dropped": sum(len(entry.dropped) for entry in self.entries),
            "repeated": sum(entry.repeated for entry in self.entries),
        }

    def item_set(self) -> ItemSet:
        """Returns the set as it stands; a character without an item is not in it."""
        used = {item.character for item in self.items}
        return item_set_of(self.plan.head, (one for one in self.characters if one.id in used), self.items)

    def as_json(self) -> dict[str, Json]:
        """Returns the record of the making; a complete one holds nothing that a rerun would change."""
        return {
            "settings": self.plan.settings(),
            "complete": self.complete,
            "figures": dict(self.figures()),
            "entries": [entry.as_json() for entry in self.entries],
        }


def plan_counts(*, emotion: int = 3, decision: int = 3, moral: int = 3, facts: int = 14) -> dict[Category, int]:
    """Returns how many items each category gets; facts are halved between what is beyond a character and what it knows.

    Source of the defaults: RPEval, section 3. Its facts are all of the first kind, so that refusing everything is
    right; the second kind is what such a model gets wrong.
    """
    return {
        "emotion": emotion,
        "decision": decision,
        "moral": moral,
        "in_character": facts - facts // 2,
        "knows": facts // 2,
    }


def model_author(model: Model, critic: Model, ledger: Ledger, budget: Budget, *, seed: int, repairs: int) -> Author:
    """Returns an author that asks a model; what the ledger holds is not asked again.

    Args:
        model: Who writes.
        critic: Who reads.
        ledger: Keeps every answer.
        budget: Of the run.
        seed: Of the set.
        repairs: Most rounds of repair of a form.
    """

    async def write(task: Task, unit: str) -> Written:
        return await write_items(
            ledger.calls(unit=unit, seed=seed, budget=budget), model, critic, task, repairs=repairs
        )

    return write


async def make_set(
    plan: MakingPlan,
    characters: Sequence[Character],
    folder: Path,
    author: Author,
    *,
    concurrency: int = 8,
    on_entry: Callable[[Entry], None] = lambda _: None,
) -> Making:
    """Makes a set, or goes on with it, and returns it.

    The folder gets the set with its data card, and ``making.json``: what became of every task and every scenario.

    Args:
        plan: What it is made of.
        characters: Distinct by id.
        folder: Where it is written.
        author: Writes the items of a task.
        concurrency: Most tasks at once.
        on_entry: Is told what became of each task, in their order.

    Raises:
        UserError: The folder holds a set of other settings.
        LimitReached: A budget is used up; what was decided is written.
        OSError: The folder cannot be written.
    """
    figures_before(folder / RECORD, plan.settings(), kind="set in the making")
    making = Making(plan, tuple(characters))
    room = asyncio.Semaphore(concurrency)

    async def write(task: Task) -> Written | UnitStopped:
        async with room:
            try:
                return await author(task, plan.unit(task))
            except UnitStopped as stopped:
                return stopped

    planned = plan.tasks(characters)
    writings = [None if _is_skipped(task) else asyncio.create_task(write(task)) for task in planned]
    try:
        for task, writing in zip(planned, writings, strict=True):
            entry = _decide(making, task, None if writing is None else await writing)
            making.entries.append(entry)
            on_entry(entry)
    finally:
        begun = [writing for writing in writings if writing is not None]
        for writing in begun:
            writing.cancel()
        await asyncio.gather(*begun, return_exceptions=True)
        _write(making, folder)
    return making


def _is_skipped(task: Task) -> bool:
    return task.category == "in_character" and not can_be_beyond(task.character)


def _decide(making: Making, task: Task, written: Written | UnitStopped | None) -> Entry:
    """Returns what becomes of a task, and takes its items into the set."""
    character, category = task.character.id, task.category
    if written is None:
        told = "it is not said how far the character's knowledge reaches: set knows_until"
        return Entry(character, category, "skipped", task.count, detail=told)
    if isinstance(written, UnitStopped):
        return Entry(character, category, "stopped", task.count, detail=str(written))
    fresh: list[Item] = []
    for item in written.items:
        words = (category, " ".join(tokens(item.message)))
        if words not in making.said:
            making.said.add(words)
            fresh.append(item)
    making.items += fresh
    status: Status = "made" if fresh else "failed" if written.failure else "empty"
    repeated = len(written.items) - len(fresh)
    return Entry(
        character,
        category,
        status,
        task.count,
        len(fresh),
        repeated,
        written.dropped,
        written.repairs,
        written.failure,
    )


def _write(making: Making, folder: Path) -> None:
    made = making.item_set()
    card = data_card(made, making.plan.settings(), making.figures(), complete=making.complete)
    write_item_set(folder, made, card=card)
    text = json.dumps(making.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    write_atomically(folder / RECORD, f"{text}\n")


def set_head(name: str, *, title: str, language: str, licence: str, model: str, critic: str, seed: int) -> ItemSetHead:
    """Returns the head of a set that a model makes, with its provenance.

    Args:
        name: Its id.
        title: For people.
        language: Of the messages.
        licence: Under which the items may be used; empty where nothing is said.
        model: Who writes.
        critic: Who reads; empty where nobody does.
        seed: Of the set.
    """
    reader = f", read by {critic}" if critic else ""
    return ItemSetHead(
        id=name,
        title=title,
        language=language,
        labels=LABELS,
        licence=licence,
        description=f"Written by {model}{reader}, seed {seed}, checked by rules. The answers are the model's until "
        "people annotate them.",
    )
