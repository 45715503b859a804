"""The tables of scores: what was asked, scores beside baselines, categories, in character with knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dramaturg.judge.matching.measures import KINDS, PUBLISHED, Measure
from dramaturg.judge.matching.scores import InterviewScores, Score
from dramaturg.measure import Estimate
from dramaturg.report.figures import NONE, count, decimal, share, words
from dramaturg.report.interview.data import InterviewReport
from dramaturg.report.interview.words import BASELINES, JOINT, MEASURES
from dramaturg.report.layouts import Cell, Column, Layout

DIGITS = 3
"""Decimal places of a score."""

OVERALL: tuple[Measure, ...] = ("macro", "published_macro", "micro")
CATEGORIES: tuple[Measure, ...] = ("emotion", "decision", "moral", "decision_moral", "in_character", "knows")

_NAME = Column("Subject", numeric=False)
_CLUSTERED = "Intervals: 95 %, items of one character kept together; – where there is none."


def asked(report: InterviewReport) -> tuple[Layout, ...]:
    """Returns how many items each category has, and which answer is the most frequent right one."""
    rows: list[tuple[Cell, ...]] = []
    for kind in KINDS:
        here = [(character, question) for character, question in report.questions.values() if question.kind == kind]
        if not here:
            continue
        answer, number = Counter(question.expected for _, question in here).most_common(1)[0]
        rows.append(
            (
                Cell(MEASURES[kind]),
                Cell(count(len(here))),
                Cell(count(len({character for character, _ in here}))),
                Cell(count(sum(any(question.votes.values()) for _, question in here))),
                Cell(f"{answer}, {share(number, len(here))}" if answer else NONE),
                *(Cell(_used_of(subject.scores.scores.get(kind))) for subject in report.subjects),
            )
        )
    columns = (
        Column("Category", numeric=False),
        Column("Items"),
        Column("Characters"),
        Column("With votes"),
        Column("Most frequent right answer"),
        *(Column(f"Replies of {subject.name}") for subject in report.subjects),
    )
    return _table("Items by category, and replies that count of those planned", columns, rows)


def scores(report: InterviewReport) -> tuple[Layout, ...]:
    """Returns the scores over all categories, of subjects and baselines, and the differences between them."""
    shown = _different(report, OVERALL)
    with_joint = any(scores.joint is not None for _, scores in _everybody(report))
    columns = (
        _NAME,
        *(Column(MEASURES[measure], interval=True) for measure in shown),
        *((Column(JOINT, interval=True),) if with_joint else ()),
        Column("Macro, missing wrong – right"),
        Column("Replies"),
    )
    rows = [
        (
            Cell(name),
            *(_estimate(_of(scores, measure)) for measure in shown),
            *((_estimate(scores.joint.both if scores.joint else None),) if with_joint else ()),
            Cell(_bounds(scores.scores.get("macro"))),
            Cell(f"{scores.used:,} / {scores.planned:,}"),
        )
        for name, scores in _everybody(report)
    ]
    notes = (
        "Macro: mean of the categories. Micro: mean of all items. Macro as published: mean of emotion, decision with "
        "moral, in character. In brackets: baselines, which read no character.",
        "Missing wrong – right: the score if all missing replies were wrong, or right.",
        _CLUSTERED,
    )
    return (*_table("Scores, from 0 to 1", columns, rows, *notes), *_differences(report, shown, with_joint))


def categories(report: InterviewReport) -> tuple[Layout, ...]:
    """Returns the scores of each category, decision and moral apart, first at a glance and then with intervals."""
    shown = _different(report, CATEGORIES)
    if not shown:
        return ()
    glance = [
        (Cell(name), *(Cell(decimal(_value(scores, measure), DIGITS)) for measure in shown))
        for name, scores in _everybody(report)
    ]
    columns = (_NAME, *(Column(MEASURES[measure]) for measure in shown))
    long = [
        (
            Cell(subject.name),
            Cell(MEASURES[measure]),
            _estimate(score.estimate),
            Cell(_range(*score.wilson) if score.wilson else NONE),
            Cell(_bounds(score)),
            Cell(_used_of(score)),
            Cell(count(score.estimate.n_used)),
            Cell(count(score.estimate.clusters)),
        )
        for subject in report.subjects
        for measure in shown
        if (score := subject.scores.scores.get(measure)) is not None
    ]
    heads = (
        _NAME,
        Column("Category", numeric=False),
        Column("Score", interval=True),
        Column("Wilson, items as if independent"),
        Column("Missing wrong – right"),
        Column("Replies"),
        Column("Items"),
        Column("Characters"),
    )
    notes = (_CLUSTERED, *_reasons(report, shown))
    return (
        *_table("Scores by category", columns, glance),
        *_table("Scores by category with intervals", heads, long, *notes),
    )


def joint(report: InterviewReport) -> tuple[Layout, ...]:
    """Returns how replies in character and replies that know go together."""
    rows = [
        (
            Cell(name),
            _estimate(found.both),
            Cell(decimal(found.only_in_character, DIGITS)),
            Cell(decimal(found.only_knows, DIGITS)),
            Cell(decimal(found.neither, DIGITS)),
            Cell(f"{found.both.n_used:,} / {found.both.n_planned:,}"),
        )
        for name, scores in _everybody(report)
        if (found := scores.joint) is not None
    ]
    columns = (
        _NAME,
        Column("Both right", interval=True),
        Column("Gives nothing away, does not know"),
        Column("Knows, gives away"),
        Column("Neither"),
        Column("Characters"),
    )
    alone = max((found.one_kind_alone for _, scores in _everybody(report) if (found := scores.joint)), default=0)
    notes = ["Each figure: a pair of replies about one character, one of each kind, drawn at random."]
    if alone:
        notes.append(f"{alone:,} characters have items of one kind alone and no part in this.")
    return _table("In character and knowing, together", columns, rows, *notes)


def _differences(report: InterviewReport, shown: tuple[Measure, ...], with_joint: bool) -> tuple[Layout, ...]:
    rows = [
        (
            Cell(subject.name),
            Cell(f"[{BASELINES[baseline]}]"),
            *(
                _signed(against.differences[measure].estimate if measure in against.differences else None)
                for measure in shown
            ),
            *((_signed(against.joint.estimate if against.joint else None),) if with_joint else ()),
            Cell(against.differences["macro"].standing if "macro" in against.differences else NONE),
        )
        for subject in report.subjects
        for baseline, against in subject.against.items()
    ]
    columns = (
        _NAME,
        Column("Against", numeric=False),
        *(Column(f"{MEASURES[measure]}, difference", interval=True) for measure in shown),
        *((Column(f"{JOINT}, difference", interval=True),) if with_joint else ()),
        Column("By macro", numeric=False),
    )
    note = "Paired item by item. Better or worse only where the interval of the difference leaves out 0."
    return _table("Differences to the baselines", columns, rows, note)


def _everybody(report: InterviewReport) -> Iterator[tuple[str, InterviewScores]]:
    for subject in report.subjects:
        yield subject.name, subject.scores
    for baseline, scores in report.baselines.items():
        yield f"[{BASELINES[baseline]}]", scores


def _different(report: InterviewReport, measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Returns the measures that exist here; the published mean is left out where it is the macro itself."""
    here = {measure for _, scores in _everybody(report) for measure in scores.scores}
    kinds = {question.kind for _, question in report.questions.values()}
    same = kinds <= set(PUBLISHED) and not {"decision", "moral"} <= kinds
    return tuple(measure for measure in measures if measure in here and not (same and measure == "published_macro"))


