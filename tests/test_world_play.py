"""A play: the order of its calls under each protocol, what stands in its record, and how it ends."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from dramaturg.errors import LimitReached, UserError
from dramaturg.ledger import Budget
from dramaturg.model.reply import Reply
from dramaturg.model.request import Request
from dramaturg.stage.cast import HumanSeat, ModelSeat
from dramaturg.stage.trajectory import trajectory
from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.limits import WorldLimits
from dramaturg.stage.world.play import expected_calls, round_calls
from dramaturg.stage.world.setting import WorldProtocol
from world_fixtures import ALONE, FERRY, STEADY, Answers, Asked, hits, play

PROTOCOLS: tuple[WorldProtocol, ...] = ("paper", "released", "fast")
ONE = WorldLimits(rounds=1)

BELIEFS_APART = [
    *["ada self-belief", "bo self-belief", "cy self-belief"],
    *["ada environment-belief", "bo environment-belief", "cy environment-belief"],
]


async def test_paper_follows_algorithm_1_line_by_line(tmp_path: Path) -> None:
    played = await play(tmp_path, "paper", hits("bo", "Ada Brandt"), limits=ONE)
    assert played.order() == [
        *BELIEFS_APART,  # section 3.2: beliefs before the acts of a round
        *["ada action", "ada speech"],  # lines 3 to 5
        "narrator influence",  # lines 6 and 7
        "bo reaction",  # lines 8 and 9
        *["narrator result", "narrator update", "narrator update"],  # line 10
        *["bo action", "bo speech", "narrator influence"],  # who has reacted acts all the same
        "narrator update",  # lines 11 and 12
        *["cy action", "cy speech", "narrator influence", "narrator update"],
        "narrator environment",  # line 14
    ]
    assert len(played.made) == round_calls("paper", 3, 3, 1).calls == 3 * 6 + 3 + 1
    assert max(one.depth for one in played.made) == round_calls("paper", 3, 3, 1).chain


async def test_released_has_a_director_and_who_reacts_loses_its_turn(tmp_path: Path) -> None:
    played = await play(tmp_path, "released", hits("Bo", "Ada Brandt"), limits=WorldLimits(rounds=2))
    hit = ["narrator influence", "bo reaction", "narrator result", "narrator update", "narrator update"]
    assert played.order(1) == [
        *BELIEFS_APART,
        "director synopsis",
        *["ada action", "ada speech", *hit],
        *["cy action", "cy speech", "narrator influence", "narrator update"],
        "narrator environment",
    ]
    assert len(played.order(1)) == round_calls("released", 3, 2, 1).calls <= 2 * 3 + 3 + 4 * 2 + 3
    plans = [turn for turn in played.transcript.turns if turn.role == "director"]
    assert [(turn.text, turn.seen_by, turn.kind) for turn in plans[:2]] == [
        ("boards", ("character:ada",), "procedure"),
        ("blocks her", ("character:bo",), "procedure"),
    ]


async def test_fast_merges_and_tells_a_result_beside_the_next_act(tmp_path: Path) -> None:
    played = await play(tmp_path, "fast", hits("bo", "Ada Brandt"), limits=ONE, slow=frozenset({"result"}))
    assert played.order() == [
        *["ada beliefs", "bo beliefs", "cy beliefs"],
        *["ada act", "narrator influence", "bo reaction"],
        *["bo act", "narrator result", "narrator influence"],
        *["cy act", "narrator influence"],
        "narrator environment",
    ]
    formula = round_calls("fast", 3, 3, 1)
    assert len(played.made) == formula.calls == 3 + 2 * 3 + 2 + 1 <= 3 + 3 * 3 + 1 + 1
    assert max(one.depth for one in played.made) <= formula.chain == 3 + 2 * 3 + 1
    kinds = [(turn.speaker, turn.kind) for turn in played.transcript.turns if turn.phase == "round-1"]
    assert kinds == [
        *[("Ada Brandt", "action"), ("Ada Brandt", "speech"), ("Narrator", "narration"), ("Bo Lindgren", "action")],
        *[("Bo Lindgren", "action"), ("Bo Lindgren", "speech"), ("Narrator", "narration")],  # the result, a turn later
        *[("Cy", "action"), ("Cy", "speech")],
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_each_prompt_of_an_agent_begins_with_its_last_one(tmp_path: Path, protocol: WorldProtocol) -> None:
    played = await play(tmp_path, protocol, hits("bo", "Ada Brandt"))
    chats = played.chats()
    assert len(chats) == (5 if protocol == "released" else 4)
    for prompts in chats.values():
        for before, after in pairwise(prompts):
            assert after[: len(before)] == before
            assert after[len(before)].role == "assistant"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_played_again_it_is_the_same_without_a_call(tmp_path: Path, protocol: WorldProtocol) -> None:
    first = await play(tmp_path, protocol, hits("bo", "Ada Brandt"), slow=frozenset({"self-belief"}))
    again = await play(tmp_path, protocol, hits("bo", "Ada Brandt"))
    assert again.requests == []
    assert again.transcript.model_dump_json() == first.transcript.model_dump_json()
    assert Transcript.model_validate_json(first.transcript.model_dump_json()) == first.transcript


async def test_the_record_says_who_acted_on_whom_and_what_changed(tmp_path: Path) -> None:
    played = await play(tmp_path, "fast", hits("Doctor Brandt", "Bo Lindgren"), limits=ONE)
    turns, states = played.transcript.turns, played.transcript.states
    (act,) = [turn for turn in turns if "target:ada" in turn.flags and turn.kind == "action"]
    (told,) = [turn for turn in turns if "target:ada" in turn.flags and turn.kind == "narration"]
    (reaction,) = [turn for turn in turns if "reaction" in turn.flags]
    assert (act.role, told.seen_by, reaction.role) == ("character:bo", ("character:ada",), "character:ada")
    last = {(one.owner, one.name): one.value for one in states}
    assert last["character:ada", "position"] == "on deck"
    assert last["character:cy", "state"] == "calm"
    assert last["environment", "place"] == "a jetty"
    assert last["character:bo", "environment_belief"] == "They want the same."
    own = trajectory(played.transcript, "character:ada")
    assert any(told in step.observations for step in own.steps)
    assert not any(told in step.observations for step in trajectory(played.transcript, "character:cy").steps)
    assert all(turn.kind == "procedure" for turn in turns if turn.phase == "opening")  # the scene's author acts there


async def test_a_time_of_day_in_a_speech_stays_whole(tmp_path: Path) -> None:  # C03
    answers = {**STEADY, "speech": "Ada Brandt: We leave at 10:30.", "action": "Ada: jumps at 10:30 sharp aboard."}
    played = await play(tmp_path, "paper", answers, limits=ONE)
    said = [turn.text for turn in played.transcript.turns if turn.role == "character:ada"]
    assert said == ["jumps at 10:30 sharp aboard.", "We leave at 10:30."]


@pytest.mark.parametrize(
    ("line", "target", "influence"),
    [
        ("[Ada];;[Bo];;[He falls; hard.]", "bo", "He falls; hard."),
        ("Ada ;: Bo Lindgren ;: He falls [twice].", "bo", "He falls [twice]."),
        ("Sure!\n**[Ada]；；[bo ]；；[He falls.]**", "bo", "He falls."),
        ("[Bo];;[He falls.]", "bo", "He falls."),
        ("[Ada];;[Mr. Lindgren];;[He falls.]", "bo", "He falls."),
    ],
)
async def test_a_published_form_is_read_as_it_was_meant(tmp_path: Path, line: str, target: str, influence: str) -> None:
    played = await play(tmp_path, "released", {**STEADY, "influence": line}, limits=ONE)
    told = [turn for turn in played.transcript.turns if turn.role == "narrator" and f"target:{target}" in turn.flags]
    assert told[0].text == influence


@pytest.mark.parametrize(
    ("answer", "problem"),
    [("I cannot say.", "unparsed"), ('{"target": "Dagny", "influence": "x"}', "unknown")],
)
async def test_a_target_that_cannot_be_told_is_never_a_silent_nobody(
    tmp_path: Path, answer: str, problem: str
) -> None:  # C01
    played = await play(tmp_path, "paper", {**STEADY, "influence": answer}, limits=ONE)
    acts = [turn for turn in played.transcript.turns if turn.kind == "action"]
    assert [turn.flags for turn in acts] == [(f"influence:{problem}",)] * 3
    assert [cure.kind for cure in played.transcript.cures] == [f"influence:{problem}"] * 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_update_that_cannot_be_read_leaves_everything_as_it_was(
    tmp_path: Path, protocol: WorldProtocol
) -> None:  # C02
    bad = {"update": "no idea", "result": "", "environment": "None", "beliefs": "hm"}
    played = await play(tmp_path, protocol, {**hits("bo", "Ada Brandt"), **bad}, limits=ONE)
    states = [one for one in played.transcript.states if one.owner == "character:ada" and one.name == "position"]
    assert [one.value for one in states] == ["at the gangway"]
    kinds = {cure.kind for cure in played.transcript.cures}
    assert {"environment:unparsed", "result:empty"} <= kinds
    assert ("update:unparsed" in kinds) is (protocol != "fast")
    assert not any("None" in message.text for request in played.requests for message in request.messages[:1])


async def test_lines_for_others_are_cut_and_flagged(tmp_path: Path) -> None:
    acts = {"action": "Ada Brandt steps aboard.\nBo Lindgren: I give up.", "speech": "（沉默）"}
    played = await play(tmp_path, "paper", {**STEADY, **acts}, limits=ONE)
    first = next(turn for turn in played.transcript.turns if turn.role == "character:ada")
    assert (first.text, first.flags) == ("Ada Brandt steps aboard.", ("cut:other_speaker",))
    assert not any(turn.kind == "speech" for turn in played.transcript.turns)


async def test_a_story_that_is_over_ends_and_one_that_stands_still_too(tmp_path: Path) -> None:
    over = {**STEADY, "environment": '{"time": "", "place": "the deck", "description": "", "undecided": "nothing"}'}
    played = await play(tmp_path, "paper", over)
    assert (played.transcript.end_reason, played.transcript.outcome is not None) == ("completed", True)
    assert {one.round for one in played.made} == {1, 2}  # said once, it may be a slip
    played = await play(tmp_path, "paper", over, limits=WorldLimits(rounds=3, settled_rounds=0))
    assert played.transcript.end_reason == "undecided"
    still = {**STEADY, "act": '{"action": "Somebody waits here without a word.", "speech": ""}'}
    played = await play(tmp_path, "fast", still, limits=WorldLimits(rounds=9))
    assert (played.transcript.end_reason, max(one.round for one in played.made)) == ("empty_turns", 3)
    played = await play(tmp_path, "released", limits=WorldLimits(rounds=2))
    assert (played.transcript.end_reason, played.transcript.outcome) == ("undecided", None)


async def test_a_budget_stops_a_play_and_it_goes_on_from_there(tmp_path: Path) -> None:
    with pytest.raises(LimitReached):
        await play(tmp_path, "paper", budget=Budget(max_calls=10))
    went_on = await play(tmp_path, "paper")
    assert len(went_on.requests) == len(went_on.made) - 10


async def test_one_character_alone_affects_nobody(tmp_path: Path) -> None:
    for protocol in PROTOCOLS:
        played = await play(tmp_path, protocol, scene=ALONE, limits=ONE)
        assert len(played.made) == round_calls(protocol, 1, 1, 0).calls


async def test_a_person_plays_beside_models_and_may_be_silent(tmp_path: Path) -> None:  # C08
    notes: list[str] = []
    typed = iter(["Ada vaults over the rope.", "", "", "", ""])

    async def read(note: str) -> str:
        notes.append(note)
        return next(typed)

    played = await play(
        tmp_path, "fast", hits("ada", "Bo Lindgren"), limits=ONE, seats={"character:ada": HumanSeat(read)}
    )
    own = [turn for turn in played.transcript.turns if turn.role == "character:ada"]
    assert [(turn.text, turn.human, turn.flags) for turn in own] == [
        ("Ada vaults over the rope.", True, ()),
        ("", True, ("empty", "reaction")),
    ]
    assert "The last ferry leaves" in notes[0]
    assert "It shoves this one." in notes[2]
    assert not any("human" in str(request.labels) for request in played.requests)


async def test_a_chat_that_grows_too_long_begins_anew_with_what_comes_to_mind(tmp_path: Path) -> None:  # C09
    long = FERRY.characters[0].model_copy(update={"profile": "She has seen much. " * 3000})
    scene = FERRY.model_copy(update={"characters": (long, *FERRY.characters[1:])})
    limits = WorldLimits(rounds=4, chat_tokens=900, profile_tokens=300)
    played = await play(tmp_path, "fast", hits("bo", "Ada Brandt"), scene, limits=limits)
    reminded = [one for one in played.transcript.states if one.name == "retrieved"]
    assert reminded
    known = {turn.id for turn in played.transcript.turns}
    assert all(set(one.value.split()) <= known for one in reminded)
    assert any("This comes back to your mind" in request.messages[-1].text for request in played.requests)
    assert all(sum(len(message.text) for message in request.messages) < 9_000 for request in played.requests)


def overflows(_request: Request) -> Reply:
    return Reply("context_overflow")


async def test_a_prompt_that_fits_no_chat_ends_the_play(tmp_path: Path) -> None:
    answers: Answers = {**STEADY, "speech": overflows}
    played = await play(tmp_path, "paper", answers)
    assert played.transcript.end_reason == "context_overflow"
    assert [(cure.kind, cure.role) for cure in played.transcript.cures] == [("overflow", "character:ada")]


async def test_what_was_done_before_is_drawn_anew_once(tmp_path: Path) -> None:
    answers = {**STEADY, "act": '{"action": "Somebody waits here without a word.", "speech": ""}'}
    played = await play(tmp_path, "fast", answers, limits=WorldLimits(rounds=2))
    assert [cure.kind for cure in played.transcript.cures] == ["redraw"] * 3
    acts = [turn.flags for turn in played.transcript.turns if turn.kind == "action"]
    assert acts == [()] * 3 + [("repeat",)] * 3
    drawn = [request for request in played.requests if request.labels["purpose"] == "act"]
    assert {request.labels["attempt"]: request.sampling.temperature for request in drawn} == {"0": 0.7, "1": 1.0}


async def test_a_director_is_off_unless_asked_for(tmp_path: Path) -> None:
    director = ModelSeat(Asked(STEADY, [], name="director"))
    played = await play(tmp_path, "paper", limits=ONE, seats={"director": director})
    assert played.order()[6] == "director synopsis"
    assert played.transcript.cast["director"].model == "script:director"
    assert "director" not in (await play(tmp_path, "fast", limits=ONE)).transcript.cast


async def test_a_person_cannot_narrate(tmp_path: Path) -> None:
    async def read(note: str) -> str:
        return note

    with pytest.raises(UserError, match="narrator must be played by a model"):
        await play(tmp_path, "paper", seats={"narrator": HumanSeat(read)})


def test_expected_calls_hold_what_a_play_can_take() -> None:
    for protocol in PROTOCOLS:
        fewest, most = expected_calls(FERRY, protocol)
        assert fewest <= round_calls(protocol, 3, 3, 0).calls < most
