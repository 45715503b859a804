"""The one writer: what many units commit at once goes to disk in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Dialect, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.compiler import SQLCompiler

from dramaturg.errors import LedgerError
from dramaturg.ledger import schema
from dramaturg.ledger.rows import message_row
from dramaturg.model import Message

Row = Mapping[str, object]

MOST_RECENT = 10_000
"""Hashes remembered as written, twice over; the database is asked to skip what it has beyond them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Rows that belong to one reply; they are committed together.

    Attributes:
        call: The call's row.
        committed: Called when the entry is on disk, whether or not anybody still waits for it.
        messages: The chat, oldest first.
        hashes: Hash of each message as a node.
        model: Row of the model that was asked.
        answer_schema: Row of the answer's schema, or None.
    """

    call: Row
    committed: Callable[[], None]
    messages: Sequence[Message] = ()
    hashes: Sequence[str] = ()
    model: Row | None = None
    answer_schema: Row | None = None


class Writer:
    """Commits entries in groups: all that units hand over in one turn of the event loop share a transaction.

    It commits on the loop itself. A group takes about as long as its rows take to bind, and a thread would cost
    each call more in waiting for the interpreter than it saves.
    """

    def __init__(self, engine: Engine, *, location: str) -> None:
        """Makes the writer of a ledger.

        Args:
            engine: Its database.
            location: Its place, for errors.
        """
        self._engine = engine
        self._location = location
        self._inserts = {
            table: _Insert(table, engine.dialect)
            for table in (schema.message, schema.model, schema.answer_schema, schema.call)
        }
        self._written = _Recent()
        self._queue: list[tuple[Entry, asyncio.Future[None]]] = []

    async def write(self, entry: Entry) -> None:
        """Returns when the entry is committed. Who is cancelled while waiting does not stop the commit.

        Raises:
            LedgerError: It cannot be written, for example because the disk is full.
        """
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[None] = loop.create_future()
        if not self._queue:
            loop.call_soon(self._commit)
        self._queue.append((entry, waiting))
        await waiting

    def close(self) -> None:
        """Commits what was handed over and not yet committed.

        Raises:
            LedgerError: It cannot be written.
        """
        problem = self._commit()
        if problem is not None:
            raise LedgerError(problem)

    def _commit(self) -> str | None:
        """Commits the queue, tells everyone who waits, and returns what went wrong."""
        queue, self._queue = self._queue, []
        problem = self._store([entry for entry, _ in queue]) if queue else None
        for entry, waiting in queue:
            if problem is None:
                entry.committed()
            if waiting.done() or waiting.get_loop().is_closed():
                continue
            if problem is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(LedgerError(problem))
        return problem

    def _store(self, entries: Sequence[Entry]) -> str | None:
        try:
            with self._engine.begin() as connection:
                self._insert(connection, entries)
        except Exception as error:  # whatever it is, everyone who waits must hear of it
            self._written.clear()
            return f"{self._location}: cannot be written: {reason_of(error)}; what was committed before is safe"
        return None

    def _insert(self, connection: Connection, entries: Sequence[Entry]) -> None:
        rows: dict[Table, list[Row]] = {table: [] for table in self._inserts}
        for entry in entries:
            self._add_messages(rows[schema.message], entry)
            for table, row in ((schema.model, entry.model), (schema.answer_schema, entry.answer_schema)):
                if row is not None and self._written.add(row["hash"]):
                    rows[table].append(row)
            rows[schema.call].append(entry.call)
        for table, of_table in rows.items():
            if of_table:
                self._inserts[table].execute(connection, of_table)

    def _add_messages(self, rows: list[Row], entry: Entry) -> None:
        """Adds the nodes of a chat that are new; where one was written, all before it were."""
        for index in range(len(entry.hashes) - 1, -1, -1):
            node = entry.hashes[index]
            if not self._written.add(node):
                return
            rows.append(message_row(entry.messages[index], node, entry.hashes[index - 1] if index else ""))


def insert_of(table: Table, dialect: Dialect) -> SQLCompiler:
    """Returns the insert of whole rows into a table that skips what is there.

    Args:
        table: One of the ledger's.
        dialect: Of the database.
    """
    names = [column.name for column in table.columns if column.autoincrement is not True]
    insert = postgresql.insert if dialect.name == "postgresql" else sqlite.insert
    return insert(table).on_conflict_do_nothing().compile(dialect=dialect, column_keys=names)


class _Insert:
    """An insert that is compiled once, since every reply goes through it."""

    def __init__(self, table: Table, dialect: Dialect) -> None:
        compiled = insert_of(table, dialect)
        self._sql = str(compiled)
        self._positions = compiled.positiontup

    def execute(self, connection: Connection, rows: Sequence[Row]) -> None:
        if self._positions is None:
            connection.exec_driver_sql(self._sql, [dict(row) for row in rows])
        else:
            values = [tuple([row[name] for name in self._positions]) for row in rows]
            connection.exec_driver_sql(self._sql, values)


class _Recent:
    """The hashes that were added last, in two generations, so that memory stays flat."""

    def __init__(self) -> None:
        self._young: set[object] = set()
        self._old: set[object] = set()

    def add(self, entry: object) -> bool:
        """Returns whether the entry is new."""
        if entry in self._young:
            return False
        if len(self._young) >= MOST_RECENT:
            self._old, self._young = self._young, set()
        self._young.add(entry)
        return entry not in self._old

    def clear(self) -> None:
        """Forgets all."""
        self._young.clear()
        self._old.clear()


def reason_of(error: Exception) -> str:
    """Returns what a database said, in one line, without its statement and values."""
    return (str(getattr(error, "orig", None) or error).splitlines() or [type(error).__name__])[0]
