"""The report as tables for a terminal. Nothing is printed here, and no text of a model or file is markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dramaturg.measure import Estimate
from dramaturg.report import figures
from dramaturg.report.collect import Report
from dramaturg.report.costs import Costs, costs
from dramaturg.report.data import Caution
from dramaturg.report.exports import as_terminal
from dramaturg.report.overview import headline
from dramaturg.report.plays import plays_layout
from dramaturg.report.rating.layouts import metric_layout
from dramaturg.report.scores import SubjectScores
from dramaturg.report.tables import Panel, Subject
from dramaturg.report.terms import Terms

LISTED_FAILURES = 20
"""Failures that are listed; all are counted."""


def terminal(report: Report) -> Iterator[RenderableType]:
    """Yields what to print, in order: what was measured, cautions, scores, endings, costs, failures.

    Args:
        report: What to show.
    """
    yield _text(f"{report.facts.study}: {headline(report)}", "bold")
    for caution in report.cautions:
        yield _caution(caution)
    for panel in report.panels:
        yield _text(f"\n{panel.title}", "bold")
        for subject in panel.subjects:
            yield _scores(panel, subject, report.terms)
        for subject in panel.subjects:
            yield _text(_attempts(subject, report.terms), "dim")
        if panel.negative:
            yield _text(f"counted reversed, a no is good: {', '.join(panel.negative)}", "dim")
        if panel.subjects:
            yield _text("bad–good: the score if all missing answers were bad, or good", "dim")
        for reason in panel.reasons:
            yield _text(f"* {reason}", "dim")
    if report.ratings is not None:
        rated = report.ratings.rated
        yield from as_terminal([metric_layout(one.scores, one.rubric, title=one.table.title) for one in rated])
        yield _text("More tables: dramaturg report DIR --table all", "dim")
    if report.plays:
        yield from as_terminal([plays_layout(report.plays)])
    yield _text(f"\nHow the {report.terms.trials} ended", "bold")
    for subject in report.subjects:
        yield _ending(subject, report.terms)
    spent = costs(report.facts)
    if spent.rows:
        yield _costs(spent)
    yield from _failures(report)


def _text(text: str, style: str = "") -> Text:
    return Text(figures.plain(text), style=style)


def _caution(caution: Caution) -> Text:
    serious = caution.severity == "serious"
    return _text(f"{'! ' if serious else 'i '}{caution.text}", style="yellow" if serious else "dim")


def _table(title: str, *left: str, right: tuple[str, ...] = ()) -> Table:
    table = Table(title=_text(title, "bold"), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _scores(panel: Panel, subject: SubjectScores, terms: Terms) -> Table:
    total = subject.scores["total"].summary.estimate
    trials = f"{total.n_used:,}/{total.n_planned:,} {terms.trials}, {terms.of_cases(total.clusters)}"
    right = ("score", "95 % interval", "bad–good", "answers")
    table = _table(f"{subject.subject}: {trials}", "measure", right=right)
    for measure in panel.measures:
        score = subject.scores[measure.key]
        estimate = score.summary.estimate
        table.add_row(
            Text("  " if measure.level == "part" else "") + _text(measure.name),
            figures.decimal(estimate.value),
            _range(estimate.low, estimate.high) + ("*" if estimate.reason else ""),
            _range(score.summary.low, score.summary.high),
            f"{score.used:,}/{score.planned:,}",
        )
    return table


def _attempts(subject: SubjectScores, terms: Terms) -> str:
    """Returns the scores of first attempts beside those of completed trials."""
    tries = subject.attempts

    def score(of: Mapping[str, Estimate]) -> str:
        return figures.decimal(of["total"].value if of else None)

    return (
        f"{subject.subject}: {tries.first:,} of {tries.trials:,} {terms.trials} completed at the first attempt "
        f"(score {score(tries.of_first)}), {tries.completed:,} at last ({score(tries.of_completed)})"
    )


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return figures.NONE
    return f"{figures.decimal(low)}–{figures.decimal(high)}"


def _ending(subject: Subject, terms: Terms) -> RenderableType:
    planned = f" of {subject.planned:,}" if subject.planned is not None else ""
    restarts = f"{sum(subject.restarts.values()):,}" if subject.trials else figures.NONE
    lines = (
        (terms.trials, f"{subject.trials:,}{planned}"),
        ("outcome", figures.tallies(subject.outcomes)),
        ("end", figures.tallies(subject.ends)),
        ("restarts", restarts + (f": {figures.tallies(subject.restarts)}" if subject.restarts else "")),
        ("cures", figures.tallies(subject.cures)),
    )
    table = Table.grid(padding=(0, 2))
    for name, text in lines:
        table.add_row(_text(f"  {name}", "dim"), _text(text))
    return Group(_text(subject.label), table)


def _costs(spent: Costs) -> Table:
    right = ("calls", "read", "cached", "written", "time", "cost")
    table = _table("Costs", "model and purpose", right=right)
    model = ""
    for row in spent.rows:
        use = row.use
        if row.model != model:
            table.add_row(_text(row.model, "bold"))
            model = row.model
        table.add_row(
            _text(f"  {figures.words(use.purpose)}"),
            figures.count(use.calls),
            figures.count(use.input_tokens),
            figures.share(use.cached_tokens, use.input_tokens),
            figures.count(use.output_tokens),
            figures.duration(use.seconds),
            figures.money(use.cost_usd),
        )
    table.add_row(
        Text("together", style="bold"),
        figures.count(spent.calls),
        figures.count(spent.input_tokens),
        figures.share(spent.cached_tokens, spent.input_tokens),
        figures.count(spent.output_tokens),
        figures.duration(spent.seconds),
        figures.money(spent.cost_usd),
    )
    return table


def _failures(report: Report) -> Iterator[RenderableType]:
    failures = report.facts.failures
    if not failures:
        return
    table = _table(f"Failures ({len(failures):,})", "unit", "reason", "what happened")
    for failure in failures[:LISTED_FAILURES]:
        table.add_row(_text(failure.unit), _text(figures.words(failure.kind)), _text(failure.detail))
    yield table
    if len(failures) > LISTED_FAILURES:
        yield _text(f"{len(failures) - LISTED_FAILURES:,} more are not listed.", style="dim")
