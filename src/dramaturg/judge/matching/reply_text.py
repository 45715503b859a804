"""What a matcher must know of a reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ReplyEnd: TypeAlias = Literal["whole", "cut", "refused", "empty", "failed"]
"""How the call ended.

whole: the model ended by itself. cut: at the limit of tokens. refused: the provider's filter declined. empty: without
visible text. failed: the endpoint gave no reply.
"""


@dataclass(frozen=True, slots=True)
class ReplyText:
    """A reply, as a matcher reads it.

    Attributes:
        text: What the model wrote; None where there is no text at all. Reasoning inside it is split off here too.
        end: How the call ended.
    """

    text: str | None
    end: ReplyEnd = "whole"
