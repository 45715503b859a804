"""Structured answers: a pydantic type goes in, a validated value or a typed failure comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from dramaturg.model.reply import Asked
from dramaturg.model.request import AnswerSchema, Message

AnswerT = TypeVar("AnswerT", bound=BaseModel)

StructuredFailure = Literal[
    "", "unparsed", "truncated", "budget_spent_on_reasoning", "refused", "empty", "degenerate", "context_overflow"
]


class Ask(Protocol):
    """Sends one chat and returns the committed answer; bound to a model, a step and a purpose."""

    async def __call__(
        self, messages: Sequence[Message], *, schema: AnswerSchema | None, attempt: int, more_tokens: bool = False
    ) -> Asked:
        """Returns the answer; `more_tokens` doubles the limit of tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Structured(Generic[AnswerT]):
    """A validated value, or a typed failure; never a default.

    Attributes:
        value: The answer, or None.
        failure: Why there is none; empty otherwise.
        detail: One line for people.
        text: The visible text of the last reply.
        repaired: Whether it needed a tolerant reading.
        keys: The ledger's keys of all asks, oldest first.
    """

    value: AnswerT | None
    failure: StructuredFailure
    detail: str
    text: str
    repaired: bool
    keys: tuple[str, ...]
