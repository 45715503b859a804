"""The trajectory: a performance as one role lived through it, observations and acts in order.

Source: CharacterBox, section 3.3: a character is rated on what it observed and did, not on the whole story.
"""

from __future__ import annotations

from dataclasses import dataclass

from dramaturg.errors import UserError, did_you_mean
from dramaturg.stage.transcript import Role, Transcript, Turn


@dataclass(frozen=True, slots=True)
class Step:
    """What a role observed, and what it then did.

    Attributes:
        observations: Turns of others that it knows of, in order; none where it acts first.
        acts: Its own turns, in order; none where the performance ends before it acts again.
    """

    observations: tuple[Turn, ...]
    acts: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A performance as one role lived through it.

    Attributes:
        role: Whose it is.
        scene: What was staged, as text that a judge may check against.
        steps: In order.
    """

    role: Role
    scene: str
    steps: tuple[Step, ...]


def trajectory(transcript: Transcript, role_id: str) -> Trajectory:
    """Returns a performance as one role lived through it; turns that it does not know of are left out.

    Args:
        transcript: Any, whatever stage it comes from.
        role_id: Whose trajectory.

    Raises:
        UserError: The transcript has no such role; the message lists its roles.
    """
    role = next((role for role in transcript.roles if role.id == role_id), None)
    if role is None:
        hint = did_you_mean(role_id, (known.id for known in transcript.roles))
        raise UserError(f"no role {role_id!r}", where=f"transcript {transcript.id}", allowed=hint)
    steps: list[Step] = []
    observations: list[Turn] = []
    acts: list[Turn] = []
    for turn in transcript.turns:
        if turn.role == role_id:
            acts.append(turn)
        elif not turn.seen_by or role_id in turn.seen_by:
            if acts:
                steps.append(Step(tuple(observations), tuple(acts)))
                observations, acts = [], []
            observations.append(turn)
    if observations or acts:
        steps.append(Step(tuple(observations), tuple(acts)))
    return Trajectory(role, transcript.scenario.reference, tuple(steps))
