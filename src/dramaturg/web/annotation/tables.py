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

from dramaturg.web.survey.tables import survey_tables

metadata = MetaData()

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

shared = survey_tables("annotation", metadata, vote.c.rater, version="1", place="the --db of `annotate serve`")
"""What every campaign has."""
