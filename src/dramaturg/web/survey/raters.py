"""Named raters: people whom the owner trained, each with a key of their own."""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.exc import IntegrityError

from dramaturg.errors import UserError
from dramaturg.text import sha256
from dramaturg.web.survey.store import SurveyStore

BROWSER = "browser-"
"""What the pseudonyms of the crowd begin with; no rater may be called so."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True, slots=True)
class Rater:
    """A named rater.

    Attributes:
        name: Unique in the campaign; votes are exported under it.
        removed: Whether the key is good no more; the votes stay.
        began: Whether the guideline was read.
        votes: How many items the rater has dealt with.
    """

    name: str
    removed: bool
    began: bool
    votes: int = 0


def add_rater(store: SurveyStore, name: str) -> str:
    """Returns the personal key of a new rater. It is kept nowhere: only its hash is.

    Raises:
        StoreAwayError: The database is away.
        UserError: The name cannot be used, or is taken.
    """
    if not _NAME.fullmatch(name) or name.startswith(BROWSER):
        raise UserError(
            f"the name {name!r} cannot be used",
            allowed=f"up to 60 letters, digits, dots, hyphens and underscores, not beginning with {BROWSER!r}",
        )
    key = secrets.token_urlsafe(24)
    row = {"name": name, "key_hash": sha256(key), "created": time.time(), "began": None, "removed": False}
    with store.database.begin() as connection:
        try:
            connection.execute(store.tables.rater.insert().values(row))
        except IntegrityError:
            raise UserError(f"there is a rater {name!r} already", allowed="another name") from None
    return key


def remove_rater(store: SurveyStore, name: str) -> None:
    """Makes a rater's key good no more; the votes stay.

    Raises:
        StoreAwayError: The database is away.
        UserError: There is no such rater.
    """
    with store.database.begin() as connection:
        done = connection.execute(
            update(store.tables.rater).where(store.tables.rater.c.name == name).values(removed=True)
        )
        if done.rowcount != 1:
            raise UserError(f"there is no rater {name!r}", allowed="a name that `rater list` shows")


def list_raters(store: SurveyStore) -> list[Rater]:
    """Returns every rater by name.

    Raises:
        StoreAwayError: The database is away.
    """
    rater, answered_by = store.tables.rater.c, store.tables.votes
    votes = select(func.count()).where(answered_by == rater.name).scalar_subquery()
    query = select(rater.name, rater.removed, rater.began, votes.label("votes")).order_by(rater.name)
    with store.database.begin() as connection:
        return [Rater(row.name, row.removed, row.began is not None, row.votes) for row in connection.execute(query)]


def rater_of_key(store: SurveyStore, key: str) -> Rater | None:
    """Returns whose key it is; None where it is nobody's, or good no more.

    Raises:
        StoreAwayError: The database is away.
    """
    return _one(store, store.tables.rater.c.key_hash == sha256(key))


def rater_named(store: SurveyStore, name: str) -> Rater | None:
    """Returns a rater; None where there is none, or its key is good no more.

    Raises:
        StoreAwayError: The database is away.
    """
    return _one(store, store.tables.rater.c.name == name)


def begin_rating(store: SurveyStore, name: str) -> None:
    """Keeps that a rater has read the guideline.

    Raises:
        StoreAwayError: The database is away.
    """
    rater = store.tables.rater.c
    with store.database.begin() as connection:
        connection.execute(
            update(store.tables.rater).where(rater.name == name, rater.began.is_(None)).values(began=time.time())
        )


def _one(store: SurveyStore, where: ColumnElement[bool]) -> Rater | None:
    rater = store.tables.rater.c
    query = select(rater.name, rater.removed, rater.began).where(where, rater.removed.is_(False))
    with store.database.begin() as connection:
        row = connection.execute(query).first()
    return None if row is None else Rater(row.name, row.removed, row.began is not None)
