"""Clean transcripts: written by hand, every indicator answered well, with hooks where a fault can be made true.

A fault of form (slang, a loop) can be planted by rule. A fault of content (a contradiction of the reference, knowledge
that a witness cannot have) is only true of one transcript: its hook says which words of which turn to put in place
of which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dramaturg.files import load_yaml
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.checklist import FaultKind, Text
from dramaturg.stage.transcript import Outcome, Player, PlayerKind, Role, Scenario, Transcript, Turn

PROTOCOL = "hand-written"

TurnId = Annotated[str, StringConstraints(pattern=r"^T[1-9]\d*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Edit(_Strict):
    """What to do with a turn's text.

    Attributes:
        find: Words that stand in it once.
        put: What takes their place.
        say: A whole new text instead.
    """

    find: str = ""
    put: str = ""
    say: str = ""

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if bool(self.say) == bool(self.find):
            raise ValueError("an edit has either find and put, or say")
        return self

    def of(self, text: str) -> str:
        """Returns the edited text; `find` stands in it."""
        return self.say or text.replace(self.find, self.put, 1)


class Hook(_Strict):
    """Where and how one fault can be made true.

    Attributes:
        turn: Id of the turn.
        role: Kind of the role whose conduct becomes faulty; the speaker's by default.
        mild: The edit for a mild fault.
        severe: The edit for a severe one.
        note: Why it is a fault, for people.
    """

    turn: TurnId
    role: str = ""
    mild: Edit
    severe: Edit
    note: str = ""

    @property
    def faulty(self) -> dict[str, Edit]:
        """The edits that make a fault, by severity."""
        return {"mild": self.mild, "severe": self.severe}


def refuse_idle_edits(kind: str, turn: str, text: str, edits: Mapping[str, Edit]) -> None:
    """Refuses an edit that cannot be made, that changes no word, or that leaves nothing of a turn.

    Args:
        kind: Of the fault, for the message.
        turn: Id of the turn.
        text: What it says.
        edits: Name → edit.

    Raises:
        ValueError: An edit is one of these.
    """
    for name, edit in edits.items():
        if edit.find and (count := text.count(edit.find)) != 1:
            raise ValueError(f"hook {kind}, {name}: {edit.find!r} stands {count} times in {turn}; allowed: once")
        words = edit.of(text).split()
        if words == text.split():
            raise ValueError(f"hook {kind}, {name}: changes nothing in {turn}; allowed: an edit that changes a word")
        if not words:
            raise ValueError(f"hook {kind}, {name}: leaves {turn} empty; allowed: an edit that leaves a word")


class _Scenario(_Strict):
    id: Text
    title: Text
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")] = "en"
    reference: Text


class _Role(_Strict):
    id: Text
    kind: Text
    name: Text
    description: str = ""
    played_by: PlayerKind


class _Turn(_Strict):
    role: Text
    text: Text
    phase: str = ""
    kind: Literal["speech", "procedure"] = "speech"


class _Outcome(_Strict):
    label: Text
    justification: str = ""
    summary: str = ""


class CleanFile(_Strict):
    """The content of a file with a clean transcript.

    Attributes:
        id: Its name; the cluster of all intervals.
        checklist: Id of the checklist of which every indicator is answered well.
        scenario: What was staged.
        roles: Who takes part.
        turns: What was said; their ids are T1, T2 … in order.
        outcome: What was decided.
        end_reason: Always `completed`.
        hooks: Fault kind → where it can be made true.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    checklist: Text
    scenario: _Scenario
    roles: Annotated[list[_Role], Field(min_length=1)]
    turns: Annotated[list[_Turn], Field(min_length=1)]
    outcome: _Outcome | None = None
    end_reason: Literal["completed"] = "completed"
    hooks: dict[FaultKind, list[Hook]] = Field(default_factory=dict[FaultKind, list[Hook]])

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        known = {role.id for role in self.roles}
        for number, turn in enumerate(self.turns, start=1):
            if turn.role not in known and turn.kind != "procedure":
                raise ValueError(f"turn T{number}: no role {turn.role!r}; allowed: {', '.join(sorted(known))}")
        for kind, hooks in self.hooks.items():
            for hook in hooks:
                self._check_hook(kind, hook)
        return self

    def _check_hook(self, kind: str, hook: Hook) -> None:
        number = int(hook.turn[1:])
        if number > len(self.turns):
            raise ValueError(f"hook {kind}: there is no turn {hook.turn}; the last one is T{len(self.turns)}")
        refuse_idle_edits(kind, hook.turn, self.turns[number - 1].text, hook.faulty)


@dataclass(frozen=True, slots=True)
class Base:
    """A clean transcript that specimens are made of.

    Attributes:
        transcript: The transcript; its id names the cluster.
        hooks: Fault kind → where it can be made true; none for an imported one.
    """

    transcript: Transcript
    hooks: Mapping[str, tuple[Hook, ...]] = field(default_factory=dict[str, tuple[Hook, ...]])

    @property
    def id(self) -> str:
        """The cluster."""
        return self.transcript.id


def base_of(content: CleanFile) -> Base:
    """Returns the base that a file holds."""
    scenario = content.scenario
    names = {role.id: role.name for role in content.roles}
    players: dict[str, PlayerKind] = {role.id: role.played_by for role in content.roles}
    transcript = Transcript(
        id=content.id,
        suite=content.checklist,
        protocol=PROTOCOL,
        scenario=Scenario(
            id=scenario.id, title=scenario.title, language=scenario.language, reference=scenario.reference
        ),
        roles=tuple(
            Role(id=one.id, kind=one.kind, name=one.name, description=one.description) for one in content.roles
        ),
        cast={role: Player(kind=kind, subject=kind == "model") for role, kind in players.items()},
        seed=0,
        turns=tuple(
            Turn(
                id=f"T{number}",
                role=turn.role,
                speaker=names.get(turn.role, ""),
                kind=turn.kind,
                text=turn.text,
                human=players.get(turn.role) == "human",
                phase=turn.phase,
            )
            for number, turn in enumerate(content.turns, start=1)
        ),
        outcome=Outcome(**content.outcome.model_dump()) if content.outcome is not None else None,
        end_reason=content.end_reason,
    )
    return Base(transcript, {kind: tuple(hooks) for kind, hooks in content.hooks.items()})


def load_base(path: Path) -> Base:
    """Returns the clean transcript of a file.

    Raises:
        ContentError: The file is no YAML or holds something else; every problem is named with its line.
    """
    return base_of(load_yaml(path, CleanFile))


def shipped_bases(checklist: Checklist) -> tuple[Base, ...]:
    """Returns the clean transcripts that ship for a checklist, by id; none where there are none.

    A checklist of its own uses those of its domain, a translation those of its source.

    Raises:
        ContentError: A file of them is wrong.
    """
    audits = Path(str(resources.files("dramaturg"))) / "content" / "audit"
    source = checklist.translation.source if checklist.translation is not None else checklist.id
    for name in dict.fromkeys((checklist.id, source, checklist.domain)):
        paths = sorted((audits / name).glob("*.yaml"))
        if paths:
            return tuple(load_base(path) for path in paths)
    return ()
