"""A performance as one role lived through it."""

from __future__ import annotations

import pytest

from dramaturg.errors import UserError
from dramaturg.stage.trajectory import trajectory
from dramaturg.stage.transcript import Player, Role, Scenario, Transcript, Turn


def transcript(*turns: Turn) -> Transcript:
    roles = tuple(Role(id=name, kind="character", name=name.title()) for name in ("ann", "ben", "cy"))
    return Transcript(
        id="x",
        suite="world",
        protocol="paper",
        scenario=Scenario(id="pier", title="Pier", reference="The boat is gone."),
        roles=roles,
        cast={role.id: Player(kind="model") for role in roles},
        seed=1,
        turns=turns,
        end_reason="completed",
    )


def turn(number: int, role: str, *seen_by: str) -> Turn:
    return Turn(id=f"T{number}", role=role, speaker=role.title(), kind="action", text=f"{role} acts", seen_by=seen_by)


def steps(of: Transcript, role: str) -> list[tuple[list[str], list[str]]]:
    return [
        ([seen.id for seen in step.observations], [done.id for done in step.acts])
        for step in trajectory(of, role).steps
    ]


def test_observations_stand_before_the_acts_that_follow_them() -> None:
    played = transcript(turn(1, "ann"), turn(2, "ann"), turn(3, "ben"), turn(4, "cy"), turn(5, "ann"), turn(6, "ben"))
    assert steps(played, "ann") == [([], ["T1", "T2"]), (["T3", "T4"], ["T5"]), (["T6"], [])]
    assert steps(played, "ben") == [(["T1", "T2"], ["T3"]), (["T4", "T5"], ["T6"])]


def test_what_a_role_does_not_know_of_is_left_out() -> None:
    played = transcript(turn(1, "ann", "ann", "ben"), turn(2, "narrator", "cy"), turn(3, "ben", "cy"))
    assert steps(played, "ben") == [(["T1"], ["T3"])]
    assert steps(played, "cy") == [(["T2", "T3"], [])]


def test_a_role_that_sees_and_does_nothing_has_no_steps() -> None:
    assert steps(transcript(turn(1, "ann", "ann")), "ben") == []


def test_a_trajectory_knows_its_role_and_scene() -> None:
    path = trajectory(transcript(turn(1, "ann")), "ann")
    assert (path.role.name, path.scene) == ("Ann", "The boat is gone.")


def test_an_unknown_role_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(UserError, match=r"no role 'anne' \(did you mean 'ann'\? allowed: ann, ben, cy"):
        trajectory(transcript(turn(1, "ann")), "anne")
