"""What a card is bound to: the judge, how it is asked, by what, and what it read. Elsewhere a card is only a hint."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from dramaturg import __version__
from dramaturg.judge.checklist import Checklist, Mode, Wording
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model import Identity
from dramaturg.prompts import hashes, prompt_names
from dramaturg.stage.transcript import Transcript
from dramaturg.text import canonical_json, sha256

JUDGES_PROMPTS = ("judge-", "glance-")
"""Prompts whose names begin so are the judges'."""


class Length(BaseModel):
    """How long transcripts are, with their reference texts, in estimated tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min: Annotated[int, Field(ge=0)]
    median: Annotated[int, Field(ge=0)]
    max: Annotated[int, Field(ge=0)]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Self:
        """Returns the length of transcripts with so many tokens; of at least one."""
        return cls(min=min(sizes), median=math.floor(statistics.median(sizes)), max=max(sizes))

    def holds(self, other: Length) -> bool:
        """Returns whether transcripts of the other length are no longer and no shorter than these, by half."""
        return self.min / 1.5 <= other.median <= self.max * 1.5


class Binding(BaseModel):
    """What a card is bound to.

    Attributes:
        judge: Provider and name.
        digest: Hash of a local model's file; empty for a remote one.
        prompts: Hash of the prompts of judges in the checklist's language.
        mode: How the questions were asked.
        ask: What was put to the judge.
        votes: How often each was asked.
        checklist: Id and version.
        checklist_digest: Its hash.
        language: Of the transcripts.
        length: Of the transcripts.
        version: Of the package.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge: str
    digest: str = ""
    prompts: str
    mode: Mode
    ask: Wording
    votes: Annotated[int, Field(ge=1)]
    checklist: str
    checklist_digest: str
    language: str
    length: Length
    version: str = __version__

    @property
    def same_judge(self) -> str:
        """What two bindings share that are about one judge: its file, or its name where it has none."""
        return self.digest or self.judge

    def differences(self, other: Binding) -> tuple[str, ...]:
        """Returns the names of what differs, the weightiest first; none where a card for one holds for the other.

        The package's version alone is no difference: what matters of it are prompts and checklist.
        """
        differing: dict[
            Literal["judge", "checklist", "language", "mode", "ask", "prompts", "votes", "length"], bool
        ] = {
            "judge": self.same_judge != other.same_judge,
            "checklist": self.checklist_digest != other.checklist_digest,
            "language": self.language != other.language,
            "mode": self.mode != other.mode,
            "ask": self.ask != other.ask,
            "prompts": self.prompts != other.prompts,
            "votes": self.votes != other.votes,
            "length": not self.length.holds(other.length),
        }
        return tuple(name for name, differs in differing.items() if differs)


def binding_of(
    identity: Identity,
    checklist: Checklist,
    transcripts: Iterable[Transcript],
    *,
    mode: Mode,
    ask: Wording = "presence",
    votes: int = 1,
) -> Binding:
    """Returns what a card for these judgements is bound to.

    Args:
        identity: Of the judge.
        checklist: By which is judged.
        transcripts: What is judged; at least one.
        mode: How the questions are asked.
        ask: What is put to the judge.
        votes: How often.

    Raises:
        ValueError: There is no transcript.
    """
    sizes: list[int] = []
    languages: set[str] = set()
    for transcript in transcripts:
        sizes.append(tokens_of(transcript))
        languages.add(transcript.scenario.language)
    if not sizes:
        raise ValueError("no transcript was judged")
    return Binding(
        judge=f"{identity.provider}:{identity.name}",
        digest=identity.digest,
        prompts=prompts_hash(checklist.language, mode),
        mode=mode,
        ask=ask,
        votes=votes,
        checklist=f"{checklist.id} v{checklist.version}",
        checklist_digest=checklist.hash,
        language=", ".join(sorted(languages)),
        length=Length.of(sizes),
    )


def tokens_of(transcript: Transcript) -> int:
    """Returns about how many tokens the turns and the reference text have."""
    return estimated_tokens(transcript.scenario.reference) + sum(
        estimated_tokens(turn.text) for turn in transcript.turns
    )


def begins_of_prompts(mode: str) -> tuple[str, ...]:
    """Returns how the names of those judges' prompts begin that matter in a mode."""
    return ("glance-", "judge-marks") if mode == "glance" else ("judge-",)


def prompts_hash(language: str, mode: str) -> str:
    """Returns the hash of all prompts of judges in a language that a mode may use."""
    names = tuple(name for name in prompt_names() if name.startswith(begins_of_prompts(mode)))
    return sha256(canonical_json(hashes(names, language)))
