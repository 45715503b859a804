"""What every campaign remembers beside its answers: its secret, its raters, and how much came in this minute."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import ClassVar, Self

from sqlalchemy import Connection, func, inspect, select
from sqlalchemy.dialects import postgresql, sqlite

from dramaturg.errors import UserError
from dramaturg.web.survey.database import Database
from dramaturg.web.survey.signing import Signer, new_secret
from dramaturg.web.survey.tables import SurveyTables

MINUTE_S = 60
_BUSY_LOCK = 0x6472616D
"""Key under which processes that open one PostgreSQL campaign at once wait for each other."""


class SurveyStore:
    """The database of one campaign. A kind of campaign says in `tables` what it keeps.

    Attributes:
        tables: Of its kind.
        signer: Signs with the campaign's secret.
        database: Where all of it is.
    """

    tables: ClassVar[SurveyTables]

    def __init__(self, database: Database, secret: str) -> None:
        self.database = database
        self.signer = Signer(secret)
        self.dialect = postgresql if database.threads > 1 else sqlite
        pace = self.dialect.insert(self.tables.pace)
        self._count_pace = pace.on_conflict_do_update(
            index_elements=["key"], set_={"count": self.tables.pace.c.count + 1}
        ).returning(self.tables.pace.c.count)

    @classmethod
    def open(cls, location: str, *, create: bool = False) -> Self:
        """Returns the store at a path or a URL.

        Args:
            location: See `Database.open`.
            create: Whether the tables are made where there are none.

        Raises:
            StoreAwayError: The database is away.
            UserError: There is no campaign there, or it is of a newer release.
        """
        database = Database.open(location, create=create, place=cls.tables.place)
        try:
            with database.begin() as connection:
                secret = _opened(connection, cls.tables, database.location, create=create)
        except BaseException:
            database.close()
            raise
        return cls(database, secret)

    def close(self) -> None:
        """Closes every connection."""
        self.database.close()

    def claim(self, connection: Connection, name: str, value: str) -> str:
        """Returns what is kept under a name; the value, which is kept from now on, where nothing is."""
        kept = _meta(connection, self.tables, name)
        if kept is None:
            connection.execute(self.tables.meta.insert().values(name=name, value=value))
        return value if kept is None else kept

    def may_try_password(self, address: str, most: int) -> bool:
        """Returns whether an address may try the owner's password once more in this minute; it is counted.

        Raises:
            StoreAwayError: The database is away.
        """
        with self.database.begin() as connection:
            return not self.is_too_many(connection, [("password", address, most)])

    def is_too_many(self, connection: Connection, limits: Iterable[tuple[str, str, int]]) -> bool:
        """Returns whether more came in this minute than may; it is counted.

        Args:
            connection: Of the database.
            limits: What is counted, whose it is, and the most in a minute; 0 for any number.
        """
        minute = int(time.time() // MINUTE_S)
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
            connection.execute(self.tables.pace.delete().where(self.tables.pace.c.minute < minute))

    def is_rater(self, connection: Connection, name: str) -> bool:
        """Returns whether there is a named rater whose key is still good."""
        rater = self.tables.rater.c
        query = select(rater.name).where(rater.name == name, rater.removed.is_(False))
        return connection.execute(query).first() is not None


def _opened(connection: Connection, tables: SurveyTables, where: str, *, create: bool) -> str:
    """Returns the campaign's secret; makes the tables where that is wanted."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_BUSY_LOCK)))
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # sqlite3 begins by itself for rows, but not for tables
    there = set(inspect(connection).get_table_names())
    if tables.meta.name not in there:
        if not create:
            raise UserError("is a database, but no campaign", where=where, allowed=tables.place)
        tables.metadata.create_all(connection)
        connection.execute(
            tables.meta.insert(),
            [{"name": "schema_version", "value": tables.version}, {"name": "secret", "value": new_secret()}],
        )
    version = _meta(connection, tables, "schema_version")
    if version != tables.version:
        raise UserError(f"the campaign has schema version {version}; this release reads {tables.version}", where=where)
    return _meta(connection, tables, "secret") or ""


def _meta(connection: Connection, tables: SurveyTables, name: str) -> str | None:
    return connection.execute(select(tables.meta.c.value).where(tables.meta.c.name == name)).scalar()
