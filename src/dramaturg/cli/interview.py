"""Carry out a study of an interview, and show what came out: for ``dramaturg run``, ``rpeval run`` and ``report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dramaturg.cli.console import Finished, complain, say, say_json, show
from dramaturg.cli.run import budget_of, open_ledger, progress_display

if TYPE_CHECKING:
    from dramaturg.ledger import Budget, Ledger
    from dramaturg.report.interview.data import InterviewReport
    from dramaturg.run.interview.engine import InterviewResult
    from dramaturg.run.interview.material import InterviewMaterial
    from dramaturg.text import Json

PAGE = "report.html"
SCORES = "scores.csv"


def run_interview_study(
    study: Path,
    out: Path,
    ledger: str,
    limits: tuple[int | None, int | None, float | None],
    *,
    as_json: bool,
    replay_only: bool,
    accept_changes: bool,
    command: str,
) -> None:
    """Carries out a study of an interview, writes its report, and ends with the run's exit code.

    Args:
        study: The study file.
        out: Output folder.
        ledger: Where every answer is kept; empty for the folder's own.
        limits: Most calls, tokens and dollars, each before the study file's.
        as_json: Whether the result is printed as JSON.
        replay_only: Whether new calls are refused.
        accept_changes: Whether other prompts, settings or another version are fine.
        command: What continues the run.

    Raises:
        UserError: The study is wrong, or the folder belongs to another.
        LedgerError: The ledger cannot be written.
    """
    from dramaturg.report.interview import to_json
    from dramaturg.run.interview.material import read_interview
    from dramaturg.run.kept import keep_seconds

    material = read_interview(study)
    for problem in material.item_set.problems:
        complain(str(problem))
    budget = budget_of(material.study.budgets, *limits)
    with open_ledger(out, ledger, replay_only=replay_only) as store:
        result = _carry_out(material, out, store, budget, accept_changes=accept_changes, replay_only=replay_only)
        keep_seconds(store, result)
        report = write_interview_report(out, store, command=command)
        if as_json:
            say_json({**_result_json(result), **to_json(report)})
        else:
            show_interview_report(report, out / PAGE)
            say(f"{result.calls} new calls, {result.replayed} replayed, {result.seconds:.1f} s")
    if result.advice:
        complain(result.advice)
    if result.exit_code:
        raise Finished(result.exit_code)


def write_interview_report(out: Path, ledger: Ledger, *, command: str) -> InterviewReport:
    """Returns the report of an interview's folder; its page and its scores as CSV are written there.

    Raises:
        UserError: A file of the folder is broken, or the disk is full.
    """
    from dramaturg.report.interview.folder import report_of_folder

    report = report_of_folder(out, ledger, command=command)
    write_interview_pages(report, out)
    return report


def write_interview_pages(report: InterviewReport, out: Path) -> None:
    """Writes a report as a page, and its scores as CSV, into a folder.

    Raises:
        UserError: The disk is full, or the folder cannot be written.
    """
    from dramaturg.report.interview import render_html, to_csv
    from dramaturg.run.spool import writing
    from dramaturg.text import write_atomically

    with writing(out):
        write_atomically(out / PAGE, render_html(report))
        write_atomically(out / SCORES, to_csv(report))


def show_interview_report(report: InterviewReport, page: Path | None = None) -> None:
    """Prints a report, and where its page is."""
    from dramaturg.report.interview import render_terminal

    for part in render_terminal(report):
        show(part)
    if page is not None:
        say(f"report: {page}")


def _carry_out(
    material: InterviewMaterial,
    out: Path,
    ledger: Ledger,
    budget: Budget,
    *,
    accept_changes: bool,
    replay_only: bool,
) -> InterviewResult:
    import asyncio

    from dramaturg.model.opening import Models
    from dramaturg.run.interview.engine import run_interview
    from dramaturg.run.kept import keep_models

    async def work() -> InterviewResult:
        models = Models()
        try:
            async with models:
                return await run_interview(
                    material,
                    out=out,
                    ledger=ledger,
                    models=models,
                    budget=budget,
                    progress=progress_display(),
                    accept_changes=accept_changes,
                    replay_only=replay_only,
                )
        finally:
            keep_models(ledger, models, dict.fromkeys(material.models(), ("subject",)))

    return asyncio.run(work())


def _result_json(result: InterviewResult) -> dict[str, Json]:
    return {
        "out": str(result.out),
        "replies": {
            "planned": result.planned,
            "answered": result.answered,
            "failed": dict(result.failed),
            "open": result.planned - result.answered - result.failed.total(),
        },
        "calls": result.calls,
        "replayed": result.replayed,
        "tokens": result.tokens,
        "seconds": round(result.seconds, 3),
        "stop": result.limit or result.stop,
        "exit_code": result.exit_code,
    }
