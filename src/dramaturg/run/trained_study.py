"""A study's scenes or cases, played by a base and a tuned model alike, rated or judged, and compared.

The study's own machinery plays and judges; both models are its subjects, under its seeds, its narrator and its
protocol. What either was trained on is left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from dramaturg.errors import UserError
from dramaturg.files import dump_yaml, load_yaml
from dramaturg.ledger import Budget, Ledger
from dramaturg.model.opening import Models
from dramaturg.run.engine import run_study
from dramaturg.run.judging import benches_of
from dramaturg.run.kept import keep_models, parts_of
from dramaturg.run.material import Material, named_model, read_material
from dramaturg.run.progress import Progress
from dramaturg.run.rating import rating_benches
from dramaturg.run.records import UnitRecord
from dramaturg.run.result import RunResult
from dramaturg.run.study import Judging, Subject, suite_of
from dramaturg.run.trained import BeforeAfter, Pair, TrainedOn
from dramaturg.run.trained_tables import judged_tables, rated_tables
from dramaturg.run.whole_names import whole_cast, whole_path, whole_scenes, whole_variants
from dramaturg.run.world.engine import run_world
from dramaturg.run.world.material import WorldMaterial, read_world
from dramaturg.run.world.study import Rating
from dramaturg.stage.world.reading import scene_files
from dramaturg.text import write_atomically
from dramaturg.train.comparing import Table

HEAD = "# Written by `dramaturg train compare` with {study}.\n"
PLACEHOLDER = "script:world-steady"
"""Stands for the subjects until both models take its place."""

STUDY = "study.yaml"
_YAML = (".yaml", ".yml")

StagedT = TypeVar("StagedT")
StudyT = TypeVar("StudyT", bound=BaseModel)


class _Staged(BaseModel):
    """What tells a scene from a case."""

    model_config = ConfigDict(extra="ignore")

    characters: object = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A study in which both models are the subjects, and what was left out of it.

    Attributes:
        material: What is played.
        on: The study, or the folder of scenes or cases.
        left_out: Why → how many scenes or cases.
    """

    material: Material | WorldMaterial
    on: Path
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command says beside the study.

    Attributes:
        judges: Who rates or judges, in place of the study's own; none leaves those.
        narrator: Who narrates, in place of the study's own; empty leaves that.
        sample: Most scenes or cases; None for all.
        seed: Of the drawing and of all calls; None leaves the study's own.
        concurrency: Most plays at once; None leaves the study's own.
    """

    judges: tuple[str, ...] = ()
    narrator: str = ""
    sample: int | None = None
    seed: int | None = None
    concurrency: int | None = None


def chosen_study(on: Path, pair: Pair, known: TrainedOn, wishes: Wishes, *, folder: Path) -> Chosen:
    """Returns what both models are to play; nothing is asked.

    Args:
        on: A study file of a court or a world, or a folder with scenes or with cases.
        pair: Who is compared.
        known: What they were trained on.
        wishes: What else was asked for.
        folder: Where a study is written that is to be carried out.

    Raises:
        UserError: It is no such study, nobody judges, or nothing of it is held out; the message says what is wrong.
    """
    study = on if on.is_file() else _study_of_folder(on, folder)
    match suite_of(study):
        case "world":
            chosen = _world(study, on, pair, known, wishes)
        case "court":
            chosen = _court(study, on, pair, known, wishes)
        case "interview":
            raise UserError(
                "an interview stages nothing that could be rated",
                where=str(on),
                allowed="a study of a court or a world",
            )
    path = folder / STUDY
    told = chosen.material.study.model_dump(mode="json", exclude_unset=True)
    write_atomically(path, HEAD.format(study=on.resolve()) + dump_yaml(told))
    return replace(chosen, material=replace(chosen.material, path=path))


async def compare_on_study(
    chosen: Chosen,
    pair: Pair,
    *,
    out: Path,
    ledger: Ledger,
    budget: Budget,
    progress: Progress,
    accept_changes: bool = False,
    replay_only: bool = False,
) -> BeforeAfter:
    """Returns before and after; the folder holds a finished run by then. Run it again to go on.

    Args:
        chosen: What is played.
        pair: Who is compared.
        out: Output folder.
        ledger: Where every answer is kept.
        budget: Counts and limits the new calls.
        progress: Shows what is going on.
        accept_changes: Whether other prompts, settings or another version are fine.
        replay_only: Whether the ledger refuses new calls.

    Raises:
        UserError: The folder belongs to another run, a model cannot be opened, or the disk is full.
        LedgerError: The ledger cannot be written.
    """
    material = chosen.material
    models = Models()
    is_world = isinstance(material, WorldMaterial)
    parts = material.parts() if is_world else parts_of(material)
    try:
        async with models:
            result = await (
                run_world(
                    material,
                    out=out,
                    ledger=ledger,
                    models=models,
                    budget=budget,
                    progress=progress,
                    accept_changes=accept_changes,
                    replay_only=replay_only,
                )
                if is_world
                else run_study(
                    material,
                    out=out,
                    ledger=ledger,
                    models=models,
                    budget=budget,
                    progress=progress,
                    accept_changes=accept_changes,
                    replay_only=replay_only,
                )
            )
    finally:
        keep_models(ledger, models, parts)
    tables: tuple[Table, ...] = ()
    blank = () if result.stop else tuple(_blank(result.records, pair))
    if not result.stop and not blank:
        tables = tuple(rated_tables(out, pair) if is_world else judged_tables(material, out, pair))
    return BeforeAfter(
        kind=material.study.suite,
        on=str(chosen.on),
        base=pair.base.label,
        tuned=pair.tuned.label,
        tables=tables,
        left_out=chosen.left_out,
        notes=(*blank, *_failures(result)),
        planned=len(result.records),
        done=sum(record.status == "done" for record in result.records),
        calls=result.calls,
        replayed=result.replayed,
        seconds=result.seconds,
        stop=result.stop,
        limit=result.limit,
    )


def _study_of_folder(on: Path, folder: Path) -> Path:
    """Returns the file of a run's study, or one of all scenes or cases of a folder, which is written."""
    if (on / STUDY).is_file():
        return on / STUDY
    staged = [str(path.resolve()) for path in scene_files(on)] if on.is_dir() else []
    path = folder / STUDY
    if not staged:
        raise UserError(
            "is no study, data set, or folder of scenes or cases",
            where=str(on),
            allowed="a study file, a folder of dramaturg train data, or a folder with scenes or cases",
        )
    head: dict[str, object] = {"study": "train-compare", "subjects": [PLACEHOLDER]}
    is_world = any(not path.endswith(_YAML) or load_yaml(Path(path), _Staged).characters is not None for path in staged)
    shelf, suite = ("scenes", "world") if is_world else ("cases", "court")
    write_atomically(path, dump_yaml({**head, "suite": suite, shelf: staged}))
    return path


