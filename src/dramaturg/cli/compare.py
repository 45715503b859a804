"""``dramaturg compare`` and ``dramaturg power``: who is better, and how large a study would have to be to say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, figures_table, say, say_json, show

if TYPE_CHECKING:
    from rich.table import Table

    from dramaturg.measure import Design, Estimate, Rank
    from dramaturg.run.comparing import Comparison, Difference, PanelComparison, Setting
    from dramaturg.run.pilot import Basis, PowerPlan
    from dramaturg.run.sides import Side
    from dramaturg.text import Json

LedgerAt = Annotated[str, typer.Option("--ledger", metavar="PATH|URL", help="Where the answers of all RUNs are kept.")]


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Output folders; one is enough if it has several subjects.")
    ],
    anyway: Annotated[
        str,
        typer.Option(
            "--anyway",
            metavar="FIELD,...",
            help="Compare although these fields differ: checklist, judge, mode, votes, long, ask, protocol, suite, "
            "limits, cast, staging, procedures, judge-prompts, cases.",
        ),
    ] = "",
    ledger: LedgerAt = "",
    as_json: AsJson = False,
) -> None:
    """Compare subjects, paired by scenario and seed: differences with intervals, ranks, speed and memory.

    Refuses runs that differ in what must be equal, and names it. No model is called.
    """
    from dramaturg.report.figures import plain
    from dramaturg.run.comparing import compare as compare_sides

    fields = [field.strip() for field in anyway.split(",") if field.strip()]
    found = compare_sides(_sides(runs, ledger), anyway=fields)
    if as_json:
        say_json(_comparison_json(found))
        return
    for panel in found.panels:
        say(f"\n{panel.title}")
        for number, one in enumerate(panel.subjects, start=1):
            say(plain(f"  {number} {one.name}"))
        show(_subjects_table(panel))
        show(_scores_table(panel))
        show(_differences_table(panel))
        say("Differences are paired by scenario and seed; p-values are corrected for all pairs on a score (Holm).")
        for note in panel.notes:
            say(f"note: {note}")
    for line in _settings_lines(found):
        say(line)


def power(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Output folder of a pilot, staged and judged.")],
    difference: Annotated[
        float, typer.Option("--difference", metavar="D", help="The smallest difference of scores to show, as 0.05.")
    ],
    wanted: Annotated[float, typer.Option("--power", metavar="P", help="With which probability.")] = 0.8,
    measure: Annotated[str, typer.Option("--measure", metavar="ID", help="total, or the id of a dimension.")] = "total",
    ledger: LedgerAt = "",
    as_json: AsJson = False,
) -> None:
    """Say how many cases and seeds would show a difference between two subjects, from a pilot's variance."""
    from dramaturg.run.pilot import plan_power

    (side,) = _sides([run], ledger)
    plans = plan_power(side, difference=difference, power=wanted, measure=measure)
    if as_json:
        say_json([asdict(plan) for plan in plans])
        return
    for plan in plans:
        say(f"\n{plan.judge}: to show a difference of {plan.difference:g} in {plan.measure} with power {plan.power:g}")
        say(_test_line(plan))
        for basis in plan.bases:
            for line in _basis_lines(basis):
                say(line)
            if basis.plans:
                show(_plans_table(basis))


def _test_line(plan: PowerPlan) -> str:
    pairs = f", at the level {plan.level:.2g} for {plan.tests} pairs of subjects (Holm)" if plan.tests > 1 else ""
    return (
        f"tested as compare does, by changing signs{pairs}: fewer than {plan.fewest} cases can show no difference, "
        "however large"
    )


def _sides(runs: Sequence[Path], ledger: str) -> list[Side]:
    """Returns the runs as sides.

    Raises:
        UserError: A folder is no run, or stands twice.
    """
    from dramaturg.cli.run import open_ledger
    from dramaturg.errors import UserError
    from dramaturg.report.facts import used_checklists
    from dramaturg.run.sides import read_side

    sides: list[Side] = []
    folders = [run.resolve() for run in runs]
    for run, folder in zip(runs, folders, strict=True):
        if folders.count(folder) > 1:
            raise UserError("stands twice", where=str(run), allowed="each run once")
        if not (run / "transcripts.jsonl").is_file():
            raise UserError(
                "holds no transcripts.jsonl", where=str(run), allowed="the --out folder of a run or a judging"
            )
        name = folder.name if [one.name for one in folders].count(folder.name) == 1 else str(run)
        checklists = used_checklists(run)
        if ledger or (run / "ledger.db").is_file():
            with open_ledger(run, ledger) as store:
                sides.append(read_side(run, name=name, checklists=checklists, ledger=store))
        else:
            sides.append(read_side(run, name=name, checklists=checklists, ledger=None))
    return sides


