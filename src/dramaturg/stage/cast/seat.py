"""Who plays what: a seat holds a model, a script or a person; a cast gives every role its seat."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from dramaturg.errors import UserError, did_you_mean
from dramaturg.model import Model
from dramaturg.stage.transcript import Player, Role

Reader = Callable[[str], Awaitable[str]]
"""Asks a person: takes the note of the procedure, returns what the person says."""


@dataclass(frozen=True, slots=True)
class ModelSeat:
    """A seat of an open model or a script.

    Attributes:
        model: Who answers.
        subject: Whether the study measures this player. A script that is a subject stands for a model and is judged.
    """

    model: Model
    subject: bool = False

    @property
    def player(self) -> Player:
        """The player as a transcript names it."""
        identity = self.model.identity
        kind = "script" if identity.provider == "script" and not self.subject else "model"
        name = f"{identity.provider}:{identity.name}"
        return Player(kind=kind, model=name, digest=identity.digest, subject=self.subject)


@dataclass(frozen=True, slots=True)
class HumanSeat:
    """A seat of a person.

    Attributes:
        read: Asks the person; what it returns is committed before it is used.
    """

    read: Reader

    @property
    def player(self) -> Player:
        """The player as a transcript names it."""
        return Player(kind="human")


Seat = ModelSeat | HumanSeat


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays which role.

    Attributes:
        seats: Seat by role kind (``witness``) or, for one role alone, by role id (``witness:nora-lindqvist``).
        analyst: Model that may read turns whose meaning the rules cannot tell; without it there are rules and defaults.
    """

    seats: Mapping[str, Seat]
    analyst: Model | None = None

    def seat(self, role: Role) -> Seat:
        """Returns the seat of a role: its own, else that of its kind.

        Raises:
            UserError: Nobody plays the role.
        """
        seat = self.seats.get(role.id) or self.seats.get(role.kind)
        if seat is None:
            raise UserError(f"nobody plays {role.kind!r}", allowed=did_you_mean(role.kind, self.seats))
        return seat

    def players(self, roles: tuple[Role, ...]) -> dict[str, Player]:
        """Returns the player of every role by its id.

        Raises:
            UserError: Nobody plays one of the roles.
        """
        return {role.id: self.seat(role).player for role in roles}
