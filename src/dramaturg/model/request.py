"""What is asked of a model: messages, parameters, and the shape of the answer."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dramaturg.text import Json, canonical_json, sha256

MessageRole = Literal["system", "user", "assistant"]

NO_LABELS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: MessageRole
    text: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Parameters of the answer that are part of the logical request.

    Attributes:
        temperature: 0 for the likeliest answer.
        max_tokens: Most tokens to answer with, reasoning included.
        top_p: Nucleus sampling, or None for the server's default.
        stop: Texts that end the answer.
        top_logprobs: How many alternatives to report per token; 0 for none.
    """

    temperature: float = 0.7
    max_tokens: int = 512
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    top_logprobs: int = 0


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """A JSON schema that the answer must follow."""

    name: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Request:
    """One logical call. Two requests with equal content are the same call, whatever the wire needed.

    Attributes:
        messages: The chat, oldest first.
        sampling: Parameters of the answer.
        seed: Derived by the ledger from study, unit, step and attempt; in the key even where a server takes none.
        schema: The shape of the answer, or None for free text.
        labels: For scripts, logs and costs alone (role, purpose, phase, turn); not sent, not in the key.
    """

    messages: Sequence[Message]
    sampling: Sampling = Sampling()
    seed: int = 0
    schema: AnswerSchema | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)


def message_hash(parent: str, message: Message) -> str:
    """Returns the hash of a message as a node: its content and all that stands before it.

    Args:
        parent: Hash of the message before it; empty for the first.
        message: The message.
    """
    return sha256(f"{parent}\n{message.role}\n{message.text}")


def chain_hashes(messages: Sequence[Message]) -> list[str]:
    """Returns the node hash of every message, oldest first."""
    hashes: list[str] = []
    parent = ""
    for message in messages:
        parent = message_hash(parent, message)
        hashes.append(parent)
    return hashes


@functools.lru_cache(maxsize=4096)
def sampling_json(sampling: Sampling) -> str:
    """Returns the canonical JSON of the parameters; equal parameters give equal text, so 0 is written as 0.0."""
    return canonical_json(
        {
            "max_tokens": int(sampling.max_tokens),
            "stop": list(sampling.stop),
            "temperature": _real(sampling.temperature),
            "top_logprobs": int(sampling.top_logprobs),
            "top_p": None if sampling.top_p is None else _real(sampling.top_p),
        }
    )


def _real(number: float) -> float:
    return float(number) + 0.0
