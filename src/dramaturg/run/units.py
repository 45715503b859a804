"""Units: one staged performance, or one judging of it; the smallest things that are resumed.

A unit's id is the hash of all that can change its result, and of nothing else. So a study can be extended by
a subject, a case, a seed or a judge, and every unit that was there before keeps its id and its answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from dramaturg.run.material import JudgeBench, Material, NamedModel, StagedCase, Staging, Variant
from dramaturg.text import Json, canonical_json, sha256

ID_DIGITS = 20
"""Hex digits of a unit's id: 80 bits."""


@dataclass(frozen=True, slots=True)
class StageUnit:
    """One performance.

    Attributes:
        id: Derived from its content.
        subject: Who is measured.
        variant: Which prompts.
        staging: What is staged, how it is held, and who plays beside the subject.
        seed: Which repeat.
    """

    id: str
    subject: NamedModel
    variant: Variant
    staging: Staging
    seed: int

    @property
    def case(self) -> StagedCase:
        """What is staged."""
        return self.staging.case

    @property
    def models(self) -> tuple[str, ...]:
        """Spec strings of all models that play."""
        players = [self.subject, *self.staging.players]
        return tuple(dict.fromkeys(player.spec.text for player in players))

    @property
    def description(self) -> str:
        """One line for people."""
        prompts = "" if self.variant.folder is None else f" with {self.variant.name}"
        under = f" under {self.staging.unlike_its_own}" if self.staging.unlike_its_own else ""
        return f"{self.case.case.id}{under}, seed {self.seed}, {self.subject.label}{prompts}"


@dataclass(frozen=True, slots=True)
class JudgeUnit:
    """One judging of one performance; it depends on its stage unit.

    Attributes:
        id: Derived from its content.
        stage: The performance.
        bench: Who judges, by what, and how.
    """

    id: str
    stage: StageUnit
    bench: JudgeBench

    @property
    def models(self) -> tuple[str, ...]:
        """Spec strings of all models that judge."""
        return (self.bench.model.spec.text,)

    @property
    def description(self) -> str:
        """One line for people."""
        return f"judging {self.stage.description} by {self.bench.label}"


Unit: TypeAlias = StageUnit | JudgeUnit


def units_of(material: Material) -> list[Unit]:
    """Returns all units of a study in plan order: by subject, then its performances, then its judges.

    Few models are loaded at once when they are carried out in this order.
    """
    return list(_in_order(material))


def _in_order(material: Material) -> Iterator[Unit]:
    for subject in material.subjects:
        performances = [
            _stage_unit(material, subject, variant, staging, seed)
            for variant in material.variants
            for staging in material.stagings
            for seed in material.study.seeds
        ]
        yield from performances
        for bench in sorted(material.judges, key=lambda bench: bench.model.spec.text):
            for performance in performances:
                yield JudgeUnit(unit_id("judge", stage=performance.id, bench=bench.key), performance, bench)


def _stage_unit(material: Material, subject: NamedModel, variant: Variant, staging: Staging, seed: int) -> StageUnit:
    study = material.study
    cast = {kind: player.key if player is not None else "human" for kind, player in staging.fixed.items()}
    options: dict[str, Json] = {"staging": changed} if (changed := study.staging.changed()) else {}
    unit = unit_id(
        "stage",
        suite=study.suite,
        protocol=study.protocol,
        case=staging.case.digest,
        procedure=staging.procedure.digest,
        subject=subject.key,
        prompts=variant.digest,
        seed=seed,
        cast=cast,
        limits=study.limits.model_dump(),
        **options,
    )
    return StageUnit(unit, subject, variant, staging, seed)


def unit_id(kind: str, **content: Json) -> str:
    """Returns the id of a unit: the hash of its kind and of all that can change its result."""
    return sha256(canonical_json({"kind": kind, **content}))[:ID_DIGITS]