def _subjects_table(panel: PanelComparison) -> Table:
    from dramaturg.report import figures

    table = figures_table("subject", "trials", "rank", "P(best)", "tokens/s", "s/trial", "memory")
    for number, one in enumerate(panel.subjects, start=1):
        rank = one.ranks.get("total")
        table.add_row(
            f"{number}",
            figures.count(one.cost.trials),
            _rank(rank),
            figures.decimal(rank.best if rank is not None else None),
            figures.decimal(one.cost.tokens_per_s, 1),
            figures.decimal(one.cost.seconds_per_trial, 1),
            figures.size(one.cost.peak_memory_bytes),
        )
    return table


def _rank(rank: Rank | None) -> str:
    if rank is None:
        return "–"
    return f"{rank.rank}" if rank.low is None else f"{rank.rank} ({rank.low}–{rank.high})"


def _scores_table(panel: PanelComparison) -> Table:
    from dramaturg.report import figures

    table = figures_table("score", "subject", "value (95 %)", "trials", "scenarios")
    for measure, name in panel.measures.items():
        for number, one in enumerate(panel.subjects, start=1):
            estimate = one.scores[measure]
            table.add_row(
                figures.plain(name) if number == 1 else "",
                f"{number}",
                _estimate(estimate),
                f"{estimate.n_used}/{estimate.n_planned}",
                figures.count(estimate.clusters),
            )
    return table


def _differences_table(panel: PanelComparison) -> Table:
    from dramaturg.report import figures

    numbers = {one.name: number for number, one in enumerate(panel.subjects, start=1)}
    table = figures_table("score", "difference", "value (95 %)", "pairs", "p (Holm)", "")
    last = ""
    for one in panel.differences:
        estimate = one.paired.difference
        table.add_row(
            figures.plain(panel.measures[one.measure]) if one.measure != last else "",
            f"{numbers[one.one]} − {numbers[one.other]}",
            _estimate(estimate, signed=True),
            f"{estimate.n_used}/{estimate.n_planned}",
            figures.decimal(one.p_holm, 3),
            _verdict(one),
        )
        last = one.measure
    return table


def _verdict(one: Difference) -> str:
    value = one.paired.difference.value
    if value is None or not one.shown:
        return "unclear"
    return "higher" if value > 0 else "lower"


def _estimate(estimate: Estimate, *, signed: bool = False) -> str:
    if estimate.value is None:
        return "–"
    sign = "+" if signed else ""
    value = f"{estimate.value:{sign}.3f}"
    if estimate.low is None or estimate.high is None:
        return f"{value} (none)"
    return f"{value} ({estimate.low:{sign}.3f} {estimate.high:{sign}.3f})"


def _settings_lines(found: Comparison) -> Iterator[str]:
    from dramaturg.report import figures

    if len(found.runs) > 1:
        yield "\nWhat differs between the runs:" if found.settings else "\nThe runs differ in no setting."
    for setting in found.settings:
        values = ", ".join(f"{_value(value)} in {run}" for run, value in setting.values.items())
        yield figures.plain(f"  {setting.name}: {values}{_ignored(setting, found)}")
    for note in found.notes:
        yield figures.plain(f"note: {note}")


def _ignored(setting: Setting, found: Comparison) -> str:
    return " (compared anyway: the difference is part of what is seen)" if setting.field in found.ignored else ""


def _value(value: str) -> str:
    is_digest = len(value) == 64 and all(letter in "0123456789abcdef" for letter in value)
    return value[:8] if is_digest else value or "none"


def _basis_lines(basis: Basis) -> Iterator[str]:
    from dramaturg.report import figures

    between, within = basis.variance.between, basis.variance.within
    yield figures.plain(f"{basis.title}: pilot of {basis.cases} cases, {basis.pairs} values")
    yield (
        f"  standard deviation of the difference between cases {_deviation(between)}, "
        f"between seeds of a case {_deviation(within)}"
    )
    for note in basis.notes:
        yield f"  {note}"


def _deviation(variance: float | None) -> str:
    return "unknown" if variance is None else f"{variance**0.5:.3f}"


def _plans_table(basis: Basis) -> Table:
    table = figures_table("seeds per case", "cases", "trials per subject", "cautious: cases", "trials per subject")
    for one in basis.plans:
        table.add_row(f"{one.seeds}", *_size(one.expected), *_size(one.cautious))
    return table


def _size(design: Design | None) -> tuple[str, str]:
    return ("more than 100,000", "–") if design is None else (f"{design.scenarios:,}", f"{design.performances:,}")


def _comparison_json(found: Comparison) -> Json:
    panels: list[Json] = []
    for panel in found.panels:
        data = asdict(panel)
        for one, record in zip(panel.differences, data["differences"], strict=True):
            record["verdict"] = _verdict(one)
        panels.append(data)
    rest = asdict(found)
    return {**rest, "panels": panels}
