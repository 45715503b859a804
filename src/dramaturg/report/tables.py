"""What a report keeps of a run in memory: a small record per trial, and a table per subject and per judge."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dramaturg.judge.audit.card_store import Nearest
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.checklist.score import TranscriptScores
from dramaturg.measure import Estimate
from dramaturg.report.scores import Measure, SubjectScores


@dataclass(frozen=True, slots=True)
class Trial:
    """What is kept of one trial.

    Attributes:
        line: Its line in the file of transcripts.
        judgements: Lines of its judgements.
        anchor: Its place on a page.
        subject: Label of its subject.
        turns: How many turns were played in the final attempt.
        restarts: Causes of its restarts, in order.
        cures: Kinds of its cures, in order.
        models: Identities of the measured models.
        scores: Its scores by panel; None where the panel's checklist is not at hand.
    """

    line: int
    judgements: array[int]
    anchor: str
    id: str
    scenario: str
    title: str
    subject: str
    protocol: str
    seed: int
    outcome: str
    end_reason: str
    turns: int
    restarts: tuple[str, ...]
    cures: tuple[str, ...]
    models: tuple[str, ...]
    scores: tuple[TranscriptScores | None, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One judge with one checklist and one way of asking, and the scores that came of it.

    Attributes:
        checklist_id: Id and version.
        checklist: The checklist, or None where no copy of it is at hand; then there are no scores.
        measures: Rows of the score table.
        subjects: Scores of each subject.
        card: The judge's card, or the nearest one; None where it has none.
    """

    judge: str
    mode: str
    checklist_id: str
    checklist_digest: str
    checklist: Checklist | None
    measures: tuple[Measure, ...]
    subjects: tuple[SubjectScores, ...]
    card: Nearest | None

    @property
    def title(self) -> str:
        """Who judged, by what and how."""
        return f"Judged by {self.judge} with the checklist {self.checklist_id}, mode {self.mode}"

    @property
    def negative(self) -> tuple[str, ...]:
        """Ids of the indicators that are scored reversed."""
        indicators = self.checklist.indicators if self.checklist is not None else ()
        return tuple(indicator.id for indicator in indicators if indicator.sign == "negative")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why intervals are missing or special, each reason once: the footnotes of the score table."""
        return tuple(dict.fromkeys(estimate.reason for estimate in self.estimates() if estimate.reason))

    def estimates(self) -> Iterator[Estimate]:
        """Yields every estimate that the score table shows."""
        for subject in self.subjects:
            for measure in self.measures:
                yield subject.scores[measure.key].summary.estimate


@dataclass(frozen=True, slots=True)
class Subject:
    """How the trials of one subject ended.

    Attributes:
        label: Its name.
        protocols: Protocols that its trials followed.
        planned: Trials that were planned, or None where nothing was planned.
        trials: Trials that came about.
        outcomes: Trials by outcome.
        ends: Trials by end reason.
        restarts: Restarts by cause, over all trials: the Retry Rate, taken apart.
        cures: Cures by kind, over all trials.
    """

    label: str
    protocols: tuple[str, ...]
    planned: int | None
    trials: int
    outcomes: Mapping[str, int]
    ends: Mapping[str, int]
    restarts: Mapping[str, int]
    cures: Mapping[str, int]