def _world(study: Path, on: Path, pair: Pair, known: TrainedOn, wishes: Wishes) -> Chosen:
    material = read_world(study)
    scenes, left_out = _held_out(material.scenes, lambda scene: scene.id, known, wishes, material.study.seed, on)
    raters = material.raters
    if wishes.judges:
        raters = rating_benches(wishes.judges, rubric="character", mode="joint", votes=1)
    _refuse_unjudged(raters, on)
    narrator = material.narrator
    if wishes.narrator:
        narrator = named_model(wishes.narrator, wishes.narrator, beside=Path())
    names = whole_scenes(material.study.scenes, beside=study.parent)
    variants = whole_variants(material.variants)
    changed = {
        "subjects": _subjects(pair),
        "scenes": tuple(names[scene.id] for scene in scenes),
        "narrator": narrator.spec.text if narrator is not None else "",
        "cast": whole_cast(material.study.cast, beside=study.parent),
        "prompts": tuple(one.name for one in variants),
        "raters": tuple(
            Rating(model=one.model.spec.text, rubric=one.rubric, mode=one.mode, votes=one.votes) for one in raters
        ),
        **_calling(wishes),
    }
    return Chosen(
        replace(
            material,
            study=_with(material.study, changed),
            subjects=pair.models,
            scenes=scenes,
            narrator=narrator,
            raters=raters,
            variants=variants,
        ),
        on,
        left_out,
    )


