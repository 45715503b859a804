"""The tables of an annotation campaign. Nothing here that PostgreSQL could not do."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = "1"

metadata = MetaData()

meta = Table(
    "annotation_meta",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Schema version, the campaign's secret, the item set."""

item = Table(
    "annotation_item",
    metadata,
    Column("id", String, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("category", String(16), nullable=False),
    Column("honeypot", Boolean, nullable=False),
    Column("expected", String, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("offered", Boolean, nullable=False),
    Column("answers", Integer, nullable=False),
    Index("annotation_item_fewest", "honeypot", "offered", "answers", "position"),
)
"""What is asked. `answers` counts the votes that hold an answer, in the transaction that stores them."""

vote = Table(
    "annotation_vote",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("rater", String, nullable=False),
    Column("item", String, ForeignKey("annotation_item.id"), nullable=False),
    Column("answer", String, nullable=False),
    Column("justification", Text, nullable=False),
    Column("skipped", Boolean, nullable=False),
    Column("reported", Boolean, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("hasty", Boolean, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("created", Float, nullable=False),
    UniqueConstraint("rater", "item", name="annotation_vote_once"),
)
"""What people said. `hasty`: faster than the minimum of that day. `failed`: a honeypot was answered wrongly."""

rater = Table(
    "annotation_rater",
    metadata,
    Column("name", String, primary_key=True),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("created", Float, nullable=False),
    Column("began", Float),
    Column("removed", Boolean, nullable=False),
)
"""Named raters; of a key only its hash is kept. `began`: when the guideline was read."""

pace = Table(
    "annotation_pace",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("minute", BigInteger, nullable=False, index=True),
    Column("count", Integer, nullable=False),
)
"""How much came from a browser or an address in one minute: keyed hashes, which are deleted when the minute is over."""
