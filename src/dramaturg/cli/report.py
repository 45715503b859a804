"""``dramaturg report``."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from dramaturg.cli.console import AsJson, say, say_json, show

if TYPE_CHECKING:
    from dramaturg.report import Layout, NamedReport
    from dramaturg.report.rating import RatingReport
    from dramaturg.text import Json


class Format(StrEnum):
    """How tables are printed."""

    TERMINAL = "terminal"
    CSV = "csv"
    MD = "md"
    LATEX = "latex"
    HTML = "html"


def report(
    out: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Output folders of runs, judgings, ratings or, with --table, of `world craft`; with --table also YAML "
            "files of published figures.",
        ),
    ],
    table: Annotated[
        str,
        typer.Option(
            "--table",
            metavar="N|all",
            help="Print tables, all folders put together: RPA-Check's Tables 1 to 6 of what was judged, CharacterBox's "
            "Tables 1 to 4 and 6 of what was rated or crafted.",
        ),
    ] = "",
    form: Annotated[Format, typer.Option("--format", help="Form of the tables.")] = Format.TERMINAL,
    dimension: Annotated[
        str, typer.Option("--dimension", metavar="ID", help="Dimension of Tables 1 to 3; the first by default.")
    ] = "",
    intervals: Annotated[bool, typer.Option("--intervals", help="Print intervals in the tables.")] = False,
    people: Annotated[
        Path | None,
        typer.Option("--people", metavar="FILE", help="People's ratings, for CharacterBox's Table 3; with --table."),
    ] = None,
    ledger: Annotated[str, typer.Option("--ledger", metavar="PATH|URL", help="Where its answers are kept.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write DIR/report.html again and show the scores, or print tables for a paper; no model is called."""
    from dramaturg.errors import UserError

    if ledger and len(out) > 1:
        raise UserError("--ledger goes with one DIR", where="--ledger", allowed="leave it out: each DIR has its own")
    if table:
        made = [
            *_tables_of_judgements(out, dimension=dimension, intervals=intervals, ledger=ledger),
            *_tables_of_ratings(out, people, intervals=intervals, ledger=ledger),
        ]
        _print(_chosen(made, table, out), form, as_json=as_json)
        return
    if form is not Format.TERMINAL or dimension or intervals or people is not None:
        raise UserError(
            "--format, --dimension, --intervals and --people go with --table", allowed="--table 1, --table all"
        )
    _show_reports(out, ledger, as_json=as_json)


def _show_reports(out: Sequence[Path], ledger: str, *, as_json: bool) -> None:
    from dramaturg.cli.interview import PAGE, show_interview_report, write_interview_report
    from dramaturg.cli.run import open_ledger
    from dramaturg.report import summary, terminal
    from dramaturg.report.interview import to_json
    from dramaturg.report.interview.folder import is_interview
    from dramaturg.report.page import write_report

    for folder in out:
        if not is_interview(folder):
            _check_folder(folder)
    summaries: list[dict[str, Json]] = []
    for folder in out:
        if is_interview(folder):
            with open_ledger(folder, ledger) as store:
                interview = write_interview_report(folder, store, command=_command(folder))
            if as_json:
                summaries.append(to_json(interview))
            else:
                show_interview_report(interview, folder / PAGE)
            continue
        with open_ledger(folder, ledger) as store:
            written = write_report(folder, store, command=_command(folder))
        if as_json:
            summaries.append(summary(written.report))
            continue
        for part in terminal(written.report):
            show(part)
        say(f"report: {written.path}")
    if as_json:
        say_json(summaries[0] if len(summaries) == 1 else summaries)


def _tables_of_judgements(out: Sequence[Path], *, dimension: str, intervals: bool, ledger: str) -> list[Layout]:
    from dramaturg.report import figures_of_publication, figures_of_reports, layouts
    from dramaturg.report.rating import is_crafting

    published = [path for path in out if path.is_file()]
    folders = [path for path in out if path not in published and not is_crafting(path)]
    reports = [_named_report(folder, folders, ledger) for folder in folders]
    sets = [*figures_of_reports(reports), *map(figures_of_publication, published)]
    return [layout for figures in sets for layout in layouts(figures, dimension=dimension, intervals=intervals)]


