"""Which item comes next: of those with the fewest answers one by chance, and now and then a honeypot.

The statements are built once; to build them for every page would take longer than the database does.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from sqlalchemy import Connection, Select, bindparam, exists, func, select

from dramaturg.web.annotation import tables
from dramaturg.web.annotation.campaign import Rules

_ANY_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Offer:
    """What a person is shown next.

    Attributes:
        item: Id of the item; None where the person has answered everything.
        answered: How many items the person has dealt with.
    """

    item: str | None
    answered: int


_item, _vote = tables.item.c, tables.vote.c
_new_to_me = ~exists().where(_vote.rater == bindparam("rater"), _vote.item == _item.id)
_honeypot = (_item.honeypot.is_(True), _item.offered.is_(True), _new_to_me)
_ordinary = (
    _item.honeypot.is_(False),
    _item.offered.is_(True),
    _item.answers < bindparam("enough"),
    _new_to_me,
)
_with_fewest = (*_ordinary, _item.answers == bindparam("fewest"))

_ANSWERED = select(func.count()).select_from(tables.vote).where(_vote.rater == bindparam("rater"))
_FEWEST = select(_item.answers).where(*_ordinary).order_by(_item.answers).limit(1)
_COUNT_HONEYPOTS = select(func.count()).select_from(tables.item).where(*_honeypot)
_COUNT_TIED = select(func.count()).select_from(tables.item).where(*_with_fewest)
_HONEYPOT = select(_item.id).where(*_honeypot).order_by(_item.position).offset(bindparam("place")).limit(1)
_TIED = select(_item.id).where(*_with_fewest).order_by(_item.position).offset(bindparam("place")).limit(1)


def answered_by(connection: Connection, rater: str) -> int:
    """Returns how many items a person has dealt with."""
    return connection.execute(_ANSWERED, {"rater": rater}).scalar_one()


def next_item(connection: Connection, rater: str, rules: Rules, chance: random.Random) -> str | None:
    """Returns the item that a person is shown next; None where nothing is left.

    Args:
        connection: Of the campaign's database.
        rater: Who asks.
        rules: Of the campaign.
        chance: Draws.
    """
    mine: dict[str, object] = {"rater": rater, "enough": rules.enough or _ANY_NUMBER}
    fewest = connection.execute(_FEWEST, mine).scalar()
    if fewest is None:
        return None
    if chance.randrange(rules.honeypot_every) == 0:
        found = _drawn(connection, _COUNT_HONEYPOTS, _HONEYPOT, {"rater": rater}, chance)
        if found is not None:
            return found
    return _drawn(connection, _COUNT_TIED, _TIED, {**mine, "fewest": fewest}, chance)


def _drawn(
    connection: Connection,
    count: Select[int],
    pick: Select[str],
    values: dict[str, object],
    chance: random.Random,
) -> str | None:
    """Returns one item by chance, each as likely as any other; None where there is none."""
    places = connection.execute(count, values).scalar_one()
    if not places:
        return None
    return connection.execute(pick, {**values, "place": chance.randrange(places)}).scalar()
