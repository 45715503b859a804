"""What a study of a world refers to, read and checked before the first call, and the snapshot of it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg import __version__
from dramaturg.errors import UserError, did_you_mean
from dramaturg.judge.rating import rubric_in
from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.run.kept import PART
from dramaturg.run.material import NamedModel, Variant, named_model, read_variant
from dramaturg.run.rating import RatingBench, add_rubrics, rubric_named
from dramaturg.run.reading import StudyReading
from dramaturg.run.snapshot import Snapshot
from dramaturg.run.study import Subject
from dramaturg.run.world.study import Rating, WorldStudy, load_world
from dramaturg.stage.world.reading import read_scenes
from dramaturg.stage.world.scene import Scene
from dramaturg.stage.world.setting import CHARACTER, DIRECTOR, NARRATOR, PROMPTS, character_role, scene_digest

HUMAN = "human"


@dataclass(frozen=True, slots=True)
class WorldMaterial:
    """A study of a world with everything that it refers to.

    Attributes:
        study: The study file's content.
        path: The study file.
        subjects: What is measured.
        scenes: What is staged.
        narrator: Who narrates; None where each subject does for itself.
        cast: Who plays somebody for all subjects, by role; None for a person.
        raters: Who rates the plays, by what, and how.
        variants: Variants of the prompts.
    """

    study: WorldStudy
    path: Path
    subjects: tuple[NamedModel, ...]
    scenes: tuple[Scene, ...]
    narrator: NamedModel | None
    cast: Mapping[str, NamedModel | None]
    raters: tuple[RatingBench, ...]
    variants: tuple[Variant, ...]

    @property
    def has_person(self) -> bool:
        """Whether a person plays in any scene."""
        return any(player is None for scene in self.scenes for player in self.cast_of(scene).values())

    def cast_of(self, scene: Scene) -> dict[str, NamedModel | None]:
        """Returns who plays somebody of a scene for all subjects, by role."""
        there = {character_role(character.id) for character in scene.characters} | {CHARACTER, DIRECTOR}
        return {role: player for role, player in self.cast.items() if role in there}

    def models(self) -> dict[str, NamedModel]:
        """Returns every model of the study by its spec string."""
        beside = [player for player in (self.narrator, *self.cast.values()) if player is not None]
        rating = [bench.model for bench in self.raters]
        return {model.spec.text: model for model in (*self.subjects, *beside, *rating)}

    def parts(self) -> dict[str, tuple[PART, ...]]:
        """Returns what each model is in the study, by its spec string."""
        measured = {subject.spec.text for subject in self.subjects}
        fixed = {player.spec.text for player in (self.narrator, *self.cast.values()) if player is not None}
        rating = {bench.model.spec.text for bench in self.raters}
        found: dict[str, list[PART]] = {spec: [] for spec in self.models()}
        for spec, parts in found.items():
            parts += ["fixed"] if spec in fixed else []
            parts += ["judge"] if spec in rating else []
            parts += ["subject"] if spec in measured else []
        return {spec: tuple(parts) for spec, parts in found.items()}


def read_world(path: Path) -> WorldMaterial:
    """Returns a study with everything that it refers to; no model is loaded or called.

    Args:
        path: The study file; relative paths in it start from its folder.

    Raises:
        StudyError: The file is wrong, or refers to what is not there; every problem is named with its line.
        ContentError: The file cannot be read.
    """
    study = load_world(path)
    reading = StudyReading(path)

    def model(text: str, label: str) -> NamedModel:
        return named_model(text, label, beside=reading.folder)

    def subject(one: Subject) -> NamedModel:
        return model(one.model, one.label)

    subjects = reading.each("subjects", study.subjects, subject, key=lambda one: one.key)
    reading.distinct("subjects", [one.label for one in subjects], "label")
    reading.distinct("seeds", study.seeds, "seed")
    read = reading.each(
        "scenes",
        study.scenes,
        lambda name: read_scenes(name, beside=reading.folder),
        key=lambda scenes: tuple(scene.id for scene in scenes),
    )
    scenes = tuple(itertools.chain.from_iterable(read))
    ids = [scene.id for scene in scenes]
    for scene_id in sorted({scene_id for scene_id in ids if ids.count(scene_id) > 1}):
        reading.note(f"the scene {scene_id!r} stands twice", "scenes")
    narrator: NamedModel | None = None
    if study.narrator:
        try:
            narrator = model(study.narrator, study.narrator)
        except UserError as error:
            reading.note(str(error), "narrator")
    cast: dict[str, NamedModel | None] = {}
    known = {character_role(character.id) for scene in scenes for character in scene.characters} | {DIRECTOR}
    for role, player in study.cast.items():
        try:
            if role == NARRATOR:
                raise UserError("who narrates stands under its own key", allowed="narrator: SPEC")
            if role not in known:
                raise UserError(f"no scene of this study has the role {role!r}", allowed=did_you_mean(role, known))
            if player == HUMAN and role == DIRECTOR:
                raise UserError("the director is a model or a script", allowed="a model spec")
            cast[role] = None if player == HUMAN else model(player, player)
        except UserError as error:
            reading.note(str(error), "cast", role)
    raters = _raters(study, scenes, reading)
    of_the_stage = [name for name in prompt_names() if name.startswith(PROMPTS)]
    variant = functools.partial(read_variant, beside=reading.folder, of_the_stage=of_the_stage)
    variants = reading.each("prompts", study.prompts, variant, key=lambda one: one.digest)
    reading.report()
    return WorldMaterial(study, path, subjects, scenes, narrator, cast, raters, variants)


def _raters(study: WorldStudy, scenes: Sequence[Scene], reading: StudyReading) -> tuple[RatingBench, ...]:
    languages = sorted({scene.language for scene in scenes})

    def rater(one: Rating) -> RatingBench:
        rubric = rubric_named(one.rubric, beside=reading.folder)
        for language in languages:
            rubric_in(rubric, language)
        return RatingBench(named_model(one.model, one.model, beside=reading.folder), rubric, one.mode, one.votes)

    return reading.each("raters", study.raters, rater, key=lambda bench: bench.key("en"))


def world_snapshot(material: WorldMaterial) -> Snapshot:
    """Returns what a run of the study is made with: version, settings, models, prompts and scenes.

    What a study gains is no change: a subject, a scene, a seed. What may change between runs is not part of it.
    """
    study = material.study
    entries = {"version": __version__, "suite": study.suite, "protocol": study.protocol, "seed": str(study.seed)}
    entries |= {"rounds": str(study.rounds), "memory": study.memory.by, "cast.narrator": study.narrator or "subject"}
    entries |= {f"memory.{name}": str(value) for name, value in study.memory.changed().items()}
    entries |= {f"limits.{name}": str(value) for name, value in study.limits.model_dump().items()}
    entries |= {f"cast.{role}": player for role, player in study.cast.items()}
    entries |= {f"models/{model.written}": model.identity.key for model in material.models().values()}
    texts: dict[str, tuple[str, str]] = {}
    languages = sorted({scene.language for scene in material.scenes})
    names = [name for name in prompt_names() if name.startswith(PROMPTS)]
    for variant, language, name in itertools.product(material.variants, languages, names):
        prompt = load_prompt(name, language, variant.folder)
        key = f"prompts/{variant.name}/{prompt.language}/{name}"
        entries[key] = prompt.hash
        texts[key] = (prompt.source, ".txt")
    add_rubrics(entries, texts, [bench.rubric_for(language) for bench in material.raters for language in languages])
    for scene in material.scenes:
        entries[f"scenes/{scene.id}"] = scene_digest(scene)
        texts[f"scenes/{scene.id}"] = (scene.model_dump_json(exclude={"origin"}, indent=1), ".json")
    return Snapshot(study.study, entries, texts)
