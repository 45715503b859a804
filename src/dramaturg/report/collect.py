"""Gather what a report shows, as a stream: only a small record of each trial stays in memory."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg.files import read_jsonl
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.checklist.score import TranscriptScores, score_transcript
from dramaturg.judge.judgement import Judgement
from dramaturg.report.anchors import anchor_of
from dramaturg.report.cards import Read, nearest_card
from dramaturg.report.cautions import Doubts, cautions
from dramaturg.report.data import Caution, RunFacts
from dramaturg.report.lines import Lines
from dramaturg.report.plays import PlayFigures, play_figures, plays_by_subject
from dramaturg.report.rating.collect import RatingReport
from dramaturg.report.scores import SharedScores, SubjectScores, measures, score_subject
from dramaturg.report.sheet import Answers
from dramaturg.report.tables import Panel, Subject, Trial
from dramaturg.report.terms import Terms, terms_of
from dramaturg.report.trial import TrialView, view
from dramaturg.run.subjects import measured_models, subject_of
from dramaturg.run.transcripts import read_transcripts
from dramaturg.stage.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report shows; the texts themselves are read from the files when they are shown.

    Attributes:
        facts: What only the ledger knows.
        cautions: What limits trust, most serious first.
        subjects: How the performances of each subject ended.
        panels: What each judge said.
        trials: One small record for each performance.
        transcript_lines: Where the transcripts are.
        judgement_lines: Where the judgements are; None where there are none.
        terms: What performances are called.
        plays: How the stories of each subject went; empty outside worlds.
        ratings: What raters said; None where nothing was rated.
    """

    facts: RunFacts
    cautions: tuple[Caution, ...]
    subjects: tuple[Subject, ...]
    panels: tuple[Panel, ...]
    trials: tuple[Trial, ...]
    transcript_lines: Lines
    judgement_lines: Lines | None
    terms: Terms
    plays: tuple[PlayFigures, ...]
    ratings: RatingReport | None

    def views(self, trials: Sequence[Trial]) -> Iterator[TrialView]:
        """Yields trials as they are shown, read one by one.

        Args:
            trials: Some of this report's trials.
        """
        transcripts = self.transcript_lines.records((trial.line for trial in trials), Transcript)
        for trial, transcript in zip(trials, transcripts, strict=True):
            by_panel: dict[tuple[str, str, str], dict[str, Judgement]] = defaultdict(dict)
            for judgement in _judgements(self.judgement_lines, trial.judgements):
                by_panel[_panel_key(judgement)][judgement.indicator] = judgement
            answers = [
                Answers(panel.title, panel.checklist, scores, by_panel[panel.checklist_digest, panel.judge, panel.mode])
                for panel, scores in zip(self.panels, trial.scores, strict=True)
            ]
            yield view(transcript, answers)


def collect(
    transcripts: Path,
    judgements: Path,
    *,
    checklists: Mapping[str, Checklist],
    facts: RunFacts,
    ratings: RatingReport | None = None,
) -> Report:
    """Returns what a report shows.

    Args:
        transcripts: File of transcripts.
        judgements: File of judgements; it may be missing, as in a run without a judge.
        checklists: Every checklist that was used, by its hash.
        facts: What only the ledger knows.
        ratings: What raters said; None where nothing was rated.

    Raises:
        ContentError: A line is broken, or two transcripts share an id; the message names the line.
    """
    collection = _Collection(checklists, facts)
    judged: Lines | None = None
    if judgements.is_file():
        collection.read_judgements(judgements)
        judged = Lines(judgements)
    collection.read_transcripts(transcripts, judged)
    return collection.report(Lines(transcripts), judged, ratings)


PanelKey = tuple[str, str, str]


