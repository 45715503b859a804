"""The ledger: every reply, committed before it is used, so that to resume is to run again."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, Row, Select, bindparam, create_engine, event, func, make_url, select
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from dramaturg.errors import LedgerError, UserError
from dramaturg.ledger import schema
from dramaturg.ledger.budget import Budget
from dramaturg.ledger.calls import Calls
from dramaturg.ledger.rows import asked_from
from dramaturg.ledger.writer import Writer, reason_of

_ANSWERED = select(schema.call).where(schema.call.c.unit == bindparam("unit"), schema.call.c.final.is_(True))
"""What a unit was answered; made once, since a run of small units asks it as often as it calls a model."""


@dataclass(frozen=True, slots=True)
class Use:
    """What one model used for one purpose.

    Attributes:
        model: Hash of the model's identity.
        provider: Its provider.
        name: Its name.
        digest: Hash of its file, or empty.
        role: Role that spoke; empty where all roles are counted together.
        purpose: What for.
        calls: Replies that are final.
        failures: Calls that were failures of an endpoint.
        input_tokens: Sum of what is known, cached tokens included.
        cached_tokens: Sum of what is known.
        output_tokens: Sum of what is known, reasoning included.
        reasoning_tokens: Sum of what is known.
        unknown_usage: Calls whose tokens no one reported.
        first_at: When the first call was answered, in seconds since the epoch.
        last_at: When the last call was answered.
        seconds: Sum over calls; calls in flight at once each count in full.
        first_token_s: Median, or None.
        served_by: Every name under which servers answered.
    """

    model: str
    provider: str
    name: str
    digest: str
    role: str
    purpose: str
    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    unknown_usage: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    seconds: float = 0.0
    first_token_s: float | None = None
    served_by: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    """A use while it is summed up."""

    rows: int = 0
    failures: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    unknown_usage: int = 0
    first_at: float = float("inf")
    last_at: float = 0.0
    seconds: float = 0.0
    first_token_s: list[float] = field(default_factory=list[float])
    served_by: set[str] = field(default_factory=set[str])

    def add(self, row: Row[*tuple[Any, ...]]) -> None:
        self.first_at = min(self.first_at, row.at)
        self.last_at = max(self.last_at, row.at)
        if not row.final:
            self.failures += 1
            return
        self.rows += 1
        self.input_tokens += row.input_tokens or 0
        self.cached_tokens += row.cached_tokens or 0
        self.output_tokens += row.output_tokens or 0
        self.reasoning_tokens += row.reasoning_tokens or 0
        self.unknown_usage += row.output_tokens is None
        self.seconds += row.seconds
        if row.first_token_s is not None:
            self.first_token_s.append(row.first_token_s)
        if row.served_by:
            self.served_by.add(row.served_by)


class Ledger:
    """A store of replies. Open it with `Ledger.open`, and close it.

    Attributes:
        location: Its path or URL, without a password.
    """

    def __init__(self, engine: Engine, *, location: str, lock: FileLock | None, replay_only: bool) -> None:
        self.location = location
        self._engine = engine
        self._lock = lock
        self._replay_only = replay_only
        self._writer = Writer(engine, location=location)

    @classmethod
    def open(cls, location: str | Path, *, replay_only: bool = False) -> Self:
        """Returns the ledger at a path or database URL; a new one is made where there is none.

        Args:
            location: Path of a SQLite file, or a URL of SQLAlchemy.
            replay_only: Whether new calls are refused.

        Raises:
            LedgerError: Another process uses it, it is no ledger, or it is from a newer version.
            UserError: The URL is wrong or needs a driver that is not there.
        """
        url = _url(location)
        shown = url.database if _is_file(url) and url.database else url.render_as_string(hide_password=True)
        lock = _lock(Path(url.database)) if _is_file(url) and url.database else None
        engine = None
        try:
            engine = _engine(url)
            with _named_errors(shown), engine.begin() as connection:
                if _is_file(url):
                    connection.exec_driver_sql("BEGIN")  # sqlite3 begins by itself for rows, but not for tables
                schema.migrate(connection, where=shown)
        except BaseException:
            if engine is not None:
                engine.dispose()
            if lock is not None:
                lock.release()
            raise
        return cls(engine, location=shown, lock=lock, replay_only=replay_only)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commits what is queued and lets go of the file.

        Raises:
            LedgerError: What was queued cannot be written.
        """
        try:
            self._writer.close()
        finally:
            self._engine.dispose()
            if self._lock is not None:
                self._lock.release()

    def calls(self, *, unit: str, seed: int, budget: Budget | None = None) -> Calls:
        """Returns the calls of one unit, with all that was already answered.

        Args:
            unit: The unit's id, which comes from its content.
            seed: The study's seed.
            budget: The run's budget; none by default.
        """
        with self._read() as connection:
            rows = connection.execute(_ANSWERED, {"unit": unit})
            answered = {row.key: asked_from(row) for row in rows}
        return Calls(
            unit=unit,
            study_seed=seed,
            answered=answered,
            commit=self._writer.write,
            budget=budget or Budget(),
            replay_only=self._replay_only,
        )

    def meta(self, name: str) -> str | None:
        """Returns a value of the run, or None."""
        with self._read() as connection:
            return connection.execute(select(schema.meta.c.value).where(schema.meta.c.name == name)).scalar()

    def set_meta(self, name: str, value: str) -> None:
        """Keeps a value of the run."""
        with _named_errors(self.location), self._engine.begin() as connection:
            connection.execute(schema.meta.delete().where(schema.meta.c.name == name))
            connection.execute(schema.meta.insert().values(name=name, value=value))

    def uses(self, units: Collection[str] | None = None, *, by_role: bool = False) -> list[Use]:
        """Returns what was used, for each model and purpose.

        Args:
            units: Units to count; all by default.
            by_role: Whether each role counts apart.
        """
        call, model = schema.call.c, schema.model.c
        query = select(
            call.unit,
            call.final,
            call.role,
            call.purpose,
            call.input_tokens,
            call.cached_tokens,
            call.output_tokens,
            call.reasoning_tokens,
            call.at,
            call.seconds,
            call.first_token_s,
            call.served_by,
            model.hash,
            model.provider,
            model.name,
            model.digest,
        ).join_from(schema.call, schema.model, call.model == model.hash)
        tallies: dict[tuple[str, str, str, str, str, str], _Tally] = {}
        with self._read() as connection:
            for row in connection.execution_options(yield_per=2000).execute(query):
                if units is None or row.unit in units:
                    of = (row.hash, row.provider, row.name, row.digest, row.role if by_role else "", row.purpose)
                    tallies.setdefault(of, _Tally()).add(row)
        return [_use(of, tally) for of, tally in sorted(tallies.items())]

    def counts(self) -> dict[str, int]:
        """Returns the number of calls, failures, messages and units."""
        call = schema.call.c
        with self._read() as connection:

            def count(*where: Any) -> int:
                return connection.execute(select(func.count()).select_from(schema.call).where(*where)).scalar_one()

            return {
                "calls": count(call.final.is_(True)),
                "failures": count(call.final.is_(False)),
                "messages": connection.execute(select(func.count()).select_from(schema.message)).scalar_one(),
                "units": connection.execute(select(func.count(func.distinct(call.unit)))).scalar_one(),
            }

    @contextmanager
    def _read(self) -> Generator[Connection, None, None]:
        with _named_errors(self.location), self._engine.connect() as connection:
            yield connection

    def message_rows(self) -> Iterator[Row[Any]]:
        """Yields all messages; `found` is the message before one, or None where it is missing."""
        before = schema.message.alias()
        yield from self._stream(
            select(schema.message, before.c.hash.label("found")).outerjoin(
                before, schema.message.c.parent == before.c.hash
            )
        )

    def call_rows(self) -> Iterator[Row[Any]]:
        """Yields all calls, failures included; `found` is the last message of the chat, or None where it is missing."""
        yield from self._stream(
            select(schema.call, schema.message.c.hash.label("found")).outerjoin(
                schema.message, schema.call.c.last_message == schema.message.c.hash
            )
        )

    def identities(self) -> dict[str, Row[Any]]:
        """Returns the rows of all models by hash."""
        return {row.hash: row for row in self._stream(select(schema.model))}

    def schemas(self) -> dict[str, str]:
        """Returns the JSON of all answers' schemas by hash."""
        return {row.hash: row.json for row in self._stream(select(schema.answer_schema))}

    def _stream(self, query: Select[*tuple[Any, ...]]) -> Iterator[Row[Any]]:
        with self._read() as connection:
            yield from connection.execution_options(yield_per=2000).execute(query)