def _court(study: Path, on: Path, pair: Pair, known: TrainedOn, wishes: Wishes) -> Chosen:
    if wishes.narrator:
        raise UserError("nobody narrates in court", where="--narrator", allowed="a study of a world")
    material = read_material(study)
    cases, left_out = _held_out(material.cases, lambda one: one.case.id, known, wishes, material.study.seed, on)
    kept = {one.case.id for one in cases}
    judges = material.judges
    if wishes.judges:
        judges = benches_of(wishes.judges, checklist="court", mode=None, votes=1, long="refuse", ask="presence")
    _refuse_unjudged(judges, on)
    variants = whole_variants(material.variants)
    changed = {
        "subjects": _subjects(pair),
        "cases": tuple(str(one.path.resolve()) for one in cases),
        "cast": whole_cast(material.study.cast, beside=study.parent),
        "prompts": tuple(one.name for one in variants),
        "procedures": tuple(whole_path("procedures", name, study.parent / name) for name in material.study.procedures),
        "judges": tuple(
            Judging(
                model=one.model.spec.text,
                checklist=whole_path("checklists", one.written, one.path),
                mode=one.mode,
                votes=one.votes,
                long=one.long,
                ask=one.ask,
            )
            for one in judges
        ),
        **_calling(wishes),
    }
    return Chosen(
        replace(
            material,
            study=_with(material.study, changed),
            subjects=pair.models,
            stagings=tuple(one for one in material.stagings if one.case.case.id in kept),
            judges=judges,
            variants=variants,
        ),
        on,
        left_out,
    )


def _with(study: StudyT, changed: Mapping[str, object]) -> StudyT:
    """Returns a study with other values; what stays as it was is not written where it was not."""
    other = {name: value for name, value in changed.items() if value != getattr(study, name)}
    return study.model_copy(update=other)


def _subjects(pair: Pair) -> tuple[Subject, ...]:
    """Returns both as subjects: by whole paths, and called as they were named."""
    return tuple(
        Subject(model=one.label) if one.label == one.spec.text else Subject(model=one.spec.text, name=one.label)
        for one in pair.models
    )


def _calling(wishes: Wishes) -> dict[str, int]:
    changed = {"seed": wishes.seed, "concurrency": wishes.concurrency}
    return {name: value for name, value in changed.items() if value is not None}


def _refuse_unjudged(judges: Sequence[object], on: Path) -> None:
    if not judges:
        raise UserError("nobody rates or judges what is played", where=str(on), allowed="--judge SPEC")


def _held_out(
    staged: Sequence[StagedT],
    id_of: Callable[[StagedT], str],
    known: TrainedOn,
    wishes: Wishes,
    seed: int,
    on: Path,
) -> tuple[tuple[StagedT, ...], dict[str, int]]:
    kept = [one for one in staged if id_of(one) not in known.ids]
    left_out = {"trained on": len(staged) - len(kept)} if len(kept) < len(staged) else {}
    if not kept:
        raise UserError(
            f"nothing of it is held out: all {len(staged)} scenes or cases were trained on",
            where=str(on),
            allowed="scenes or cases that neither model knows",
        )
    if wishes.sample is not None and wishes.sample < len(kept):
        drawing = Random(f"train-compare/{wishes.seed if wishes.seed is not None else seed}")
        places = sorted(drawing.sample(range(len(kept)), wishes.sample))
        left_out["not drawn (--sample)"] = len(kept) - len(places)
        kept = [kept[place] for place in places]
    return tuple(kept), left_out


def _blank(records: Sequence[UnitRecord], pair: Pair) -> Iterator[str]:
    """Yields which model has no finished play, or none that was judged, and why: then there is nothing to pair."""
    for named in pair.models:
        own = [record for record in records if record.subject == named.label]
        for kind, what in (("stage", "finished play"), ("judge", "play that was rated or judged")):
            units = [record for record in own if record.kind == kind]
            if not any(record.status == "done" for record in units):
                whys = Counter(": ".join(filter(None, (one.failure or one.status, one.detail))) for one in units)
                told = "; ".join(f"{why} × {count}" for why, count in sorted(whys.items()))
                yield f"nothing is compared: {named.label} has no {what} ({told})"
                break


def _failures(result: RunResult) -> Iterator[str]:
    found: dict[tuple[str, str, str], int] = defaultdict(int)
    for record in result.records:
        if record.status != "done":
            found[record.subject, record.kind, record.failure or record.status] += 1
    for (subject, kind, why), count in sorted(found.items()):
        yield f"{subject}: {count} {'plays' if kind == 'stage' else 'judgings'} did not come about ({why})"
