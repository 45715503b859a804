"""One run as one side of a comparison: the scores of its trials, what it was made with, and what it took."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import ContentError, UserError
from dramaturg.files import OnTorn, read_jsonl
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.score import Scores, TranscriptScores, score_transcript
from dramaturg.judge.judgement import Judgement
from dramaturg.ledger import Ledger
from dramaturg.model import Identity
from dramaturg.run.kept import KeptModel, kept_models
from dramaturg.run.records import UnitRecord
from dramaturg.run.snapshot import asking_of, read_manifest
from dramaturg.run.subjects import label_of, subject_of, transcript_of
from dramaturg.run.transcripts import read_transcripts
from dramaturg.stage.transcript import Transcript

Place = tuple[str, int]
"""A scenario and a seed: what subjects are paired by."""

Values = Mapping[Place, float]


@dataclass(frozen=True, slots=True, order=True)
class PanelKey:
    """Who judged, by what, and how.

    Attributes:
        checklist: Hash of the checklist.
        judge: Identity of the judge.
        mode: How it was asked.
        votes: How often.
        long: What became of a transcript beyond its context.
        ask: What was put to it.
    """

    checklist: str
    judge: str
    mode: str
    votes: int
    long: str
    ask: str


@dataclass(frozen=True, slots=True)
class Panel:
    """The scores that one judge gave.

    Attributes:
        checklist: By what.
        values: Subject → measure → place → score between 0 and 1. Places without an answer are not there.
    """

    checklist: Checklist
    values: Mapping[str, Mapping[str, Values]]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a subject's performances took. Whatever is not known is None.

    Attributes:
        trials: Performances that came about.
        tokens_per_s: Output tokens by the seconds of the calls that wrote them.
        seconds_per_trial: Seconds of all calls of a performance, waits included, on average.
        peak_memory_bytes: Most memory that the subject's process held.
    """

    trials: int
    tokens_per_s: float | None = None
    seconds_per_trial: float | None = None
    peak_memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One run.

    Attributes:
        name: What tables call it.
        entries: What it was made with, by name; empty where no snapshot was kept.
        protocols: Protocols of its trials.
        scenarios: Scenario → hash of what was staged.
        planned: Subject → the places that were planned, or came about where nothing was.
        panels: By who judged.
        costs: By subject.
        notes: What was left out, in words.
    """

    name: str
    entries: Mapping[str, str]
    protocols: tuple[str, ...]
    scenarios: Mapping[str, str]
    planned: Mapping[str, frozenset[Place]]
    panels: Mapping[PanelKey, Panel]
    costs: Mapping[str, Cost]
    notes: tuple[str, ...] = ()


def read_side(folder: Path, *, name: str, checklists: Mapping[str, Checklist], ledger: Ledger | None) -> Side:
    """Returns a run as a side of a comparison; no model is called, and texts do not stay in memory.

    Args:
        folder: Output folder of a run or a judging.
        name: What tables call it.
        checklists: Its checklists by hash.
        ledger: Its ledger, or None where there is none: then nothing is known of its costs.

    Raises:
        UserError: It holds no judged transcripts, or a line is broken.
    """
    manifest = read_manifest(folder)
    entries = dict(manifest.entries) if manifest is not None else {}
    reading = _Reading(folder, checklists, entries)
    reading.read_units()
    reading.read_transcripts()
    reading.read_judgements()
    if not reading.values:
        raise UserError(
            "; ".join(reading.notes) or "holds no judgements",
            where=str(folder),
            allowed="the --out folder of a run with judges, or of a judging",
        )
    return Side(
        name=name,
        entries=entries,
        protocols=tuple(sorted({trial.protocol for trial in reading.trials.values()})),
        scenarios={trial.scenario.id: reading.staged[trial.id] for trial in reading.trials.values()},
        planned={subject: frozenset(places) for subject, places in reading.planned.items()},
        panels={key: Panel(checklists[key.checklist], by_subject) for key, by_subject in reading.values.items()},
        costs=dict(_costs(reading, ledger)),
        notes=tuple(reading.notes),
    )


class _Reading:
    """Gathers what the files of one run say."""

    def __init__(self, folder: Path, checklists: Mapping[str, Checklist], entries: Mapping[str, str]) -> None:
        self._folder = folder
        self._checklists = checklists
        self._entries = entries
        self.notes: list[str] = []
        self.planned: dict[str, set[Place]] = defaultdict(set)
        self.units: dict[str, list[UnitRecord]] = defaultdict(list)
        self.labels: dict[str, str] = {}
        self.trials: dict[str, Transcript] = {}
        self.digests: dict[str, str] = {}
        self.staged: dict[str, str] = {}
        self.values: dict[PanelKey, dict[str, dict[str, dict[Place, float]]]] = {}

    def read_units(self) -> None:
        path = self._folder / "units.jsonl"
        if not path.is_file():
            return
        for _, record in read_jsonl(path, UnitRecord, on_torn=self._note_torn):
            if record.kind == "stage":
                label = label_of(record)
                self.labels[transcript_of(record)] = label
                self.planned[label].add((record.case, record.seed))
                self.units[label].append(record)

    def read_transcripts(self) -> None:
        for _, transcript in read_transcripts(self._folder / "transcripts.jsonl", empty=True, on_torn=self._note_torn):
            self.digests[transcript.id] = transcript.digest
            self.staged[transcript.id] = transcript.scenario.digest
            self.trials[transcript.id] = transcript.model_copy(update={"turns": ()})
            label = self.labels.setdefault(transcript.id, subject_of(transcript.cast))
            self.planned[label].add(_place(transcript))

    def read_judgements(self) -> None:
        path = self._folder / "judgements.jsonl"
        if not path.is_file():
            return
        stale, unknown = set[str](), set[str]()
        scored = set[tuple[str, PanelKey]]()
        for judgements in _blocks(path, self._note_torn):
            first = judgements[0]
            trial, checklist = self.trials.get(first.transcript), self._checklists.get(first.checklist_digest)
            if checklist is None:
                unknown.add(first.checklist)
            elif trial is None or first.transcript_digest != self.digests[trial.id]:
                stale.add(first.transcript)
            else:
                votes = max(1, *(len(judgement.votes) for judgement in judgements))
                key = self._key(first, checklist, votes)
                if (trial.id, key) in scored:
                    raise ContentError(f"answers about {trial.id!r} by {key.judge} stand twice", where=str(path))
                scored.add((trial.id, key))
                self._keep(key, trial, _scored(trial, checklist, judgements, path))
        if unknown:
            self.notes.append(f"checklist not at hand, its judgements are left out: {', '.join(sorted(unknown))}")
        if stale:
            self.notes.append(f"{len(stale)} transcripts are not there or changed after they were judged; left out")

    def _key(self, first: Judgement, checklist: Checklist, votes: int) -> PanelKey:
        asked = (self._entries, first.judge, checklist.id, first.mode)
        return PanelKey(
            checklist=first.checklist_digest,
            judge=first.judge,
            mode=first.mode,
            votes=votes,
            long=asking_of(*asked, "long"),
            ask=asking_of(*asked, "ask"),
        )

    def _note_torn(self, place: str) -> None:
        self.notes.append(f"{place}: the last line is torn and left out")

    def _keep(self, key: PanelKey, trial: Transcript, scores: TranscriptScores) -> None:
        label, place = self.labels[trial.id], _place(trial)
        of_subject = self.values.setdefault(key, {}).setdefault(label, {})
        for measure, value in _measured(scores):
            values = of_subject.setdefault(measure, {})
            if place in values:
                raise ContentError(
                    f"{label!r} has two trials of {place[0]!r} with seed {place[1]}; they cannot be paired",
                    where=str(self._folder),
                    allowed="one trial for each subject, scenario and seed",
                )
            values[place] = value


def _scored(trial: Transcript, checklist: Checklist, judgements: list[Judgement], path: Path) -> TranscriptScores:
    try:
        return score_transcript(trial, checklist, judgements)
    except ValueError as error:
        raise ContentError(str(error), where=str(path)) from None


def _blocks(path: Path, on_torn: OnTorn) -> Iterator[list[Judgement]]:
    """Yields the answers of one judge about one transcript; a judging writes them together."""
    lines = (judgement for _, judgement in read_jsonl(path, Judgement, on_torn=on_torn))
    keyed = itertools.groupby(lines, lambda one: (one.transcript, one.checklist_digest, one.judge, one.mode))
    for _, judgements in keyed:
        yield list(judgements)


def _measured(scores: TranscriptScores) -> Iterator[tuple[str, float]]:
    """Yields the measures of a trial that have a value: the whole checklist, then its dimensions."""
    sets: list[tuple[str, Scores]] = [("total", scores.total), *scores.dimensions.items()]
    for name, one in sets:
        if one.quality.value is not None:
            yield name, one.quality.value
        if one.probabilistic.value is not None:
            yield f"{name}:probabilistic", one.probabilistic.value


def _place(transcript: Transcript) -> Place:
    return transcript.scenario.id, transcript.seed


def _costs(reading: _Reading, ledger: Ledger | None) -> Iterator[tuple[str, Cost]]:
    kept = list(kept_models(ledger).values()) if ledger is not None else []
    trials = defaultdict[str, int](int)
    for name in reading.trials:
        trials[reading.labels[name]] += 1
    for subject in reading.planned:
        done = [record for record in reading.units[subject] if record.status == "done"]
        uses = ledger.uses({record.unit for record in done}) if ledger is not None and done else []
        # Fixed parts played by other models take time too, but it is not the subject's.
        mine = [use for use in uses if _is_subject(kept, Identity(use.provider, use.name, use.digest))]
        seconds, written = sum(use.seconds for use in mine), sum(use.output_tokens for use in mine)
        is_known = bool(mine) and all(use.unknown_usage == 0 for use in mine)
        peaks = [
            model.peak_memory_bytes
            for model in kept
            if model.peak_memory_bytes is not None
            and any((use.provider, use.name, use.digest) == (model.provider, model.name, model.digest) for use in mine)
        ]
        yield (
            subject,
            Cost(
                trials=trials[subject],
                tokens_per_s=written / seconds if is_known and seconds > 0 else None,
                seconds_per_trial=seconds / len(done) if mine else None,
                peak_memory_bytes=max(peaks, default=None),
            ),
        )


def _is_subject(kept: list[KeptModel], identity: Identity) -> bool:
    """Returns whether a model of the run is one that is measured; where nothing is kept of it, it is taken for one."""
    found = [model for model in kept if Identity(model.provider, model.name, model.digest).key == identity.key]
    return not found or any("subject" in model.parts for model in found)