def _tables_of_ratings(out: Sequence[Path], people: Path | None, *, intervals: bool, ledger: str) -> list[Layout]:
    from dramaturg.cli.run import open_ledger
    from dramaturg.report.rating import (
        collect_ratings,
        craft_figures,
        craft_layout,
        is_crafting,
        joined,
        rating_layouts,
    )
    from dramaturg.run.rating import RATINGS

    made: list[Layout] = []
    rated = [path for path in out if (path / RATINGS).is_file()]
    reports: list[RatingReport] = []
    for folder in rated:
        with open_ledger(folder, ledger) as store:
            reports.append(collect_ratings(folder, store))
    if reports:
        made += rating_layouts(joined(reports), intervals=intervals)
        if people is not None:
            made += _tables_of_people(rated, people)
    crafted = [path for path in out if is_crafting(path)]
    if crafted:
        made.append(craft_layout(craft_figures(crafted)))
    return made


def _tables_of_people(rated: Sequence[Path], people: Path) -> tuple[Layout, ...]:
    from dramaturg.report.rating.reliability import judges_against_people, people_layouts, tables_in
    from dramaturg.run.person_ratings import by_person, read_person_ratings

    tables = tables_in(rated)
    metrics = tables[0].table.metrics
    named = [one for one in tables if one.table.metrics == metrics]
    given = by_person(read_person_ratings(people, metrics=metrics))
    return people_layouts(judges_against_people(named, given), named[0].rubric)


def _chosen(made: Sequence[Layout], table: str, out: Sequence[Path]) -> Sequence[Layout]:
    from dramaturg.errors import UserError

    if not made:
        raise UserError(
            "nothing was judged by a checklist that is at hand, rated or crafted", where=", ".join(map(str, out))
        )
    chosen = [layout for layout in made if table in {"all", str(layout.number)}]
    if not chosen:
        numbers = map(str, sorted({layout.number for layout in made if layout.number}))
        hint = "; Table 3 needs --people FILE" if table == "3" else ""
        raise UserError(f"there is no table {table!r}", where="--table", allowed=", ".join([*numbers, "all"]) + hint)
    return chosen


def _print(tables: Sequence[Layout], form: Format, *, as_json: bool) -> None:
    from dramaturg.report import exports, tables_page

    if as_json:
        say_json(exports.as_json(tables))
        return
    match form:
        case Format.TERMINAL:
            for part in exports.as_terminal(tables):
                show(part)
        case Format.CSV:
            say(exports.as_csv(tables).rstrip("\n"))
        case Format.MD:
            say(exports.as_markdown(tables).rstrip("\n"))
        case Format.LATEX:
            say(exports.as_latex(tables).rstrip("\n"))
        case Format.HTML:
            say(tables_page(tables))
        case _:
            assert_never(form)


def _named_report(folder: Path, folders: Sequence[Path], ledger: str) -> NamedReport:
    from dramaturg.cli.run import open_ledger
    from dramaturg.report import NamedReport
    from dramaturg.report.page import collect_report

    _check_folder(folder)
    names = [other.resolve().name for other in folders]
    name = folder.resolve().name
    with open_ledger(folder, ledger) as store:
        report = collect_report(folder, store, command=_command(folder))
    return NamedReport(name if names.count(name) == 1 else str(folder), report)


def _check_folder(folder: Path) -> None:
    from dramaturg.errors import UserError

    if not (folder / "transcripts.jsonl").is_file():
        raise UserError("holds no transcripts.jsonl", where=str(folder), allowed="the --out folder of a run")


def _command(folder: Path) -> str:
    return f"dramaturg run {folder / 'study.yaml'} --out {folder}"
