"""What evaluators said of crafted scenes, read from the records of ``dramaturg world craft``: the rows of Table 4."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from dramaturg.errors import UserError
from dramaturg.files import read_text
from dramaturg.report.rating.layouts import CraftFigures, Source
from dramaturg.stage.world.crafting import CRITERIA

RECORD = "crafting.json"

STAGES: Mapping[Literal["one", "three"], str] = {"one": "one stage", "three": "three stages"}


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Settings(_Record):
    text: str
    stages: Literal["one", "three"]
    screenwriter: str
    evaluator: str


class _Round(_Record):
    round: int
    marks: dict[str, int] | None


class _Entry(_Record):
    status: str
    best_round: int | None
    rounds: tuple[_Round, ...]

    @property
    def marks(self) -> Mapping[str, int] | None:
        """Of the version that counts."""
        return next((one.marks for one in self.rounds if one.round == self.best_round), None)


class _Crafting(_Record):
    settings: _Settings
    entries: tuple[_Entry, ...]


def is_crafting(path: Path) -> bool:
    """Returns whether a folder holds crafted scenes."""
    return (path / RECORD).is_file()


def craft_figures(folders: Iterable[Path]) -> tuple[CraftFigures, ...]:
    """Returns what was said of the scenes of each screenwriter, way and source, over all folders.

    Every scene that was marked counts, not only what was accepted: the same marks decided of that.

    Args:
        folders: Output folders of ``dramaturg world craft``.

    Raises:
        UserError: A folder's record is broken; the message names it.
    """
    groups: dict[tuple[str, Source], list[_Crafting]] = {}
    for folder in folders:
        crafting = _read(folder / RECORD)
        settings = crafting.settings
        label = f"{settings.screenwriter}, {STAGES[settings.stages]}"
        groups.setdefault((label, "extracted" if settings.text else "generated"), []).append(crafting)
    return tuple(_figures(label, source, craftings) for (label, source), craftings in groups.items())


def _figures(label: str, source: Source, craftings: Sequence[_Crafting]) -> CraftFigures:
    marks = [entry.marks for crafting in craftings for entry in crafting.entries if entry.marks is not None]
    values = {criterion: [one[criterion] for one in marks if criterion in one] for criterion in CRITERIA}
    return CraftFigures(
        label=label,
        source=source,
        scores={name: (statistics.fmean(of), _deviation(of)) for name, of in values.items() if of},
        scenes=len(marks),
        evaluators=tuple(dict.fromkeys(one.settings.evaluator for one in craftings if one.settings.evaluator)),
    )


def _deviation(values: Sequence[int]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


def _read(path: Path) -> _Crafting:
    try:
        return _Crafting.model_validate_json(read_text(path))
    except ValidationError:
        raise UserError(
            "is no record of a crafting", where=str(path), allowed="a folder of dramaturg world craft"
        ) from None
