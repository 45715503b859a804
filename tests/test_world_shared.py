"""A character that changes hands: what a person does is the person's, and a replay changes hands where the play did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dramaturg.stage.cast import Seat
from dramaturg.stage.transcript import Role, Transcript
from dramaturg.stage.world.briefing import Purpose
from dramaturg.stage.world.limits import WorldLimits
from dramaturg.stage.world.setting import WorldProtocol
from dramaturg.stage.world.shared import SharedSeat
from world_fixtures import FERRY, STEADY, Asked, hits, play

TWO = WorldLimits(rounds=2)
Choose = Callable[[str, Purpose], str | None]


class Prompter:
    """Plays what a function says, and remembers what was asked."""

    def __init__(self, choose: Choose) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self._choose = choose

    async def __call__(self, role: Role, purpose: Purpose, note: str, /) -> str | None:
        self.asked.append((role.id, purpose, note))
        return self._choose(role.id, purpose)


def seats(prompter: Prompter, model: Asked, *, begins: str = "") -> dict[str, Seat]:
    return {
        f"character:{one.id}": SharedSeat(model=model, subject=True, prompter=prompter, begins=one.id == begins)
        for one in FERRY.characters
    }


def own_turns(transcript: Transcript, character: str) -> list[tuple[str, str, bool]]:
    role = f"character:{character}"
    return [(turn.phase, turn.kind, turn.human) for turn in transcript.turns if turn.role == role]


def played_by(transcript: Transcript, character: str) -> list[str]:
    role = f"character:{character}"
    return [state.value for state in transcript.states if (state.owner, state.name) == (role, "played_by")]


@pytest.mark.parametrize("protocol", ["paper", "released", "fast"])
async def test_a_play_in_which_nobody_takes_over_is_played_by_its_models(
    tmp_path: Path, protocol: WorldProtocol
) -> None:
    prompter, answers = Prompter(lambda role, purpose: None), hits("bo", "Ada Brandt")
    shared = await play(tmp_path / "shared", protocol, answers, limits=TWO, seats=seats(prompter, Asked(answers, [])))
    plain = await play(tmp_path / "plain", protocol, answers, limits=TWO)
    texts = [(turn.role, turn.kind, turn.text, turn.human) for turn in shared.transcript.turns]
    assert texts == [(turn.role, turn.kind, turn.text, turn.human) for turn in plain.transcript.turns]
    assert sorted(shared.order()) == sorted(plain.order())
    assert {purpose for _, purpose, _ in prompter.asked} <= {"action", "reaction"}


@pytest.mark.parametrize("protocol", ["paper", "released", "fast"])
async def test_a_person_takes_a_character_over_and_hands_it_back(tmp_path: Path, protocol: WorldProtocol) -> None:
    acts = iter([None, "Ada vaults over the rope.", "Hold the boat!", None, None])
    prompter = Prompter(lambda role, purpose: next(acts) if role == "character:ada" else None)
    model = Asked(STEADY, [])
    played = await play(tmp_path, protocol, STEADY, limits=WorldLimits(rounds=3), seats=seats(prompter, model))
    assert own_turns(played.transcript, "ada") == [
        *[("round-1", "action", False), ("round-1", "speech", False)],
        *[("round-2", "action", True), ("round-2", "speech", True)],
        *[("round-3", "action", False), ("round-3", "speech", False)],
    ]
    assert played_by(played.transcript, "ada") == ["person", "model"]
    assert not played_by(played.transcript, "bo")
    told = [request.messages[-1].text for request in model.requests if "Ada Brandt" in request.messages[0].text]
    assert any("Ada vaults over the rope." in text for text in told), "the model goes on from what the person did"
    judged = {turn.text for turn in played.transcript.judged_turns()}
    assert "Ada vaults over the rope." not in judged


async def test_a_replay_asks_nobody_who_plays_and_changes_hands_where_it_did(tmp_path: Path) -> None:
    acts = iter(["Ada vaults over the rope.", "", None])
    prompter = Prompter(lambda role, purpose: next(acts) if role == "character:ada" else None)
    first = await play(tmp_path, "fast", STEADY, limits=TWO, seats=seats(prompter, Asked(STEADY, [])))

    def nobody(role: str, purpose: Purpose) -> str | None:
        raise AssertionError(f"asked {role} for {purpose}")

    again = await play(tmp_path, "fast", STEADY, limits=TWO, seats=seats(Prompter(nobody), Asked(STEADY, [])))
    assert again.transcript == first.transcript


async def test_whoever_begins_as_a_person_is_asked_for_no_belief_and_may_be_silent(tmp_path: Path) -> None:
    mine = Prompter(
        lambda role, purpose: {"action": "Ada waits.", "speech": ""}.get(purpose, "") if "ada" in role else None
    )
    model = Asked(STEADY, [])
    played = await play(tmp_path, "paper", STEADY, limits=WorldLimits(rounds=1), seats=seats(mine, model, begins="ada"))
    beliefs = [state.owner for state in played.transcript.states if state.name == "self_belief"]
    assert beliefs == ["character:bo", "character:cy"]
    assert own_turns(played.transcript, "ada") == [("round-1", "action", True)]
    assert played.transcript.cast["character:ada"].kind == "human"
    assert played.transcript.cast["character:bo"].subject
    assert mine.asked[0][2].endswith("What does Ada Brandt do?")


async def test_who_hands_back_after_the_act_says_nothing(tmp_path: Path) -> None:
    mine = Prompter(lambda role, purpose: "Ada waits." if purpose == "action" and "ada" in role else None)
    played = await play(tmp_path, "fast", STEADY, limits=WorldLimits(rounds=1), seats=seats(mine, Asked(STEADY, [])))
    assert own_turns(played.transcript, "ada") == [("round-1", "action", True)]


async def test_a_word_that_names_a_player_is_a_person_s_word(tmp_path: Path) -> None:
    said = {"action": "model", "speech": "person\nmodel"}
    mine = Prompter(lambda role, purpose: said[purpose] if role == "character:ada" else None)
    played = await play(tmp_path, "fast", STEADY, limits=WorldLimits(rounds=1), seats=seats(mine, Asked(STEADY, [])))
    own = [turn.text for turn in played.transcript.turns if turn.human]
    assert own == ["model", "person\nmodel"]
