"""The report in its order: what was asked, scores beside baselines, categories, labels, statuses, repeats, votes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from dramaturg.judge.matching.baselines import Baseline
from dramaturg.judge.matching.beating import Standing
from dramaturg.report.figures import count, counted, share
from dramaturg.report.interview import details, tables
from dramaturg.report.interview.data import InterviewReport, Subject
from dramaturg.report.interview.published import published_tables
from dramaturg.report.interview.words import BASELINES
from dramaturg.report.layouts import Layout

LISTED_PROBLEMS = 20
"""Lines of the item set that cannot be used and are listed; all are counted."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report.

    Attributes:
        anchor: Its place on a page.
        title: Its heading.
        lines: What it says in plain sentences.
        tables: What it shows.
    """

    anchor: str
    title: str
    lines: tuple[str, ...]
    tables: tuple[Layout, ...]


def headline(report: InterviewReport) -> str:
    """Returns what was measured, in one sentence."""
    characters = len({character for character, _ in report.questions.values()})
    used = sum(subject.scores.used for subject in report.subjects)
    planned = sum(subject.scores.planned for subject in report.subjects)
    return (
        f"{counted(len(report.questions), 'item', 'items')} of the set {report.items.title}, version "
        f"{report.items.version}, about {counted(characters, 'character', 'characters')}, put to "
        f"{counted(len(report.subjects), 'subject', 'subjects')}: {count(used)} of {count(planned)} planned replies "
        f"count. They were read by the {'published rule' if report.matcher == 'compat' else 'rule robust'}."
    )


def beaten_lines(subject: Subject) -> tuple[str, ...]:
    """Returns which baselines a subject is shown to be better than, in plain sentences."""
    macro: dict[Baseline, Standing] = {
        name: against.differences["macro"].standing
        for name, against in subject.against.items()
        if "macro" in against.differences
    }
    joint: dict[Baseline, Standing] = {
        name: against.joint.standing for name, against in subject.against.items() if against.joint is not None
    }
    scored = (("macro", macro), ("in character × knows", joint))
    return tuple(_beaten(f"{subject.name}, {score}", standings) for score, standings in scored if standings)


def _beaten(what: str, standings: Mapping[Baseline, Standing]) -> str:
    named: defaultdict[Standing, list[str]] = defaultdict(list)
    for baseline, standing in standings.items():
        named[standing].append(BASELINES[baseline])
    line = f"{what}: shown to be better than {', '.join(named['better']) or 'no baseline'}"
    if named["worse"]:
        line += f"; worse than {', '.join(named['worse'])}"
    if named["unclear"]:
        line += f"; not told apart from {', '.join(named['unclear'])}"
    return f"{line}."


def sections(report: InterviewReport) -> tuple[Section, ...]:
    """Returns the parts of the report; a part that would be empty is left out.

    Args:
        report: What to show.
    """
    made = (
        Section("asked", "What was asked", _asked_lines(report), tables.asked(report)),
        Section(
            "scores",
            "Scores beside baselines",
            tuple(line for subject in report.subjects for line in beaten_lines(subject)),
            tables.scores(report),
        ),
        Section("categories", "Each category", (), tables.categories(report)),
        Section(
            "joint",
            "In character and knowing",
            (
                "Who refuses everything gives nothing away and knows nothing; who tells everything knows all and gives "
                "all away. Only both together, for the same character, are worth anything.",
            )
            if tables.joint(report)
            else (),
            tables.joint(report),
        ),
        Section("labels", "Each label", (), details.labels(report)),
        Section("statuses", "What became of the replies", _reading_lines(report), details.statuses(report)),
        Section("repeats", "Repeats", (), details.repeats(report)),
        Section("votes", "Credit by people's votes", (), details.votes(report)),
        Section("published", "The paper's tables", (), published_tables(report)),
    )
    return tuple(section for section in made if section.lines or section.tables)


def _asked_lines(report: InterviewReport) -> tuple[str, ...]:
    lines = [
        f"{subject.name}: {subject.scores.used:,} of {subject.scores.planned:,} planned replies count"
        + (
            f"; {subject.scores.invalid:,} more belong to items that cannot be scored."
            if subject.scores.invalid
            else "."
        )
        for subject in report.subjects
    ]
    if report.items.problems:
        lines.append(f"Cannot be used: {'; '.join(report.items.problems[:LISTED_PROBLEMS])}.")
    if len(report.items.problems) > LISTED_PROBLEMS:
        lines.append(f"{len(report.items.problems) - LISTED_PROBLEMS:,} more are not listed.")
    return tuple(lines)


def _reading_lines(report: InterviewReport) -> tuple[str, ...]:
    return tuple(
        f"{subject.name}: rules read {share(subject.scores.used - subject.scores.judged, subject.scores.used)} of the "
        f"replies, a model judged {subject.scores.judged:,}."
        for subject in report.subjects
        if report.matcher == "robust"
    )
