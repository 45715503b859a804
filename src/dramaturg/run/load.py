"""The load of a unit: how many calls and tokens it takes, from limits and texts alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.run.court import performance_calls
from dramaturg.run.study import Study
from dramaturg.run.units import JudgeUnit, StageUnit, Unit
from dramaturg.text import canonical_json

BYTES_PER_TOKEN = 2
"""Fewest bytes of prose that make a token: real tokenizers need about four in English, three in Chinese."""

TOKENS_PER_NAME = 16
"""Most tokens of a turn's id, speaker and line breaks around its text."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a unit takes.

    Attributes:
        least_calls: Calls when nothing goes wrong and everything ends early.
        most_calls: Calls when everything goes wrong and nothing ends early; equal to the least where it is fixed.
        input_tokens: Tokens read, at most.
        output_tokens: Tokens written, at most.
    """

    least_calls: int = 0
    most_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Load) -> Load:
        """Returns what both take."""
        return Load(
            self.least_calls + other.least_calls,
            self.most_calls + other.most_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )
