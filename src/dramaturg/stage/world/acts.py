"""Who acted on whom in a played world, as its transcript tells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dramaturg.stage.transcript import Transcript, Turn
from dramaturg.stage.world.setting import character_role
from dramaturg.stage.world.world import REACTION

TARGET = "target:"
"""Head of the flag of a turn that affects somebody; the rest is the character's id."""

_ROUND = re.compile(r"round-(\d+)")


@dataclass(frozen=True, slots=True)
class Act:
    """One act that was nobody's answer.

    Attributes:
        round: In which round, from 1.
        turn: The act.
        target: Id of the role that it affects; empty where it affects nobody else.
        reaction: That role's answer; None where it gave none.
    """

    round: int
    turn: Turn
    target: str
    reaction: Turn | None


def acts_of(transcript: Transcript) -> tuple[Act, ...]:
    """Returns all acts of a play, in order; reactions stand with the act that they answer."""
    found: list[Act] = []
    for turn in transcript.turns:
        number = round_of(turn)
        if turn.kind != "action" or not number:
            continue
        if REACTION not in turn.flags:
            names = [flag.removeprefix(TARGET) for flag in turn.flags if flag.startswith(TARGET)]
            found.append(Act(number, turn, character_role(names[0]) if names else "", None))
        elif found and found[-1].target == turn.role:
            found[-1] = Act(found[-1].round, found[-1].turn, turn.role, turn)
    return tuple(found)


def round_of(turn: Turn) -> int:
    """Returns the round of a turn, from 1; 0 before the first, and outside worlds."""
    found = _ROUND.fullmatch(turn.phase)
    return int(found[1]) if found is not None else 0
