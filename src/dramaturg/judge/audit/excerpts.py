"""Excerpts: a few turns, what each may know, and edits that make one fault true; a judge is trained on them.

An excerpt is clean. A hook says how one turn of it becomes faulty, mildly and severely, and may hold an edit that looks
alike and is none. Questions of presence that are about no fault stand beside them, so that a judge learns to read the
question and not to look for the few faults that it has seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dramaturg.files import load_yaml
from dramaturg.judge.audit.clean import PROTOCOL, Edit, Hook, TurnId, refuse_idle_edits
from dramaturg.judge.checklist.checklist import FaultKind, Text
from dramaturg.stage.transcript import Player, Role, Scenario, Transcript, Turn

LANGUAGE = "en"
"""Of the shipped excerpts."""

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ExcerptRole(_Strict):
    """Who takes part.

    Attributes:
        id: Names the role in `turns`.
        kind: Such as judge, witness, agent, healer.
        name: As others call it.
        description: What the role is like, wants, knows and hides.
    """

    id: Text
    kind: Text
    name: Text
    description: str = ""


class ExcerptTurn(_Strict):
    """What one role says."""

    role: Text
    text: Text


class ExcerptHook(Hook):
    """Where and how one fault can be made true.

    Attributes:
        innocent: An edit of the same turn that looks like the fault and is none.
    """

    innocent: Edit | None = None


class Presence(_Strict):
    """A question about one turn of the clean excerpt."""

    turn: TurnId
    ask: Annotated[str, StringConstraints(pattern=r"\?$", max_length=160)]


class Excerpt(_Strict):
    """A few turns that are clean.

    Attributes:
        id: Its name, and the case that splits keep together.
        domain: Such as court, service, game.
        reference: What is true, and who may know it.
        roles: Who takes part.
        turns: What is said; their ids are T1, T2 … in order.
        hooks: Fault kind → where it can be made true.
        present: Questions whose answer is yes.
        absent: Questions whose answer is no.
    """

    id: Slug
    domain: Text
    reference: Text
    roles: Annotated[list[ExcerptRole], Field(min_length=1)]
    turns: Annotated[list[ExcerptTurn], Field(min_length=2)]
    hooks: dict[FaultKind, list[ExcerptHook]] = Field(default_factory=dict[FaultKind, list[ExcerptHook]])
    present: list[Presence] = Field(default_factory=list[Presence])
    absent: list[Presence] = Field(default_factory=list[Presence])

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        known = {role.id for role in self.roles}
        if len(known) < len(self.roles):
            raise ValueError("two roles share an id")
        for number, turn in enumerate(self.turns, start=1):
            if turn.role not in known:
                raise ValueError(f"turn T{number}: no role {turn.role!r}; allowed: {', '.join(sorted(known))}")
        for kind, hooks in self.hooks.items():
            self._check_hooks(kind, hooks)
        for question in (*self.present, *self.absent):
            self._text_of(question.turn, f"question {question.ask!r}")
        self._refuse_both_answers()
        return self

    def _check_hooks(self, kind: str, hooks: Sequence[ExcerptHook]) -> None:
        faulty: dict[tuple[str, str], str] = {}
        for hook in hooks:
            text = self._text_of(hook.turn, f"hook {kind}")
            innocent = {"innocent": hook.innocent} if hook.innocent is not None else {}
            refuse_idle_edits(kind, hook.turn, text, {**hook.faulty, **innocent})
            faulty |= {(hook.turn, _plain(edit.of(text))): name for name, edit in hook.faulty.items()}
        for hook in hooks:
            if hook.innocent is None:
                continue
            made = _plain(hook.innocent.of(self._text_of(hook.turn, kind)))
            if (name := faulty.get((hook.turn, made))) is not None:
                what = f"makes of {hook.turn} what {name} makes of it"
                raise ValueError(f"hook {kind}, innocent: {what}; allowed: an edit without the fault")

    def _refuse_both_answers(self) -> None:
        there = {(one.turn, _plain(one.ask)) for one in self.present}
        for one in self.absent:
            if (one.turn, _plain(one.ask)) in there:
                raise ValueError(
                    f"question {one.ask!r}: stands in present and in absent of {one.turn}; allowed: one of the two"
                )

    def _text_of(self, turn: str, what: str) -> str:
        number = int(turn[1:])
        if number > len(self.turns):
            raise ValueError(f"{what}: there is no turn {turn}; the last one is T{len(self.turns)}")
        return self.turns[number - 1].text


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


class ExcerptFile(_Strict):
    """A file of excerpts; their ids differ."""

    excerpts: Annotated[list[Excerpt], Field(min_length=1)]

    @model_validator(mode="after")
    def _has_distinct_ids(self) -> Self:
        ids = [one.id for one in self.excerpts]
        for name in ids:
            if ids.count(name) > 1:
                raise ValueError(f"two excerpts share the id {name!r}")
        return self


def load_excerpts(path: Path) -> tuple[Excerpt, ...]:
    """Returns the excerpts of a file.

    Raises:
        ContentError: The file is no YAML or holds something else; every problem is named with its line.
    """
    return tuple(load_yaml(path, ExcerptFile).excerpts)


def transcript_of(excerpt: Excerpt, language: str = LANGUAGE) -> Transcript:
    """Returns an excerpt as a transcript; a model plays every role."""
    names = {role.id: role.name for role in excerpt.roles}
    return Transcript(
        id=excerpt.id,
        suite=excerpt.domain,
        protocol=PROTOCOL,
        scenario=Scenario(id=excerpt.id, title=excerpt.id, language=language, reference=excerpt.reference),
        roles=tuple(
            Role(id=one.id, kind=one.kind, name=one.name, description=one.description) for one in excerpt.roles
        ),
        cast={role.id: Player(kind="model", subject=True) for role in excerpt.roles},
        seed=0,
        turns=tuple(
            Turn(id=f"T{number}", role=turn.role, speaker=names[turn.role], kind="speech", text=turn.text)
            for number, turn in enumerate(excerpt.turns, start=1)
        ),
        end_reason="imported",
    )