class _Collection:
    """The report in the making."""

    def __init__(self, checklists: Mapping[str, Checklist], facts: RunFacts) -> None:
        self._checklists = checklists
        self._facts = facts
        self._panels: dict[PanelKey, str] = {}
        self._read: dict[PanelKey, Read] = defaultdict(Read)
        self._lines: dict[str, array[int]] = {}
        self._trials: list[Trial] = []
        self._suites: set[str] = set()
        self._plays: list[PlayFigures] = []
        self._shared = SharedScores()
        self._doubts = Doubts()

    def read_judgements(self, path: Path) -> None:
        for number, judgement in read_jsonl(path, Judgement, on_torn=self._doubts.torn.append):
            self._panels.setdefault(_panel_key(judgement), judgement.checklist)
            self._lines.setdefault(judgement.transcript, array("Q")).append(number)

    def read_transcripts(self, path: Path, judgements: Lines | None) -> None:
        seen: set[str] = set()
        for number, transcript in read_transcripts(path, empty=True, on_torn=self._doubts.torn.append):
            seen.add(transcript.id)
            lines = self._lines.get(transcript.id, array("Q"))
            self._trials.append(self._trial(number, transcript, lines, judgements))
        self._doubts.orphans = sum(len(lines) for name, lines in self._lines.items() if name not in seen)

    def _trial(self, number: int, transcript: Transcript, lines: array[int], judgements: Lines | None) -> Trial:
        by_panel: dict[PanelKey, dict[str, Judgement]] = defaultdict(dict)
        digest = transcript.digest if lines else ""
        for judgement in _judgements(judgements, lines):
            key = _panel_key(judgement)
            self._doubts.see(
                judgement,
                twice=judgement.indicator in by_panel[key],
                stale=judgement.transcript_digest != digest,
            )
            by_panel[key][judgement.indicator] = judgement
        for key, answers in by_panel.items():
            self._read[key].see(transcript, answers.values())
        subject = self._facts.labels.get(transcript.id) or subject_of(transcript.cast)
        self._suites.add(transcript.suite)
        if transcript.suite == "world":
            self._plays.append(play_figures(transcript, subject))
        return Trial(
            line=number,
            judgements=lines,
            anchor=anchor_of(transcript.id),
            id=transcript.id,
            scenario=transcript.scenario.id,
            title=transcript.scenario.title or transcript.scenario.id,
            subject=subject,
            protocol=transcript.protocol,
            seed=transcript.seed,
            outcome=transcript.outcome.label if transcript.outcome is not None else "",
            end_reason=transcript.end_reason,
            turns=len(transcript.turns),
            restarts=tuple(restart.cause for restart in transcript.restarts),
            cures=tuple(cure.kind for cure in transcript.cures),
            models=measured_models(transcript.cast),
            scores=tuple(self._scores(transcript, key, by_panel[key]) for key in self._panels),
        )

    def _scores(
        self, transcript: Transcript, key: PanelKey, answers: Mapping[str, Judgement]
    ) -> TranscriptScores | None:
        checklist = self._checklists.get(key[0])
        if checklist is None:
            return None
        known = {indicator.id for indicator in checklist.indicators}
        self._doubts.unknown_indicators += sum(name not in known for name in answers)
        usable = [judgement for name, judgement in answers.items() if name in known]
        return self._shared.share(score_transcript(transcript, checklist, usable))

    def report(self, transcripts: Lines, judgements: Lines | None, ratings: RatingReport | None) -> Report:
        subjects = self._subjects()
        terms = terms_of(self._suites or {self._facts.suite})
        panels = tuple(
            self._panel(number, key, name, subjects) for number, (key, name) in enumerate(self._panels.items())
        )
        return Report(
            facts=self._facts,
            cautions=cautions(
                self._facts,
                subjects,
                panels,
                self._doubts,
                terms=terms,
                rated=ratings.cautions if ratings is not None else None,
            ),
            subjects=subjects,
            panels=panels,
            trials=tuple(self._trials),
            transcript_lines=transcripts,
            judgement_lines=judgements,
            terms=terms,
            plays=plays_by_subject(self._plays),
            ratings=ratings,
        )

    def _subjects(self) -> tuple[Subject, ...]:
        labels = dict.fromkeys([*self._facts.planned_trials, *(trial.subject for trial in self._trials)])
        return tuple(self._subject(label) for label in labels)

    def _subject(self, label: str) -> Subject:
        mine = [trial for trial in self._trials if trial.subject == label]
        planned = self._facts.planned_trials.get(label)
        return Subject(
            label=label,
            protocols=tuple(dict.fromkeys(trial.protocol for trial in mine)),
            planned=sum(planned.values()) if planned is not None else None,
            trials=len(mine),
            outcomes=Counter(trial.outcome or "no outcome" for trial in mine),
            ends=Counter(trial.end_reason for trial in mine),
            restarts=Counter(cause for trial in mine for cause in trial.restarts),
            cures=Counter(kind for trial in mine for kind in trial.cures),
        )

    def _panel(self, number: int, key: PanelKey, name: str, subjects: Sequence[Subject]) -> Panel:
        digest, judge, mode = key
        checklist = self._checklists.get(digest)
        scores = tuple(self._subject_scores(number, checklist, subjects)) if checklist is not None else ()
        probabilistic = any(one.scores["total:probabilistic"].used for one in scores)
        return Panel(
            judge=judge,
            mode=mode,
            checklist_id=name,
            checklist_digest=digest,
            checklist=checklist,
            measures=measures(checklist, probabilistic=probabilistic) if checklist is not None else (),
            subjects=scores,
            card=nearest_card(judge, mode, checklist, self._read[key], self._facts) if checklist is not None else None,
        )

    def _subject_scores(self, panel: int, checklist: Checklist, subjects: Sequence[Subject]) -> Iterator[SubjectScores]:
        for subject in subjects:
            mine = [trial for trial in self._trials if trial.subject == subject.label]
            scored = [found for trial in mine if (found := trial.scores[panel]) is not None]
            absent = self._absent(subject.label, mine)
            if scored or absent:
                yield score_subject(subject.label, checklist, scored, absent)

    def _absent(self, label: str, trials: Sequence[Trial]) -> dict[str, int]:
        """Returns how many planned trials of a subject never came about, by scenario."""
        present = Counter(trial.scenario for trial in trials)
        planned = self._facts.planned_trials.get(label, {})
        return {
            scenario: number - present[scenario] for scenario, number in planned.items() if number > present[scenario]
        }


def _judgements(lines: Lines | None, numbers: array[int]) -> Iterator[Judgement]:
    if lines is not None and numbers:
        yield from lines.records(numbers, Judgement)


def _panel_key(judgement: Judgement) -> PanelKey:
    return judgement.checklist_digest, judgement.judge, judgement.mode
