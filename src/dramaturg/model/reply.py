"""What a model answered, with a status that nobody has to guess."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

ReplyStatus = Literal["ok", "truncated", "refused", "empty", "degenerate", "context_overflow", "malformed", "failed"]
"""How a call ended.

ok: a usable answer. truncated: cut at max_tokens. refused: the provider's filter declined. empty: no visible
text. degenerate: blanks or one fragment without end. context_overflow: the prompt does not fit.
malformed: HTTP 200 without an answer in it. failed: no answer at all.
"""

REPLY_STATUSES: tuple[ReplyStatus, ...] = get_args(ReplyStatus)

OUTSIDE_THE_MODEL: frozenset[ReplyStatus] = frozenset({"malformed", "failed"})
"""Statuses that say nothing of the model: they stop a unit, are asked again and are never scored."""

FailureKind = Literal["", "connect", "timeout", "auth", "quota", "http", "protocol", "crash", "memory"]
"""Why a call failed; empty when it did not."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; None where the server does not say.

    `cached_tokens` are part of `input_tokens`, `reasoning_tokens` part of `output_tokens`.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One generated token with its log-probability and its best rivals."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request.

    Attributes:
        status: How the call ended.
        text: What everyone may see: reasoning split off, one canonical text form.
        reasoning: What only the ledger keeps.
        failure: Why it failed; empty when it did not.
        detail: One line for people: what the endpoint said, which limit was hit. Never a secret.
        usage: Tokens.
        seconds: From the first attempt to the last byte, waits included.
        first_token_s: To the first token, where it was streamed.
        logprobs: Per token, when asked for and given.
        served_by: Model name or fingerprint that the server reports.
        notes: What the wire needed: retries, waits, parameters dropped. Attributes of the attempt.
    """

    status: ReplyStatus
    text: str = ""
    reasoning: str = ""
    failure: FailureKind = ""
    detail: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    first_token_s: float | None = None
    logprobs: tuple[TokenLogprob, ...] = ()
    served_by: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is a usable answer."""
        return self.status == "ok"

    @property
    def final(self) -> bool:
        """Whether the answer tells something of the model, so that a rerun must not ask again."""
        return self.status not in OUTSIDE_THE_MODEL


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply that is committed, and where.

    Attributes:
        reply: The answer; its status is always final here.
        key: Hash of the logical request: the call's id in the ledger and in transcripts.
        replayed: Whether the ledger answered.
    """

    reply: Reply
    key: str
    replayed: bool = False
