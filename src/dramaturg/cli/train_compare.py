"""``dramaturg train compare``: a base and a tuned model before the same held-out things, paired, with intervals."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, complain, say, say_json, show
from dramaturg.cli.run import (
    AcceptChanges,
    LedgerAt,
    MaxCalls,
    MaxCost,
    MaxTokens,
    Out,
    ReplayOnly,
    open_ledger,
    progress_display,
)

if TYPE_CHECKING:
    from dramaturg.ledger import Budget, Ledger
    from dramaturg.measure import Estimate
    from dramaturg.report.layouts import Cell, Layout
    from dramaturg.run.trained import BeforeAfter, Pair, TrainedOn
    from dramaturg.run.trained_study import Wishes
    from dramaturg.text import Json
    from dramaturg.train.comparing import Row, Table

RECORD, MARKDOWN, PAGE = "comparison.json", "comparison.md", "comparison.html"
DIGITS = 3


def compare(
    base: Annotated[str, typer.Argument(metavar="BASE", help="Model spec: before.")],
    tuned: Annotated[str, typer.Argument(metavar="TUNED", help="Model spec: after, as embedded:NAME+ADAPTER.")],
    on: Annotated[
        Path,
        typer.Option(
            "--on",
            metavar="STUDY|SET|DIR",
            help="A study of a world or a court, a data set (its test split), or a folder with scenes or cases.",
        ),
    ],
    out: Out,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge", metavar="SPEC", help="Who rates or judges, in place of the study's own; several times."
        ),
    ] = None,
    narrator: Annotated[
        str, typer.Option("--narrator", metavar="SPEC", help="Who narrates a world, in place of the study's own.")
    ] = "",
    known: Annotated[
        list[Path] | None,
        typer.Option("--trained-on", metavar="SET", help="A data set that a model was trained on; several times."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="Most examples, scenes or cases.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, max=2**31 - 1, help="Of the sample and of all calls; 0, or the study's own."),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, max=1024, help="Most at once; 2, or the study's own.")
    ] = None,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Compare a base with a tuned model on what neither was trained on; run it again to resume."""
    from dramaturg.errors import UserError
    from dramaturg.ledger import Budget
    from dramaturg.report.exports import as_markdown, as_terminal
    from dramaturg.report.html import tables_page
    from dramaturg.run.trained import pair_of, trained_on
    from dramaturg.run.trained_set import TEST
    from dramaturg.run.trained_study import Wishes
    from dramaturg.text import write_atomically

    if not on.exists():
        raise UserError("is not there", where=f"--on {on}", allowed="a study file, a data set, or a folder of scenes")
    is_set = on.is_dir() and ((on / TEST).is_file() or (on / "card.json").is_file())
    if is_set and (judge or narrator):
        option = "--judge" if judge else "--narrator"
        raise UserError(
            "a data set is measured by rule", where=option, allowed="a study, or a folder with scenes or cases"
        )
    pair = pair_of(base, tuned)
    trained = trained_on(pair, known or ())
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    with open_ledger(out, ledger, replay_only=replay_only) as store:
        if is_set:
            found = _on_set(
                on, pair, trained, out, store, budget, sample, seed or 0, concurrency or 2, accept_changes, replay_only
            )
        else:
            wishes = Wishes(tuple(judge or ()), narrator, sample, seed, concurrency)
            found = _on_study(on, pair, trained, wishes, out, store, budget, accept_changes, replay_only)
    layouts = [_layout(table, found) for table in found.tables]
    record = _record(found, trained)
    if found.tables:
        write_atomically(out / RECORD, _text(record))
        write_atomically(out / MARKDOWN, as_markdown(layouts))
        write_atomically(out / PAGE, tables_page(layouts))
    if as_json:
        say_json({**record, "out": str(out)})
    else:
        for part in as_terminal(layouts):
            show(part)
        for line in _lines(found, trained):
            say(line)
        if found.tables:
            say(f"{out / MARKDOWN}, {out / PAGE} and {out / RECORD} hold the tables")
    if found.stop:
        complain(f"stopped: {found.limit or found.stop}; run it again to go on, what was answered is not asked again")
    elif found.exit_code:
        complain(f"{found.planned - found.done} of {found.planned} failed; run it again to ask them anew")
    if found.exit_code:
        raise Finished(found.exit_code)


def _on_set(
    on: Path,
    pair: Pair,
    trained: TrainedOn,
    out: Path,
    store: Ledger,
    budget: Budget,
    sample: int | None,
    seed: int,
    concurrency: int,
    accept_changes: bool,
    replay_only: bool,
) -> BeforeAfter:
    import asyncio

    from dramaturg.model.opening import Models
    from dramaturg.run.kept import keep_models
    from dramaturg.run.trained_set import SetComparison, held_out

    asked = held_out(on, pair, trained, sample=sample, seed=seed)

    async def work() -> BeforeAfter:
        models = Models()
        try:
            async with models:
                comparison = SetComparison(asked, pair, models, store, budget, replay_only)
                return await comparison.carry_out(
                    out, concurrency=concurrency, progress=progress_display(), accept_changes=accept_changes
                )
        finally:
            keep_models(store, models, {one.spec.text: ("subject",) for one in pair.models})

    return asyncio.run(work())


