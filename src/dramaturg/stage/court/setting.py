"""What does not change while a case is played: people, engine, prompts, protocol, limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from dramaturg import __version__
from dramaturg.errors import ContentError, UserError, did_you_mean
from dramaturg.ledger.calls import Calls
from dramaturg.model import Model
from dramaturg.prompts import Prompt, hashes, load_prompt
from dramaturg.stage.cast import Cast, HumanSeat, ModelSeat, Seat
from dramaturg.stage.court.analyst import Analyst
from dramaturg.stage.court.case import Case
from dramaturg.stage.court.engine import Engine
from dramaturg.stage.court.limits import TrialLimits
from dramaturg.stage.court.names import People
from dramaturg.stage.court.procedure import Procedure
from dramaturg.stage.court.record import court_roles
from dramaturg.stage.transcript import Role

Protocol = Literal["paper", "guarded"]

_PROMPTS = (
    *("court-judge", "court-prosecutor", "court-defence", "court-witness", "court-rules"),
    *("court-note-lead", "court-note-objection"),
    *("court-tag-next-speaker", "court-tag-next-witness", "court-tag-questions", "court-tag-verdict"),
    *("court-route", "court-route-lines", "court-count", "court-count-lines"),
    *("court-read-ruling", "court-read-ruling-lines"),
    *("court-summary", "court-verdict", "court-verdict-form", "court-verdict-lines"),
    *("court-fallback-verdict-win", "court-fallback-verdict-loss", "court-fallback-verdict-undecided"),
)
"""Prompts of every trial; those of the notes are named by the procedure."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A case with everything it is played with.

    Attributes:
        case: The case.
        procedure: Its procedure.
        protocol: `paper` measures what models do by themselves, `guarded` cures and counts.
        limits: What the trial may use.
        cast: Who plays.
        calls: The unit's calls.
        seed: The trial's seed.
        people: Everybody in court.
        engine: The procedure with the people in it.
        variant: Folder with prompts that replace shipped ones.
    """

    case: Case
    procedure: Procedure
    protocol: Protocol
    limits: TrialLimits
    cast: Cast
    calls: Calls
    seed: int
    people: People
    engine: Engine
    variant: Path | None

    @classmethod
    def of(
        cls,
        case: Case,
        *,
        procedure: Procedure,
        protocol: Protocol,
        limits: TrialLimits,
        cast: Cast,
        calls: Calls,
        seed: int,
        variant: Path | None,
    ) -> Setting:
        """Returns the setting of a case; all seats are looked at before the first call.

        Raises:
            UserError: Nobody plays one of the roles, or a person would have to decide.
        """
        roles = court_roles(case)
        cast.players(roles)
        engine = court_engine(case, procedure, limits)
        setting = cls(case, procedure, protocol, limits, cast, calls, seed, People(roles), engine, variant)
        for state in procedure.states:
            if state.purpose == "verdict":
                setting.deciding_seat(setting.one(state.speaker))
        return setting

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of every role by its id."""
        return {role.id: role.kind for role in self.people.roles}

    def role(self, role_id: str) -> Role:
        """Returns a role by its id."""
        return next(role for role in self.people.roles if role.id == role_id)

    def one(self, kind: str) -> Role:
        """Returns the role of a kind that only one person has."""
        return next(role for role in self.people.roles if role.kind == kind)

    def seat(self, role: Role) -> Seat:
        """Returns who plays a role."""
        return self.cast.seat(role)

    def deciding_seat(self, role: Role) -> ModelSeat:
        """Returns who plays the role that decides.

        Raises:
            UserError: It is a person; summary and decision are a model's or a script's.
        """
        seat = self.seat(role)
        if isinstance(seat, HumanSeat):
            raise UserError(f"the {role.kind} must be played by a model or a script", allowed="a model spec")
        return seat

    def strict(self, role: Role) -> bool:
        """Returns whether the role's turns are taken as they are.

        The defence speaks without tags in both protocols: it is a person's part.
        """
        return self.protocol == "paper" and role.kind != "defence" and isinstance(self.seat(role), ModelSeat)

    def analyst(self) -> Analyst:
        """Returns who reads turns without tags."""
        return Analyst(self.calls, self.cast.analyst, self.people, self.case.language, self.variant)

    def prompt(self, name: str) -> Prompt:
        """Returns a prompt in the case's language."""
        return load_prompt(name, self.case.language, self.variant)

    def fill(self, name: str, values: dict[str, str]) -> str:
        """Returns a prompt filled with those of the values that it declares.

        Raises:
            ContentError: It declares a variable that a note cannot have.
        """
        prompt = self.prompt(name)
        if unknown := sorted(prompt.variables - values.keys()):
            raise ContentError(f"prompt {name!r} wants {unknown[0]!r}", allowed=did_you_mean(unknown[0], values))
        return prompt.fill(**{variable: values[variable] for variable in prompt.variables})

    def versions(self) -> dict[str, JsonValue]:
        """Returns what this performance depends on beside case, cast and seed."""
        analyst: Model | None = self.cast.analyst
        return {
            "package": __version__,
            "procedure": {"id": self.procedure.id, "version": self.procedure.version, "digest": self.procedure.digest},
            "prompts": dict(hashes(court_prompts(self.procedure), self.case.language, self.variant)),
            "limits": {name: getattr(self.limits, name) for name in TrialLimits.__dataclass_fields__},
            "analyst": "" if analyst is None else analyst.identity.key,
        }


def court_engine(case: Case, procedure: Procedure, limits: TrialLimits) -> Engine:
    """Returns the procedure with the people of a case in it."""
    roles = court_roles(case)
    roster = {kind: tuple(role.id for role in roles if role.kind == kind) for kind in procedure.roles}
    if empty := [kind for kind, ids in roster.items() if not ids]:
        raise ContentError(f"procedure {procedure.id!r} has the role {empty[0]!r}, which no court case fills")
    return Engine(procedure, roster, questions=limits.questions, turn_limit=limits.turns)


def court_prompts(procedure: Procedure) -> tuple[str, ...]:
    """Returns the names of all prompts that a trial under this procedure may use."""
    notes = {state.note for state in procedure.states if state.note}
    fallbacks = {fallback_name(state.purpose) for state in procedure.states if state.purpose != "verdict"}
    return tuple(sorted({*_PROMPTS, *notes, *fallbacks}))


def fallback_name(purpose: str) -> str:
    """Returns the prompt with the line that stands where nothing usable was said."""
    return f"court-fallback-{purpose.replace('_', '-')}"
