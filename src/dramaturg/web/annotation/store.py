"""What a campaign remembers: one row for each answer, counted and unique by the database itself."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, bindparam, select, update

from dramaturg.errors import UserError
from dramaturg.text import storable
from dramaturg.web.annotation import tables
from dramaturg.web.annotation.allocation import Offer, answered_by, next_item
from dramaturg.web.annotation.campaign import AskedItem, Campaign, Rules
from dramaturg.web.survey.database import Database
from dramaturg.web.survey.store import SurveyStore

_ONE_MORE = update(tables.item).where(tables.item.c.id == bindparam("asked")).values(answers=tables.item.c.answers + 1)

Outcome: TypeAlias = Literal["kept", "already", "too_many", "removed"]
"""What became of an answer. already: the same person answered the item before. removed: the rater is one no more."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a person sent.

    Attributes:
        rater: Pseudonym of a browser, or a named rater's name.
        named: Whether it is a named rater.
        answer: One of the item's answers; empty where it was skipped or reported.
        justification: What stands beside it.
        skipped: Whether the item was passed over.
        reported: Whether the item was reported as faulty.
        seconds: From the moment it was shown.
        address: Where it came from; only a keyed hash is kept, for a minute.
    """

    rater: str
    named: bool
    answer: str
    justification: str
    skipped: bool
    reported: bool
    seconds: float
    address: str


class Store(SurveyStore):
    """The votes of one campaign."""

    tables = tables.shared

    def __init__(self, database: Database, secret: str) -> None:
        super().__init__(database, secret)
        self._insert_vote = self.dialect.insert(tables.vote).on_conflict_do_nothing().returning(tables.vote.c.id)

    def begin(self, campaign: Campaign) -> None:
        """Takes in what a campaign asks. An item that was taken out of its set is shown no more; its votes stay.

        Raises:
            StoreAwayError: The database is away.
            UserError: The database holds another set's votes, or an item that has votes reads otherwise now.
        """
        with self.database.begin() as connection:
            kept = self.claim(connection, "set", campaign.set_id)
            if kept != campaign.set_id:
                raise UserError(
                    f"holds the campaign of the item set {kept!r}, not {campaign.set_id!r}",
                    where=self.database.location,
                    allowed="another --db for another set",
                )
            self._take_in(connection, campaign.items)

    def _take_in(self, connection: Connection, items: Mapping[str, AskedItem]) -> None:
        item = tables.item.c
        known = {row.id: row for row in connection.execute(select(item.id, item.digest, item.answers))}
        voted = select(tables.vote.c.item).distinct()
        changed = {name for name, asked in items.items() if name in known and known[name].digest != asked.digest}
        torn = sorted(changed & {row.item for row in connection.execute(voted)})
        if torn:
            raise UserError(
                f"{len(torn)} items read otherwise than when people voted on them: {', '.join(torn[:5])}",
                where=self.database.location,
                allowed="the item set as it was, new ids for what has changed, or another --db",
            )
        connection.execute(update(tables.item).values(offered=False))
        new: list[dict[str, object]] = []
        for position, asked in enumerate(items.values()):
            values = _item_values(position, asked)
            if asked.id in known:
                connection.execute(update(tables.item).where(item.id == asked.id).values(values))
            else:
                new.append({**values, "id": asked.id, "answers": 0})
        if new:
            connection.execute(tables.item.insert(), new)

    def offer(self, rater: str, rules: Rules) -> Offer:
        """Returns what a person is shown next: of the items with the fewest answers one by chance, or a honeypot.

        Chance is drawn from the person and the number of its answers, so that loading the page anew shows the same
        item as long as nobody else's answer changes what is fewest.

        Args:
            rater: Who asks.
            rules: Of the campaign.

        Raises:
            StoreAwayError: The database is away.
        """
        with self.database.begin() as connection:
            answered = answered_by(connection, rater)
            chance = random.Random(self.signer.mark("offer", rater, str(answered)))
            return Offer(next_item(connection, rater, rules, chance), answered)

    def keep(self, given: Given, asked: AskedItem, rules: Rules) -> Outcome:
        """Stores an answer, once; returns what became of it. When it returns, the answer is committed.

        Args:
            given: The answer.
            asked: Its item.
            rules: Of the campaign.

        Raises:
            StoreAwayError: The database is away; send the same again, and it is stored once all the same.
        """
        with self.database.begin() as connection:
            if given.named and not self.is_rater(connection, given.rater):
                return "removed"
            stored = connection.execute(
                self._insert_vote,
                {
                    "rater": given.rater,
                    "item": asked.id,
                    "answer": given.answer,
                    "justification": storable(given.justification),
                    "skipped": given.skipped,
                    "reported": given.reported,
                    "seconds": given.seconds,
                    "hasty": bool(given.answer) and given.seconds < rules.minimum_s,
                    "failed": bool(given.answer and asked.expected) and given.answer != asked.expected,
                    "created": time.time(),
                },
            )
            if stored.first() is None:
                return "already"
            if given.answer:
                connection.execute(_ONE_MORE, {"asked": asked.id})
            limits = [
                ("browser", given.rater, rules.most_by_browser),
                ("address", given.address, rules.most_by_address),
            ]
            if self.is_too_many(connection, limits):
                connection.rollback()
                return "too_many"
        return "kept"


def _item_values(position: int, asked: AskedItem) -> dict[str, object]:
    return {
        "position": position,
        "category": asked.category,
        "honeypot": asked.honeypot,
        "expected": asked.expected,
        "digest": asked.digest,
        "offered": True,
    }
