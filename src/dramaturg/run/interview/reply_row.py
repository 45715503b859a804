"""The row of a reply: what was asked of whom, and what came back, as ``OUT/replies.jsonl`` holds it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.model.reply import ReplyStatus
from dramaturg.stage.interview.asking import Condition
from dramaturg.stage.interview.item import Category

FORMAT = "dramaturg-reply/1"


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
    repeat: Annotated[int, Field(ge=1)] = 1
    seed: int = 0
    prompt: str = ""
    status: ReplyStatus
    failure: str = ""
    text: str | None = None
    reasoning: bool = False
    call: str = ""
