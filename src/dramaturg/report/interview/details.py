"""The tables behind the scores: labels and confusion, statuses and flags, repeats, votes."""

from __future__ import annotations

from dramaturg.measure import Classification
from dramaturg.report.figures import NONE, count, decimal, share, words
from dramaturg.report.interview.data import InterviewReport
from dramaturg.report.interview.words import MEASURES
from dramaturg.report.layouts import Cell, Column, Layout

DIGITS = 3
"""Decimal places of a share."""

_NAME = Column("Subject", numeric=False)


def labels(report: InterviewReport) -> tuple[Layout, ...]:
    """Returns precision, recall and F1 for each label, and which answer was taken for which."""
    made: list[Layout] = []
    for subject in report.subjects:
        for kind, found in subject.scores.labels.items():
            title = f"{subject.name}, {words(kind)}"
            made.append(_label_table(title, found))
            made.append(_confusion(title, found))
    return tuple(made)


def statuses(report: InterviewReport) -> tuple[Layout, ...]:
    """Returns what became of the replies, by category, and what was noticed beside it."""
    rows: list[tuple[Cell, ...]] = []
    known = sorted(
        {status for subject in report.subjects for found in subject.scores.statuses.values() for status in found},
        key=lambda status: (status != "right", status != "wrong", status),
    )
    for subject in report.subjects:
        for kind, found in subject.scores.statuses.items():
            whole = sum(found.values())
            rows.append(
                (
                    Cell(subject.name),
                    Cell(MEASURES[kind]),
                    *(Cell(_with_share(found.get(status, 0), whole)) for status in known),
                )
            )
    columns = (_NAME, Column("Category", numeric=False), *(Column(words(status)) for status in known))
    made = [Layout(0, "Replies by status", columns, tuple(rows), (_STATUS_NOTE,))] if rows else []
    flags = [
        (Cell(subject.name), Cell(words(flag)), Cell(count(number)), Cell(share(number, subject.scores.used)))
        for subject in report.subjects
        for flag, number in subject.scores.flags.items()
    ]
    if flags:
        heads = (_NAME, Column("Noticed", numeric=False), Column("Replies"), Column("Share"))
        made.append(Layout(0, "What was noticed beside the verdict", heads, tuple(flags), ()))
    return tuple(made)


def repeats(report: InterviewReport) -> tuple[Layout, ...]:
    """Returns how much each score differs between runs."""
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for subject in report.subjects:
        found = subject.scores.repeats
        if found is None:
            continue
        changed = share(found.changed, 1.0)
        notes.append(
            f"{subject.name}: {found.runs} runs; over the {found.items:,} items answered in all of them "
            f"({found.left_out:,} were not), {changed} have not the same verdict in each."
        )
        rows += [
            (
                Cell(subject.name),
                Cell(MEASURES[measure]),
                Cell(count(found.runs)),
                Cell(decimal(deviation.value, 4), decimal(deviation.low, 4), decimal(deviation.high, 4)),
                Cell(", ".join(decimal(run, DIGITS) for run in deviation.runs)),
            )
            for measure, deviation in found.deviations.items()
        ]
    columns = (
        _NAME,
        Column("Score", numeric=False),
        Column("Runs"),
        Column("Standard deviation between runs", interval=True),
        Column("Each run"),
    )
    return (Layout(0, "Deviation between runs", columns, tuple(rows), tuple(notes)),) if rows else ()


def votes(report: InterviewReport) -> tuple[Layout, ...]:
    """Returns the credit by people's votes, beside what can be reached."""
    rows = [
        (
            Cell(subject.name),
            Cell(*(decimal(number, DIGITS) for number in (found.score.value, found.score.low, found.score.high)))
            if found.score.low is not None
            else Cell(decimal(found.score.value, DIGITS)),
            Cell(decimal(found.people, DIGITS)),
            Cell(decimal(found.ceiling, DIGITS)),
            Cell(f"{found.score.n_used:,} / {found.score.n_planned:,}"),
        )
        for subject in report.subjects
        if (found := subject.scores.soft) is not None
    ]
    columns = (
        _NAME,
        Column("Soft credit", interval=True),
        Column("An annotator, by the others"),
        Column("Most that can be reached"),
        Column("Items with votes"),
    )
    note = "Soft credit: the share of annotators who chose the answer that the reply gave."
    return (Layout(0, "Soft credit and noise ceiling", columns, tuple(rows), (note,)),) if rows else ()


_STATUS_NOTE = "Only right earns credit. Failed: there is no reply, which says nothing of the model."


def _label_table(title: str, found: Classification) -> Layout:
    columns = (
        Column("Label", numeric=False),
        Column("Right answer of"),
        Column("Answered"),
        Column("Precision"),
        Column("Recall", interval=True),
        Column("F1"),
    )
    rows = tuple(
        (
            Cell(one.label),
            Cell(_weight(one.expected)),
            Cell(_weight(one.answered)),
            Cell(decimal(one.precision, DIGITS)),
            Cell(*(decimal(number, DIGITS) for number in (one.recall.value, one.recall.low, one.recall.high)))
            if one.recall.low is not None
            else Cell(NONE),
            Cell(decimal(one.f1, DIGITS)),
        )
        for one in found.labels
        if one.expected or one.answered
    )
    note = (
        f"Mean F1 {decimal(found.macro_f1, DIGITS)}, mean recall {decimal(found.balanced_accuracy, DIGITS)}, over the "
        "labels that are the right answer of an item. Intervals of recall: Wilson, items as if independent."
    )
    return Layout(0, f"Labels: {title}", columns, rows, (note,))


def _confusion(title: str, found: Classification) -> Layout:
    answered = [one for one in found.outcomes if any(found.confusion.get((label, one)) for label in found.outcomes)]
    columns = (Column("Right answer", numeric=False), *(Column(words(one)) for one in answered))
    rows = tuple(
        (Cell(one.label), *(Cell(_weight(found.confusion.get((one.label, said), 0.0))) for said in answered))
        for one in found.labels
        if one.expected
    )
    return Layout(0, f"Answers given: {title}", columns, rows, ("Rows: the right answer. Columns: what was answered.",))


def _weight(items: float) -> str:
    """Returns a number of items; with repeats it need not be whole."""
    return f"{items:,.0f}" if abs(items - round(items)) < 1e-9 else f"{items:,.1f}"


def _with_share(number: int, whole: int) -> str:
    return f"{number:,} ({share(number, whole)})" if number else "0"
