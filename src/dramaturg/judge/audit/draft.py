"""A draft: a transcript that is being edited, with the places that an operator may still touch."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from random import Random

from dramaturg.judge.audit.clean import Base, Hook
from dramaturg.stage.transcript import Role, Transcript, Turn

VERDICT_PHASE = "verdict"

_CLOSING = r"[\"'”’)\]]"
_SENTENCE_END = re.compile(
    rf"(?:(?<=[.!?])|(?<=[.!?]{_CLOSING})|(?<=[.!?]{_CLOSING}{_CLOSING}))"
    r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bMrs\.)\s+(?=[\"'“‘(\[A-ZÀ-Þ0-9])"
)
"""The blanks between two sentences; what closes a quotation or a bracket belongs to the first."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A transcript that is being edited.

    Attributes:
        transcript: As it stands now.
        hooks: Fault kind → where it can be made true.
        touched: Ids of turns that were edited before: no second fault may hide the first.
        roles: Kinds of roles whose turns may be made faulty; None for all that a model plays.
    """

    transcript: Transcript
    hooks: Mapping[str, tuple[Hook, ...]]
    touched: frozenset[str] = frozenset()
    roles: frozenset[str] | None = None

    @classmethod
    def of(cls, base: Base, roles: frozenset[str] | None = None) -> Draft:
        """Returns the draft of a clean transcript, without the record of its end.

        The text alone must tell whether there is a verdict and which: a record that is kept for some specimens and
        not for others would give the fault away, and the transcript itself would answer in the judge's place.
        """
        silent = base.transcript.model_copy(update={"outcome": None, "end_reason": "imported"})
        return cls(silent, base.hooks, roles=roles)

    def kind_of(self, turn: Turn) -> str:
        """Returns the kind of the role that speaks."""
        return next((role.kind for role in self.transcript.roles if role.id == turn.role), turn.role)

    def turns(self, kinds: Collection[str] = ()) -> list[Turn]:
        """Returns the model-played turns that may be edited, of roles of some kinds where any are named."""
        return [
            turn
            for turn in self.transcript.judged_turns()
            if turn.id not in self.touched and self.is_open(kind := self.kind_of(turn)) and (not kinds or kind in kinds)
        ]

    @property
    def verdict(self) -> Turn | None:
        """The turn in which a judge gives the verdict: the judge's last one. None where it may not be edited."""
        spoken = [turn for turn in self.transcript.judged_turns() if self.kind_of(turn) == "judge"][-1:]
        given = [turn for turn in spoken if turn in self.turns() and turn.phase in {VERDICT_PHASE, ""}]
        return given[0] if given else None

    def replaceable(self, kinds: Collection[str] = ()) -> list[Turn]:
        """Returns the turns that may be edited whole: without the verdict, whose loss would be a second fault."""
        return [turn for turn in self.turns(kinds) if turn != self.verdict]

    def is_open(self, kind: str) -> bool:
        """Returns whether a role of that kind may be made faulty."""
        return self.roles is None or kind in self.roles

    def turn(self, name: str) -> Turn | None:
        """Returns the turn with that id, or None."""
        return next((turn for turn in self.transcript.turns if turn.id == name), None)

    def other_role(self, turn: Turn, rng: Random) -> Role | None:
        """Returns a role of another kind than the speaker's, or None where there is none."""
        own = self.kind_of(turn)
        others = [role for role in self.transcript.roles if role.kind != own]
        return rng.choice(others) if others else None

    def with_texts(self, texts: Mapping[str, str]) -> Draft:
        """Returns the draft with other texts in some turns, which count as touched from now on."""
        turns = tuple(
            turn.model_copy(update={"text": texts[turn.id], "raw": ""}) if turn.id in texts else turn
            for turn in self.transcript.turns
        )
        return self.with_transcript(self.transcript.model_copy(update={"turns": turns}), touched=texts)

    def with_transcript(self, transcript: Transcript, *, touched: Collection[str] = ()) -> Draft:
        """Returns the draft with another transcript."""
        return replace(self, transcript=transcript, touched=self.touched | frozenset(touched))


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text, in order; a quotation is not parted."""
    parts: list[str] = []
    for part in _SENTENCE_END.split(text.strip()):
        if parts and _is_open(parts[-1]):
            parts[-1] += f" {part}"
        elif part:
            parts.append(part)
    return parts


def _is_open(text: str) -> bool:
    """Returns whether a quotation begins in the text and does not end there."""
    return text.count('"') % 2 == 1 or text.count("\u201c") > text.count("\u201d")


def inserted(text: str, addition: str, rng: Random) -> str:
    """Returns the text with a sentence more: before it, behind it, or between two of its sentences."""
    parts = sentences(text)
    place = rng.randint(0, len(parts))
    return " ".join([*parts[:place], addition, *parts[place:]])
