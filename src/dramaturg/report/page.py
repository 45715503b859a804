"""The report of a folder: gathered from its files and its ledger, and written beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dramaturg.ledger import Ledger
from dramaturg.report.collect import Report, collect
from dramaturg.report.facts import facts_of_run, used_checklists
from dramaturg.report.html import write_html
from dramaturg.report.rating.collect import collect_ratings
from dramaturg.run.rating import RATINGS


@dataclass(frozen=True, slots=True)
class Written:
    """A report and where its page is."""

    report: Report
    path: Path


def collect_report(out: Path, ledger: Ledger, *, command: str) -> Report:
    """Returns the report of a folder.

    Args:
        out: Output folder of a run or a judging.
        ledger: Its ledger.
        command: What continues or repeats it.

    Raises:
        UserError: A file of the folder is broken; the message names the line.
    """
    return collect(
        out / "transcripts.jsonl",
        out / "judgements.jsonl",
        checklists=used_checklists(out),
        facts=facts_of_run(out, ledger, command=command),
        ratings=collect_ratings(out, ledger) if (out / RATINGS).is_file() else None,
    )


def write_report(out: Path, ledger: Ledger, *, command: str) -> Written:
    """Returns the report of a folder, its page written; see `collect_report`."""
    collected = collect_report(out, ledger, command=command)
    path = out / "report.html"
    write_html(collected, path)
    return Written(collected, path)


def write_page(out: Path, ledger: Ledger, command: str) -> Path:
    """Returns the page with the report of a folder, as `dramaturg.run.games.judge_game` asks for it."""
    return write_report(out, ledger, command=command).path
