"""The layouts of RPA-Check's Tables 1 to 6, for any study: what stands in which row and column.

Table 1 is a dimension at a glance, Table 2 its sub-dimensions, Table 3 its scores and restarts by case, Table 4 the
other dimensions, and one table by case follows for each of them. The arithmetic is exact; numbers become decimals
only here, rounded half up as the paper rounds.

Source: RPA-Check, section 5.2. Its Table 1 prints the mean over the sub-dimensions of its Table 2, while its Table 3
prints equation 4 for each case; the means of the two differ, and Table 3 says by how much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dramaturg.errors import UserError, did_you_mean
from dramaturg.judge.checklist.attempts import mean_of_parts
from dramaturg.report.figures import NONE, counted, half_up

HEAD_DIGITS, DIGITS = 3, 2
"""Decimal places of Table 1 and of all others, as in the paper."""

Values = Mapping[str, Fraction | None]
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class DimensionHead:
    """A dimension with its sub-dimensions, id → name."""

    id: str
    name: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SubjectFigures:
    """What the tables say of one subject.

    Attributes:
        label: Its name.
        quantisation: As its model file says; empty where unknown.
        size: Its number of weights, in words; empty where unknown.
        parts: Sub-dimension id → mean Quality Score over the cases.
        dimensions: Dimension id → mean Quality Score by equation 4 over the cases.
        cases: Dimension id → case id → Quality Score by equation 4.
        restarts: Case id → restarts.
        trials: Trials that came about.
        completed: Those whose scores go in: they reached the end of their procedure.
        ranges: Dimension or sub-dimension id → 95 % interval over cases, where there is one.
    """

    label: str
    quantisation: str
    size: str
    parts: Values
    dimensions: Values
    cases: Mapping[str, Values]
    restarts: Mapping[str, int]
    trials: int | None = None
    completed: int | None = None
    ranges: Mapping[str, Range] | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What a set of tables says.

    Attributes:
        title: Who judged what and how, or where published figures come from.
        dimensions: In the checklist's order.
        cases: Case id → title.
        subjects: One row each.
        notes: What must be known of all tables.
    """

    title: str
    dimensions: Sequence[DimensionHead]
    cases: Mapping[str, str]
    subjects: Sequence[SubjectFigures]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: text, and the ends of an interval where there is one and it was asked for."""

    text: str
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `interval` says whether its cells may have one."""

    name: str
    numeric: bool = True
    interval: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """One table as it is printed; its number is 0 where it has none."""

    number: int
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


def layouts(figures: Figures, *, dimension: str = "", intervals: bool = False) -> tuple[Layout, ...]:
    """Returns all tables, numbered as in the paper.

    Args:
        figures: What they say.
        dimension: Id of the dimension of Tables 1 to 3; the first by default. The others follow in Tables 4 and on.
        intervals: Whether means over cases carry their interval.

    Raises:
        UserError: There is no such dimension.
    """
    heads = {head.id: head for head in figures.dimensions}
    main = heads.get(dimension) if dimension else figures.dimensions[0]
    if main is None:
        raise UserError(f"no dimension {dimension!r}", where="--dimension", allowed=did_you_mean(dimension, heads))
    others = [head for head in figures.dimensions if head is not main]
    made = [
        _at_a_glance(figures, main, intervals),
        _sub_dimensions(figures, main, intervals),
        _by_case(figures, main, 3, restarts=True),
    ]
    if others:
        made.append(_other_dimensions(figures, others, intervals))
    made += [_by_case(figures, head, number) for number, head in enumerate(others, start=5)]
    return tuple(made)


def dimension_score(subject: SubjectFigures, head: DimensionHead) -> Fraction | None:
    """Returns a dimension's score: the mean of its sub-dimensions, or equation 4 where it has none."""
    if head.parts:
        return mean_of_parts(subject.parts.get(part) for part in head.parts)
    return subject.dimensions.get(head.id)


def _at_a_glance(figures: Figures, head: DimensionHead, intervals: bool) -> Layout:
    columns = (
        Column("Model", numeric=False),
        Column("Quantisation", numeric=False),
        Column("Size", numeric=False),
        Column("Retry Rate (R)"),
        Column(f"QS {head.id}", interval=intervals),
    )
    rows = tuple(
        (
            Cell(subject.label),
            Cell(subject.quantisation or NONE),
            Cell(subject.size or NONE),
            Cell(str(sum(subject.restarts.values()))),
            _cell(dimension_score(subject, head), HEAD_DIGITS, _range(subject, head.id, intervals)),
        )
        for subject in figures.subjects
    )
    how = (
        "plain mean of its sub-dimensions (Table 2)" if head.parts else "equation 4: good answers / answered indicators"
    )
    notes = [f"QS {head.id}: Quality Score of {head.name}, {how}, over completed trials. R: all restarts."]
    return _layout(figures, 1, f"{head.name} at a glance", columns, rows, [*notes, *_common_notes(figures, intervals)])