def _use(of: tuple[str, str, str, str, str, str], tally: _Tally) -> Use:
    return Use(
        *of,
        calls=tally.rows,
        failures=tally.failures,
        input_tokens=tally.input_tokens,
        cached_tokens=tally.cached_tokens,
        output_tokens=tally.output_tokens,
        reasoning_tokens=tally.reasoning_tokens,
        unknown_usage=tally.unknown_usage,
        first_at=tally.first_at if tally.rows else 0.0,
        last_at=tally.last_at,
        seconds=tally.seconds,
        first_token_s=statistics.median(tally.first_token_s) if tally.first_token_s else None,
        served_by=tuple(sorted(tally.served_by)),
    )


def _url(location: str | Path) -> URL:
    """Returns the database URL of a path or of a URL's text.

    Raises:
        UserError: The text is no URL; it is not shown, since it may hold a password.
    """
    text = str(location)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        return make_url(text)
    except (ArgumentError, ValueError):
        raise UserError("the ledger's URL cannot be read", allowed="a path, or postgresql+psycopg://…") from None


def _is_file(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database not in {None, "", ":memory:"}


def _lock(path: Path) -> FileLock:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{path.resolve()}.lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise LedgerError(
            f"{path}: another process is using this ledger; wait for it or choose another --out"
        ) from None
    except OSError as error:
        raise LedgerError(f"{path}: cannot be opened: {error.strerror or error}") from None
    return lock


def _engine(url: URL) -> Engine:
    try:
        engine = create_engine(url)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise UserError(
            f"ledger URL cannot be used: {str(error).splitlines()[0]}", allowed="a path, or postgresql+psycopg://…"
        ) from None
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
    return engine


def _configure_sqlite(connection: DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA busy_timeout=30000")
    cursor.close()


@contextmanager
def _named_errors(location: str) -> Generator[None, None, None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise LedgerError(f"{location}: {reason_of(error)}") from None
