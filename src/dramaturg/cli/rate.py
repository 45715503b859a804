"""``dramaturg rate``: rate how roles are played in transcripts, and read what was rated."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, assert_never

import typer
from typer.core import TyperGroup

from dramaturg.cli import rate_serve
from dramaturg.cli.console import AsJson, Finished, complain, complain_of_torn, say, say_json, show
from dramaturg.cli.judge import MOST_VOTES
from dramaturg.cli.run import AcceptChanges, LedgerAt, MaxCalls, MaxCost, MaxTokens, Out, ReplayOnly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dramaturg.report.layouts import Layout
    from dramaturg.report.rating import RatingReport
    from dramaturg.run.result import RunResult
    from dramaturg.text import Json

RUN = "run"


class _RunByDefault(TyperGroup):
    """``dramaturg rate FILE`` means ``dramaturg rate run FILE``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the command in front of arguments that begin with no command and ask for no help."""
        if args and args[0] not in self.commands and args[0] not in {"-h", "--help"}:
            args = [RUN, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="rate",
    cls=_RunByDefault,
    help="Rate how roles are played, on scales from 1 to 5. `rate FILE` is short for `rate run FILE`.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.command()(rate_serve.serve)
app.command()(rate_serve.export)
app.command()(rate_serve.agreement)
app.add_typer(rate_serve.raters, name="rater")


class RatingModes(StrEnum):
    """How a rater is asked."""

    JOINT = "joint"
    SINGLE = "single"


class Format(StrEnum):
    """Form of tables."""

    TERMINAL = "terminal"
    CSV = "csv"
    MD = "md"
    LATEX = "latex"


MODES = "joint: one critique, then all metrics at once (the paper). single: each metric in a call of its own."

Votes = Annotated[int, typer.Option("--votes", min=1, max=MOST_VOTES, help="How often each metric is rated.")]
RatingModeOption = Annotated[RatingModes, typer.Option("--mode", help=MODES)]
RubricNamed = Annotated[
    str, typer.Option("--rubric", metavar="NAME|FILE", help="What is rated: character, narrator, or a file.")
]


@app.command(RUN)
def rate(
    source: Annotated[
        Path, typer.Argument(metavar="RUN|TRANSCRIPTS", help="Folder of a run, or a file of transcripts.")
    ],
    judge: Annotated[
        list[str], typer.Option("--judge", metavar="SPEC", help="A model that rates; may be given several times.")
    ],
    out: Out,
    mode: RatingModeOption = RatingModes.JOINT,
    votes: Votes = 1,
    rubric: RubricNamed = "character",
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**31 - 1, help="Of all calls: another one is a retest of the judge.")
    ] = 0,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Most transcripts rated at once.")] = 2,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Rate every role that a model plays, and report. Run it again to resume."""
    import asyncio

    from dramaturg.cli.run import open_ledger, progress_display
    from dramaturg.ledger import Budget
    from dramaturg.model.opening import Models
    from dramaturg.report.rating import collect_ratings
    from dramaturg.run.kept import keep_models, keep_seconds
    from dramaturg.run.rating import rating_benches, rating_docket
    from dramaturg.run.sitting import Sitting

    benches = rating_benches(judge, rubric=rubric, mode=mode.value, votes=votes)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    budget.check_prices({bench.model.written: bench.model.identity for bench in benches})
    docket = rating_docket(out, source=source, benches=benches, seed=seed, accept_changes=accept_changes)
    with open_ledger(out, ledger, replay_only=replay_only) as store:

        async def work() -> RunResult:
            models = Models()
            try:
                async with models:
                    sitting = Sitting(docket, models, store, budget, replay_only)
                    return await sitting.carry_out(out, concurrency=concurrency, progress=progress_display())
            finally:
                keep_models(store, models, {bench.model.spec.text: ("judge",) for bench in benches})

        result = asyncio.run(work())
        keep_seconds(store, result)
        report = collect_ratings(out, store)
    if as_json:
        say_json({**_result_json(result), **_report_json(report)})
    else:
        _show(report)
        say(f"{result.calls} new calls, {result.replayed} replayed, {result.seconds:.1f} s; all of it in {out}")
    if result.advice:
        complain(result.advice)
    if result.exit_code:
        raise Finished(result.exit_code)


@app.command("report")
def report(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder of a rating.")],
    form: Annotated[Format, typer.Option("--format", help="Form of the tables.")] = Format.TERMINAL,
    intervals: Annotated[bool, typer.Option("--intervals", help="Print intervals in the tables.")] = False,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
) -> None:
    """Show the tables of a rating: means, Cronbach's alpha, cost; no model is called."""
    from dramaturg.cli.run import open_ledger
    from dramaturg.report.rating import collect_ratings, rating_layouts

    with open_ledger(out, ledger) as store:
        collected = collect_ratings(out, store, on_torn=complain_of_torn)
    if as_json:
        say_json(_report_json(collected))
        return
    if form is Format.TERMINAL:
        _show(collected, intervals=intervals)
        return
    print_layouts(rating_layouts(collected, intervals=intervals), form)


def print_layouts(layouts: Sequence[Layout], form: Format) -> None:
    """Writes tables to standard output in a form."""
    from dramaturg.report import exports

    match form:
        case Format.TERMINAL:
            for part in exports.as_terminal(layouts):
                show(part)
        case Format.CSV:
            say(exports.as_csv(layouts).rstrip("\n"))
        case Format.MD:
            say(exports.as_markdown(layouts).rstrip("\n"))
        case Format.LATEX:
            say(exports.as_latex(layouts).rstrip("\n"))
        case _:
            assert_never(form)


def _show(report: RatingReport, *, intervals: bool = False) -> None:
    from dramaturg.report.rating import rating_layouts

    for caution in report.cautions:
        say(f"CAUTION: {caution}")
    print_layouts(rating_layouts(report, intervals=intervals), Format.TERMINAL)


def _result_json(result: RunResult) -> dict[str, Json]:
    counts = result.counts()
    return {
        "out": str(result.out),
        "units": {status: counts[status] for status in ("done", "failed", "not_run", "open")},
        "calls": result.calls,
        "replayed": result.replayed,
        "tokens": result.tokens,
        "seconds": round(result.seconds, 3),
        "stop": result.limit or result.stop,
        "exit_code": result.exit_code,
    }


def _report_json(report: RatingReport) -> dict[str, Json]:
    from dataclasses import asdict

    from dramaturg.report import exports
    from dramaturg.report.rating import rating_layouts

    return {
        "cautions": list(report.cautions),
        "judges": [
            {
                "judge": one.table.judge,
                "mode": one.table.mode,
                "rubric": list(one.table.rubric),
                "planned": one.table.planned,
                "missing": dict(one.table.missing),
                "subjects": [asdict(score) for score in one.scores],
                "alpha": [asdict(alpha) for alpha in one.alphas],
                "halo": asdict(one.halo),
            }
            for one in report.rated
        ],
        "tables": exports.as_json(rating_layouts(report)),
    }