def _sub_dimensions(figures: Figures, head: DimensionHead, intervals: bool) -> Layout:
    parts = head.parts or {head.id: head.name}
    columns = (Column("Model", numeric=False), *(Column(name, interval=intervals) for name in parts.values()))

    def value(subject: SubjectFigures, part: str) -> Fraction | None:
        return (subject.parts if head.parts else subject.dimensions).get(part)

    rows = tuple(
        (
            Cell(subject.label),
            *(_cell(value(subject, part), DIGITS, _range(subject, part, intervals)) for part in parts),
        )
        for subject in figures.subjects
    )
    notes = [] if head.parts else [f"{head.name} has no sub-dimensions."]
    return _layout(figures, 2, f"{head.name}: sub-dimensions", columns, rows, notes)


def _by_case(figures: Figures, head: DimensionHead, number: int, *, restarts: bool = False) -> Layout:
    columns = [Column("Model", numeric=False)]
    for place in range(1, len(figures.cases) + 1):
        columns.append(Column(f"Case {place} QS"))
        if restarts:
            columns.append(Column(f"Case {place} R"))
    rows: list[tuple[Cell, ...]] = []
    for subject in figures.subjects:
        cells = [Cell(subject.label)]
        for case in figures.cases:
            cells.append(_cell(subject.cases.get(head.id, {}).get(case), DIGITS))
            if restarts:
                cells.append(Cell(str(subject.restarts[case]) if case in subject.restarts else NONE))
        rows.append(tuple(cells))
    named = "; ".join(
        f"Case {place}: {case}" if title in {"", case} else f"Case {place}: {case} ({title})"
        for place, (case, title) in enumerate(figures.cases.items(), start=1)
    )
    notes = [f"{named}." if named else "", "QS: equation 4, good answers / answered indicators of the case."]
    notes += _means_of_cases(figures, head)
    title = f"{head.name} by case" + (", with restarts" if restarts else "")
    return _layout(figures, number, title, tuple(columns), tuple(rows), [note for note in notes if note])


def _means_of_cases(figures: Figures, head: DimensionHead) -> Iterator[str]:
    """Yields where the mean over cases is another figure than the dimension's score."""
    differing: list[str] = []
    for subject in figures.subjects:
        of_cases = mean_of_parts(subject.cases.get(head.id, {}).values())
        of_parts = dimension_score(subject, head)
        here, there = half_up(of_cases, HEAD_DIGITS), half_up(of_parts, HEAD_DIGITS)
        if of_cases is not None and here != there:
            differing.append(f"{subject.label} {here} (there {there})")
    if differing:
        why = "there the sub-dimensions weigh alike, here the indicators do" if head.parts else "printed figures differ"
        named = "; ".join(differing)
        yield f"Mean over the cases of this table, where the dimension's score is another: {named}: {why}."


def _other_dimensions(figures: Figures, heads: Sequence[DimensionHead], intervals: bool) -> Layout:
    columns = (
        Column("Model", numeric=False),
        *(Column(f"QS {head.id}", interval=intervals) for head in heads),
    )
    rows = tuple(
        (
            Cell(subject.label),
            *(_cell(dimension_score(subject, head), DIGITS, _range(subject, head.id, intervals)) for head in heads),
        )
        for subject in figures.subjects
    )
    notes = ["; ".join(f"{head.id}: {head.name}" for head in heads) + "."]
    return _layout(figures, 4, "The other dimensions", columns, rows, notes)


def _common_notes(figures: Figures, intervals: bool) -> Iterator[str]:
    left_out = {
        subject.label: subject.trials - subject.completed
        for subject in figures.subjects
        if subject.trials is not None and subject.completed is not None and subject.trials > subject.completed
    }
    if left_out:
        named = "; ".join(f"{label} {number:,}" for label, number in left_out.items())
        trials = counted(sum(left_out.values()), "trial", "trials")
        yield f"{trials} did not reach the end and count in R alone: {named}."
    staged = {frozenset(subject.restarts) for subject in figures.subjects}
    if len(staged) > 1:
        yield "The subjects were not all staged in the same cases, so their means are not comparable."
    if intervals:
        yield "Intervals: 95 %, each case as one observation; – where there is none."
    yield from figures.notes


def _layout(
    figures: Figures,
    number: int,
    title: str,
    columns: tuple[Column, ...],
    rows: tuple[tuple[Cell, ...], ...],
    notes: Sequence[str],
) -> Layout:
    return Layout(number, title, columns, rows, (*notes, figures.title))


def _range(subject: SubjectFigures, key: str, intervals: bool) -> Range | None:
    return (subject.ranges or {}).get(key) if intervals else None


def _cell(value: Fraction | None, digits: int, around: Range | None = None) -> Cell:
    if around is None:
        return Cell(half_up(value, digits))
    low, high = (half_up(Fraction(end), digits) for end in around)
    return Cell(half_up(value, digits), low, high)
