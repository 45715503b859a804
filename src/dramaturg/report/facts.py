"""Facts of a run, gathered from its output folder and ledger; no model is opened."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import assert_never

from dramaturg import __version__
from dramaturg.files import OnTorn, load_yaml, read_jsonl
from dramaturg.judge.audit.card_store import known_cards
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.ledger import Ledger, Use
from dramaturg.report.bases import Kinship, kinship
from dramaturg.report.cautions import torn_caution
from dramaturg.report.data import Caution, Failure, RunFacts
from dramaturg.report.uses import model_records
from dramaturg.run.kept import KeptModel, kept_models, kept_seconds
from dramaturg.run.rating import RUBRICS
from dramaturg.run.records import UnitRecord
from dramaturg.run.snapshot import read_manifest
from dramaturg.run.subjects import label_of, labels_of

PROTOCOLS = {
    "paper": "Free text with speaker and verdict tags; no schema, no redraw, no fallback. "
    "A failure of form restarts the trial under a new seed.",
    "guarded": "Structured decisions, redraws and fallbacks, as a game would ship; every cure is counted.",
}
WORLD_PROTOCOLS = {
    "paper": "Algorithm 1 of CharacterBox: in every round each character believes, acts and speaks, and the narrator "
    "says whom it affects and what comes of it. Nobody loses a turn.",
    "released": "The order of CharacterBox's published code: who reacts loses its own turn, and a director plans.",
    "fast": "The same information in fewer calls: prompts that need the same are merged, others run at once.",
}


def used_checklists(out: Path) -> dict[str, Checklist]:
    """Returns every checklist of a run by its hash, as the run's snapshot holds it.

    Args:
        out: Output folder of a run.
    """
    manifest = read_manifest(out)
    if manifest is None:
        return {}
    files = [out / "snapshot" / file for name, file in manifest.files.items() if name.startswith("checklists/")]
    return {checklist.hash: checklist for checklist in (load_yaml(file, Checklist) for file in files)}


def facts_of_run(out: Path, ledger: Ledger, *, command: str) -> RunFacts:
    """Returns what a report needs to know of a run beside its transcripts and judgements.

    Args:
        out: Output folder of a run, or of a judging.
        ledger: The run's ledger.
        command: What continues or repeats the run.

    Raises:
        UserError: A file of the folder is broken; the message names the line.
    """
    manifest = read_manifest(out)
    torn: list[str] = []
    records = list(_records(out, torn.append))
    uses = ledger.uses({record.unit for record in records})
    kept = kept_models(ledger)
    entries = manifest.entries if manifest is not None else {}
    planned: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        if record.kind == "stage":
            planned[label_of(record)][record.case] += 1
    protocols = sorted({record.protocol for record in records})
    meanings = WORLD_PROTOCOLS if entries.get("suite") == "world" else PROTOCOLS
    return RunFacts(
        study=manifest.study if manifest is not None else out.name,
        package_version=__version__,
        suite=entries.get("suite", ""),
        started=_time(min((use.first_at for use in uses), default=None)),
        finished=_time(max((use.last_at for use in uses), default=None)),
        wall_s=kept_seconds(ledger),
        labels=labels_of(records),
        planned_trials=planned,
        models=tuple(model_records(kept, records, ledger)),
        failures=tuple(
            Failure(record.unit, record.failure, record.detail) for record in records if record.status == "failed"
        ),
        unfinished=tuple(record.unit for record in records if record.status in {"open", "not_run"}),
        protocols={protocol: meanings.get(protocol, "") for protocol in protocols},
        prompts=_named(entries, "prompts/"),
        checklists=_named(entries, "checklists/"),
        rubrics=_named(entries, RUBRICS),
        versions={"dramaturg": entries.get("version", __version__)},
        cards=tuple(card for _, card in known_cards()),
        cautions=(*map(torn_caution, torn), *_judges_cautions(kept), *_version_cautions(uses)),
        command=command,
    )


def _records(out: Path, on_torn: OnTorn) -> Iterator[UnitRecord]:
    path = out / "units.jsonl"
    if path.is_file():
        for _, record in read_jsonl(path, UnitRecord, on_torn=on_torn):
            yield record


def _named(entries: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): digest for name, digest in entries.items() if name.startswith(prefix)}


def _time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _judges_cautions(kept: Mapping[str, KeptModel]) -> Iterator[Caution]:
    judges = {spec: model for spec, model in kept.items() if "judge" in model.parts}
    subjects = {spec: model for spec, model in kept.items() if "subject" in model.parts}
    for spec, judge in judges.items():
        for other, subject in subjects.items():
            yield from _kinship_caution(spec, other, kinship(judge, subject))


def _kinship_caution(judge: str, subject: str, common: Kinship) -> Iterator[Caution]:
    match common:
        case "":
            return
        case "same_model" if judge == subject:
            yield Caution(
                "judge_is_subject", f"{judge} judges itself: judge and subject are one model, which tends to favour it."
            )
        case "same_model":
            yield Caution(
                "judge_is_subject",
                f"{judge} judges itself: the subject {subject} is the same model, which tends to favour it.",
            )
        case "same_base":
            yield Caution(
                "judge_shares_base",
                f"By their names or their files' metadata the judge {judge} and the subject {subject} are of one base; "
                "a judge tends to favour its own kind.",
            )
        case _:
            assert_never(common)


def _version_cautions(uses: Sequence[Use]) -> Iterator[Caution]:
    versions: dict[str, set[str]] = defaultdict(set)
    for use in uses:
        versions[f"{use.provider}:{use.name}"].update(use.served_by)
    for model, served in versions.items():
        if len(served) > 1:
            yield Caution(
                "mixed_versions",
                f"{model} answered under {len(served)} versions within this run: {', '.join(sorted(served))}.",
            )
