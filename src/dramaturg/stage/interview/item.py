"""The item: one message to one character, whose answer is known."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dramaturg.facts import Fact

Category: TypeAlias = Literal["emotion", "decision", "moral", "in_character", "knows"]
"""What an item asks for.

emotion: which emotion the character feels. decision: whether it does what it is asked. moral: whether it does so where
its values are at stake. in_character: something that it cannot know. knows: something that it must know.
"""

CATEGORIES: tuple[Category, ...] = ("emotion", "decision", "moral", "in_character", "knows")

LABELS = (
    "determination",
    "anger",
    "anticipation",
    "excitement",
    "sadness",
    "disgust",
    "fear",
    "surprise",
    "joy",
    "hope",
    "love",
    "guilt",
    "pride",
)
"""The labels of the published set (RPEval); an item set may bring its own."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank."""


class Said(BaseModel):
    """A message before the item's own, as a published set may hold some."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["user", "assistant"]
    content: str


class Item(BaseModel):
    """One message to one character.

    Attributes:
        id: Unique in its set.
        character: Id of the character.
        category: What is asked for.
        message: What somebody says to the character; no context comes before it. A blank one makes the item invalid.
        expected: Emotion: a label. Decision and moral: ``yes`` or ``no``. Empty for the other two.
        facts: In character: what a reply may not state, not one of them. Knows: what it must state, every one.
        reason: Why this is the answer, in a sentence.
        votes: How many annotators chose each answer, where people were asked.
        history: What was said before, in imported items alone.
        language: ISO 639-1, of the message.
        tags: Free words to filter by, for example ``twin:harbour-toll`` for items that share their message.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Text
    character: Text
    category: Category
    message: str
    expected: str = ""
    facts: tuple[Fact, ...] = ()
    reason: str = ""
    votes: dict[str, Annotated[int, Field(ge=0)]] = {}
    history: tuple[Said, ...] = ()
    language: str = "en"
    tags: tuple[str, ...] = ()
