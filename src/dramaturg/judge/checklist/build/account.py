"""The account of a build: every question that was written, and what became of it. A person may overrule it.

It lies beside the checklist as `NAME.account.yaml`, and the next build reads it: what a person wrote under `overrule`
holds, whatever the rules and the model say.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from dramaturg.files import load_yaml
from dramaturg.judge.checklist.build.rules import same_words
from dramaturg.judge.checklist.checklist import Label, Provenance

Stage = Literal["augmentation", "rules", "alike", "model", "limit", "person"]
"""What decides on a question, in this order; a person's word goes above all of them."""

Decision = Literal["kept", "removed", "merged"]
Overrule = Literal["", "keep", "remove"]

STAGES: tuple[Stage, ...] = ("augmentation", "rules", "alike", "model", "limit", "person")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Entry(_Frozen):
    """One question, and what became of it.

    Attributes:
        text: The question, or what the model wrote where it is none.
        overrule: A person's word, which holds on the next build: `keep`, `remove`, or nothing.
        decision: Whether it is in the checklist.
        stage: What decided that; None where it passed everything.
        reason: Why, for people; empty where it passed everything.
        id: Its id in the checklist; empty where it is not in it.
        dimension: Where it belongs.
        subdimension: Where it belongs; None where the dimension has no parts.
        provenance: Where it comes from.
    """

    text: str
    overrule: Overrule = ""
    decision: Decision = "kept"
    stage: Stage | None = None
    reason: str = ""
    id: str = ""
    dimension: Label
    subdimension: Label | None = None
    provenance: Provenance

    @property
    def place(self) -> str:
        """The id of its sub-dimension with that of its dimension, or of its dimension alone."""
        return place_of(self.dimension, self.subdimension)

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same question in two builds: its place and its words."""
        return self.place, same_words(self.text) or self.text

    @property
    def kept(self) -> bool:
        """Whether it is in the checklist, so far."""
        return self.decision == "kept"

    @property
    def is_seed(self) -> bool:
        """Whether a person wrote it as a seed."""
        return self.provenance.strategy == "seed"


class Account(_Frozen):
    """What a build did.

    Attributes:
        benchmark: Id and hash of the benchmark.
        checklist: Hash of the checklist that was written: another hash of the file means that a person changed it.
        model: Identity of the model that wrote and filtered.
        compared_by: What compared questions by meaning.
        prompts: Name → hash of each prompt of the build.
        refused: How many numbers the filtering model returned that it was not given.
        notes: What the reader must know: seeds that stand alone, places that fell short.
        questions: All questions, by place, in the order in which they were written.
    """

    benchmark: str
    checklist: str
    model: str
    compared_by: str
    prompts: dict[str, str]
    refused: int = 0
    notes: tuple[str, ...] = ()
    questions: tuple[Entry, ...]


def place_of(dimension: str, subdimension: str | None) -> str:
    """Returns `BRF.RA`, or `PCS` where the dimension has no parts."""
    return f"{dimension}.{subdimension}" if subdimension else dimension


def account_path(checklist: Path) -> Path:
    """Returns where the account of a checklist lies."""
    return checklist.with_name(f"{checklist.stem}.account.yaml")


def read_account(checklist: Path) -> Account | None:
    """Returns the account beside a checklist, or None where there is none.

    Raises:
        ContentError: The file is no account; the message names the line.
    """
    path = account_path(checklist)
    return load_yaml(path, Account) if path.is_file() else None


def decided(entry: Entry, stage: Stage, reason: str, decision: Decision = "removed") -> Entry:
    """Returns an entry with what was decided on it."""
    return entry.model_copy(update={"decision": decision, "stage": stage, "reason": reason})


def kept_of(entries: Sequence[Entry], place: str) -> list[Entry]:
    """Returns the entries of a place that are kept so far."""
    return [entry for entry in entries if entry.kept and entry.place == place]
