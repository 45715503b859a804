"""Collections: scenes from a text or from ideas, reproducible, resumable, without near-duplicates.

Each scene has a unit of its own, made of what it is made of, language, seed and draw. So the same plan gives the same
scenes, whatever the concurrency and wherever it was interrupted, and a larger collection begins with the smaller.
Threshold, rounds and stages are no part of a unit: with one ledger, one stage and three begin with the same drafts.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from dramaturg.errors import UnitStopped, UserError
from dramaturg.stage.made_before import figures_before
from dramaturg.stage.world.crafting.checks import copies, scene_texts
from dramaturg.stage.world.crafting.crew import Crafted, Crew, Listed, Version
from dramaturg.stage.world.crafting.plan import Candidate, CraftingPlan
from dramaturg.stage.world.crafting.premise import Excerpt, Premise
from dramaturg.stage.world.crafting.record import Collection, Entry, Status
from dramaturg.stage.world.crafting.writing import scene_yaml
from dramaturg.stage.world.scene import Scene
from dramaturg.text import write_atomically

DRAWS = 3
"""How often an invented scene is drawn, when it comes out as a near-duplicate."""

FILE = "crafting.json"

_UNCOUNTED: frozenset[Status] = frozenset({"duplicate", "empty"})
"""What does not count towards the number of scenes from a text, which has more to offer."""

_FOLDERS: dict[Status, str] = {"kept": "scenes", "not_accepted": "not-accepted", "rejected": "rejected"}


_Attempt = Crafted | UnitStopped | None
"""What came of a candidate; None where its piece has no such event."""


async def make_scenes(
    plan: CraftingPlan,
    folder: Path,
    crew: Crew,
    *,
    concurrency: int = 8,
    on_entry: Callable[[Entry], None] = lambda _: None,
) -> Collection:
    """Makes a collection, or goes on with it, and returns it; files are written as scenes are decided, in order.

    ``FOLDER/scenes`` gets the kept ones, ``FOLDER/not-accepted`` those whose marks do not suffice, ``FOLDER/rejected``
    those in which errors remained, ``FOLDER/crafting.json`` what became of each. No file but the ledger holds the text.

    Args:
        plan: What it is made of.
        folder: Where it is written.
        crew: Who makes the scenes.
        concurrency: Most scenes in work at once.
        on_entry: Is told what became of each scene.

    Raises:
        UserError: The folder holds a collection of other settings, or a larger one.
        LimitReached: A budget is used up; what was decided is written.
        OSError: The folder cannot be written.
    """
    _check_folder(plan, folder)
    making = _Making(Collection(plan), folder, crew)
    collection = making.collection
    making.write()
    candidates = plan.candidates()
    pending: deque[tuple[Candidate, asyncio.Task[_Attempt]]] = deque()
    tried = 0
    try:
        while True:
            # never more in work than may still count, so that no call is made for a scene that is not wanted
            while len(pending) < min(concurrency, plan.count - tried):
                candidate = next(candidates, None)
                if candidate is None:
                    break
                pending.append((candidate, asyncio.create_task(making.attempt(candidate, 1))))
            if not pending:
                break
            candidate, task = pending[0]
            entry = await making.decide(candidate, await task)
            pending.popleft()
            if entry is not None:
                collection.entries.append(entry)
                on_entry(entry)
                tried += candidate.chunk is None or entry.status not in _UNCOUNTED
        collection.complete = not collection.figures()["stopped"]
    finally:
        await _cancelled([*(task for _, task in pending), *making.listings.values()])
        making.write()
    return collection


@dataclass(frozen=True, slots=True)
class _Making:
    """A collection, and the work on it.

    Attributes:
        collection: As far as it is.
        folder: Where it is written.
        crew: Who makes the scenes.
        listings: The lists of events, by the hash of the piece, so that a piece is read once.
    """

    collection: Collection
    folder: Path
    crew: Crew
    listings: dict[str, asyncio.Task[Listed]] = field(default_factory=dict[str, asyncio.Task[Listed]])

    async def attempt(self, candidate: Candidate, draw: int) -> _Attempt:
        """Returns what comes of a candidate."""
        plan = self.collection.plan
        premise, unit = plan.premise(candidate, draw), plan.unit(candidate, draw)
        try:
            if not isinstance(premise, Excerpt):
                return await self.crew.craft(premise, None, unit)
            listed = await self._listed(premise)
            if listed.events is None:
                return Crafted(failure=listed.failure) if premise.event == 1 else None
            if premise.event > len(listed.events.events):
                return None
            return await self.crew.craft(premise, listed.events, unit)
        except UnitStopped as stopped:
            return stopped

    async def _listed(self, excerpt: Excerpt) -> Listed:
        piece = excerpt.chunk.hash
        if piece not in self.listings:
            unit = self.collection.plan.events_unit(excerpt.chunk)
            self.listings[piece] = asyncio.create_task(self.crew.list_events(excerpt, unit))
        return await asyncio.shield(self.listings[piece])

    async def decide(self, candidate: Candidate, came: _Attempt) -> Entry | None:
        """Returns what becomes of a candidate, and writes its scene; an invented near-duplicate is drawn again.

        Returns:
            None where a piece of the text has no further event.
        """
        number = len(self.collection.entries) + 1
        draw = 1
        while True:
            premise = self.collection.plan.premise(candidate, draw)
            if came is None:
                return Entry(number, premise.as_json(), "empty", detail="no event") if candidate.number == 1 else None
            if isinstance(came, UnitStopped):
                return Entry(number, premise.as_json(), "stopped", draws=draw, detail=str(came))
            if came.best is None:
                return Entry(number, premise.as_json(), "failed", draws=draw, detail=came.failure)
            near = self.collection.nearest(came.best.scene)
            if not near or draw == DRAWS or candidate.chunk is not None:
                return self._entry(number, premise, came, came.best, draw, near)
            draw += 1
            came = await self.attempt(candidate, draw)

    def _entry(self, number: int, premise: Premise, came: Crafted, best: Version, draw: int, near: str) -> Entry:
        """Returns the entry of a scene, and writes its file; one that repeats another or copies the text gets none."""
        status: Status = "duplicate" if near else _status(came, best)
        has_file = not (near or copies(scene_texts(best.scene), premise.text))
        file = f"{_FOLDERS[status]}/{best.scene.id}.yaml" if has_file else ""
        if file:
            write_atomically(self.folder / file, scene_yaml(self._with_origin(best, premise, draw, status)))
        if status in ("kept", "not_accepted"):
            self.collection.add(best.scene)
        detail = near or came.failure or best.unmarked
        made_of, name = premise.as_json(), best.scene.id
        return Entry(number, made_of, status, name, file, draw, came.versions, best, detail)

    def _with_origin(self, version: Version, premise: Premise, draw: int, status: Status) -> Scene:
        """Returns the scene with its provenance."""
        marks = version.marks
        origin: dict[str, JsonValue] = {
            "form": "crafted",
            "stages": self.collection.plan.stages,
            "accepted": status == "kept",
            "marks": dict(marks.by_criterion()) if marks is not None else None,
            "round": version.round,
            "draw": draw,
            **premise.as_json(),
        }
        tags = version.scene.tags if status == "kept" else (*version.scene.tags, status.replace("_", "-"))
        return version.scene.model_copy(update={"origin": origin, "tags": tags})

    def write(self) -> None:
        """Writes the record."""
        text = json.dumps(self.collection.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
        write_atomically(self.folder / FILE, f"{text}\n")


def _status(came: Crafted, best: Version) -> Status:
    if not best.sound:
        return "rejected"
    return "kept" if came.accepted else "not_accepted"


def _check_folder(plan: CraftingPlan, folder: Path) -> None:
    before = figures_before(folder / FILE, plan.settings(), kind="crafting")
    planned = before.get("planned", 0) if before is not None else 0
    if planned > plan.count:
        raise UserError(f"holds a crafting of {planned} scenes", where=str(folder), allowed=f"-n {planned} or more")


async def _cancelled(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
