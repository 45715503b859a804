"""What a server refuses, learned once. It belongs to the endpoint and to attempts, never to the request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

Capability = Literal[
    "schema",
    "json_mode",
    "logprobs",
    "temperature",
    "top_p",
    "stop",
    "seed",
    "max_tokens",
    "system",
    "alternation",
    "stream_usage",
]

_SCHEMA_BROKE = re.compile(
    r"does not match the expected format|json[ _]?(?:schema|object|mode)|response[ _]format|grammar|structured output|"
    r"guided",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"\b(?:system|developer)\b.{0,60}\b(?:not|un\w+|invalid|disallowed)\b|"
    r"\b(?:not|un\w+|invalid|only|disallowed)\b.{0,60}\b(?:system|developer)\b",
    re.IGNORECASE,
)
_ALTERNATION = re.compile(
    r"\balternat|\bconsecutive\b|\broles? must\b|must (?:start|begin) with .{0,20}user", re.IGNORECASE
)
_FIELDS: tuple[tuple[str, Capability], ...] = (
    ("max_tokens", "max_tokens"),
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("stop", "stop"),
    ("seed", "seed"),
    ("top_logprobs", "logprobs"),
    ("logprobs", "logprobs"),
    ("stream_options", "stream_usage"),
)


@dataclass(slots=True)
class Capabilities:
    """What an endpoint has refused so far.

    Attributes:
        refused: Capability → what the server said when it refused, first time.
    """

    refused: dict[Capability, str] = field(default_factory=dict[Capability, str])

    def has(self, capability: Capability) -> bool:
        """Returns whether the server has not refused it yet."""
        return capability not in self.refused

    def learn(
        self, message: str, body: Mapping[str, object], *, parameter: str = "", broke: bool = False
    ) -> Capability | None:
        """Returns what the server's complaint is about; None when it is about nothing that can be left out.

        Only what stands in the body can be refused, and the next body leaves it out: so each complaint about one
        call is about something else, and calls that were in flight together all learn from their own answers.

        Args:
            message: The server's error text.
            body: What was sent.
            parameter: The parameter that the server names beside its text, if it does.
            broke: Whether the server broke rather than refused; then only what breaks servers is left out.
        """
        found = _form(parameter, message, body)
        if found is None and not broke:
            found = _field(parameter, message, body)
        if found is None:
            found = _roles(message, body)
        if found is not None:
            self.refused.setdefault(found, message)
        return found


def _form(parameter: str, message: str, body: Mapping[str, object]) -> Capability | None:
    if "response_format" not in body:
        return None
    if not (parameter.startswith("response_format") or _SCHEMA_BROKE.search(message)):
        return None
    return "schema" if "json_schema" in cast("Mapping[str, object]", body["response_format"]) else "json_mode"


def _field(parameter: str, message: str, body: Mapping[str, object]) -> Capability | None:
    """Returns the field of the body that is named, beside the text or in it."""
    for name, capability in _FIELDS:
        if name == parameter and name in body:
            return capability
    for name, capability in _FIELDS:
        if name in body and re.search(rf"\b{name}\b", message):
            return capability
    return None


def _roles(message: str, body: Mapping[str, object]) -> Capability | None:
    roles = [entry["role"] for entry in cast("Sequence[Mapping[str, str]]", body.get("messages", ()))]
    if _ALTERNATION.search(message) and not alternates(roles):
        return "alternation"
    if "system" in roles and (_SYSTEM.search(message) or _ALTERNATION.search(message)):
        return "system"
    return None


def alternates(roles: Sequence[str]) -> bool:
    """Returns whether user and assistant take turns, the user first, after at most one system message."""
    spoken = roles[1:] if roles[:1] == ["system"] else roles
    return all(role == ("user", "assistant")[index % 2] for index, role in enumerate(spoken))
