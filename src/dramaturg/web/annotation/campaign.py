"""The campaign: which items people are asked, and under which rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from dramaturg.errors import ContentError, UserError
from dramaturg.files import read_jsonl
from dramaturg.stage.interview.item import Item
from dramaturg.stage.interview.item_set import ItemSet
from dramaturg.text import canonical_json, sha256

AnnotatedCategory: TypeAlias = Literal["emotion", "decision", "moral"]
"""Categories whose answer is a matter of judgement; what a character can know is a matter of fact, and not asked."""

YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class AskedItem:
    """An item as annotators see it.

    Attributes:
        id: Unique in the campaign.
        category: What is asked for.
        name: The character's.
        description: Who the character is, in the second person.
        message: What somebody says to it.
        answers: What may be answered.
        language: ISO 639-1, of the message.
        description_language: ISO 639-1, of the description.
        expected: The right answer to a honeypot; empty for an ordinary item.
    """

    id: str
    category: AnnotatedCategory
    name: str
    description: str
    message: str
    answers: tuple[str, ...]
    language: str = "en"
    description_language: str = "en"
    expected: str = ""

    @property
    def honeypot(self) -> bool:
        """Whether its answer is known, so that it shows who reads."""
        return self.expected != ""

    @property
    def digest(self) -> str:
        """Hash of what an annotator sees: votes belong to it, not to the id."""
        return sha256(
            canonical_json(
                [
                    self.category,
                    self.name,
                    self.description,
                    self.message,
                    sorted(self.answers),
                    self.expected,
                ]
            )
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """How a campaign is carried out.

    Attributes:
        minimum_s: Seconds; an answer that comes faster is marked as hasty.
        enough: Answers after which an item is not shown any more; 0 shows it for ever.
        honeypot_every: One in so many items is a honeypot, as long as there are any that the person has not answered.
        ticket_h: Hours for which a page may be answered.
        most_by_browser: Answers that one browser may send in a minute; 0 for any number.
        most_by_address: Answers that one network address may send in a minute; 0 for any number.
        raters_only: Whether only named raters may answer.
    """

    minimum_s: float = 3.0
    enough: int = 0
    honeypot_every: int = 8
    ticket_h: float = 6.0
    most_by_browser: int = 40
    most_by_address: int = 400
    raters_only: bool = False


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is asked.

    Attributes:
        set_id: Id of the item set.
        title: Of the item set, for people.
        items: Asked items by id, honeypots among them.
        rules: How.
        guideline: The owner's own text for raters; empty for the shipped one.
    """

    set_id: str
    title: str
    items: Mapping[str, AskedItem]
    rules: Rules
    guideline: str = ""


def campaign_of(item_set: ItemSet, rules: Rules, *, honeypots: Path | None = None, guideline: str = "") -> Campaign:
    """Returns the campaign over an item set.

    An item that cannot be scored because its answer is not known yet is asked like any other: to find the answer is
    what a campaign is for.

    Args:
        item_set: Its items of emotion, decision and moral are asked.
        rules: How.
        honeypots: JSON Lines of items whose ``expected`` is beyond doubt, over characters of the set.
        guideline: The owner's own text for raters.

    Raises:
        UserError: Nothing can be asked, or a honeypot is no item of the set's kind.
    """
    items = {asked.id: asked for asked in _asked(item_set, item_set.items)}
    if not items:
        raise UserError(
            f"the item set {item_set.id!r} has nothing to annotate",
            allowed="items of emotion, decision or moral, whose character is in the set",
        )
    checks = list(_honeypots(honeypots, item_set)) if honeypots is not None else []
    return Campaign(
        item_set.id, item_set.title, items | {check.id: check for check in checks}, rules, guideline.strip()
    )


def _asked(item_set: ItemSet, items: Iterable[Item], *, honeypots: bool = False) -> Iterator[AskedItem]:
    for item in items:
        character = item_set.characters.get(item.character)
        if character is None or item.category in ("in_character", "knows") or item.history:
            continue
        yield AskedItem(
            item.id,
            item.category,
            character.name,
            character.description,
            item.message,
            item_set.labels if item.category == "emotion" else YES_NO,
            item.language,
            character.language,
            item.expected if honeypots else "",
        )


def _honeypots(path: Path, item_set: ItemSet) -> Iterator[AskedItem]:
    taken = {item.id for item in item_set.items}
    for line, item in read_jsonl(path, Item):
        where = f"{path}:{line}"
        [asked] = list(_asked(item_set, [item], honeypots=True)) or [None]
        if asked is None:
            raise ContentError(
                f"the honeypot {item.id!r} cannot be asked",
                where=where,
                allowed="an item of emotion, decision or moral, over a character of the set",
            )
        if asked.expected not in asked.answers:
            raise ContentError(
                f"the honeypot {item.id!r} expects {item.expected!r}", where=where, allowed=", ".join(asked.answers)
            )
        if item.id in taken:
            raise ContentError(f"id {item.id!r} is taken", where=where, allowed="an id that stands nowhere else")
        taken.add(item.id)
        yield asked
