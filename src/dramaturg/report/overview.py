"""What a report says first: what was measured, in one sentence, and the figures of the whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.report.collect import Report
from dramaturg.report.costs import costs
from dramaturg.report.figures import NONE, count, counted, duration, moment, money


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its name, and a note where the figure alone would mislead."""

    name: str
    value: str
    note: str = ""


def headline(report: Report) -> str:
    """Returns what was measured, in plain words."""
    if not report.trials:
        return "Nothing was staged."
    cases = len({trial.scenario for trial in report.trials})
    staged = (
        f"{counted(len(report.subjects), 'subject', 'subjects')}, {counted(cases, 'case', 'cases')}, "
        f"{counted(len(report.trials), 'trial', 'trials')}"
    )
    if not report.panels:
        return f"{staged}, not judged."
    judges = list(dict.fromkeys(panel.judge for panel in report.panels))
    lists = list(dict.fromkeys(panel.checklist_id for panel in report.panels))
    return f"{staged}, judged by {' and '.join(judges)} with the checklist {' and '.join(lists)}."


def key_figures(report: Report) -> Sequence[Figure]:
    """Returns the figures of the whole run."""
    facts, spent = report.facts, costs(report.facts)
    planned = [subject.planned for subject in report.subjects if subject.planned is not None]
    figures = [Figure("Trials", count(len(report.trials)), f"of {sum(planned):,} planned" if planned else "")]
    totals = [
        subject.scores["total"] for panel in report.panels for subject in panel.subjects if "total" in subject.scores
    ]
    if totals:
        used, asked = sum(score.used for score in totals), sum(score.planned for score in totals)
        figures.append(Figure("Answers", count(used), f"of {asked:,} planned"))
    figures.append(Figure("Restarts", count(sum(len(trial.restarts) for trial in report.trials))))
    if spent.rows:
        figures.append(Figure("Calls", count(spent.calls)))
        figures.append(Figure("Cost", money(spent.cost_usd), "price unknown" if spent.cost_usd is None else ""))
    figures.append(Figure("Time", duration(facts.wall_s)))
    if facts.started:
        figures.append(Figure("Run", moment(facts.started)))
    return [figure for figure in figures if figure.value != NONE or figure.note]
