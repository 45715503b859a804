"""Units of a study of a world: one scene, played by one subject with one seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dramaturg.run.material import NamedModel, Variant
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.units import unit_id
from dramaturg.run.world.material import WorldMaterial
from dramaturg.stage.world.scene import Scene
from dramaturg.stage.world.setting import scene_digest
from dramaturg.text import Json


@dataclass(frozen=True, slots=True)
class WorldUnit:
    """One play.

    Attributes:
        position: Its place in the plan.
        id: Derived from its content.
        subject: Whose characters are measured.
        scene: What is staged.
        seed: Which repeat.
        narrator: Who narrates.
        cast: Who plays somebody else, by role; None for a person.
        protocol: How a round goes.
        variant: Which prompts.
    """

    position: int
    id: str
    subject: NamedModel
    scene: Scene
    seed: int
    narrator: NamedModel
    cast: Mapping[str, NamedModel | None]
    protocol: str
    variant: Variant

    @property
    def description(self) -> str:
        """One line for people."""
        prompts = "" if self.variant.folder is None else f" with {self.variant.name}"
        return f"{self.scene.id}, seed {self.seed}, {self.subject.label}{prompts}"

    @property
    def transcript_id(self) -> str:
        """Id of the transcript: unique in every study, and told apart by eye."""
        return f"{self.scene.id}-{self.id}"

    @property
    def has_person(self) -> bool:
        """Whether a person plays."""
        return None in self.cast.values()

    @property
    def models(self) -> tuple[str, ...]:
        """Spec strings of all models that play."""
        players = [self.subject, self.narrator, *(player for player in self.cast.values() if player is not None)]
        return tuple(dict.fromkeys(player.spec.text for player in players))

    def record(self, end: End) -> UnitRecord:
        """Returns the record of the unit that ended so."""
        return UnitRecord(
            unit=self.id,
            kind="stage",
            status=end.status,
            subject=self.subject.label,
            subject_model=self.subject.written,
            prompts=self.variant.name,
            case=self.scene.id,
            seed=self.seed,
            protocol=self.protocol,
            failure=end.failure,
            detail=end.detail,
        )


def world_units(material: WorldMaterial) -> Iterator[WorldUnit]:
    """Yields all units in plan order: by subject, prompts, scene and seed; few models are loaded at once then."""
    study = material.study
    plays = itertools.product(material.subjects, material.variants, material.scenes, study.seeds)
    for position, (subject, variant, scene, seed) in enumerate(plays):
        narrator, cast = material.narrator or subject, material.cast_of(scene)
        options: dict[str, Json] = {"prompts": variant.digest} if variant.folder is not None else {}
        if changed := study.memory.changed():
            options["remembering"] = changed
        unit = unit_id(
            study.suite,
            protocol=study.protocol,
            scene=scene_digest(scene),
            subject=subject.key,
            narrator=narrator.key,
            cast={role: player.key if player is not None else "human" for role, player in cast.items()},
            seed=seed,
            rounds=study.rounds,
            limits=study.limits.model_dump(),
            memory=study.memory.by,
            **options,
        )
        yield WorldUnit(position, unit, subject, scene, seed, narrator, cast, study.protocol, variant)
