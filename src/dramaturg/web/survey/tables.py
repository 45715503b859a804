"""The tables that every campaign has, under a name of its own. Nothing here that PostgreSQL could not do."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, MetaData, String, Table, Text


@dataclass(frozen=True, slots=True)
class SurveyTables:
    """The tables of a kind of campaign.

    Attributes:
        metadata: All of them, the kind's own among them.
        version: Of the schema.
        place: Where such a campaign is, for a message.
        meta: Schema version, the campaign's secret, what is asked.
        rater: Named raters; of a key only its hash is kept. `began`: when the guideline was read.
        pace: How much came from a browser or an address in one minute: keyed hashes, which are deleted when the minute
            is over.
        votes: The kind's own column that says whose an answer is.
    """

    metadata: MetaData
    version: str
    place: str
    meta: Table
    rater: Table
    pace: Table
    votes: Column[str]


def survey_tables(kind: str, metadata: MetaData, votes: Column[str], *, version: str, place: str) -> SurveyTables:
    """Returns the tables of a kind of campaign.

    Args:
        kind: Heads their names.
        metadata: To which they are added.
        votes: See `SurveyTables`.
        version: See `SurveyTables`.
        place: See `SurveyTables`.
    """
    return SurveyTables(
        metadata=metadata,
        version=version,
        place=place,
        votes=votes,
        meta=Table(
            f"{kind}_meta",
            metadata,
            Column("name", String, primary_key=True),
            Column("value", Text, nullable=False),
        ),
        rater=Table(
            f"{kind}_rater",
            metadata,
            Column("name", String, primary_key=True),
            Column("key_hash", String(64), nullable=False, unique=True),
            Column("created", Float, nullable=False),
            Column("began", Float),
            Column("removed", Boolean, nullable=False),
        ),
        pace=Table(
            f"{kind}_pace",
            metadata,
            Column("key", String(64), primary_key=True),
            Column("minute", BigInteger, nullable=False, index=True),
            Column("count", Integer, nullable=False),
        ),
    )
