"""The snapshot: what a run was made with, kept in its output folder, so that no rerun mixes two versions unseen.

``OUT/snapshot/manifest.json`` names every setting and every file that can change an answer, with its digest;
``OUT/snapshot/files/`` holds the files themselves. What a study gains (a case, a subject, a seed, a judge) is no
change; what stood there before and is another now is one.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from dramaturg import __version__
from dramaturg.errors import RunChangedError, StudyError
from dramaturg.files import find, read_text
from dramaturg.judge.audit.binding import JUDGES_PROMPTS
from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.run.material import JudgeBench, Material
from dramaturg.run.spool import writing
from dramaturg.text import sha256, write_atomically

FORMAT = "dramaturg-snapshot/1"
ASKING = "judges/"
"""Head of the entries that say how a study asks its judges."""

Setting = Literal["long", "ask"]
"""How a judge is asked, beside the mode and the number of votes."""

SHOWN = 8
"""Most differences that one message names."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a run is made with.

    Attributes:
        study: Name of the study.
        entries: Digest or value by name, for example ``prompts/court-judge`` or ``limits.turns``.
        texts: Text of the file behind an entry, for those that have one, with the file's ending.
    """

    study: str
    entries: Mapping[str, str]
    texts: Mapping[str, tuple[str, str]]


class Manifest(BaseModel):
    """The manifest file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["dramaturg-snapshot/1"] = FORMAT
    study: str
    entries: dict[str, str]
    files: dict[str, str]


def snapshot_of(material: Material) -> Snapshot:
    """Returns what a run of the study is made with: version, settings, models, and every file that is used.

    Whatever may change between runs (concurrency, budgets, time limits) is not part of it.
    """
    study = material.study
    entries = {"version": __version__, "suite": study.suite, "protocol": study.protocol, "seed": str(study.seed)}
    entries |= {f"limits.{name}": str(value) for name, value in study.limits.model_dump().items()}
    entries |= {f"staging.{name}": str(value) for name, value in study.staging.record().items()}
    entries |= {f"cast.{staging.procedure.player}": "script" for staging in material.stagings}
    entries |= {f"cast.{kind}": player for kind, player in study.cast.items()}
    entries |= {f"models/{model.written}": model.identity.key for model in material.models().values()}
    texts: dict[str, tuple[str, str]] = {}

    def add(name: str, digest: str, path: Path) -> None:
        entries[name] = digest
        texts[name] = (read_text(path), path.suffix)

    languages = sorted({staged.case.language for staged in material.cases} | {"en"})
    for variant in material.variants:
        for language, name in itertools.product(languages, prompt_names()):
            prompt = load_prompt(name, language, variant.folder)
            key = f"prompts/{variant.name}/{language}/{name}"
            entries[key] = prompt.hash
            texts[key] = (prompt.source, ".txt")
    for language in sorted({bench.checklist.language for bench in material.judges} - set(languages)):
        add_judges_prompts(entries, texts, language)
    for procedure, path in {staging.procedure: staging.path for staging in material.stagings}.items():
        add(f"procedures/{procedure.id}", procedure.digest, path)
    for staging in material.stagings:
        for kind, player in staging.fixed.items():
            if player is not None and player.spec.provider == "script":
                name = f"scripts/{kind}-{staging.case.case.id}"
                add(name, player.identity.digest, find("scripts", player.spec.name))
    for staged in material.cases:
        add(f"cases/{staged.case.id}", staged.digest, staged.path)
    entries |= _asking_entries(material.judges)
    for bench in material.judges:
        add(f"checklists/{bench.written}", bench.checklist.hash, bench.path)
    return Snapshot(study.study, entries, texts)


def add_judges_prompts(entries: dict[str, str], texts: dict[str, tuple[str, str]], language: str) -> None:
    """Adds the prompts of judges in a language, as `Snapshot` holds them."""
    for name in prompt_names():
        if name.startswith(JUDGES_PROMPTS):
            prompt = load_prompt(name, language)
            key = f"prompts/default/{prompt.language}/{name}"
            entries[key] = prompt.hash
            texts[key] = (prompt.source, ".txt")


