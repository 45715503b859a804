"""The material of an interview: everything that its study refers to, read and checked before the first call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dramaturg import __version__
from dramaturg.errors import UserError
from dramaturg.run.interview.study import InterviewStudy, load_interview
from dramaturg.run.material import NamedModel, named_model
from dramaturg.run.reading import StudyReading
from dramaturg.run.snapshot import Snapshot
from dramaturg.stage.interview import (
    Asking,
    Item,
    ItemSet,
    Strategy,
    item_digest,
    read_item_set,
    read_strategy,
)
from dramaturg.stage.interview.forms import form_prompt
from dramaturg.stage.interview.sampling import stratified_sample
from dramaturg.text import canonical_json, sha256

FEWEST_TO_SHUFFLE = 2
"""Characters below which nobody can be asked in another's place."""


@dataclass(frozen=True, slots=True)
class InterviewMaterial:
    """A study of an interview with everything that it refers to.

    Attributes:
        study: The study file's content.
        path: The study file.
        subjects: What is measured.
        item_set: The item set.
        items: What is asked: its sound items, or the sample of them.
        askings: How they are put to the subjects, one for each strategy.
    """

    study: InterviewStudy
    path: Path
    subjects: tuple[NamedModel, ...]
    item_set: ItemSet = field(hash=False)
    items: tuple[Item, ...]
    askings: tuple[Asking, ...]

    @property
    def planned(self) -> int:
        """How many calls the whole study takes."""
        return len(self.subjects) * len(self.askings) * self.study.repeats * len(self.items)

    def models(self) -> Mapping[str, NamedModel]:
        """Returns every model of the study by its spec string."""
        return {subject.spec.text: subject for subject in self.subjects}


def read_interview(path: Path) -> InterviewMaterial:
    """Returns a study of an interview with everything that it refers to; no model is loaded or called.

    Args:
        path: The study file; relative paths in it start from its folder.

    Raises:
        StudyError: The file is wrong, or refers to what is not there; every problem is named with its line.
        ContentError: A file cannot be read, or the item set is none.
    """
    study = load_interview(path)
    reading = StudyReading(path)
    folder = reading.folder

    def subject(index: int) -> NamedModel:
        one = study.subjects[index]
        return named_model(one.model, one.label, beside=folder)

    subjects = reading.each("subjects", range(len(study.subjects)), subject, key=lambda model: model.key)
    reading.distinct("subjects", [model.label for model in subjects], "label")
    strategies = reading.each(
        "strategies", study.strategies, lambda name: read_strategy(name, beside=folder), key=strategy_hash
    )
    items: tuple[Item, ...] = ()
    item_set: ItemSet | None = None
    try:
        item_set = read_item_set(study.items, beside=folder)
        items = item_set.sound_items()
        if not items:
            first = f"; the first: {item_set.problems[0]}" if item_set.problems else ""
            raise UserError(f"the set {item_set.id!r} holds no item that can be asked{first}")
        if study.condition == "shuffled" and len(item_set.characters) < FEWEST_TO_SHUFFLE:
            raise UserError(f"the set {item_set.id!r} has one character alone", allowed="a set with at least two")
    except UserError as error:
        reading.note(str(error), "items")
    reading.report()
    assert item_set is not None  # else there is a problem, and the report has raised it
    if study.sample is not None:
        items = stratified_sample(items, study.sample, study.seed)
    askings = tuple(Asking(strategy, study.form, item_set.labels) for strategy in strategies)
    return InterviewMaterial(study, path, subjects, item_set, items, askings)


def strategy_hash(strategy: Strategy) -> str:
    """Returns the hash of what a strategy says; empty for the description as it is."""
    prompt = strategy.prompt()
    return "" if prompt is None else prompt.hash


def interview_snapshot(material: InterviewMaterial) -> Snapshot:
    """Returns what a run of the study is made with: version, settings, models, prompts, and what is asked.

    What a study gains is no change: a subject, a strategy, an item, repeats, a larger sample. Nor is what is expected
    of an item, which changes no reply.
    """
    study, item_set = material.study, material.item_set
    entries = {"version": __version__, "suite": study.suite, "seed": str(study.seed), "form": study.form}
    entries |= {"condition": study.condition, "max_tokens": str(study.max_tokens)}
    entries |= {"temperature": str(study.temperature), "item-set": item_set.id}
    entries["labels"] = sha256(canonical_json(list(item_set.labels)))
    entries |= {f"models/{model.written}": model.identity.key for model in material.subjects}
    texts: dict[str, tuple[str, str]] = {}
    languages = {item.language for item in material.items}
    prompts = {form_prompt(study.form, item.category, item.language) for item in material.items}
    spoken = {character.language for character in item_set.characters.values()} | languages
    prompts |= {asking.strategy.prompt(language) for asking in material.askings for language in spoken}
    for prompt in prompts - {None}:
        if prompt is not None:
            key = f"prompts/{prompt.language or 'own'}/{prompt.name}"
            entries[key] = prompt.hash
            texts[key] = (prompt.source, ".txt")
    for item in material.items:
        entries[f"items/{item.id}"] = item_digest(item, item_set.characters.get(item.character))
    return Snapshot(study.study, entries, texts)
