"""Which indicators carry information: the classical item analysis of a checklist on the answers that it got.

Source: M. J. Allen and W. M. Yen, "Introduction to Measurement Theory" (1979), chapter 6: item difficulty, corrected
item-total correlation, discrimination; the phi coefficient for two yes/no items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dramaturg.judge.checklist.answer_table import MISSING, NO, NOT_APPLICABLE, NOT_ASKED, YES, AnswerTable
from dramaturg.judge.checklist.checklist import Checklist

FEWEST = 20
"""Answered transcripts below which nothing is advised about an indicator."""

ALWAYS = 0.98
"""Share of one answer from which an indicator counts as always answered so."""

WEAK = 0.1
"""Corrected item-total correlation below which an indicator does not go with its dimension."""

SAME = 0.9
"""Phi from which two indicators count as one question asked twice."""

OFTEN_MISSING = 0.2
"""Share of missing answers from which an indicator is hard to judge."""

JUDGES_DIFFER = 0.3
"""Share of transcripts with different answers of two judges from which an indicator is unclear."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Item:
    """What the answers say of one indicator. Whatever cannot be told is None.

    Attributes:
        indicator: Its id.
        text: The question; empty where the checklist is not at hand.
        dimension: Its dimension.
        subdimension: Its sub-dimension, or empty.
        reversed: Whether a no is its good answer.
        answered: Transcripts with a yes or a no.
        missing: Transcripts whose answer is missing, never asked included.
        not_applicable: Transcripts it does not apply to.
        yes: Share of yes among the answered.
        item_total: Correlation of the good answer with the mean of the transcript's other good answers in the same
            dimension.
        discrimination: Share of the answers' variance that lies between subjects (eta squared).
        spread: Largest minus smallest share of good answers of a subject.
        disagreement: Share of transcripts on which two judges answered differently, mean over pairs of judges.
        proven: Share of the answers that the transcript itself proves.
    """

    indicator: str
    text: str
    dimension: str
    subdimension: str
    reversed: bool
    answered: int
    missing: int
    not_applicable: int
    yes: float | None
    item_total: float | None
    discrimination: float | None
    spread: float | None
    disagreement: float | None
    proven: float | None

    @property
    def missing_share(self) -> float | None:
        """Missing answers among those that should be there."""
        planned = self.answered + self.missing
        return self.missing / planned if planned else None


@dataclass(frozen=True, slots=True)
class Twins:
    """Two indicators that are answered alike.

    Attributes:
        one: Id of the first.
        other: Id of the second.
        phi: Their correlation over transcripts that answer both.
        n: How many transcripts those are.
    """

    one: str
    other: str
    phi: float
    n: int


@dataclass(frozen=True, slots=True)
class Advice:
    """An indicator that may be dropped or rewritten, and why."""

    indicator: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemAnalysis:
    """The item analysis of one judge's answers.

    Attributes:
        title: Who judged, by what and how.
        judge: Identity of the judge.
        mode: How it was asked.
        checklist: Id and version.
        transcripts: How many were judged.
        subjects: Labels of the subjects among them.
        items: One for each indicator.
        twins: Pairs with phi of at least `SAME`, the closest first.
        advice: What to drop or rewrite.
        notes: What limits the analysis.
    """

    title: str
    judge: str
    mode: str
    checklist: str
    transcripts: int
    subjects: tuple[str, ...]
    items: tuple[Item, ...]
    twins: tuple[Twins, ...]
    advice: tuple[Advice, ...]
    notes: tuple[str, ...]


def analyse(
    tables: Sequence[AnswerTable], *, checklists: Mapping[str, Checklist], subjects: Mapping[str, str]
) -> tuple[ItemAnalysis, ...]:
    """Returns the item analysis of each table.

    Args:
        tables: The answers; those by one checklist show where judges disagree.
        checklists: The checklists by hash; without one, texts are empty and every yes counts as good.
        subjects: Transcript id → label of its subject.
    """
    return tuple(
        _analysis(
            table,
            checklists.get(table.checklist_digest),
            subjects,
            [other for other in tables if other is not table and other.checklist_digest == table.checklist_digest],
        )
        for table in tables
    )


