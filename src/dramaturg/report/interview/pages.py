"""The report of an interview as it is read: in a terminal, and as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from dramaturg.judge.matching.scores import RULE
from dramaturg.report.costs import costs
from dramaturg.report.exports import as_terminal
from dramaturg.report.figures import plain
from dramaturg.report.html import LISTED_FAILURES, render_page
from dramaturg.report.interview.data import InterviewReport
from dramaturg.report.interview.sections import headline, sections
from dramaturg.text import storable

FIRST_TABLES = {"asked": 0, "scores": 1, "categories": 1}
"""Parts that a terminal shows at first, and how many of their tables."""


def render_terminal(report: InterviewReport, *, details: bool = False) -> Iterator[RenderableType]:
    """Yields what to print, in order; no text of a model or file is markup.

    Args:
        report: What to show.
        details: Whether all parts and tables are shown, and not only what a screen holds.
    """
    yield Text(plain(f"{report.facts.study}: {headline(report)}"), "bold")
    for caution in report.cautions:
        serious = caution.severity == "serious"
        yield Text(plain(f"{'! ' if serious else 'i '}{caution.text}"), "yellow" if serious else "dim")
    for section in sections(report):
        if not details and section.anchor not in FIRST_TABLES:
            continue
        yield Text(plain(f"\n{section.title}"), "bold")
        for line in section.lines:
            yield Text(plain(line))
        yield from as_terminal(section.tables if details else section.tables[: FIRST_TABLES[section.anchor]])
    if not details:
        yield Text(
            "On the page: intervals, differences, labels, statuses, repeats, votes, the paper's own tables.", "dim"
        )


def render_html(report: InterviewReport) -> str:
    """Returns the report as one page that needs no network and no other file, and works without its script.

    Args:
        report: What to show.
    """
    return storable(
        render_page(
            "interview.html.j2",
            report=report,
            headline=headline(report),
            serious=any(caution.severity == "serious" for caution in report.cautions),
            sections=sections(report),
            costs=costs(report.facts),
            rule=RULE,
            shown=LISTED_FAILURES,
            hashes={"Hashes of the prompts": report.facts.prompts, "Versions": report.facts.versions},
        )
    )
