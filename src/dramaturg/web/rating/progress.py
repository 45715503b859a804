"""What an owner wants to know: how far the campaign is, who rates how, and every rating as a row."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select

from dramaturg.judge.rating.reliability import Values
from dramaturg.judge.rating.table import RowKey
from dramaturg.web.rating import tables
from dramaturg.web.rating.sheet import Mark, unpacked
from dramaturg.web.rating.store import RatingStore, State


@dataclass(frozen=True, slots=True)
class Sheet:
    """One person's sheet of one role.

    Attributes:
        key: Ids of transcript and role.
        scene: Id of the scene.
        person: Who rates.
        state: Of the sheet.
        marks: By metric.
        seconds: From the first sight of the role to the last change, pauses among them.
        changed: When it was last changed.
    """

    key: RowKey
    scene: str
    person: str
    state: State
    marks: Mapping[str, Mark]
    seconds: float
    changed: datetime


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """What one person did.

    Attributes:
        person: Name or pseudonym.
        done: Roles rated.
        open: Roles begun.
        passed: Roles passed over.
        missing: Marks of rated roles that hold no rating.
        marks: Marks of rated roles.
        median_minutes: Median time for a rated role; None without any.
    """

    person: str
    done: int
    open: int
    passed: int
    missing: int
    marks: int
    median_minutes: float | None


@dataclass(frozen=True, slots=True)
class RatingProgress:
    """How far a campaign is.

    Attributes:
        roles: Language → number of people → roles that just so many people rated.
        people: Those who rated most first.
    """

    roles: Mapping[str, Mapping[int, int]]
    people: tuple[PersonProgress, ...]

    def with_at_least(self, language: str, people: int) -> int:
        """Returns how many roles of a language so many people or more rated."""
        return sum(roles for count, roles in self.roles[language].items() if count >= people)


def sheets_of(store: RatingStore) -> list[Sheet]:
    """Returns every sheet in the order in which they were begun.

    Raises:
        StoreAwayError: The database is away.
    """
    role, sheet = tables.role.c, tables.sheet.c
    query = (
        select(tables.sheet, role.transcript, role.role.label("name"), role.scene)
        .join_from(tables.sheet, tables.role, sheet.role == role.id)
        .order_by(sheet.id)
    )
    with store.database.begin() as connection:
        return [
            Sheet(
                key=(row.transcript, row.name),
                scene=row.scene,
                person=row.rater,
                state=row.state,
                marks=unpacked(row.marks),
                seconds=round(max(0.0, row.changed - row.begun), 1),
                changed=datetime.fromtimestamp(round(row.changed, 3), UTC),
            )
            for row in connection.execute(query)
        ]


def progress_of(store: RatingStore) -> RatingProgress:
    """Returns how far a campaign is.

    Raises:
        StoreAwayError: The database is away.
    """
    role = tables.role.c
    sheets = sheets_of(store)
    rated = Counter(sheet.key for sheet in sheets if sheet.state == "done")
    query = select(role.transcript, role.role, role.language).where(role.offered.is_(True))
    roles: dict[str, Counter[int]] = {}
    with store.database.begin() as connection:
        for row in connection.execute(query.order_by(role.language)):
            roles.setdefault(row.language, Counter())[rated[row.transcript, row.role]] += 1
    by_person: dict[str, list[Sheet]] = {}
    for sheet in sheets:
        by_person.setdefault(sheet.person, []).append(sheet)
    people = [_person(name, of_person) for name, of_person in by_person.items()]
    return RatingProgress(roles, tuple(sorted(people, key=lambda one: (-one.done, one.person))))


def digests_of(store: RatingStore) -> Mapping[RowKey, str]:
    """Returns the hash of the transcript that people read, by transcript and role.

    Raises:
        StoreAwayError: The database is away.
    """
    role = tables.role.c
    with store.database.begin() as connection:
        rows = connection.execute(select(role.transcript, role.role, role.digest)).all()
    return {(row.transcript, row.role): row.digest for row in rows}


def values_by_person(sheets: Sequence[Sheet]) -> dict[str, Values]:
    """Returns the ratings of each person, by transcript, role and metric, of sheets that were handed in."""
    found: dict[str, dict[tuple[RowKey, str], float]] = {}
    for sheet in sheets:
        if sheet.state == "done":
            mine = found.setdefault(sheet.person, {})
            mine |= {(sheet.key, metric): float(mark.rating) for metric, mark in sheet.marks.items() if mark.rating}
    return dict(found)


def _person(name: str, sheets: list[Sheet]) -> PersonProgress:
    states = Counter(sheet.state for sheet in sheets)
    done = [sheet for sheet in sheets if sheet.state == "done"]
    marks = [mark for sheet in done for mark in sheet.marks.values()]
    return PersonProgress(
        person=name,
        done=states["done"],
        open=states["open"],
        passed=states["passed"],
        missing=sum(mark.rating is None for mark in marks),
        marks=len(marks),
        median_minutes=statistics.median(sheet.seconds for sheet in done) / 60 if done else None,
    )
