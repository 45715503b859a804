"""Items and rows of replies as a matcher sees them."""

from __future__ import annotations

from typing import assert_never

from dramaturg.judge.matching import Question, ReplyEnd, ReplyText
from dramaturg.run.interview.reply_row import ReplyRow
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview import Item, ItemSet


def question_of(item: Item, character: Character | None, labels: tuple[str, ...]) -> Question:
    """Returns what a matcher must know of an item.

    Args:
        item: The item.
        character: Its own character, whoever was asked; None where the set has no such character.
        labels: What an emotion may be.
    """
    return Question(
        kind=item.category,
        message=item.message,
        labels=labels,
        expected=item.expected,
        facts=item.facts,
        votes=item.votes,
        language=item.language,
        machine=character is not None and character.machine,
        description=character.description if character is not None else "",
        knows_until=character.knows_until if character is not None else None,
    )


def questions_of(item_set: ItemSet) -> dict[str, Question]:
    """Returns the question of every item of a set by the item's id, invalid items too."""
    return {
        item.id: question_of(item, item_set.characters.get(item.character), item_set.labels) for item in item_set.items
    }


def reply_text(row: ReplyRow) -> ReplyText:
    """Returns a row's reply as a matcher reads it."""
    return ReplyText(row.text, _end(row))


def _end(row: ReplyRow) -> ReplyEnd:
    match row.status:
        case "ok":
            return "whole"
        case "truncated" | "degenerate":  # what never ends by itself was cut as well
            return "cut"
        case "refused":
            return "refused"
        case "empty" | "context_overflow":
            return "empty"
        case "malformed" | "failed":
            return "failed"
        case _:
            assert_never(row.status)
