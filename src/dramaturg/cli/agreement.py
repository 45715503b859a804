"""``dramaturg audit labels``, ``agreement`` and ``halo``: what people, other judges and dimensions say of a judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, complain_of_torn, figures_table, say, say_json, show

if TYPE_CHECKING:
    from rich.table import Table

    from dramaturg.judge.agreement import Comparison
    from dramaturg.judge.calibration import Calibration
    from dramaturg.judge.checklist.answer_table import AnswerTable
    from dramaturg.run.labels import Label, LabelAnswer
    from dramaturg.text import Json

LISTED = 20
"""Differences that are listed; ``--json`` has all."""

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Output folder of a run or a judging.")]


def labels(
    labels: Annotated[
        Path,
        typer.Argument(metavar="LABELS", help="CSV or JSON Lines with transcript, indicator, person and answer."),
    ],
    run: Run,
    as_json: AsJson = False,
) -> None:
    """Compare each judge of RUN with people's answers: accuracy, kappa, alpha, and whether P(yes) is calibrated."""
    from dramaturg.cli.items import answers_in, judgements_of
    from dramaturg.judge.agreement import answers_of, compare_answers
    from dramaturg.run.labels import check_known, consensus, read_labels

    given = read_labels(labels)
    tables = answers_in(judgements_of(run))
    elsewhere = check_known(
        given,
        labels,
        transcripts=(name for table in tables for name in table.transcripts),
        indicators=(name for table in tables for name in table.indicators),
    )
    people, tied = consensus(given)
    persons = list(dict.fromkeys(label.person for label in given))
    results = [
        (compare_answers(table.title, answers_of(table), "people", people), _calibration(table, people))
        for table in tables
    ]
    alpha = _alpha_of_people(given)
    if as_json:
        judges: list[Json] = [
            {**asdict(comparison), "calibration": asdict(calibration) if calibration is not None else None}
            for comparison, calibration in results
        ]
        counts: dict[str, Json] = {
            "labels": len(given),
            "persons": persons,
            "questions": len(people),
            "tied": tied,
            "elsewhere": elsewhere,
            "alpha_of_people": alpha,
        }
        say_json({**counts, "judges": judges})
        return
    among = f"; among themselves alpha {alpha:.2f}" if alpha is not None else ""
    say(f"{len(given):,} labels of {len(persons)} persons on {len(people):,} questions{among}")
    if tied:
        say(f"{tied:,} questions are tied between people and left out")
    if elsewhere:
        say(f"{elsewhere:,} labels are about transcripts that are not in {run}, and left out")
    for comparison, calibration in results:
        _show_comparison(comparison)
        for line in _calibration_lines(calibration):
            say(line)


def agreement(
    one: Annotated[Path, typer.Argument(metavar="A", help="Output folder of a judging, or its judgements.jsonl.")],
    other: Annotated[Path, typer.Argument(metavar="B", help="Another judging of the same transcripts.")],
    as_json: AsJson = False,
) -> None:
    """Compare two judgings of the same transcripts: kappa and alpha by indicator, and where they differ."""
    from dramaturg.cli.items import answers_in, judgements_of
    from dramaturg.errors import UserError
    from dramaturg.judge.agreement import compare_tables

    first, second = judgements_of(one), judgements_of(other)
    same = first.resolve() == second.resolve()
    tables = answers_in(first)
    pairs = combinations(tables, 2) if same else product(tables, answers_in(second))
    found = [
        compare_tables(here, there)
        for here, there in pairs
        if set(here.transcripts) & set(there.transcripts) and set(here.indicators) & set(there.indicators)
    ]
    if not found:
        what = "only one judge is in it" if same else "no transcript and indicator was judged in both"
        raise UserError(what, where=f"{one} and {other}", allowed="two judgings of the same transcripts")
    if as_json:
        say_json([asdict(comparison) for comparison in found])
        return
    for comparison in found:
        _show_comparison(comparison)
        for line in _difference_lines(comparison):
            say(line)


def halo(run: Run, as_json: AsJson = False) -> None:
    """Show whether a judge answers each question, or one overall impression many times."""
    from dramaturg.cli.items import answers_in, judgements_of
    from dramaturg.judge.halo import halos
    from dramaturg.report.facts import used_checklists
    from dramaturg.report.figures import decimal
    from dramaturg.run.subjects import subjects_of_run

    negative = {
        digest: {one.id for one in checklist.indicators if one.sign == "negative"}
        for digest, checklist in used_checklists(run).items()
    }
    subjects = subjects_of_run(run, on_torn=complain_of_torn)
    found = halos(answers_in(judgements_of(run)), subjects=subjects, negative=negative)
    if as_json:
        say_json([asdict(one) for one in found])
        return
    for one in found:
        chance = f"{decimal(one.chance[0])} to {decimal(one.chance[1])}" if one.chance is not None else "–"
        say(f"{one.title}: {one.transcripts:,} transcripts")
        say(f"  correlation between dimensions, same judge   {decimal(one.within)} (by chance {chance})")
        say(f"  correlation between dimensions, two judges   {decimal(one.across)}")
        say(f"  halo: the first less the second              {decimal(one.halo)}")
        say(
            f"  transcripts answered all good or all bad     {decimal(one.uniform)} "
            f"(by chance {decimal(one.uniform_by_chance)})"
        )
        say(f"  {one.verdict}")


