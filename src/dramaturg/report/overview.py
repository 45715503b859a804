"""What a report says first: what was measured, in one sentence, and the figures of the whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.report.collect import Report
from dramaturg.report.costs import costs
from dramaturg.report.figures import NONE, count, counted, duration, moment, money, share


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
    terms = report.terms
    cases = len({trial.scenario for trial in report.trials})
    staged = (
        f"{counted(len(report.subjects), 'subject', 'subjects')}, {terms.of_cases(cases)}, "
        f"{terms.of_trials(len(report.trials))}"
    )
    rated = report.ratings.rated if report.ratings is not None else ()
    if not report.panels and rated:
        raters = " and ".join(dict.fromkeys(one.table.judge for one in rated))
        rubrics = " and ".join(dict.fromkeys(one.rubric.family for one in rated))
        return f"{staged}, rated by {raters} with the rubric {rubrics}."
    if not report.panels:
        return f"{staged}, not judged."
    judges = list(dict.fromkeys(panel.judge for panel in report.panels))
    lists = list(dict.fromkeys(panel.checklist_id for panel in report.panels))
    return f"{staged}, judged by {' and '.join(judges)} with the checklist {' and '.join(lists)}."


def key_figures(report: Report) -> Sequence[Figure]:
    """Returns the figures of the whole run."""
    facts, spent = report.facts, costs(report.facts)
    planned = [subject.planned for subject in report.subjects if subject.planned is not None]
    named = report.terms.trials.capitalize()
    figures = [Figure(named, count(len(report.trials)), f"of {sum(planned):,} planned" if planned else "")]
    totals = [
        subject.scores["total"] for panel in report.panels for subject in panel.subjects if "total" in subject.scores
    ]
    if totals:
        used, asked = sum(score.used for score in totals), sum(score.planned for score in totals)
        figures.append(Figure("Answers", count(used), f"of {asked:,} planned"))
    if report.ratings is not None and report.ratings.rated:
        tables = [one.table for one in report.ratings.rated]
        asked = sum(table.planned for table in tables)
        missing = sum(sum(table.missing.values()) for table in tables)
        figures.append(Figure("Ratings", count(asked - missing), f"of {asked:,} planned"))
    if report.plays:
        acts, hits = sum(one.acts for one in report.plays), sum(one.hits for one in report.plays)
        figures.append(Figure("Rounds", count(sum(one.rounds for one in report.plays))))
        figures.append(Figure("Acts on somebody", share(hits, acts), f"of {acts:,}"))
    figures.append(Figure("Restarts", count(sum(len(trial.restarts) for trial in report.trials))))
    if spent.rows:
        figures.append(Figure("Calls", count(spent.calls)))
        figures.append(Figure("Cost", money(spent.cost_usd), "price unknown" if spent.cost_usd is None else ""))
    figures.append(Figure("Time", duration(facts.wall_s)))
    if facts.started:
        figures.append(Figure("Run", moment(facts.started)))
    return [figure for figure in figures if figure.value != NONE or figure.note]
