"""The row of a reply: what was asked of whom, and what came back, as ``OUT/replies.jsonl`` holds it."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from dramaturg.model.reply import ReplyStatus
from dramaturg.stage.interview.asking import Condition
from dramaturg.stage.interview.item import Category

FORMAT = "dramaturg-reply/1"

MOST_REPEATS = 1000
"""Of a study, and so of a row: a file of replies cannot make a scorer wait for a billion of them."""


def _written(value: object) -> object:
    if value is not None and not isinstance(value, str) and not isinstance(value, dict):
        raise ValueError("is neither text nor an object nor null")
    return cast("object", value)


def _item_id(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("is neither a whole number nor text")
    return value


Written = Annotated[str | dict[str, object] | None, BeforeValidator(_written)]
"""A reply in a response file of others: text, an object that answers by schema, or nothing."""

PublishedId = Annotated[int | str, BeforeValidator(_item_id)]
"""Id of an item in a response file of others."""


class ReplyRow(BaseModel):
    """One reply to one item.

    Attributes:
        set: Id of the item set.
        item: Id of the item.
        character: Id of the item's own character.
        asked_as: Id of the character that was asked, another one under the condition ``shuffled``; empty where none
            was.
        category: Of the item.
        item_digest: Hash of what the item asks, so that no row is scored as an answer to another version of it.
        subject: What tables call the model.
        subject_model: Its spec string.
        strategy: How the character was put to it; empty where that is not known.
        form: In which form it was told to answer; empty where that is not known.
        condition: To whom the item was put.
        repeat: Which repeat, counted from 1.
        seed: Seed of the call.
        prompt: Hash of the messages that it really answered; empty where they are not known.
        status: How the call ended; ``failed`` where the endpoint gave no reply, which says nothing of the model.
        failure: Machine-readable reason of a failure.
        text: What it answered, without reasoning; None where there is no reply at all.
        reasoning: Whether the model wrote reasoning beside it.
        call: Key of the call in the ledger.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["dramaturg-reply/1"] = FORMAT
    set: str
    item: str
    character: str
    asked_as: str = ""
    category: Category
    item_digest: str = ""
    subject: str
    subject_model: str = ""
    strategy: str = ""
    form: str = ""
    condition: Condition = "own"
    repeat: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    seed: int = 0
    prompt: str = ""
    status: ReplyStatus
    failure: str = ""
    text: str | None = None
    reasoning: bool = False
    call: str = ""
