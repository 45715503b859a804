"""Findings: what is doubtful about a case, where, and how bad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

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
    "verdict-given",
    "critique",
]
CODES: tuple[Code, ...] = get_args(Code)

Severity = Literal["error", "warning", "remark"]
"""error: the case should not be played so. warning: a person should look. remark: a model's opinion."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is doubtful about a case.

    Attributes:
        code: What kind of thing.
        severity: How bad.
        where: The field, for example ``witnesses[1].knowledge[0]``.
        text: One line for people.
    """

    code: Code
    severity: Severity
    where: str
    text: str

    def as_json(self) -> dict[str, str]:
        """Returns the finding as JSON."""
        return {"code": self.code, "severity": self.severity, "where": self.where, "text": self.text}

    def __str__(self) -> str:
        return f"{self.severity} {self.code} at {self.where}: {self.text}"


def has_errors(findings: tuple[Finding, ...]) -> bool:
    """Returns whether any finding is an error."""
    return any(finding.severity == "error" for finding in findings)
