"""``dramaturg report``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, say, say_json, show

if TYPE_CHECKING:
    from dramaturg.ledger import Ledger
    from dramaturg.report import Report


@dataclass(frozen=True, slots=True)
class Written:
    """A report and where its page is."""

    report: Report
    path: Path


def report(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder of a run or a judging.")],
    ledger: Annotated[str, typer.Option("--ledger", metavar="PATH|URL", help="Where its answers are kept.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write DIR/report.html again and show the scores; no model is called."""
    from dramaturg.cli.run import open_ledger
    from dramaturg.errors import UserError
    from dramaturg.report import summary, terminal

    if not (out / "transcripts.jsonl").is_file():
        raise UserError("holds no transcripts.jsonl", where=str(out), allowed="the --out folder of a run")
    with open_ledger(out, ledger) as store:
        written = write_report(out, store, command=f"dramaturg run {out / 'study.yaml'} --out {out}")
    if as_json:
        say_json(summary(written.report))
        return
    for part in terminal(written.report):
        show(part)
    say(f"report: {written.path}")


def write_report(out: Path, ledger: Ledger, *, command: str) -> Written:
    """Returns the report of a folder, its page written."""
    from dramaturg.report import collect, write_html
    from dramaturg.report.facts import facts_of_run, used_checklists

    collected = collect(
        out / "transcripts.jsonl",
        out / "judgements.jsonl",
        checklists=used_checklists(out),
        facts=facts_of_run(out, ledger, command=command),
    )
    path = out / "report.html"
    write_html(collected, path)
    return Written(collected, path)
