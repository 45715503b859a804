"""The report as tables for a terminal. Nothing is printed here, and no text of a model or file is markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dramaturg.report import figures
from dramaturg.report.collect import Report
from dramaturg.report.costs import Costs, costs
from dramaturg.report.data import Caution
from dramaturg.report.overview import headline
from dramaturg.report.scores import Score
from dramaturg.report.tables import Panel

LISTED_FAILURES = 20
"""Failures that are listed; all are counted."""


def terminal(report: Report) -> Iterator[RenderableType]:
    """Yields what to print, in order: what was measured, cautions, scores, stability, costs, failures.

    Args:
        report: What to show.
    """
    yield _text(f"{report.facts.study}: {headline(report)}", style="bold")
    for caution in report.cautions:
        yield _caution(caution)
    for panel in report.panels:
        if panel.subjects:
            yield _scores(panel)
    yield _stability(report)
    spent = costs(report.facts)
    if spent.rows:
        yield _costs(spent)
    yield from _failures(report)


def _text(text: str, style: str = "") -> Text:
    return Text(figures.plain(text), style=style)


def _caution(caution: Caution) -> Text:
    serious = caution.severity == "serious"
    return _text(f"{'! ' if serious else 'i '}{caution.text}", style="yellow" if serious else "dim")


def _table(title: str, *left: str, right: tuple[str, ...]) -> Table:
    table = Table(title=_text(title), title_justify="left", header_style="bold", expand=False)
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _scores(panel: Panel) -> Table:
    right = ("score", "95 % interval", "if missing bad–good", "answers", "trials", "cases")
    table = _table(panel.title, "measure", "subject", right=right)
    for measure in panel.measures:
        indent = "  " if measure.level == "part" else ""
        for number, subject in enumerate(panel.subjects):
            name = _text(f"{indent}{measure.name}") if number == 0 else Text("")
            table.add_row(name, _text(subject.subject), *_score_cells(subject.scores[measure.key]))
        table.add_section()
    return table


def _score_cells(score: Score) -> tuple[str, ...]:
    estimate = score.summary.estimate
    return (
        figures.decimal(estimate.value),
        _range(estimate.low, estimate.high),
        _range(score.summary.low, score.summary.high),
        f"{score.used:,}/{score.planned:,}",
        f"{estimate.n_used:,}/{estimate.n_planned:,}",
        f"{estimate.clusters:,}",
    )


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return figures.NONE
    return f"{figures.decimal(low)}–{figures.decimal(high)}"


def _stability(report: Report) -> Table:
    table = _table("Stability", "subject", "outcome", "end", "restarts by cause", "cures", right=("trials", "restarts"))
    for subject in report.subjects:
        restarts = f"{sum(subject.restarts.values()):,}" if subject.trials else figures.NONE
        planned = f"/{subject.planned:,}" if subject.planned is not None else ""
        texts = (subject.outcomes, subject.ends, subject.restarts, subject.cures)
        table.add_row(
            _text(subject.label), *(_tallies(counts) for counts in texts), f"{subject.trials:,}{planned}", restarts
        )
    return table


def _tallies(counts: Mapping[str, int]) -> Text:
    return _text(figures.tallies(counts))


def _costs(spent: Costs) -> Table:
    right = ("calls", "read", "cached", "written", "reasoning", "time", "tokens/s", "first token", "cost")
    table = _table("Costs", "model", "purpose", right=right)
    for row in spent.rows:
        use = row.use
        table.add_row(
            _text(row.model),
            _text(figures.words(use.purpose)),
            figures.count(use.calls),
            figures.count(use.input_tokens),
            figures.share(use.cached_tokens, use.input_tokens),
            figures.count(use.output_tokens),
            figures.count(use.reasoning_tokens),
            figures.duration(use.seconds),
            figures.decimal(use.tokens_per_s, 1),
            figures.duration(use.first_token_s),
            figures.money(use.cost_usd),
        )
    table.add_section()
    table.add_row(
        "together",
        "",
        figures.count(spent.calls),
        figures.count(spent.input_tokens),
        figures.share(spent.cached_tokens, spent.input_tokens),
        figures.count(spent.output_tokens),
        figures.count(spent.reasoning_tokens),
        figures.duration(spent.seconds),
        "",
        "",
        figures.money(spent.cost_usd),
    )
    return table


def _failures(report: Report) -> Iterator[RenderableType]:
    failures = report.facts.failures
    if not failures:
        return
    table = _table(f"Failures ({len(failures):,})", "unit", "reason", "what happened", right=())
    for failure in failures[:LISTED_FAILURES]:
        table.add_row(_text(failure.unit), _text(figures.words(failure.kind)), _text(failure.detail))
    yield table
    if len(failures) > LISTED_FAILURES:
        yield _text(f"{len(failures) - LISTED_FAILURES:,} more are not listed.", style="dim")
