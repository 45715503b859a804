"""The ledger's tables, and how an older ledger becomes a current one. Nothing here that PostgreSQL could not do."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
)

from dramaturg.errors import LedgerError

VERSION = 1

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Schema version, study, snapshot."""

message = Table(
    "message",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("parent", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("text", Text, nullable=False),
)
"""A message as a node: its hash covers its content and all before it, so a chat is stored once and grows linearly."""

model = Table(
    "model",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("provider", String, nullable=False),
    Column("name", String, nullable=False),
    Column("digest", String(64), nullable=False),
)

answer_schema = Table(
    "answer_schema",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("json", Text, nullable=False),
)

call = Table(
    "call",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("key", String(64), nullable=False),
    Column("final", Boolean, nullable=False),
    Column("unit", String(64), nullable=False),
    Column("study_seed", BigInteger, nullable=False),
    Column("step", String, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("role", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("model", String(64), nullable=False),
    Column("last_message", String(64), nullable=False),
    Column("sampling", Text, nullable=False),
    Column("answer_schema", String(64), nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("status", String(24), nullable=False),
    Column("text", Text, nullable=False),
    Column("reasoning", Text, nullable=False),
    Column("reply_hash", String(64), nullable=False),
    Column("failure", String(16), nullable=False),
    Column("detail", Text, nullable=False),
    Column("input_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("output_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Column("at", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("first_token_s", Float),
    Column("logprobs", Text, nullable=False),
    Column("served_by", String, nullable=False),
    Column("notes", Text, nullable=False),
    Index("call_unit", "unit"),
)
"""One reply. `final` rows are replayed; the others are failures that are asked again."""

Index(
    "call_final",
    call.c.key,
    unique=True,
    sqlite_where=call.c.final.is_(True),
    postgresql_where=call.c.final.is_(True),
)


def _create(connection: Connection) -> None:
    metadata.create_all(connection)


MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _create}
"""Version → what makes it of the version before."""


def migrate(connection: Connection, *, where: str) -> None:
    """Brings the ledger to the current version, step by step; an empty database is version 0.

    Args:
        connection: In a transaction.
        where: The ledger's place, for errors.

    Raises:
        LedgerError: It was written by a newer version, or is a database of something else.
    """
    version = _version(connection, where)
    if version > VERSION:
        raise LedgerError(f"{where}: the ledger has schema version {version}; this release reads up to {VERSION}")
    for step in range(version + 1, VERSION + 1):
        MIGRATIONS[step](connection)
        connection.execute(meta.delete().where(meta.c.name == "schema_version"))
        connection.execute(meta.insert().values(name="schema_version", value=str(step)))


def _version(connection: Connection, where: str) -> int:
    tables = inspect(connection)
    if not tables.get_table_names():
        return 0
    if tables.has_table("meta") and {"name", "value"} <= {column["name"] for column in tables.get_columns("meta")}:
        found = connection.execute(select(meta.c.value).where(meta.c.name == "schema_version")).scalar()
        if found is not None and found.isdecimal():
            return int(found)
    raise LedgerError(f"{where}: is a database, but no ledger")
