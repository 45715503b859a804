"""What a campaign remembers: one row for each answer, counted and unique by the database itself."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, bindparam, func, inspect, select, update
from sqlalchemy.dialects import postgresql, sqlite

from dramaturg.errors import UserError
from dramaturg.text import storable
from dramaturg.web.annotation import tables
from dramaturg.web.annotation.allocation import Offer, answered_by, next_item
from dramaturg.web.annotation.campaign import AskedItem, Campaign, Rules
from dramaturg.web.annotation.database import Database
from dramaturg.web.annotation.signing import Signer, new_secret

MINUTE_S = 60
_BUSY_LOCK = 0x6472616D
"""Key under which processes that open one PostgreSQL campaign at once wait for each other."""

_ONE_MORE = update(tables.item).where(tables.item.c.id == bindparam("asked")).values(answers=tables.item.c.answers + 1)

Outcome: TypeAlias = Literal["kept", "already", "too_many", "removed"]
"""What became of an answer. already: the same person answered the item before. removed: the rater is one no more."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a person sent.

    Attributes:
        rater: Pseudonym of a browser, or a named rater's name.
        named: Whether it is a named rater.
        answer: One of the item's answers; empty where it was skipped or reported.
        justification: What stands beside it.
        skipped: Whether the item was passed over.
        reported: Whether the item was reported as faulty.
        seconds: From the moment it was shown.
        address: Where it came from; only a keyed hash is kept, for a minute.
    """

    rater: str
    named: bool
    answer: str
    justification: str
    skipped: bool
    reported: bool
    seconds: float
    address: str


class Store:
    """The votes of one campaign.

    Attributes:
        signer: Signs with the campaign's secret.
        database: Where all of it is.
    """

    def __init__(self, database: Database, secret: str) -> None:
        self.database = database
        self.signer = Signer(secret)
        dialect = postgresql if database.threads > 1 else sqlite
        self._insert_vote = dialect.insert(tables.vote).on_conflict_do_nothing().returning(tables.vote.c.id)
        pace = dialect.insert(tables.pace)
        self._count_pace = pace.on_conflict_do_update(
            index_elements=["key"], set_={"count": tables.pace.c.count + 1}
        ).returning(tables.pace.c.count)

    @classmethod
    def open(cls, location: str, *, create: bool = False) -> Store:
        """Returns the store at a path or a URL.

        Args:
            location: See `Database.open`.
            create: Whether the tables are made where there are none.

        Raises:
            StoreAwayError: The database is away.
            UserError: There is no campaign there, or it is of a newer release.
        """
        database = Database.open(location, create=create)
        try:
            with database.begin() as connection:
                secret = _opened(connection, database.location, create=create)
        except BaseException:
            database.close()
            raise
        return cls(database, secret)

    def close(self) -> None:
        """Closes every connection."""
        self.database.close()

    def begin(self, campaign: Campaign) -> None:
        """Takes in what a campaign asks. An item that was taken out of its set is shown no more; its votes stay.

        Raises:
            StoreAwayError: The database is away.
            UserError: The database holds another set's votes, or an item that has votes reads otherwise now.
        """
        with self.database.begin() as connection:
            kept = _meta(connection, "set")
            if kept is None:
                connection.execute(tables.meta.insert().values(name="set", value=campaign.set_id))
            elif kept != campaign.set_id:
                raise UserError(
                    f"holds the campaign of the item set {kept!r}, not {campaign.set_id!r}",
                    where=self.database.location,
                    allowed="another --db for another set",
                )
            self._take_in(connection, campaign.items)

    def _take_in(self, connection: Connection, items: Mapping[str, AskedItem]) -> None:
        item = tables.item.c
        known = {row.id: row for row in connection.execute(select(item.id, item.digest, item.answers))}
        voted = select(tables.vote.c.item).distinct()
        changed = {name for name, asked in items.items() if name in known and known[name].digest != asked.digest}
        torn = sorted(changed & {row.item for row in connection.execute(voted)})
        if torn:
            raise UserError(
                f"{len(torn)} items read otherwise than when people voted on them: {', '.join(torn[:5])}",
                where=self.database.location,
                allowed="the item set as it was, new ids for what has changed, or another --db",
            )
        connection.execute(update(tables.item).values(offered=False))
        new: list[dict[str, object]] = []
        for position, asked in enumerate(items.values()):
            values = _item_values(position, asked)
            if asked.id in known:
                connection.execute(update(tables.item).where(item.id == asked.id).values(values))
            else:
                new.append({**values, "id": asked.id, "answers": 0})
        if new:
            connection.execute(tables.item.insert(), new)

    def offer(self, rater: str, rules: Rules) -> Offer:
        """Returns what a person is shown next: of the items with the fewest answers one by chance, or a honeypot.

        Chance is drawn from the person and the number of its answers, so that loading the page anew shows the same
        item as long as nobody else's answer changes what is fewest.

        Args:
            rater: Who asks.
            rules: Of the campaign.

        Raises:
            StoreAwayError: The database is away.
        """
        with self.database.begin() as connection:
            answered = answered_by(connection, rater)
            chance = random.Random(self.signer.mark("offer", rater, str(answered)))
            return Offer(next_item(connection, rater, rules, chance), answered)

    def keep(self, given: Given, asked: AskedItem, rules: Rules) -> Outcome:
        """Stores an answer, once; returns what became of it. When it returns, the answer is committed.

        Args:
            given: The answer.
            asked: Its item.
            rules: Of the campaign.

        Raises:
            StoreAwayError: The database is away; send the same again, and it is stored once all the same.
        """
        now = time.time()
        with self.database.begin() as connection:
            if given.named and not _is_rater(connection, given.rater):
                return "removed"
            stored = connection.execute(
                self._insert_vote,
                {
                    "rater": given.rater,
                    "item": asked.id,
                    "answer": given.answer,
                    "justification": storable(given.justification),
                    "skipped": given.skipped,
                    "reported": given.reported,
                    "seconds": given.seconds,
                    "hasty": bool(given.answer) and given.seconds < rules.minimum_s,
                    "failed": bool(given.answer and asked.expected) and given.answer != asked.expected,
                    "created": now,
                },
            )
            if stored.first() is None:
                return "already"
            if given.answer:
                connection.execute(_ONE_MORE, {"asked": asked.id})
            limits = [
                ("browser", given.rater, rules.most_by_browser),
                ("address", given.address, rules.most_by_address),
            ]
            if self._is_too_many(connection, limits, now):
                connection.rollback()
                return "too_many"
        return "kept"

    def may_try_password(self, address: str, most: int) -> bool:
        """Returns whether an address may try the owner's password once more in this minute; it is counted.

        Raises:
            StoreAwayError: The database is away.
        """
        with self.database.begin() as connection:
            return not self._is_too_many(connection, [("password", address, most)], time.time())

    def _is_too_many(self, connection: Connection, limits: list[tuple[str, str, int]], now: float) -> bool:
        minute = int(now // MINUTE_S)
        for kind, who, most in limits:
            if most:
                key = self.signer.mark("pace", kind, who, str(minute))
                row = {"key": key, "minute": minute, "count": 1}
                if connection.execute(self._count_pace, row).scalar_one() > most:
                    return True
        return False

    def forget_pace(self) -> None:
        """Deletes what was counted in minutes that are over.

        Raises:
            StoreAwayError: The database is away.
        """
        minute = int(time.time() // MINUTE_S)
        with self.database.begin() as connection:
            connection.execute(tables.pace.delete().where(tables.pace.c.minute < minute))


def _opened(connection: Connection, where: str, *, create: bool) -> str:
    """Returns the campaign's secret; makes the tables where that is wanted."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_BUSY_LOCK)))
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # sqlite3 begins by itself for rows, but not for tables
    there = set(inspect(connection).get_table_names())
    if tables.meta.name not in there:
        if not create:
            raise UserError("is a database, but no campaign", where=where, allowed="the --db of `annotate serve`")
        tables.metadata.create_all(connection)
        connection.execute(
            tables.meta.insert(),
            [{"name": "schema_version", "value": tables.VERSION}, {"name": "secret", "value": new_secret()}],
        )
    version = _meta(connection, "schema_version")
    if version != tables.VERSION:
        raise UserError(f"the campaign has schema version {version}; this release reads {tables.VERSION}", where=where)
    return _meta(connection, "secret") or ""


def _meta(connection: Connection, name: str) -> str | None:
    return connection.execute(select(tables.meta.c.value).where(tables.meta.c.name == name)).scalar()


def _item_values(position: int, asked: AskedItem) -> dict[str, object]:
    return {
        "position": position,
        "category": asked.category,
        "honeypot": asked.honeypot,
        "expected": asked.expected,
        "digest": asked.digest,
        "offered": True,
    }


def _is_rater(connection: Connection, name: str) -> bool:
    rater = tables.rater.c
    query = select(rater.name).where(rater.name == name, rater.removed.is_(False))
    return connection.execute(query).first() is not None
