"""What a matcher must know of an item to read the reply to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dramaturg.facts import Fact

Kind: TypeAlias = Literal["emotion", "decision", "moral", "in_character", "knows"]

Status: TypeAlias = Literal[
    "right",
    "wrong",
    "refusal",
    "persona_break",
    "empty",
    "truncated",
    "ambiguous",
    "unparsed",
    "invalid_item",
    "failed",
]
"""What became of a reply.

refusal: the model declined as a model, not the character. persona_break: it spoke as an assistant or of itself as a
machine, where the character is none. truncated: it was cut before it answered. ambiguous: it answers twice, or either
way. unparsed: no answer can be found. invalid_item: the item itself cannot be scored. failed: the endpoint gave no
reply; nothing is known of the model. Only right earns credit; invalid_item and failed are no answers at all.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """An item, as a matcher sees it.

    Attributes:
        kind: What is asked for.
        message: What was said to the character; what it gave away itself is no leak.
        labels: Allowed emotion labels.
        expected: Label, ``yes`` or ``no``; empty for facts.
        facts: What may not be stated, or must be.
        votes: Annotators' votes by answer, where there are any.
        language: ISO 639-1 of the message.
        machine: Whether the character itself is a machine or a program, so that saying so breaks nothing.
        description: The character's description; what stands in it the character may know.
        knows_until: Last year of which the character can know anything; None where our calendar says nothing. A later
            year in a reply gives away knowledge that it cannot have, whatever the facts are.
    """

    kind: Kind
    message: str
    labels: tuple[str, ...] = ()
    expected: str = ""
    facts: tuple[Fact, ...] = ()
    votes: Mapping[str, int] = field(default_factory=dict[str, int])
    language: str = "en"
    machine: bool = False
    description: str = ""
    knows_until: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a matcher made of one reply.

    Attributes:
        status: What became of it.
        answer: The label, ``yes`` or ``no`` that it was read as; the fact's text that it stated; empty where none.
        flags: What was noticed beside the verdict, for example ``alias``, ``text_missing``, ``trailing_text``,
            ``reasoning_leak``; fixed words, documented in `dramaturg.judge.matching.flags`.
        by: ``rules``, or ``judge`` where a model was asked.
    """

    status: Status
    answer: str = ""
    flags: tuple[str, ...] = ()
    by: Literal["rules", "judge"] = "rules"

    @property
    def credit(self) -> float | None:
        """1 for right, None where nothing was measured, else 0."""
        if self.status in ("invalid_item", "failed"):
            return None
        return 1.0 if self.status == "right" else 0.0
