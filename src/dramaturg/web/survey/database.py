"""The database of a campaign: a SQLite file, or PostgreSQL by URL. It may go away and come back at any time."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from dramaturg.errors import DramaturgError, MissingExtraError, UserError

CONNECT_S = 5
"""Seconds after which a database that does not answer counts as away."""

STATEMENT_S = 15
"""Seconds after which PostgreSQL gives up a statement."""

BUSY_S = 10
"""Seconds for which SQLite waits while another process writes."""

POSTGRES_CONNECTIONS = 8


class StoreAwayError(DramaturgError):
    """The database cannot be reached or written now; what was not confirmed must be sent again."""


class Database:
    """An engine whose failures are told apart: away for now, or wrong for good.

    Attributes:
        location: Path or URL, without a password.
        threads: How many threads may use it at once: SQLite has one writer anyway, and one thread never waits for a
            lock that another one holds.
    """

    def __init__(self, engine: Engine, *, location: str, threads: int) -> None:
        self.location = location
        self.threads = threads
        self._engine = engine

    @classmethod
    def open(cls, location: str, *, create: bool, place: str) -> Database:
        """Returns the database at a path or a URL.

        Args:
            location: Path of a SQLite file, or ``postgresql://USER@HOST/NAME``.
            create: Whether a SQLite file is made where there is none.
            place: Where a campaign is, for a message.

        Raises:
            UserError: The URL is wrong, needs a driver that is not there, or there is no file.
        """
        url = _url(location)
        if url.get_backend_name() == "postgresql":
            shown = url.render_as_string(hide_password=True)
            return cls(_postgres(url), location=shown, threads=POSTGRES_CONNECTIONS)
        path = Path(url.database or "")
        if create:
            _touch(path)
        if not path.is_file():
            raise UserError("there is no campaign", where=str(path), allowed=place)
        return cls(_sqlite(path), location=str(path), threads=1)

    @contextmanager
    def begin(self) -> Generator[Connection]:
        """Yields a connection in a transaction.

        Raises:
            StoreAwayError: The database is away; whether a transaction that was being committed stands is unknown.
        """
        try:
            with self._engine.begin() as connection:
                yield connection
        except (DBAPIError, DisconnectionError, PoolTimeoutError) as problem:
            raise StoreAwayError(f"{self.location}: {_reason(problem)}") from None
        except SQLAlchemyError as problem:
            raise DramaturgError(f"{self.location}: {_reason(problem)}") from None

    def close(self) -> None:
        """Closes every connection."""
        self._engine.dispose()


def _url(location: str) -> URL:
    """Returns what a location means; its text is not shown where it is wrong, since it may hold a password."""
    allowed = "a path, or postgresql://USER@HOST/NAME"
    if "://" not in location:
        if not location.strip():
            raise UserError("--db is empty", allowed=allowed)
        return URL.create("sqlite", database=location)
    try:
        url = make_url(location)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError):
        raise UserError("the URL of --db cannot be read", allowed=allowed) from None
    if backend in {"postgres", "postgresql"}:
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or not url.database or url.database == ":memory:":
        raise UserError("--db must be SQLite in a file, or PostgreSQL", where=backend, allowed=allowed)
    return url


def _touch(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError as problem:
        raise UserError(f"cannot be made: {problem.strerror or problem}", where=str(path)) from None


def _sqlite(path: Path) -> Engine:
    """Returns an engine that never makes a file, and notices when the file is taken away under it."""
    file = path.resolve()
    database = f"{file.as_uri()}?mode=rw"  # a missing file is an error, not a new and empty campaign
    engine = create_engine(URL.create("sqlite", database=database, query={"uri": "true"}))
    event.listen(engine, "connect", _configure_sqlite)

    def connected(_: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
        entry.info["file"] = _identity(file)

    def taken(_: DBAPIConnection, entry: ConnectionPoolEntry, __: object) -> None:
        if entry.info["file"] != _identity(file):
            raise DisconnectionError("the file is not the one that was opened")

    event.listen(engine, "connect", connected)
    event.listen(engine, "checkout", taken)
    return engine


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _configure_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_S * 1000}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _postgres(url: URL) -> Engine:
    arguments: dict[str, Any] = {
        "connect_timeout": CONNECT_S,
        "application_name": "dramaturg",
        "options": f"-c statement_timeout={STATEMENT_S * 1000}",
    }
    try:
        return create_engine(
            url,
            pool_size=POSTGRES_CONNECTIONS,
            max_overflow=2,
            pool_timeout=CONNECT_S,
            pool_pre_ping=True,
            connect_args=arguments,
        )
    except ImportError:
        raise MissingExtraError("a campaign over PostgreSQL", "postgres") from None
    except (ArgumentError, NoSuchModuleError) as problem:
        raise UserError(f"the URL of --db cannot be used: {_reason(problem)}") from None


def _reason(problem: Exception) -> str:
    """Returns what a database said, in one line, without its statement and values."""
    said = cast("object", getattr(problem, "orig", None)) or problem
    return (str(said).splitlines() or [type(problem).__name__])[0]
