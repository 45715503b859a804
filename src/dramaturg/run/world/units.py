"""Units of a study of a world: one scene, played by one subject with one seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dramaturg.run.material import NamedModel
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.units import unit_id
from dramaturg.run.world.material import WorldMaterial
from dramaturg.stage.world.scene import Scene
from dramaturg.stage.world.setting import scene_digest


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
    """

    position: int
    id: str
    subject: NamedModel
    scene: Scene
    seed: int
    narrator: NamedModel
    cast: Mapping[str, NamedModel | None]
    protocol: str

    @property
    def description(self) -> str:
        """One line for people."""
        return f"{self.scene.id}, seed {self.seed}, {self.subject.label}"

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
            prompts="default",
            case=self.scene.id,
            seed=self.seed,
            protocol=self.protocol,
            failure=end.failure,
            detail=end.detail,
        )


def world_units(material: WorldMaterial) -> Iterator[WorldUnit]:
    """Yields all units in plan order: by subject, then scene, then seed; few models are loaded at once then."""
    study, position = material.study, 0
    for subject in material.subjects:
        narrator = material.narrator or subject
        for scene in material.scenes:
            cast = material.cast_of(scene)
            for seed in study.seeds:
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
                    memory=study.memory,
                )
                yield WorldUnit(position, unit, subject, scene, seed, narrator, cast, study.protocol)
                position += 1
