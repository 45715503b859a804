"""Units: one staged performance, or one judging of it; the smallest things that are resumed.

A unit's id is the hash of all that can change its result, and of nothing else. So a study can be extended by
a subject, a case, a seed or a judge, and every unit that was there before keeps its id and its answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from dramaturg.run.material import JudgeBench, Material, NamedModel, StagedCase, Variant
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
        case: What is staged.
        seed: Which repeat.
        defence: Who plays the defence; None for a person.
    """

    id: str
    subject: NamedModel
    variant: Variant
    case: StagedCase
    seed: int
    defence: NamedModel | None

    @property
    def models(self) -> tuple[str, ...]:
        """Spec strings of all models that play."""
        players = [self.subject] if self.defence is None else [self.subject, self.defence]
        return tuple(dict.fromkeys(player.spec.text for player in players))

    @property
    def description(self) -> str:
        """One line for people."""
        prompts = "" if self.variant.folder is None else f" with {self.variant.name}"
        return f"{self.case.case.id}, seed {self.seed}, {self.subject.label}{prompts}"


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
            _stage_unit(material, subject, variant, case, seed)
            for variant in material.variants
            for case in material.cases
            for seed in material.study.seeds
        ]
        yield from performances
        for bench in sorted(material.judges, key=lambda bench: bench.model.spec.text):
            for performance in performances:
                yield JudgeUnit(unit_id("judge", stage=performance.id, bench=bench.key), performance, bench)


def _stage_unit(material: Material, subject: NamedModel, variant: Variant, case: StagedCase, seed: int) -> StageUnit:
    study = material.study
    defence = material.defence[case.case.id]
    unit = unit_id(
        "stage",
        suite=study.suite,
        protocol=study.protocol,
        case=case.digest,
        subject=subject.key,
        prompts=variant.digest,
        seed=seed,
        cast={"defence": defence.key if defence is not None else "human"},
        limits=study.limits.model_dump(),
    )
    return StageUnit(unit, subject, variant, case, seed, defence)


def unit_id(kind: str, **content: Json) -> str:
    """Returns the id of a unit: the hash of its kind and of all that can change its result."""
    return sha256(canonical_json({"kind": kind, **content}))[:ID_DIGITS]
