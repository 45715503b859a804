"""What a rating campaign remembers: one sheet for each person and role, saved bit by bit, handed in once."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from sqlalchemy import Connection, and_, case, delete, func, or_, select, update

from dramaturg.errors import UserError
from dramaturg.judge.rating import Rubric
from dramaturg.web.rating import tables
from dramaturg.web.rating.campaign import PlayedRole, RatingCampaign, RatingRules
from dramaturg.web.rating.sheet import Marks, packed, unpacked, with_marks
from dramaturg.web.survey.database import Database
from dramaturg.web.survey.store import SurveyStore

DATABASE = "people.db"
"""Name of the database in the folder of a campaign."""

FRESH_S = 2 * 3600
"""A sheet that was begun counts as good as handed in for so long, so that two people do not rate one role by chance."""

_RUBRIC = "rubric/"
"""Heads the names under which scales are kept, by language."""

State: TypeAlias = Literal["open", "done", "passed"]
"""Of a sheet. open: begun. done: handed in. passed: the person passed the role over."""

Outcome: TypeAlias = Literal["kept", "already", "too_many", "removed"]
"""What became of a sheet. already: it was handed in before, and stands. removed: the rater is one no more."""


@dataclass(frozen=True, slots=True)
class RoleOffer:
    """What a person is shown next.

    Attributes:
        role: Id of the played role; None where nothing is left.
        marks: What the person filled in already.
        done: How many roles the person has rated or passed over.
        left: How many there still are for this person, this one among them.
    """

    role: str | None
    marks: Marks
    done: int
    left: int


@dataclass(frozen=True, slots=True)
class Filled:
    """What a person sent.

    Attributes:
        rater: Pseudonym of a browser, or a named rater's name.
        named: Whether it is a named rater.
        role: Id of the played role.
        marks: What the form says.
        state: What the sheet becomes.
        shown: When the role was shown, in seconds since the epoch.
        address: Where it came from; only a keyed hash is kept, for a minute.
    """

    rater: str
    named: bool
    role: str
    marks: Marks
    state: State
    shown: float
    address: str


class RatingStore(SurveyStore):
    """The sheets of one campaign."""

    tables = tables.shared

    def __init__(self, database: Database, secret: str) -> None:
        super().__init__(database, secret)
        self._begin_sheet = self.dialect.insert(tables.sheet).on_conflict_do_nothing()

    @classmethod
    def in_folder(cls, folder: Path, *, create: bool = False) -> RatingStore:
        """Returns the store of a folder.

        Args:
            folder: The campaign's.
            create: Whether a campaign is made where there is none.

        Raises:
            UserError: There is no campaign, or it is of a newer release.
        """
        return cls.open(str(folder / DATABASE), create=create)

    def begin(self, campaign: RatingCampaign) -> None:
        """Takes in what a campaign asks. A role whose transcript was taken out is shown no more; its sheets stay.

        Raises:
            StoreAwayError: The database is away.
            UserError: People rated by other scales, or a transcript that they read reads otherwise now.
        """
        with self.database.begin() as connection:
            for language, rubric in campaign.rubrics.items():
                text = rubric.model_dump_json()
                if self.claim(connection, f"{_RUBRIC}{language}", text) != text:
                    raise UserError(
                        f"was begun with other scales than {rubric.id} v{rubric.version}",
                        where=self.database.location,
                        allowed="the scales as they were, or another --out",
                    )
            self._take_in(connection, campaign.roles)

    def _take_in(self, connection: Connection, roles: Mapping[str, PlayedRole]) -> None:
        role = tables.role.c
        known = {row.id: row.digest for row in connection.execute(select(role.id, role.digest))}
        begun = {row.role for row in connection.execute(select(tables.sheet.c.role).distinct())}
        torn = sorted(
            {played.key[0] for name, played in roles.items() if name in begun and known.get(name) != played.digest}
        )
        if torn:
            raise UserError(
                f"{len(torn)} transcripts read otherwise than when people rated them: {', '.join(torn[:5])}",
                where=self.database.location,
                allowed="the transcripts as they were, or another --out",
            )
        connection.execute(delete(tables.role).where(role.id.not_in(select(tables.sheet.c.role))))
        connection.execute(update(tables.role).values(offered=False))
        for position, played in enumerate(roles.values()):
            values = {"position": position, "offered": True}
            if played.id in begun:
                connection.execute(update(tables.role).where(role.id == played.id).values(values))
            else:
                transcript, name = played.key
                about = {"scene": played.scene, "language": played.language, "digest": played.digest}
                row = {**values, **about, "id": played.id, "transcript": transcript, "role": name}
                connection.execute(tables.role.insert().values(row))

    def rubrics(self) -> Mapping[str, Rubric]:
        """Returns the scales by language, as people saw them.

        Raises:
            StoreAwayError: The database is away.
        """
        meta = tables.shared.meta.c
        query = select(meta.name, meta.value).where(meta.name.startswith(_RUBRIC)).order_by(meta.name)
        with self.database.begin() as connection:
            rows = connection.execute(query).all()
        return {row.name.removeprefix(_RUBRIC): Rubric.model_validate_json(row.value) for row in rows}

    def offer(self, rater: str, rules: RatingRules) -> RoleOffer:
        """Returns what a person is shown next: the sheet that was begun, else of the roles with the fewest sheets one.

        Which one is drawn from the campaign's seed, the person and the number of its sheets: everybody has an order of
        their own, and loading the page anew shows the same role as long as nobody else's sheet changes what is fewest.

        Args:
            rater: Who asks.
            rules: Of the campaign.

        Raises:
            StoreAwayError: The database is away.
        """
        with self.database.begin() as connection:
            mine = _sheets_of(connection, rater)
            done = sum(state != "open" for state, _ in mine.values())
            begun = next(((name, marks) for name, (state, marks) in mine.items() if state == "open"), None)
            counts = _counts(connection, time.time() - FRESH_S)
        free = [name for name in counts if name not in mine and not 0 < rules.people <= counts[name]]
        left = len(free) + sum(name in counts and state == "open" for name, (state, _) in mine.items())
        if begun is not None and begun[0] in counts:
            return RoleOffer(begun[0], unpacked(begun[1]), done, left)
        if not free:
            return RoleOffer(None, {}, done, 0)
        fewest = min(counts[name] for name in free)
        chance = random.Random(f"{rules.seed}:{rater}:{len(mine)}")
        return RoleOffer(chance.choice([name for name in free if counts[name] == fewest]), {}, done, left)

    def sheet_of(self, rater: str, role: str) -> Marks:
        """Returns what a person filled in of a role; nothing where no sheet was begun.

        Raises:
            StoreAwayError: The database is away.
        """
        with self.database.begin() as connection:
            found = _sheets_of(connection, rater).get(role)
        return unpacked(found[1]) if found is not None else {}

    def keep(self, filled: Filled, rules: RatingRules) -> Outcome:
        """Saves what a form says; returns what became of it. When it returns, it is committed.

        What the form leaves blank stays as it was. A sheet that was handed in is not changed.

        Args:
            filled: What was sent.
            rules: Of the campaign.

        Raises:
            StoreAwayError: The database is away; send the same again.
        """
        sheet = tables.sheet.c
        here = and_(sheet.rater == filled.rater, sheet.role == filled.role)
        with self.database.begin() as connection:
            if filled.named and not self.is_rater(connection, filled.rater):
                return "removed"
            new = {"rater": filled.rater, "role": filled.role, "state": "open", "marks": packed({})}
            now = time.time()
            connection.execute(self._begin_sheet, {**new, "begun": min(filled.shown, now), "changed": now})
            kept = connection.execute(select(sheet.state, sheet.marks).where(here).with_for_update()).one()
            if kept.state != "open":
                return "already"
            marks = packed(with_marks(unpacked(kept.marks), filled.marks))
            values = {"state": filled.state, "marks": marks, "changed": now}
            connection.execute(update(tables.sheet).where(here).values(values))
            limits = [
                ("browser", filled.rater, rules.most_by_browser),
                ("address", filled.address, rules.most_by_address),
            ]
            if self.is_too_many(connection, limits):
                connection.rollback()
                return "too_many"
        return "kept"


def _sheets_of(connection: Connection, rater: str) -> dict[str, tuple[State, str]]:
    """Returns state and marks of a person's sheets by role, the earliest first."""
    sheet = tables.sheet.c
    query = select(sheet.role, sheet.state, sheet.marks).where(sheet.rater == rater).order_by(sheet.id)
    return {row.role: (row.state, row.marks) for row in connection.execute(query)}


def _counts(connection: Connection, fresh: float) -> dict[str, int]:
    """Returns for each offered role by how many people it was rated, or is being rated now."""
    role, sheet = tables.role.c, tables.sheet.c
    counted = or_(sheet.state == "done", and_(sheet.state == "open", sheet.changed > fresh))
    count = func.coalesce(func.sum(case((counted, 1), else_=0)), 0)
    query = (
        select(role.id, count.label("people"))
        .select_from(tables.role.outerjoin(tables.sheet, sheet.role == role.id))
        .where(role.offered.is_(True))
        .group_by(role.id, role.position)
        .order_by(role.position)
    )
    return {row.id: int(row.people) for row in connection.execute(query)}
