"""Asking: the messages that put an item to a model, and the hashes that say later what was asked."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from dramaturg.model.request import AnswerSchema, Message
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview.forms import Form, form_schema, form_text
from dramaturg.stage.interview.item import Item
from dramaturg.stage.interview.strategies import Strategy
from dramaturg.text import canonical_json, sha256, storable

Condition: TypeAlias = Literal["own", "message-only", "shuffled"]
"""To whom an item is put: its own character; nobody, the message alone; another character of the set.

The last two are controls: an item whose answer does not need its character is answered as well without it.
"""

CONDITIONS: tuple[Condition, ...] = get_args(Condition)


@dataclass(frozen=True, slots=True)
class Asking:
    """How items are put to a model.

    Attributes:
        strategy: How the character is put.
        form: How the answer is to be given.
        labels: What an emotion may be.
    """

    strategy: Strategy
    form: Form
    labels: tuple[str, ...]

    def messages(self, item: Item, character: Character | None) -> tuple[Message, ...]:
        """Returns the chat that puts an item to a character: system prompt, what was said before, the message.

        Args:
            item: The item.
            character: Who is asked; None puts the message to nobody.
        """
        parts = [] if character is None else [self.strategy.text(character.description, character.language)]
        if self.strategy.says_form:
            parts.append(form_text(self.form, item.category, self.labels, item.language))
        system = "\n\n".join(part for part in parts if part)
        said = [Message(turn.role, storable(turn.content)) for turn in item.history]
        before = [Message("system", storable(system))] if system else []
        return (*before, *said, Message("user", storable(item.message)))

    def schema(self, item: Item) -> AnswerSchema | None:
        """Returns the schema that the answer must follow, or None."""
        return form_schema(self.form, item.category, self.labels)


def item_digest(item: Item, character: Character | None) -> str:
    """Returns the hash of what an item asks: its character's description, what was said before, its message.

    What is expected is not part of it: a reply may be scored again when people have voted.
    """
    described = character.description if character is not None else ""
    said = [[turn.role, turn.content] for turn in item.history]
    return sha256(canonical_json([described, said, item.message]))


def asked_as(item: Item, characters: Mapping[str, Character], condition: Condition, seed: int) -> Character | None:
    """Returns the character to whom an item is put; None where it is put to nobody.

    Args:
        item: A sound item of the set.
        characters: Those of the set by id; at least two where they are shuffled.
        condition: Its own, nobody, or another one, drawn by the seed and the item alone.
        seed: Seed of the study.
    """
    match condition:
        case "own":
            return characters[item.character]
        case "message-only":
            return None
        case "shuffled":
            others = [name for name in characters if name != item.character]
            return characters[random.Random(f"{seed}\nstranger\n{item.id}").choice(others)]
