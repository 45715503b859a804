"""``dramaturg run`` and ``dramaturg plan``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, complain, console, say, say_json, show
from dramaturg.errors import UserError

if TYPE_CHECKING:
    from dramaturg.ledger import Budget, Ledger
    from dramaturg.run.interview.plan import InterviewPlan
    from dramaturg.run.material import Material
    from dramaturg.run.plan import Plan
    from dramaturg.run.progress import Progress
    from dramaturg.run.result import RunResult
    from dramaturg.run.study import Budgets
    from dramaturg.run.world.plan import WorldPlan

Study = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file (YAML).")]
Out = Annotated[Path, typer.Option("--out", help="Output folder; made where it is missing.")]
LedgerAt = Annotated[
    str, typer.Option("--ledger", metavar="PATH|URL", help="Where answers are kept; OUT/ledger.db by default.")
]
ReplayOnly = Annotated[bool, typer.Option("--replay-only", help="Refuse every call that is not in the ledger.")]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", min=0, metavar="N", help="Most new calls.")]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=0, metavar="N", help="Most new tokens, in and out together.")
]
MaxCost = Annotated[float | None, typer.Option("--max-cost", min=0, metavar="X", help="Most new US dollars.")]
AcceptChanges = Annotated[
    bool, typer.Option("--accept-changes", help="Go on under other prompts, settings or another version.")
]


def run(
    study: Study,
    out: Out,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
    watch: Annotated[bool, typer.Option("--watch", help="Show the performances while they go on.")] = False,
) -> None:
    """Run a study, or go on with it: stage, judge, report. Run it again to resume."""
    from dramaturg.run.study import suite_of

    limits = (max_calls, max_tokens, max_cost)
    if suite_of(study) == "interview":
        from dramaturg.cli.interview import run_interview_study

        if watch:
            raise UserError("an interview has no performance to watch", where="--watch", allowed="a study of a court")
        run_interview_study(
            study,
            out,
            ledger,
            limits,
            as_json=as_json,
            replay_only=replay_only,
            accept_changes=accept_changes,
            command=f"dramaturg run {study} --out {out}",
        )
        return
    if suite_of(study) == "world":
        from dramaturg.cli.world_play import run_world_study

        run_world_study(
            study,
            out,
            ledger,
            limits,
            as_json=as_json,
            replay_only=replay_only,
            accept_changes=accept_changes,
            watch=watch,
            command=f"dramaturg run {study} --out {out}",
        )
        return
    from dramaturg.run.material import read_material

    material = read_material(study)
    budget = budget_of(material.study.budgets, *limits)
    with open_ledger(out, ledger, replay_only=replay_only) as store:
        result = carry_out(
            material, out, store, budget, accept_changes=accept_changes, replay_only=replay_only, watch=watch
        )
        finish(result, store, as_json=as_json, command=f"dramaturg run {study} --out {out}")


def plan(study: Study, as_json: AsJson = False) -> None:
    """Show what a study will ask, and at most cost, without any call."""
    planned = _planned(study)
    if as_json:
        say_json(planned.as_json())
        return
    from rich.table import Table

    load = planned.load
    cost = "unknown" if planned.cost_usd is None else f"at most {planned.cost_usd:.4f} USD"
    table = Table("unit", "calls", "tokens in, at most", "tokens out, at most", title=planned.study, show_footer=True)
    for description, of_line in planned.lines:
        calls = _between(of_line.least_calls, of_line.most_calls)
        table.add_row(description, calls, f"{of_line.input_tokens:,}", f"{of_line.output_tokens:,}")
    footers = [
        "together",
        _between(load.least_calls, load.most_calls),
        f"{load.input_tokens:,}",
        f"{load.output_tokens:,}",
    ]
    for column, footer in zip(table.columns, footers, strict=True):
        column.footer = footer
    show(table)
    say(f"cost: {cost}" + (f" ({planned.price_source})" if planned.price_source else ""))
    if planned.unpriced:
        say(f"no price is known for: {', '.join(planned.unpriced)}")


def _planned(study: Path) -> Plan | InterviewPlan | WorldPlan:
    from dramaturg.run.study import suite_of

    if suite_of(study) == "world":
        from dramaturg.run.world.material import read_world
        from dramaturg.run.world.plan import plan_world

        return plan_world(read_world(study))
    if suite_of(study) == "interview":
        from dramaturg.run.interview.material import read_interview
        from dramaturg.run.interview.plan import plan_interview

        return plan_interview(read_interview(study))
    from dramaturg.run.material import read_material
    from dramaturg.run.plan import plan as plan_of

    return plan_of(read_material(study))


def _between(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def budget_of(limits: Budgets, max_calls: int | None, max_tokens: int | None, max_cost: float | None) -> Budget:
    """Returns the budget of a run: an option overrides the study file."""
    from dramaturg.ledger import Budget

    return Budget(
        max_calls=limits.max_calls if max_calls is None else max_calls,
        max_tokens=limits.max_tokens if max_tokens is None else max_tokens,
        max_cost=limits.max_cost if max_cost is None else max_cost,
    )


def open_ledger(out: Path, location: str, *, replay_only: bool = False) -> Ledger:
    """Returns the ledger of an output folder, or the one at another place."""
    from dramaturg.ledger import Ledger

    return Ledger.open(location or out / "ledger.db", replay_only=replay_only)


def progress_display() -> Progress:
    """Returns a live table on a terminal, plain lines elsewhere."""
    from dramaturg.run.progress import Live, Plain

    if sys.stderr.isatty():
        return Live(console(stderr=True))
    return Plain(lambda line: print(line, file=sys.stderr, flush=True))


def carry_out(
    material: Material,
    out: Path,
    ledger: Ledger,
    budget: Budget,
    *,
    accept_changes: bool,
    replay_only: bool = False,
    watch: bool = False,
) -> RunResult:
    """Returns the result of a study that was carried out in this process.

    Args:
        material: The study.
        out: Output folder.
        ledger: Where every answer is kept.
        budget: Counts and limits the new calls.
        accept_changes: Whether other prompts, settings or another version are fine.
        replay_only: Whether new calls are refused.
        watch: Whether the performances are shown while they go on; always so where a person plays.
    """
    import asyncio

    from dramaturg.cli.theatre import Playhouse, TerminalAudience
    from dramaturg.model.opening import Models
    from dramaturg.run.court import House, trial_limits
    from dramaturg.run.engine import SILENT, run_study
    from dramaturg.run.kept import keep_models, parts_of

    if material.has_person:
        playhouse = Playhouse(most=trial_limits(material.study.limits).heard_characters, stays=True)
        house = House(playhouse, playhouse.read)
    else:
        house = House(TerminalAudience() if watch else None)

    async def work() -> RunResult:
        models = Models()
        try:
            async with models:
                return await run_study(
                    material,
                    out=out,
                    ledger=ledger,
                    models=models,
                    budget=budget,
                    progress=SILENT if house.audience is not None else progress_display(),
                    accept_changes=accept_changes,
                    replay_only=replay_only,
                    house=house,
                )
        finally:
            keep_models(ledger, models, parts_of(material))

    return asyncio.run(work())


def finish(result: RunResult, ledger: Ledger, *, as_json: bool, command: str) -> None:
    """Writes the report, prints what came out, and ends with the run's exit code."""
    from dramaturg.report import summary, terminal
    from dramaturg.report.page import write_report
    from dramaturg.run.kept import keep_seconds

    keep_seconds(ledger, result)
    written = write_report(result.out, ledger, command=command)
    if as_json:
        counts = result.counts()
        say_json(
            {
                "out": str(result.out),
                "units": {status: counts[status] for status in ("done", "failed", "not_run", "open")},
                "calls": result.calls,
                "replayed": result.replayed,
                "tokens": result.tokens,
                "seconds": round(result.seconds, 3),
                "stop": result.limit or result.stop,
                "exit_code": result.exit_code,
                **summary(written.report),
            }
        )
    else:
        for part in terminal(written.report):
            show(part)
        say(f"report: {written.path}")
        say(f"{result.calls} new calls, {result.replayed} replayed, {result.seconds:.1f} s")
    if result.advice:
        complain(result.advice)
    if result.exit_code:
        raise Finished(result.exit_code)
