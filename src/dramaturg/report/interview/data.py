"""The report of an interview: what was asked, every subject's scores, and the baselines beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dramaturg.judge.matching.baselines import Baseline
from dramaturg.judge.matching.beating import Beating
from dramaturg.judge.matching.question import Question
from dramaturg.judge.matching.scores import InterviewScores
from dramaturg.report.data import Caution, RunFacts

Matcher: TypeAlias = Literal["robust", "compat"]
"""Which rule read the replies: `robust` or the published one."""


@dataclass(frozen=True, slots=True)
class SetFacts:
    """What a report says of an item set beside its items.

    Attributes:
        id: Its id.
        title: For people.
        version: Counted up whenever an item changes.
        digest: Hash of all of it.
        licence: Under which its items may be used; empty where it does not say.
        problems: One line for each item, row or character that cannot be used; nobody was asked them.
        notes: What else must be known of it, one sentence each.
    """

    id: str
    title: str
    version: int
    digest: str = ""
    licence: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """One row of the score table.

    Attributes:
        name: Model, strategy and whatever else tells it from the others.
        scores: Its scores.
        against: Its differences to each baseline, over the same items.
    """

    name: str
    scores: InterviewScores
    against: Mapping[Baseline, Beating]


@dataclass(frozen=True, slots=True)
class InterviewReport:
    """What `render_terminal`, `render_html`, `to_json` and `to_csv` show.

    Attributes:
        facts: What the run knows of itself: study, version, models, failures, cautions of its own.
        items: The item set.
        matcher: Which rule read the replies.
        questions: Every item that was planned and can be scored, by its id, with the id of its character.
        subjects: What was measured.
        baselines: What scores without reading a character.
        cautions: What limits trust, most serious first.
    """

    facts: RunFacts
    items: SetFacts
    matcher: Matcher
    questions: Mapping[str, tuple[str, Question]]
    subjects: tuple[Subject, ...]
    baselines: Mapping[Baseline, InterviewScores]
    cautions: tuple[Caution, ...]
