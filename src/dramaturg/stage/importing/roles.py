"""Who is who: names in a log, and the roles that they play."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dramaturg.errors import UserError, did_you_mean
from dramaturg.files import load_yaml, place_of
from dramaturg.stage.transcript import PlayerKind

KIND = r"[a-z][a-z0-9]*(_[a-z0-9]+)*"
"""A kind of role, as checklists name it: ``agent``, ``witness``."""

EVERYONE_ELSE = "*"
"""The name that stands for every speaker that no other entry names."""

NO_ROLE = ("procedure", "narration", "text")
"""Words in the place of a kind: its lines are notes of the procedure, a narrator's, or no turn of its own but text of
the turn in which they stand."""

_KIND = re.compile(KIND)
_HOW = f"NAME=KIND or NAME=KIND:{'|'.join(get_args(PlayerKind))}, where KIND is a role of the checklist such as agent"


@dataclass(frozen=True, slots=True)
class Part:
    """What a speaker of a log is.

    Attributes:
        name: The speaker's name, or `EVERYONE_ELSE`.
        kind: Kind of the role, or one of `NO_ROLE`.
        player: Who plays it; None leaves it to the log's shape, and else means a model.
        model: Name of the model; empty leaves it to the command.
        character: The character's name in the transcript; empty means the speaker's.
        description: What a judge may know of the role.
        also: Further names of the same speaker in the log.
    """

    name: str
    kind: str
    player: PlayerKind | None = None
    model: str = ""
    character: str = ""
    description: str = ""
    also: tuple[str, ...] = ()


class RoleMap:
    """Finds what a speaker is. Names are compared without regard to case, width and blanks."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        """Takes parts; a later one of the same name replaces an earlier one.

        Args:
            parts: For example those of a file, and then those of the command line.
        """
        self.parts: tuple[Part, ...] = tuple(parts)
        self._by_name = {plain(name): part for part in self.parts for name in (part.name, *part.also)}

    def find(self, speaker: str, label: str = "") -> Part | None:
        """Returns the part of a speaker: by name, else by the label behind it, else that of everyone else."""
        for name in (speaker, label, EVERYONE_ELSE):
            part = self._by_name.get(plain(name)) if name else None
            if part is not None:
                return part
        return None

    def names(self, speaker: str) -> bool:
        """Returns whether an entry names this very speaker."""
        return plain(speaker) in self._by_name


def plain(name: str) -> str:
    """Returns a name in the form in which names are compared."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def parse_role(text: str) -> Part:
    """Returns the part of an option ``NAME=KIND[:PLAYER]``; the last ``=`` counts.

    Raises:
        UserError: It has another form.
    """
    name, equals, rest = text.rpartition("=")
    kind, colon, player = rest.strip().partition(":")
    if not equals or not name.strip():
        raise UserError(f"{text!r} names no role", where="--role", allowed=_HOW)
    if not _KIND.fullmatch(kind):
        raise UserError(f"{kind!r} is no kind of role: small letters, digits and _", where="--role", allowed=_HOW)
    players: tuple[PlayerKind, ...] = ("model", "human", "script")
    if colon and (player not in players or kind in NO_ROLE):
        allowed = f"{kind} without a player" if kind in NO_ROLE else did_you_mean(player, players)
        raise UserError(f"{player!r} cannot play {kind!r}", where="--role", allowed=allowed)
    return Part(" ".join(name.split()), kind, next((one for one in players if one == player), None))


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    kind: Annotated[str, StringConstraints(pattern=rf"^{KIND}$")]
    played_by: Literal["model", "human", "script"] | None = None
    model: str = ""
    character: str = ""
    description: str = ""
    also: tuple[str, ...] = ()


class _RolesFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    roles: Annotated[tuple[_Entry, ...], Field(min_length=1)]


def load_roles(path: Path) -> tuple[Part, ...]:
    """Returns the parts of a file of roles.

    Args:
        path: YAML: a list ``roles`` of ``name``, ``kind``, and where wanted ``played_by``, ``model``, ``character``,
            ``description``, ``also``.

    Raises:
        UserError: It holds something else, or one name twice; the message names the line.
    """
    entries = load_yaml(path, _RolesFile).roles
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        for name in (entry.name, *entry.also):
            if plain(name) in seen:
                raise UserError(f"the name {name!r} stands twice", where=place_of(path, "roles", index))
            seen.add(plain(name))
    return tuple(
        Part(
            name=entry.name,
            kind=entry.kind,
            player=entry.played_by,
            model=entry.model,
            character=entry.character,
            description=entry.description,
            also=entry.also,
        )
        for entry in entries
    )
