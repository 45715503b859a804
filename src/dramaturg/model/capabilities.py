"""What a server refuses, learned once. It belongs to the endpoint and to attempts, never to the request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
    r"does not match the expected format|json[ _]?schema|response_format|grammar|structured output|guided",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"system (?:role|message|prompt)s?.{0,40}(?:not|un)|(?:not|un)\w* .{0,40}system (?:role|message|prompt)",
    re.IGNORECASE,
)
_ALTERNATION = re.compile(r"alternat|roles must|consecutive", re.IGNORECASE)
_NAMED: tuple[tuple[re.Pattern[str], Capability], ...] = (
    (re.compile(r"\bmax_tokens\b"), "max_tokens"),
    (re.compile(r"\btemperature\b"), "temperature"),
    (re.compile(r"\btop_p\b"), "top_p"),
    (re.compile(r"\bstop\b"), "stop"),
    (re.compile(r"\bseed\b"), "seed"),
    (re.compile(r"\b(?:top_)?logprobs\b"), "logprobs"),
    (re.compile(r"\bstream_options\b"), "stream_usage"),
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

    def learn(self, message: str, body: Mapping[str, object]) -> Capability | None:
        """Returns what the server's complaint is about, once for each; None when nothing is left to drop.

        Args:
            message: The server's error text.
            body: What was sent; only what stands in it can have been refused.
        """
        found = self._refusal(message, body)
        if found is None or found in self.refused:
            return None
        self.refused[found] = message
        return found

    def _refusal(self, message: str, body: Mapping[str, object]) -> Capability | None:
        for pattern, capability in _NAMED:
            key = "stream_options" if capability == "stream_usage" else capability
            if key in body and pattern.search(message):
                return capability
        if "response_format" in body and _SCHEMA_BROKE.search(message):
            kind = body["response_format"]
            is_schema = isinstance(kind, Mapping) and "json_schema" in kind
            return "schema" if is_schema else "json_mode"
        if self.has("system") and _SYSTEM.search(message):
            return "system"
        if self.has("alternation") and _ALTERNATION.search(message):
            return "alternation"
        return None
