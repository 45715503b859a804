"""What a page tells of a game beside its turns: who takes part, what is public, what the player wants."""

from __future__ import annotations

from dataclasses import dataclass

from dramaturg.errors import ContentError
from dramaturg.run.games import Game
from dramaturg.run.games.game import CASE, PROCEDURE
from dramaturg.stage.court.case import AnyCase, read_case
from dramaturg.stage.court.procedure import Procedure, load_procedure
from dramaturg.stage.court.record import roles_of
from dramaturg.stage.transcript import Role
from dramaturg.web.portraits import Portrait, avatar, portrait_of


@dataclass(frozen=True, slots=True)
class Room:
    """The public side of a game.

    Attributes:
        case: Its case; secrets in it are shown to nobody.
        procedure: Its procedure.
        roles: Everybody who takes part.
        player: Role of the player.
        avatar: The player's portrait by name; empty for the character's own.
    """

    case: AnyCase
    procedure: Procedure
    roles: tuple[Role, ...]
    player: Role
    avatar: str = ""

    @property
    def language(self) -> str:
        """In which the court speaks, ISO 639-1."""
        return self.case.language

    def role(self, role_id: str) -> Role | None:
        """Returns a role by its id, or None."""
        return next((role for role in self.roles if role.id == role_id), None)

    def portrait(self, role: Role) -> Portrait:
        """Returns the portrait of a role."""
        if role.id == self.player.id and self.avatar:
            return avatar(self.avatar, role.kind)
        return portrait_of(role.name, role.kind)

    def spent_by(self, budget: str) -> set[str]:
        """Returns which events take from a budget."""
        moves = (move for state in self.procedure.states for move in state.then)
        return {move.event for move in moves if move.spends == budget}

    def occupation(self, role: Role) -> str:
        """Returns what everybody may know of somebody; empty where the role says it all."""
        return next((person.occupation for person in self.case.everybody if person.name == role.name), "")


def room_of(case: AnyCase, procedure: Procedure, avatar: str = "") -> Room:
    """Returns what is public of a case under a procedure.

    Raises:
        ContentError: The case has nobody for the player's role.
    """
    roles = roles_of(case, procedure)
    for role in roles:
        if role.kind == procedure.player:
            return Room(case, procedure, roles, role, avatar)
    raise ContentError(f"the case {case.id!r} has no {procedure.player!r}, which the procedure lets a person play")


def room_of_game(game: Game) -> Room:
    """Returns what is public of a game: from its own copies of case and procedure, so that no model need be there.

    Raises:
        UserError: One of its files cannot be read.
    """
    case = read_case(game.folder / CASE)
    procedure = load_procedure(str(game.folder / PROCEDURE))
    return room_of(case, procedure, game.settings.avatar)
