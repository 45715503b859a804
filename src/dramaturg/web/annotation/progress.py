"""What an owner wants to know: how far the campaign is, who answers how, and every vote as a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, case, func, select

from dramaturg.run.interview.vote_row import VoteRow
from dramaturg.web.annotation import tables
from dramaturg.web.annotation.store import Store

_ROWS_AT_ONCE = 2000
_MOST_RATERS = 200
_MOST_REPORTS = 100


@dataclass(frozen=True, slots=True)
class CategoryProgress:
    """How far one category is.

    Attributes:
        category: Its name.
        items: How many there are.
        by_answers: Number of answers → items that have just so many, fewest first.
        answers: Their sum.
    """

    category: str
    items: int
    by_answers: Mapping[int, int]
    answers: int

    def with_at_least(self, answers: int) -> int:
        """Returns how many items have so many answers or more."""
        return sum(items for count, items in self.by_answers.items() if count >= answers)


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """What one rater or browser did.

    Attributes:
        rater: Name or pseudonym.
        answers: Items answered, honeypots among them.
        skipped: Items passed over.
        reported: Items reported.
        hasty: Answers that came faster than the minimum.
        honeypots: Honeypots answered.
        failed: Honeypots answered wrongly.
        mean_s: Mean seconds for an answer; None without any.
    """

    rater: str
    answers: int
    skipped: int
    reported: int
    hasty: int
    honeypots: int
    failed: int
    mean_s: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """One person's complaint about an item."""

    item: str
    rater: str
    justification: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is.

    Attributes:
        categories: In the order of their names.
        raters: Those with most answers first; at most 200.
        rater_count: How many there are.
        reports: The latest first; at most 100.
        total: The sum over all raters, as if they were one.
    """

    categories: tuple[CategoryProgress, ...]
    raters: tuple[RaterProgress, ...]
    rater_count: int
    reports: tuple[Report, ...]
    total: RaterProgress


def progress_of(store: Store) -> Progress:
    """Returns how far a campaign is.

    Raises:
        StoreAwayError: The database is away.
    """
    item, vote = tables.item.c, tables.vote.c
    by_answers: dict[str, Counter[int]] = {}
    joined = tables.vote.join(tables.item, vote.item == item.id)
    with store.database.begin() as connection:
        counted = (
            select(item.category, item.answers, func.count().label("items"))
            .where(item.honeypot.is_(False), item.offered.is_(True))
            .group_by(item.category, item.answers)
        )
        for row in connection.execute(counted):
            by_answers.setdefault(row.category, Counter())[row.answers] += row.items
        figures = _figures()
        of_raters = (
            select(vote.rater, *figures)
            .select_from(joined)
            .group_by(vote.rater)
            .order_by(func.count().desc(), vote.rater)
            .limit(_MOST_RATERS)
        )
        raters = tuple(_rater(row.rater, row) for row in connection.execute(of_raters))
        total = _rater("", connection.execute(select(*figures).select_from(joined)).one())
        rater_count = connection.execute(select(func.count(func.distinct(vote.rater)))).scalar_one()
        reports = (
            select(vote.item, vote.rater, vote.justification)
            .where(vote.reported.is_(True))
            .order_by(vote.id.desc())
            .limit(_MOST_REPORTS)
        )
        told = tuple(Report(row.item, row.rater, row.justification) for row in connection.execute(reports))
    return Progress(
        tuple(_category(name, counts) for name, counts in sorted(by_answers.items())), raters, rater_count, told, total
    )


def votes_of(store: Store) -> Iterator[VoteRow]:
    """Yields every vote in the order in which they came; memory stays flat.

    Raises:
        StoreAwayError: The database is away.
    """
    item, vote = tables.item.c, tables.vote.c
    query = (
        select(tables.vote, item.category, item.honeypot, item.expected)
        .join_from(tables.vote, tables.item, vote.item == item.id)
        .order_by(vote.id)
    )
    with store.database.begin() as connection:
        for row in connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(query):
            yield VoteRow(
                item=row.item,
                rater=row.rater,
                answer=row.answer,
                category=row.category,
                seconds=row.seconds,
                justification=row.justification,
                honeypot=row.honeypot,
                expected=row.expected,
                skipped=row.skipped,
                reported=row.reported,
                created=datetime.fromtimestamp(round(row.created, 3), UTC),
            )


def _figures() -> list[ColumnElement[Any]]:
    item, vote = tables.item.c, tables.vote.c
    answered = vote.answer != ""

    def count(where: ColumnElement[bool]) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((where, 1), else_=0)), 0)

    return [
        count(answered).label("answers"),
        count(vote.skipped.is_(True)).label("skipped"),
        count(vote.reported.is_(True)).label("reported"),
        count(vote.hasty.is_(True)).label("hasty"),
        count(item.honeypot.is_(True) & answered).label("honeypots"),
        count(vote.failed.is_(True)).label("failed"),
        func.avg(case((answered, vote.seconds))).label("mean_s"),
    ]


def _rater(name: str, row: Any) -> RaterProgress:
    return RaterProgress(name, row.answers, row.skipped, row.reported, row.hasty, row.honeypots, row.failed, row.mean_s)


def _category(name: str, counts: Counter[int]) -> CategoryProgress:
    answers = sum(count * items for count, items in counts.items())
    return CategoryProgress(name, counts.total(), dict(sorted(counts.items())), answers)
