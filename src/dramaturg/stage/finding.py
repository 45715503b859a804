"""Findings: what is doubtful about something that was written for the stage, where, and how bad."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

Severity = Literal["error", "warning", "remark"]
"""error: it should not be played so. warning: a person should look. remark: a model's opinion."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is doubtful.

    Attributes:
        code: What kind of thing.
        severity: How bad.
        where: The field, for example ``witnesses[1].knowledge[0]``.
        text: One line for people.
    """

    code: str
    severity: Severity
    where: str
    text: str

    def as_json(self) -> dict[str, str]:
        """Returns the finding as JSON."""
        return {"code": self.code, "severity": self.severity, "where": self.where, "text": self.text}

    def __str__(self) -> str:
        return f"{self.severity} {self.code} at {self.where}: {self.text}"


FindingT = TypeVar("FindingT", bound=Finding)


def has_errors(findings: Iterable[Finding]) -> bool:
    """Returns whether any finding is an error."""
    return any(finding.severity == "error" for finding in findings)


def by_severity(findings: Sequence[FindingT]) -> tuple[FindingT, ...]:
    """Returns the findings without repeats, the worst first."""
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: SEVERITIES.index(finding.severity)))


def badness(findings: Iterable[Finding]) -> tuple[int, ...]:
    """Returns how many findings of each severity there are, the worst first; of two versions the lesser is better."""
    listed = [finding.severity for finding in findings]
    return tuple(listed.count(severity) for severity in SEVERITIES)
