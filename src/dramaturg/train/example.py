"""An example: exactly what the system asks when it works, and the answer that is wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dramaturg.model import Message
from dramaturg.text import Json, canonical_json, sha256

Kind = Literal["guided", "reflective", "narrator", "reward", "judge"]
"""What a model learns: to play (guided by better models, or by its own corrections), to narrate, to rate, to judge."""

KINDS: tuple[Kind, ...] = get_args(Kind)

NO_HASHES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Example:
    """One example; the loss of a training is on the answer alone.

    Attributes:
        id: Hash of kind, messages and answer.
        kind: What is learned.
        messages: The chat as the system sends it, oldest first.
        answer: The text of the one assistant turn that is wanted.
        scene: Id of the scene or case.
        characters: Names of whoever belongs to it; what shares one of them stands in the same split.
        language: ISO 639-1.
        source: Where it is from: the transcript, and the turns or the role.
        teacher: Identity of the model that wrote the answer.
        prompt_hashes: Hashes of the prompts behind the messages, by name.
        weight: Of its loss.
        purpose: What the call is made for, for example ``action`` or ``influence``.
        call: Key of the ledger's call that the messages are from; empty where they were rendered anew.
    """

    id: str
    kind: Kind
    messages: tuple[Message, ...]
    answer: str
    scene: str
    characters: tuple[str, ...]
    language: str
    source: str
    teacher: str
    prompt_hashes: Mapping[str, str] = field(default_factory=lambda: NO_HASHES)
    weight: float = 1.0
    purpose: str = ""
    call: str = ""

    @property
    def transcript(self) -> str:
        """Id of the transcript that it is from."""
        return self.source.partition("/")[0]


def example_id(kind: Kind, messages: Sequence[Message], answer: str) -> str:
    """Returns the id of an example: equal content gives equal ids."""
    chat: list[Json] = [[message.role, message.text] for message in messages]
    return sha256(canonical_json([kind, chat, answer]))[:20]


@dataclass(slots=True)
class Gathered:
    """What a kind of data takes from runs.

    Attributes:
        examples: What it takes.
        left_out: Why what was left out was: reason → how many.
        terms: By what was chosen, for the card: name → value.
        labels: Classes of the answers, where the kind has such: class → how many.
    """

    examples: list[Example] = field(default_factory=list[Example])
    left_out: Counter[str] = field(default_factory=Counter[str])
    terms: dict[str, Json] = field(default_factory=dict[str, Json])
    labels: Counter[str] = field(default_factory=Counter[str])


class ChatMessage(BaseModel):
    """One message, as files hold it."""

    model_config = ConfigDict(frozen=True)

    role: Literal["system", "user", "assistant"]
    content: str


class ExampleRow(BaseModel):
    """One line of a split: the chat with the answer as its last message, and where it is from.

    The hashes of the prompts stand in the card, once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: Kind
    messages: tuple[ChatMessage, ...] = Field(min_length=2)
    scene: str
    characters: tuple[str, ...]
    language: str
    source: str
    teacher: str
    purpose: str = ""
    call: str = ""
    weight: float = 1.0

    @model_validator(mode="after")
    def _ends_with_the_answer(self) -> Self:
        if self.messages[-1].role != "assistant":
            raise ValueError("the last message is the answer, of the assistant")
        return self

    @classmethod
    def of(cls, example: Example) -> Self:
        """Returns the line of an example."""
        chat: list[dict[str, Any]] = [{"role": one.role, "content": one.text} for one in example.messages]
        return cls.model_validate(
            {
                "id": example.id,
                "kind": example.kind,
                "messages": [*chat, {"role": "assistant", "content": example.answer}],
                "scene": example.scene,
                "characters": example.characters,
                "language": example.language,
                "source": example.source,
                "teacher": example.teacher,
                "purpose": example.purpose,
                "call": example.call,
                "weight": example.weight,
            }
        )

    @property
    def example(self) -> Example:
        """The example; the hashes of its prompts are not part of a line."""
        *asked, answer = self.messages
        return Example(
            id=self.id,
            kind=self.kind,
            messages=tuple(Message(one.role, one.content) for one in asked),
            answer=answer.content,
            scene=self.scene,
            characters=self.characters,
            language=self.language,
            source=self.source,
            teacher=self.teacher,
            weight=self.weight,
            purpose=self.purpose,
            call=self.call,
        )
