"""The layouts of RPEval's Tables 1 and 2, for any item set and any models.

Source: RPEval, sections 3.2 and 4. Its text calls the average the mean over all scenarios; its table prints the mean
over three categories, and the two differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dramaturg.judge.matching.measures import PUBLISHED, Measure
from dramaturg.judge.matching.scores import InterviewScores
from dramaturg.report.figures import NONE, count
from dramaturg.report.interview.data import InterviewReport
from dramaturg.report.interview.words import BASELINES
from dramaturg.report.layouts import Cell, Column, Layout

_THREE = ("emotion", "decision_moral", "in_character")
_HEADS = ("Emotional Understanding", "Decision-Making/Moral Alignment", "In-Character Consistency")


def published_tables(report: InterviewReport, *, intervals: bool = False) -> tuple[Layout, ...]:
    """Returns Table 1, the items by category, and Table 2, the scores in percent; without an item, none.

    Args:
        report: What was asked and scored.
        intervals: Whether scores carry their interval.
    """
    if not report.questions:
        return ()
    return (_counts(report), _evaluation(report, intervals))


def _counts(report: InterviewReport) -> Layout:
    found = Counter(PUBLISHED.get(question.kind) for _, question in report.questions.values())
    numbers = [found[category] for category in _THREE]
    columns = (Column("Category", numeric=False), *map(Column, _HEADS), Column("Total"))
    row = (Cell("Count"), *(Cell(count(number)) for number in numbers), Cell(count(sum(numbers))))
    others = found[None]
    notes = (f"{others:,} more items ask what a character must know, which is none of these categories.",)
    return Layout(1, "Distribution of Scenarios by Category", columns, (row,), notes if others else ())


def _evaluation(report: InterviewReport, intervals: bool) -> Layout:
    columns = (
        Column("Model", numeric=False),
        Column("Avg Score", interval=intervals),
        *(Column(head, interval=intervals) for head in _HEADS),
    )
    everybody = [
        *((subject.name, subject.scores) for subject in report.subjects),
        *((f"[{BASELINES[baseline]}]", scores) for baseline, scores in report.baselines.items()),
    ]
    rows = tuple(
        (
            Cell(name),
            _percent(scores, "published_macro", intervals),
            _percent(scores, "emotion", intervals),
            _percent(scores, _merged(scores), intervals),
            _percent(scores, "in_character", intervals),
        )
        for name, scores in everybody
    )
    return Layout(2, "Evaluation results", columns, rows, tuple(_notes(report, intervals)))


def _notes(report: InterviewReport, intervals: bool) -> Iterator[str]:
    yield (
        "Avg Score is what was published: the plain mean of the three categories, however many items each has. The "
        "mean over all items of the three is another figure."
    )
    for subject in report.subjects:
        scores = subject.scores.scores
        if "published_macro" in scores and "published_micro" in scores:
            micro, macro = (_text(subject.scores, key) for key in ("published_micro", "published_macro"))
            yield f"{subject.name}: {micro} over all items, {macro} over the three categories."
        else:
            yield f"{subject.name}: no average, for one of the three categories was not asked."
    yield "In brackets: baselines, which read no character."
    if report.matcher == "robust":
        yield "Published figures were read by the published rule; those here by the rule robust."
    if intervals:
        yield "Intervals: 95 %, items of one character kept together."


def _merged(scores: InterviewScores) -> Measure:
    """Returns the score of decision and moral as one category, whichever of the two there are."""
    if "decision_moral" in scores.scores:
        return "decision_moral"
    return "moral" if "moral" in scores.scores else "decision"


def _text(scores: InterviewScores, measure: Measure) -> str:
    return _percent(scores, measure, intervals=False).text


def _percent(scores: InterviewScores, measure: Measure, intervals: bool) -> Cell:
    score = scores.scores.get(measure)
    if score is None or score.estimate.value is None:
        return Cell(NONE)
    estimate = score.estimate
    text = f"{100 * score.estimate.value:.2f}%"
    if not intervals or estimate.low is None or estimate.high is None:
        return Cell(text)
    return Cell(text, f"{100 * estimate.low:.2f}%", f"{100 * estimate.high:.2f}%")
