"""Findings about a case: their codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from dramaturg.stage import finding

Code = Literal[
    "form",
    "length",
    "long-case",
    "language",
    "control-character",
    "direction-control",
    "right-to-left",
    "markup",
    "instructions",
    "placeholder",
    "repeated",
    "duplicate-name",
    "strange-name",
    "named-like-role",
    "two-names",
    "unlisted-name",
    "accused-absent",
    "many-witnesses",
    "witness-knows-nothing",
    "evidence-unreferenced",
    "evidence-unknown",
    "evidence-is-person",
    "goal-against-player",
    "verdict-given",
    "critique",
]
CODES: tuple[Code, ...] = get_args(Code)


@dataclass(frozen=True, slots=True)
class Finding(finding.Finding):
    """One thing that is doubtful about a case; see `dramaturg.stage.finding.Finding`."""

    code: Code