def _analysis(
    table: AnswerTable, checklist: Checklist | None, subjects: Mapping[str, str], others: Sequence[AnswerTable]
) -> ItemAnalysis:
    labels = [subjects.get(transcript, "") for transcript in table.transcripts]
    named = tuple(dict.fromkeys(label for label in labels if label))
    items = tuple(_items(table, checklist, labels, others))
    twins = _twins(table, items)
    advice = _advice(items, twins)
    notes = list(_emptied(items, advice))
    if len(table.transcripts) < FEWEST:
        notes.append(f"{len(table.transcripts)} transcripts: too few to advise anything; {FEWEST} are the least.")
    if len(named) < 2:
        notes.append("One subject: whether an indicator tells subjects apart cannot be seen.")
    if not others:
        notes.append("One judge: whether judges disagree cannot be seen.")
    if checklist is None:
        notes.append("No copy of the checklist is at hand: every yes counts as good.")
    return ItemAnalysis(
        title=table.title,
        judge=table.judge,
        mode=table.mode,
        checklist=table.checklist,
        transcripts=len(table.transcripts),
        subjects=named,
        items=items,
        twins=twins,
        advice=advice,
        notes=tuple(notes),
    )


def _items(
    table: AnswerTable, checklist: Checklist | None, labels: Sequence[str], others: Sequence[AnswerTable]
) -> Iterator[Item]:
    known = {one.id: one for one in checklist.indicators} if checklist is not None else {}
    negative = [name in known and known[name].sign == "negative" for name in table.indicators]
    answered = table.answers >= NO
    good = np.where(np.asarray(negative), 1 - table.answers, table.answers)
    totals = _item_totals(good, answered, table.dimensions)
    codes = _group_codes(labels)
    differing = _disagreements(table, others)
    for column, name in enumerate(table.indicators):
        here, used = table.answers[:, column], answered[:, column]
        count = int(used.sum())
        indicator = known.get(name)
        eta, spread = _between(good[:, column], used, codes)
        yield Item(
            indicator=name,
            text=indicator.text if indicator is not None else "",
            dimension=table.dimensions[column],
            subdimension=(indicator.subdimension or "") if indicator is not None else "",
            reversed=negative[column],
            answered=count,
            missing=int(((here == MISSING) | (here == NOT_ASKED)).sum()),
            not_applicable=int((here == NOT_APPLICABLE).sum()),
            yes=int((here == YES).sum()) / count if count else None,
            item_total=totals[column],
            discrimination=eta,
            spread=spread,
            disagreement=differing.get(name),
            proven=int((table.proven[:, column] & used).sum()) / count if count else None,
        )


def _item_totals(good: NDArray[np.int8], answered: NDArray[np.bool_], dimensions: Sequence[str]) -> list[float | None]:
    """Returns each indicator's correlation with the mean of the others of its dimension."""
    found: list[float | None] = [None] * len(dimensions)
    for dimension in dict.fromkeys(dimensions):
        columns = [column for column, name in enumerate(dimensions) if name == dimension]
        used = answered[:, columns]
        values = np.where(used, good[:, columns], 0).astype(np.int32)
        sums, counts = values.sum(axis=1), used.sum(axis=1)
        for place, column in enumerate(columns):
            rows = used[:, place] & (counts > 1)
            own = values[rows, place].astype(np.float64)
            rest = (sums[rows] - own) / (counts[rows] - 1)
            found[column] = _correlation(own, rest)
    return found


def _correlation(one: Numbers, other: Numbers) -> float | None:
    """Returns Pearson's r, or None where a side does not vary or fewer than three values are there."""
    if len(one) < 3:
        return None
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 1e-12 else None


def _group_codes(labels: Sequence[str]) -> NDArray[np.int64]:
    """Returns the number of each row's subject, -1 where it has none."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(label for label in labels if label))}
    return np.asarray([numbers.get(label, -1) for label in labels], np.int64)


def _between(
    good: NDArray[np.int8], used: NDArray[np.bool_], codes: NDArray[np.int64]
) -> tuple[float | None, float | None]:
    """Returns the share of variance between subjects and the spread of their means."""
    rows = used & (codes >= 0)
    values, groups = good[rows].astype(np.float64), codes[rows]
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, np.int64)
    present = sizes > 0
    if int(present.sum()) < 2:
        return None, None
    means = np.bincount(groups, weights=values)[present] / sizes[present]
    spread = float(means.max() - means.min())
    total = float(((values - values.mean()) ** 2).sum())
    if total <= 1e-12:
        return None, spread
    return float((sizes[present] * (means - values.mean()) ** 2).sum()) / total, spread


def _disagreements(table: AnswerTable, others: Sequence[AnswerTable]) -> dict[str, float]:
    """Returns by indicator how often another judge answered differently, mean over the other judges."""
    rows = {transcript: row for row, transcript in enumerate(table.transcripts)}
    columns = {name: column for column, name in enumerate(table.indicators)}
    shares: dict[str, list[float]] = {}
    for other in others:
        both = [(rows[name], row) for row, name in enumerate(other.transcripts) if name in rows]
        mine, theirs = [here for here, _ in both], [there for _, there in both]
        for column, name in enumerate(other.indicators):
            if name not in columns:
                continue
            one, two = table.answers[mine, columns[name]], other.answers[theirs, column]
            used = (one >= NO) & (two >= NO)
            if used.any():
                shares.setdefault(name, []).append(float((one[used] != two[used]).mean()))
    return {name: sum(found) / len(found) for name, found in shares.items()}


def _twins(table: AnswerTable, items: Sequence[Item]) -> tuple[Twins, ...]:
    """Returns the pairs of indicators that are answered alike or, where one is reversed, against each other."""
    used = (table.answers >= NO).astype(np.float32)
    yes = (table.answers == YES).astype(np.float32)
    # Counts below 2^24 are exact in float32.
    n, both = (used.T @ used).astype(np.float64), (yes.T @ yes).astype(np.float64)
    first, second = (yes.T @ used).astype(np.float64), (used.T @ yes).astype(np.float64)
    size = np.sqrt(first * (n - first) * second * (n - second))
    phi = np.divide(n * both - first * second, size, out=np.full_like(size, np.nan), where=size > 0)
    found: list[Twins] = []
    for one in range(len(items)):
        for other in range(one + 1, len(items)):
            sign = -1 if items[one].reversed != items[other].reversed else 1
            value, count = float(phi[one, other]) * sign, int(n[one, other])
            if count >= FEWEST and value >= SAME:
                found.append(Twins(items[one].indicator, items[other].indicator, value, count))
    return tuple(sorted(found, key=lambda pair: -pair.phi))


def _advice(items: Sequence[Item], twins: Sequence[Twins]) -> tuple[Advice, ...]:
    by_id = {item.indicator: item for item in items}
    copies: dict[str, list[str]] = {}
    for pair in twins:
        weaker, kept = sorted((pair.one, pair.other), key=lambda name: by_id[name].item_total or 0.0)
        if kept not in copies:  # its twin goes already, so this one stays
            copies.setdefault(weaker, []).append(f"says the same as {kept} (phi {pair.phi:.2f})")
    advice = [Advice(item.indicator, (*_faults(item), *copies.get(item.indicator, ()))) for item in items]
    return tuple(one for one in advice if one.reasons)


def _faults(item: Item) -> Iterator[str]:
    missing = item.missing_share
    if item.answered + item.missing >= FEWEST and missing is not None and missing >= OFTEN_MISSING:
        yield f"{missing:.0%} of its answers are missing"
    if item.answered < FEWEST or item.yes is None:
        return
    if item.yes >= ALWAYS or item.yes <= 1 - ALWAYS:
        answer = "yes" if item.yes >= ALWAYS else "no"
        yield f"always {answer} ({item.yes:.0%} yes): it tells nothing apart here; keep it where the fault can occur"
    elif item.item_total is not None and item.item_total < WEAK:
        yield f"does not go with the rest of {item.dimension} (item-total {item.item_total:.2f})"
    if item.disagreement is not None and item.disagreement >= JUDGES_DIFFER:
        yield f"judges disagree on {item.disagreement:.0%} of the transcripts"


def _emptied(items: Sequence[Item], advice: Sequence[Advice]) -> Iterator[str]:
    """Yields a warning where dropping all that is advised would leave a part without an indicator."""
    going = {one.indicator for one in advice}
    staying = {(item.dimension, item.subdimension) for item in items if item.indicator not in going}
    parts = dict.fromkeys((item.dimension, item.subdimension) for item in items)
    emptied = [part or dimension for dimension, part in parts if (dimension, part) not in staying]
    if emptied:
        yield f"Dropping all that is listed would empty {', '.join(emptied)}: rewrite some instead."