def _calibration(table: AnswerTable, people: dict[tuple[str, str], LabelAnswer]) -> Calibration | None:
    """Returns the calibration of a judge that gave probabilities, else None."""
    from math import isnan

    from dramaturg.judge.calibration import calibrate

    rows = {name: row for row, name in enumerate(table.transcripts)}
    columns = {name: column for column, name in enumerate(table.indicators)}
    probabilities: list[float] = []
    truths: list[bool] = []
    transcripts: list[str] = []
    for (transcript, indicator), answer in people.items():
        if answer == "not_applicable" or transcript not in rows or indicator not in columns:
            continue
        probability = float(table.probabilities[rows[transcript], columns[indicator]])
        if not isnan(probability):
            probabilities.append(probability)
            truths.append(answer == "yes")
            transcripts.append(transcript)
    return calibrate(probabilities, truths, transcripts) if probabilities else None


def _alpha_of_people(given: Sequence[Label]) -> float | None:
    """Returns how far people agree among themselves; None with one person."""
    from dramaturg.measure.krippendorff import krippendorff_alpha

    persons = dict.fromkeys(label.person for label in given)
    if len(persons) < 2:
        return None
    by_question: dict[tuple[str, str], dict[str, str]] = {}
    for label in given:
        by_question.setdefault((label.transcript, label.indicator), {})[label.person] = label.answer
    return krippendorff_alpha([[answers.get(person) for person in persons] for answers in by_question.values()])


def _show_comparison(comparison: Comparison) -> None:
    say(f"\n{comparison.one}\nagainst {comparison.other}")
    show(_table(comparison))
    say(
        f"answered by the first alone {comparison.only_one:,}, by the second alone {comparison.only_other:,}; "
        f"transcripts read in different versions, left out {comparison.other_version:,}"
    )


def _table(comparison: Comparison) -> Table:
    from dramaturg.report.figures import decimal, plain

    table = figures_table("indicator", "n", "equal", "95 % interval", "kappa", "alpha", "yes", "yes of other")
    for one in (comparison.overall, *comparison.indicators):
        table.add_row(
            plain(one.name),
            f"{one.n:,}",
            decimal(one.equal.value),
            f"{decimal(one.equal.low)}–{decimal(one.equal.high)}",
            decimal(one.kappa),
            decimal(one.alpha),
            decimal(one.yes_one),
            decimal(one.yes_other),
        )
    return table


def _difference_lines(comparison: Comparison) -> Iterator[str]:
    from dramaturg.report.figures import plain

    for one in comparison.differences[:LISTED]:
        yield plain(f"  {one.transcript} {one.indicator}: {one.one}, {one.other}")
    if len(comparison.differences) > LISTED:
        yield f"  and {len(comparison.differences) - LISTED:,} more (--json lists all)"


def _calibration_lines(calibration: Calibration | None) -> Iterator[str]:
    from dramaturg.report.figures import decimal

    if calibration is None:
        yield "No probabilities: this judge was not asked in mode probability."
        return
    yield (
        f"P(yes) against people: Brier {calibration.brier:.3f}, always saying their share of yes "
        f"{calibration.brier_of_share:.3f}, AUC {decimal(calibration.auc)} ({calibration.n:,} answers, "
        f"{calibration.transcripts:,} transcripts)"
    )
    for one in calibration.bins:
        yield (
            f"  P(yes) {one.low:.1f}–{one.high:.1f}: {one.n:,} answers, mean {one.probability:.2f}, people yes "
            f"{one.yes.value:.2f} ({one.yes.low:.2f}–{one.yes.high:.2f})"
        )
    if calibration.reason:
        yield calibration.reason
    if calibration.platt is not None:
        yield f"Platt: slope {calibration.platt[0]:.2f}, intercept {calibration.platt[1]:.2f} (1 and 0 are calibrated)"
    for one in calibration.corrected:
        helps = "helps" if one.helps else "does not surely help"
        gain = one.gain
        interval = f" ({gain.low:.3f} to {gain.high:.3f})" if gain.low is not None and gain.high is not None else ""
        yield f"{one.name}, cross-validated: Brier {one.brier:.3f}, gain {gain.value:.3f}{interval}: {helps}"
