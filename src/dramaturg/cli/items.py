"""``dramaturg checklist items``: which indicators carry information."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, complain_of_torn, figures_table, say, say_json, show

if TYPE_CHECKING:
    from rich.table import Table

    from dramaturg.judge.checklist.answer_table import AnswerTable
    from dramaturg.judge.checklist.items import ItemAnalysis
    from dramaturg.text import Json


def items(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Output folder of a run or a judging.")],
    as_json: AsJson = False,
) -> None:
    """Show what each indicator tells: share of yes, fit, discrimination, disagreement, twins; and what to drop."""
    from dramaturg.judge.checklist.items import analyse
    from dramaturg.report.facts import used_checklists
    from dramaturg.run.subjects import subjects_of_run

    tables = answers_in(judgements_of(run))
    found = analyse(tables, checklists=used_checklists(run), subjects=subjects_of_run(run, on_torn=complain_of_torn))
    if as_json:
        say_json([_json(analysis) for analysis in found])
        return
    for analysis in found:
        say(f"{analysis.title}: {analysis.transcripts:,} transcripts, {len(analysis.subjects)} subjects")
        show(_table(analysis))
        for line in _lines(analysis):
            say(line)


def judgements_of(run: Path) -> Path:
    """Returns the file of judgements of a folder, or the file itself.

    Raises:
        UserError: There is none.
    """
    from dramaturg.errors import UserError

    path = run / "judgements.jsonl" if run.is_dir() else run
    if not path.is_file():
        raise UserError("holds no judgements.jsonl", where=str(run), allowed="the --out folder of a run or a judging")
    return path


def answers_in(judgements: Path) -> tuple[AnswerTable, ...]:
    """Returns the answers of a file of judgements, a table for each judge; a torn last line is complained of.

    Raises:
        ContentError: A line is broken; the message names it.
        UserError: It holds no judgement.
    """
    from dramaturg.errors import UserError
    from dramaturg.files import ends_torn
    from dramaturg.judge.checklist.answer_table import read_answers

    if ends_torn(judgements):
        complain_of_torn(str(judgements))
    tables = read_answers(judgements)
    if not tables:
        raise UserError("holds no judgements", where=str(judgements), allowed="the file of a judging that answered")
    return tables


def _table(analysis: ItemAnalysis) -> Table:
    from dramaturg.report import figures

    table = figures_table("indicator", "answered", "missing", "yes", "fit", "eta²", "spread", "judges differ")
    for item in analysis.items:
        table.add_row(
            figures.plain(item.indicator) + (" (reversed)" if item.reversed else ""),
            figures.count(item.answered),
            figures.share(item.missing, item.answered + item.missing),
            figures.decimal(item.yes),
            figures.decimal(item.item_total),
            figures.decimal(item.discrimination),
            figures.decimal(item.spread),
            figures.decimal(item.disagreement),
        )
    return table


def _lines(analysis: ItemAnalysis) -> Iterator[str]:
    yield "fit: correlation with the rest of the dimension (corrected item-total)"
    yield "eta²: share of variance between subjects; spread: largest less smallest share of good answers of a subject"
    for pair in analysis.twins:
        yield f"twins: {pair.one} and {pair.other}, phi {pair.phi:.2f} over {pair.n:,} transcripts"
    yield "To drop or rewrite:" if analysis.advice else "Nothing to drop."
    for advice in analysis.advice:
        yield f"  {advice.indicator}: {'; '.join(advice.reasons)}"
    yield from analysis.notes


def _json(analysis: ItemAnalysis) -> Json:
    from dataclasses import asdict

    data = asdict(analysis)
    for item, record in zip(analysis.items, data["items"], strict=True):
        record["missing_share"] = item.missing_share
    return data
