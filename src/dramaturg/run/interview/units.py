"""Units of an interview: the items of one character, put to one subject under one strategy, once.

They share their system prompt, and one look into the ledger finds what was answered of them. Their ids come from what
can change a reply, so that a study may gain subjects, strategies, items, repeats, and re-ask nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dramaturg.run.interview.material import InterviewMaterial, strategy_hash
from dramaturg.run.material import NamedModel
from dramaturg.run.records import UnitRecord
from dramaturg.run.units import unit_id
from dramaturg.stage.interview import Asking, Item


@dataclass(frozen=True, slots=True)
class InterviewUnit:
    """The items of one character.

    Attributes:
        position: Its place in the plan.
        id: Derived from its content.
        subject: Who is asked.
        asking: How.
        repeat: Which repeat, counted from 1.
        character: Id of the items' own character.
        items: What is asked.
    """

    position: int
    id: str
    subject: NamedModel
    asking: Asking
    repeat: int
    character: str
    items: tuple[Item, ...]

    def record(self, status: Literal["done", "failed", "open"], failure: str = "", detail: str = "") -> UnitRecord:
        """Returns the record of the unit that ended so; see `UnitRecord` for the arguments."""
        return UnitRecord(
            unit=self.id,
            kind="stage",
            status=status,
            subject=self.subject.label,
            subject_model=self.subject.written,
            prompts=self.asking.strategy.name,
            case=self.character,
            seed=self.repeat,
            protocol=self.asking.form,
            failure=failure,
            detail=detail,
        )


def interview_units(material: InterviewMaterial) -> Iterator[InterviewUnit]:
    """Yields all units in plan order: by subject, then strategy, then repeat; few models are loaded at once then."""
    study = material.study
    by_character: dict[str, list[Item]] = {}
    for item in material.items:
        by_character.setdefault(item.character, []).append(item)
    gathered = {character: tuple(items) for character, items in by_character.items()}
    position = 0
    for subject in material.subjects:
        for asking in material.askings:
            for repeat in range(1, study.repeats + 1):
                for character, items in gathered.items():
                    unit = unit_id(
                        study.suite,
                        subject=subject.key,
                        strategy=strategy_hash(asking.strategy),
                        form=asking.form,
                        condition=study.condition,
                        character=character,
                        repeat=repeat,
                    )
                    yield InterviewUnit(position, unit, subject, asking, repeat, character, items)
                    position += 1
