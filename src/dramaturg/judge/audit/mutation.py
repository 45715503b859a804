"""A fault planted in a clean transcript, or a harmless edit: what was done, where, and what it must change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dramaturg.stage.transcript import Transcript

Severity = Literal["mild", "severe"]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One edit of a transcript.

    Attributes:
        operator: Name of the operator that made it.
        kind: The fault that it plants, as `Indicator.detects` names it; empty for a sham.
        severity: How plain the fault is; empty for a sham.
        turns: Ids of the turns, in the edited transcript, that hold the fault or the edit.
        role: Kind of the role whose conduct became faulty; empty where it is the performance as a whole.
        description: What was done, in one sentence for people.
    """

    operator: str
    kind: str
    severity: Severity | Literal[""]
    turns: tuple[str, ...]
    role: str
    description: str

    @property
    def sham(self) -> bool:
        """Whether it is harmless."""
        return not self.kind


@dataclass(frozen=True, slots=True)
class Specimen:
    """A transcript that a judge is tested with: clean, with planted faults, or harmlessly edited.

    Attributes:
        transcript: What the judge reads. Its id tells nothing of the edits.
        base: Id of the clean transcript that it was made of: the cluster of all intervals.
        mutations: The edits in order; none for a clean one.
    """

    transcript: Transcript
    base: str
    mutations: tuple[Mutation, ...] = ()

    @property
    def faults(self) -> tuple[Mutation, ...]:
        """The edits that plant a fault."""
        return tuple(mutation for mutation in self.mutations if not mutation.sham)
