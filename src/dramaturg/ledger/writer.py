"""The one writer: what many units commit at once goes to disk in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from dramaturg.errors import LedgerError
from dramaturg.ledger import schema

Row = Mapping[str, object]

MOST_KNOWN = 200_000
"""Hashes remembered as written; past it they are forgotten and the database is asked to skip what it has."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Rows that belong to one reply; they are committed together.

    Attributes:
        call: The call's row.
        messages: Node rows of its chat, oldest first.
        model: Row of the model that was asked.
        answer_schema: Row of the answer's schema, or None.
    """

    call: Row
    messages: Sequence[Row] = ()
    model: Row | None = None
    answer_schema: Row | None = None


class Writer:
    """Commits entries in groups: all that units hand over in one turn of the event loop share a transaction.

    It commits on the loop itself. A group takes about as long as its rows take to bind, and a thread would cost
    each call more in waiting for the interpreter than it saves.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert
        self._inserts = {
            table: insert(table).on_conflict_do_nothing()
            for table in (schema.message, schema.model, schema.answer_schema, schema.call)
        }
        self._known: set[object] = set()
        self._entries: list[Entry] = []
        self._group: asyncio.Future[None] | None = None

    async def write(self, entry: Entry) -> None:
        """Returns when the entry is committed.

        Raises:
            LedgerError: It cannot be written, for example because the disk is full.
        """
        self._entries.append(entry)
        if self._group is None:
            loop = asyncio.get_running_loop()
            self._group = loop.create_future()
            loop.call_soon(self._commit)
        await asyncio.shield(self._group)

    def close(self) -> None:
        """Commits what was handed over and not yet committed."""
        self._commit()

    def _commit(self) -> None:
        entries, group = self._entries, self._group
        self._entries, self._group = [], None
        if not entries or group is None:
            return
        try:
            with self._engine.begin() as connection:
                self._insert(connection, entries)
        except SQLAlchemyError as problem:
            self._known.clear()
            reason = str(getattr(problem, "orig", None) or problem).splitlines()[0]
            error = LedgerError(f"the ledger cannot be written: {reason}; what was committed before is safe")
            group.set_exception(error)
            group.exception()
        else:
            group.set_result(None)

    def _insert(self, connection: Connection, entries: Sequence[Entry]) -> None:
        rows: dict[Table, list[Row]] = {table: [] for table in self._inserts}
        for entry in entries:
            for node in entry.messages:
                self._add_once(rows[schema.message], node)
            if entry.model is not None:
                self._add_once(rows[schema.model], entry.model)
            if entry.answer_schema is not None:
                self._add_once(rows[schema.answer_schema], entry.answer_schema)
            rows[schema.call].append(entry.call)
        for table, of_table in rows.items():
            if of_table:
                connection.execute(self._inserts[table], of_table)

    def _add_once(self, rows: list[Row], row: Row) -> None:
        identity = row["hash"]
        if identity in self._known:
            return
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known.add(identity)
        rows.append(row)