def _asking_entries(benches: Sequence[JudgeBench]) -> dict[str, str]:
    asked: dict[str, set[str]] = defaultdict(set)
    for bench in benches:
        identity = bench.model.identity
        judge = f"{identity.provider}:{identity.name}"
        asked[asking_entry(judge, bench.checklist.id, bench.mode, "long")].add(bench.long)
        asked[asking_entry(judge, bench.checklist.id, bench.mode, "ask")].add(bench.ask)
    return {name: ", ".join(sorted(values)) for name, values in asked.items()}


def asking_entry(judge: str, checklist: str, mode: str, setting: Setting) -> str:
    """Returns the name of the entry that says how a study asks one of its judges.

    Args:
        judge: Identity of the judge, as judgements write it.
        checklist: Id of the checklist.
        mode: How it is asked.
        setting: Which setting.
    """
    return f"{ASKING}{judge}/{checklist}/{mode}/{setting}"


def asking_of(entries: Mapping[str, str], judge: str, checklist: str, mode: str, setting: Setting) -> str:
    """Returns how a judge was asked, as a run's entries say; the default where an older run does not say it.

    See `asking_entry` for the arguments. A judging has one way for all of its judges.
    """
    recorded = entries.get(asking_entry(judge, checklist, mode, setting)) or entries.get(setting)
    return recorded or ("refuse" if setting == "long" else "presence")


def read_manifest(out: Path) -> Manifest | None:
    """Returns the manifest of an output folder, or None where no run was made.

    Raises:
        StudyError: It is torn or of another format.
    """
    path = out / "snapshot" / "manifest.json"
    if not path.exists():
        return None
    try:
        return Manifest.model_validate_json(read_text(path))
    except ValidationError:
        raise StudyError("is no manifest of a run", where=str(path), allowed="choose another --out") from None


def check_folder(out: Path, snapshot: Snapshot, *, accept_changes: bool = False) -> None:
    """Checks that a run may go on in the folder.

    Args:
        out: Output folder; it need not exist.
        snapshot: What the run would be made with.
        accept_changes: Whether another version, prompt or setting is fine.

    Raises:
        StudyError: The folder belongs to another study.
        RunChangedError: Something that was there before is another now; the message names it.
    """
    before = read_manifest(out)
    if before is None:
        return
    if before.study != snapshot.study:
        raise StudyError(
            f"the folder holds the study {before.study!r}, not {snapshot.study!r}",
            where=str(out),
            allowed="choose another --out",
        )
    changes = differences(before.entries, snapshot.entries)
    if changes and not accept_changes:
        more = f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        raise RunChangedError(
            f"the run was made with something else: {'; '.join(changes[:SHOWN])}{more}",
            where=str(out),
            allowed="restore it, choose another --out, or go on with --accept-changes",
        )


def keep(out: Path, snapshot: Snapshot) -> None:
    """Writes the snapshot; entries of earlier runs that this one does not have stay.

    Raises:
        UserError: The disk is full or the folder cannot be written.
    """
    before = read_manifest(out)
    folder = out / "snapshot"
    files = dict(before.files) if before else {}
    with writing(folder):
        for name, (text, ending) in snapshot.texts.items():
            files[name] = f"files/{sha256(text)}{ending}"
            if not (folder / files[name]).exists():
                write_atomically(folder / files[name], text)
        manifest = Manifest(
            study=snapshot.study,
            entries={**(before.entries if before else {}), **snapshot.entries},
            files=files,
        )
        if manifest != before:
            text = json.dumps(manifest.model_dump(), indent=1, sort_keys=True, ensure_ascii=False)
            write_atomically(folder / "manifest.json", text + "\n")


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Returns what both have and what differs, each as ``name: old → new``, in the order of names."""
    return [
        f"{name}: {_short(before[name])} → {_short(now[name])}"
        for name in sorted(before.keys() & now.keys())
        if before[name] != now[name]
    ]


def _short(value: str) -> str:
    is_digest = len(value) == 64 and all(letter in "0123456789abcdef" for letter in value)
    return value[:8] if is_digest else value