def _on_study(
    on: Path,
    pair: Pair,
    trained: TrainedOn,
    wishes: Wishes,
    out: Path,
    store: Ledger,
    budget: Budget,
    accept_changes: bool,
    replay_only: bool,
) -> BeforeAfter:
    import asyncio

    from dramaturg.run.trained_study import chosen_study, compare_on_study

    with tempfile.TemporaryDirectory(prefix="dramaturg-") as folder:
        chosen = chosen_study(on, pair, trained, wishes, folder=Path(folder))
        return asyncio.run(
            compare_on_study(
                chosen,
                pair,
                out=out,
                ledger=store,
                budget=budget,
                progress=progress_display(),
                accept_changes=accept_changes,
                replay_only=replay_only,
            )
        )


def _layout(table: Table, found: BeforeAfter) -> Layout:
    """Returns a table as it is printed: a row for each measure, before and after."""
    from dramaturg.report.layouts import Cell, Column, Layout

    columns = (
        Column("Measure", numeric=False),
        Column("Base", interval=True),
        Column("Tuned", interval=True),
        Column("Tuned − base", interval=True),
        Column("n"),
        Column("Scenes"),
        Column("p (Holm)"),
        Column("Tuned is", numeric=False),
    )
    rows = [
        (
            Cell(row.name),
            _cell(row.base),
            _cell(row.tuned),
            _cell(row.difference, signed=True),
            Cell(_counts(row)),
            Cell(f"{row.difference.clusters}"),
            Cell(_p(row)),
            Cell(row.verdict),
        )
        for row in table.rows
    ]
    title = f"{found.base} and {found.tuned}: {table.title}"
    return Layout(0, title, columns, tuple(rows), (*table.notes, *_whys(table.rows)))


def _cell(estimate: Estimate, *, signed: bool = False) -> Cell:
    from dramaturg.report.figures import NONE
    from dramaturg.report.layouts import Cell

    sign = "+" if signed else ""
    text = NONE if estimate.value is None else f"{estimate.value:{sign}.{DIGITS}f}"
    if estimate.low is None or estimate.high is None:
        return Cell(text)
    return Cell(text, f"{estimate.low:{sign}.{DIGITS}f}", f"{estimate.high:{sign}.{DIGITS}f}")


def _counts(row: Row) -> str:
    used = (row.base.n_used, row.tuned.n_used, row.difference.n_used)
    planned = row.difference.n_planned
    return f"{planned}" if set(used) == {planned} else "/".join(map(str, used)) + f" of {planned}"


def _p(row: Row) -> str:
    from dramaturg.report.figures import decimal

    return decimal(row.p_holm, DIGITS)


def _whys(rows: Sequence[Row]) -> Iterator[str]:
    """Yields why estimates have no interval, each reason once."""
    columns = {
        "the base": [row.base for row in rows],
        "the tuned model": [row.tuned for row in rows],
        "the difference": [row.difference for row in rows],
    }
    found: dict[tuple[str, str], list[str]] = {}
    for column, estimates in columns.items():
        reasons: dict[str, list[str]] = {}
        for row, estimate in zip(rows, estimates, strict=True):
            if estimate.low is None and estimate.reason:
                reasons.setdefault(estimate.reason, []).append(row.name)
        for reason, names in reasons.items():
            told = "all measures" if len(names) == len(rows) else ", ".join(names)
            found.setdefault((reason, told), []).append(column)
    for (reason, told), of in found.items():
        yield f"no interval of {', '.join(of)} for {told}: {reason}"


def _lines(found: BeforeAfter, trained: TrainedOn) -> Iterator[str]:
    yield trained.note
    for why, count in found.left_out.items():
        yield f"left out: {count}: {why}"
    yield from found.notes
    if found.tables:
        yield "n: what is used of what was planned; where that is not all of it: of base/tuned/both"
        yield (
            "differences are paired, tuned minus base, with 95 % intervals over scenes or cases; p-values are "
            "corrected for all measures of a table (Holm), and where there is none the interval decides"
        )
    yield f"{found.calls} new calls, {found.replayed} replayed, {found.seconds:.1f} s"


def _record(found: BeforeAfter, trained: TrainedOn) -> dict[str, Json]:
    tables: list[Json] = []
    for table in found.tables:
        data = asdict(table)
        for row, kept in zip(table.rows, data["rows"], strict=True):
            kept["verdict"] = row.verdict
        tables.append(data)
    return {
        "kind": found.kind,
        "on": found.on,
        "base": found.base,
        "tuned": found.tuned,
        "tables": tables,
        "left_out": dict(found.left_out),
        "trained_on": {"ids": len(trained.ids), "told_by": list(trained.told_by)},
        "notes": list(found.notes),
        "planned": found.planned,
        "done": found.done,
        "calls": found.calls,
        "replayed": found.replayed,
        "seconds": round(found.seconds, 3),
        "stop": found.limit or found.stop,
        "exit_code": found.exit_code,
    }


def _text(record: dict[str, Json]) -> str:
    import json

    return json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
