"""What became of the scenes of a collection, with the marks of every round."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from pydantic import JsonValue

from dramaturg.model.lexical import tokens
from dramaturg.stage.diversity import Spread
from dramaturg.stage.world.crafting.checks import scene_texts
from dramaturg.stage.world.crafting.crew import Version
from dramaturg.stage.world.crafting.marks import CRITERIA, Marks
from dramaturg.stage.world.crafting.plan import CraftingPlan
from dramaturg.stage.world.scene import Scene
from dramaturg.text import Json

Status = Literal["kept", "not_accepted", "rejected", "duplicate", "empty", "failed", "stopped"]
"""kept: sound and, with three stages, accepted. not_accepted: sound, with marks that do not suffice or none. rejected:
errors remained. duplicate: too near to an earlier one, however often it was drawn. empty: the piece has no event that
can be staged. failed: a form was never answered. stopped: an endpoint failed; asked again on the next run."""

STATUSES: tuple[Status, ...] = get_args(Status)

NEAR_DUPLICATE = 0.7
"""Two scenes whose distance is less are taken for one scene told twice.

Among the published CharacterBox scenes of one work, the only pair nearer than this tells one event twice; two scenes
written by hand are never nearer than 0.77.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one scene of a collection.

    Attributes:
        number: Its position, from 1.
        made_of: Its provenance: chunk and event, or idea.
        status: See `Status`.
        id: The scene's id; empty where there is none.
        file: Its file below the folder; empty where there is none.
        draws: How often it was drawn.
        versions: All versions of the last draw, the oldest first.
        best: Which of them counts; None where there is none.
        detail: Why there is no scene, to which it is too near, or which form was not answered.
    """

    number: int
    made_of: dict[str, JsonValue]
    status: Status
    id: str = ""
    file: str = ""
    draws: int = 1
    versions: tuple[Version, ...] = ()
    best: Version | None = None
    detail: str = ""

    @property
    def marks(self) -> Marks | None:
        """Marks of the version that counts."""
        return self.best.marks if self.best is not None else None

    def as_json(self) -> dict[str, Json]:
        """Returns the entry as JSON, without the scene."""
        return {
            "number": self.number,
            "made_of": dict(self.made_of),
            "status": self.status,
            "id": self.id,
            "file": self.file,
            "draws": self.draws,
            "best_round": self.best.round if self.best is not None else None,
            "rounds": [version.as_json() for version in self.versions],
            "detail": self.detail,
        }


@dataclass(slots=True)
class Collection:
    """A collection while it is made.

    Attributes:
        plan: What it is made of.
        entries: One for each scene so far, in order.
        scenes: Those that later ones are compared with: kept or not accepted.
        spread: Their words and names.
        complete: Whether a rerun would change nothing.
    """

    plan: CraftingPlan
    entries: list[Entry] = field(default_factory=list[Entry])
    scenes: list[Scene] = field(default_factory=list[Scene])
    spread: Spread = field(default_factory=Spread)
    complete: bool = False

    def add(self, scene: Scene) -> None:
        """Adds a scene that later ones are compared with."""
        self.scenes.append(scene)
        self.spread.add(scene_words(scene), (" ".join(tokens(one.name)) for one in scene.characters))

    def nearest(self, scene: Scene) -> str:
        """Returns to which earlier scene one is too near, and why; empty where it is to none."""
        title = tokens(scene.title)
        same = next((earlier for earlier in self.scenes if tokens(earlier.title) == title), None)
        if same is not None:
            return f"has the title of {same.id}"
        nearest = self.spread.nearest(scene_words(scene))
        if nearest is None or nearest[1] >= NEAR_DUPLICATE:
            return ""
        return f"{nearest[1]:.2f} from {self.scenes[nearest[0]].id}"

    def figures(self) -> dict[str, int]:
        """Returns how many scenes came to what, and how many pieces of the text there are and were read."""
        statuses = Counter(entry.status for entry in self.entries)
        read = {str(entry.made_of["chunk"]) for entry in self.entries if "chunk" in entry.made_of}
        return {
            "planned": self.plan.count,
            **{status: statuses[status] for status in STATUSES},
            "chunks": len(self.plan.chunks),
            "chunks_read": len(read),
        }

    def marks(self) -> dict[str, Json]:
        """Returns mean and standard deviation of the marks, of the kept scenes and of all that were marked."""
        kept = [entry.marks for entry in self.entries if entry.status == "kept" and entry.marks is not None]
        return {"kept": _spread_of(kept), "all": _spread_of([one.marks for one in self.entries if one.marks])}

    def as_json(self) -> dict[str, Json]:
        """Returns the record; a complete one holds nothing that a rerun would change."""
        return {
            "settings": self.plan.settings(),
            "complete": self.complete,
            "figures": dict(self.figures()),
            "marks": self.marks(),
            "diversity": dict(self.spread.figures().as_json("scenes")),
            "entries": [entry.as_json() for entry in self.entries],
        }


def scene_words(scene: Scene) -> list[str]:
    """Returns the words by which scenes are compared."""
    return tokens("\n".join(scene_texts(scene)))


def _spread_of(marks: Sequence[Marks]) -> dict[str, Json]:
    told: dict[str, Json] = {"n": len(marks)}
    for criterion in CRITERIA:
        values = [one.by_criterion()[criterion] for one in marks]
        told[criterion] = {
            "mean": round(statistics.fmean(values), 4) if values else None,
            "sd": round(statistics.stdev(values), 4) if len(values) > 1 else None,
        }
    return told
