"""The tables of a rating campaign."""

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

role = Table(
    "rating_role",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("transcript", String, nullable=False),
    Column("role", String, nullable=False),
    Column("scene", String, nullable=False),
    Column("language", String, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("offered", Boolean, nullable=False),
)
"""What is rated. `digest`: of the transcript that people read."""

sheet = Table(
    "rating_sheet",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("rater", String, nullable=False),
    Column("role", String(32), ForeignKey("rating_role.id"), nullable=False),
    Column("state", String(8), nullable=False),
    Column("marks", Text, nullable=False),
    Column("begun", Float, nullable=False),
    Column("changed", Float, nullable=False),
    UniqueConstraint("rater", "role", name="rating_sheet_once"),
    Index("rating_sheet_of_role", "role", "state"),
)
"""What people said: one sheet for each person and role. `begun`: when the person first saw the role. `state`: see
`dramaturg.web.rating.store.State`."""

shared = survey_tables("rating", metadata, sheet.c.rater, version="1", place="the --out of `rate serve`")
"""What every campaign has."""