def _reasons(report: InterviewReport, shown: tuple[Measure, ...]) -> tuple[str, ...]:
    """Returns why intervals are missing or special, each reason once."""
    found = (
        f"{subject.name}, {words(measure)}: {reason}."
        for subject in report.subjects
        for measure in shown
        if (estimate := _of(subject.scores, measure)) is not None and (reason := estimate.reason)
    )
    return tuple(found)


def _of(scores: InterviewScores, measure: Measure) -> Estimate | None:
    score = scores.scores.get(measure)
    return score.estimate if score is not None else None


def _value(scores: InterviewScores, measure: Measure) -> float | None:
    estimate = _of(scores, measure)
    return estimate.value if estimate is not None else None


def _estimate(estimate: Estimate | None) -> Cell:
    if estimate is None:
        return Cell(NONE)
    if estimate.low is None:
        return Cell(decimal(estimate.value, DIGITS))
    return Cell(*(decimal(number, DIGITS) for number in (estimate.value, estimate.low, estimate.high)))


def _signed(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None:
        return Cell(NONE)
    if estimate.low is None or estimate.high is None:
        return Cell(_with_sign(estimate.value))
    return Cell(*map(_with_sign, (estimate.value, estimate.low, estimate.high)))


def _with_sign(number: float) -> str:
    return f"{number:+.{DIGITS}f}".replace("-", "−")


def _bounds(score: Score | None) -> str:
    return _range(score.low, score.high) if score is not None else NONE


def _range(low: float, high: float) -> str:
    return f"{decimal(low, DIGITS)} – {decimal(high, DIGITS)}"


def _used_of(score: Score | None) -> str:
    return f"{score.used:,} / {score.planned:,}" if score is not None else NONE


def _table(title: str, columns: tuple[Column, ...], rows: list[tuple[Cell, ...]], *notes: str) -> tuple[Layout, ...]:
    """Returns the table, or nothing where it has no row."""
    return (Layout(0, title, columns, tuple(rows), notes),) if rows else ()
