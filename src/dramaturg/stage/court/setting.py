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
from dramaturg.prompts import Prompt
from dramaturg.stage.cast import Cast, HumanSeat, ModelSeat, Seat
from dramaturg.stage.court.analyst import Analyst
from dramaturg.stage.court.case import AnyCase
from dramaturg.stage.court.engine import Engine
from dramaturg.stage.court.limits import TrialLimits
from dramaturg.stage.court.names import People
from dramaturg.stage.court.procedure import VERDICT, Procedure
from dramaturg.stage.court.record import roles_of
from dramaturg.stage.court.staging import DEFAULT_STAGING, StagingOptions
from dramaturg.stage.court.wording import procedure_prompt, prompt_hashes, prompt_name
from dramaturg.stage.transcript import Role

Protocol = Literal["paper", "guarded"]


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
        staging: How it is staged.
    """

    case: AnyCase
    procedure: Procedure
    protocol: Protocol
    limits: TrialLimits
    cast: Cast
    calls: Calls
    seed: int
    people: People
    engine: Engine
    variant: Path | None
    staging: StagingOptions

    @classmethod
    def of(
        cls,
        case: AnyCase,
        *,
        procedure: Procedure,
        protocol: Protocol,
        limits: TrialLimits,
        cast: Cast,
        calls: Calls,
        seed: int,
        variant: Path | None,
        staging: StagingOptions = DEFAULT_STAGING,
    ) -> Setting:
        """Returns the setting of a case; all seats are looked at before the first call.

        Raises:
            UserError: Nobody plays one of the roles, a person would have to decide, or an option cannot be had.
        """
        staging.check(procedure, guarded=protocol == "guarded")
        if staging.witness_check == "model" and cast.analyst is None:
            raise UserError("staging.witness_check model asks the analyst, and there is none", allowed="rules, off")
        roles = roles_of(case, procedure)
        cast.players(roles)
        engine = court_engine(case, procedure, limits)
        people = People(roles, {kind: procedure.title_of(kind, case.language) for kind in procedure.roles})
        setting = cls(case, procedure, protocol, limits, cast, calls, seed, people, engine, variant, staging)
        for state in procedure.states:
            if state.purpose == VERDICT:
                setting.deciding_seat(setting.one(state.speaker))
        return setting

    @property
    def titles(self) -> dict[str, str]:
        """What every role is called behind its name, by its id."""
        return {role.id: self.title(role.kind) for role in self.people.roles}

    def title(self, kind: str) -> str:
        """Returns what a kind of role is called behind a name."""
        return self.procedure.title_of(kind, self.case.language)

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

        The player speaks without tags in both protocols: it is a person's part.
        """
        return (
            self.protocol == "paper" and role.kind != self.procedure.player and isinstance(self.seat(role), ModelSeat)
        )

    def analyst(self) -> Analyst:
        """Returns who reads turns without tags."""
        return Analyst(self.calls, self.cast.analyst, self.people, self.prompt)

    def prompt(self, stem: str) -> Prompt:
        """Returns a prompt of the procedure's family, or of the court, in the case's language."""
        return self.named(prompt_name(self.procedure, stem))

    def named(self, name: str) -> Prompt:
        """Returns a prompt by its full name, in the case's language."""
        return procedure_prompt(self.procedure, name, self.case.language, self.variant)

    def fill(self, prompt: Prompt, values: dict[str, str]) -> str:
        """Returns a prompt filled with those of the values that it declares.

        Raises:
            ContentError: It declares a variable that its place does not have.
        """
        if unknown := sorted(prompt.variables - values.keys()):
            raise ContentError(f"prompt {prompt.name!r} wants {unknown[0]!r}", allowed=did_you_mean(unknown[0], values))
        return prompt.fill(**{variable: values[variable] for variable in prompt.variables})

    def versions(self) -> dict[str, JsonValue]:
        """Returns what this performance depends on beside case, cast and seed."""
        analyst: Model | None = self.cast.analyst
        return {
            "package": __version__,
            "procedure": {"id": self.procedure.id, "version": self.procedure.version, "digest": self.procedure.digest},
            "prompts": dict(prompt_hashes(self.procedure, self.case.language, self.variant)),
            "limits": {name: getattr(self.limits, name) for name in TrialLimits.__dataclass_fields__},
            "staging": self.staging.record(),
            "analyst": "" if analyst is None else analyst.identity.key,
        }


def court_engine(case: AnyCase, procedure: Procedure, limits: TrialLimits) -> Engine:
    """Returns the procedure with the people of a case in it.

    Raises:
        ContentError: The case has nobody, or too many, for one of the procedure's roles.
    """
    roles = roles_of(case, procedure)
    roster = {kind: tuple(role.id for role in roles if role.kind == kind) for kind in procedure.roles}
    for kind, ids in roster.items():
        if not ids:
            raise ContentError(
                f"procedure {procedure.id!r} has the role {kind!r}, which nobody in case {case.id!r} fills",
                allowed=f"a case made for it, such as one for {case.made_for!r} is for that procedure",
            )
        if len(ids) > 1 and not procedure.roles[kind].many:
            raise ContentError(f"{len(ids)} people in case {case.id!r} have the role {kind!r}", allowed="one")
    return Engine(procedure, roster, questions=limits.questions, turn_limit=limits.turns)
