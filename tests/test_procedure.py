from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.errors import ContentError
from dramaturg.stage.court import Procedure, load_procedure
from dramaturg.stage.court.engine import Engine, Event, IllegalEvent, Position, bounds
from dramaturg.stage.court.procedure import EVENT_KINDS
from dramaturg.stage.court.proof import problems

TRIAL = load_procedure("trial")
ROSTER = {"judge": ("judge",), "prosecutor": ("prosecutor",), "defence": ("defence",), "witness": ("w:1", "w:2", "w:3")}
EVERYBODY = sorted({name for names in ROSTER.values() for name in names} | {"", "nobody"})

events = st.builds(
    Event,
    kind=st.sampled_from(EVENT_KINDS),
    addressee=st.sampled_from(EVERYBODY),
    counts=st.one_of(
        st.just({}),
        st.fixed_dictionaries({"prosecution": st.integers(-1, 5), "defence": st.integers(-1, 5)}),
        st.dictionaries(st.sampled_from(sorted(TRIAL.budgets)), st.integers(0, 4), max_size=2),
    ),
)


def legal_event(engine: Engine, position: Position, choose: Callable[[list[Any]], Any]) -> Event:
    kind = choose(list(engine.events(position)))
    people = list(engine.addressees(position, kind)) or [""]
    grants = engine.state(position).grants if kind == "granted" else ()
    counts = {name: choose(list(range(engine.range_of(name)[0], engine.range_of(name)[1] + 1))) for name in grants}
    return Event(kind, choose(people), counts)


def test_the_shipped_trial_is_proved():
    assert problems(TRIAL) == ()


@settings(max_examples=300, deadline=None)
@given(data=st.data(), questions=st.integers(1, 6))
def test_random_events_never_stop_the_trial_and_never_let_an_illegal_speaker_speak(data: st.DataObject, questions: int):
    """FW-51: a trial ends by its procedure, whatever is said."""
    engine = Engine(TRIAL, ROSTER, questions=questions)
    position = engine.begin()
    steps = 0
    while not position.end:
        steps += 1
        assert steps <= 200
        speaker = engine.speaker(position)
        assert speaker in ROSTER[engine.state(position).speaker]
        assert engine.events(position), "nobody can go on"
        event = data.draw(events)
        try:
            moved = engine.step(position, event)
        except IllegalEvent:
            moved = engine.step(position, legal_event(engine, position, lambda some: data.draw(st.sampled_from(some))))
        else:
            assert event.kind in engine.events(position)
            asks = engine.addressees(position, event.kind)
            assert not asks or event.addressee in asks
        assert moved.turns == position.turns + 1
        assert all(left >= 0 for _, left in moved.left)
        position = moved
    assert position.end == "completed"
    assert not engine.events(position)
    with pytest.raises(IllegalEvent):
        engine.step(position, Event("spoken"))


def test_every_position_that_can_be_reached_can_go_on_and_covers_every_transition():
    engine = Engine(TRIAL, ROSTER, questions=3)
    seen: set[Position] = set()
    taken: set[tuple[str, str, str]] = set()
    waiting = [engine.begin()]
    while waiting:
        position = waiting.pop()
        if position in seen or position.end:
            continue
        seen.add(position)
        assert engine.events(position)
        for kind in engine.events(position):
            grants = engine.state(position).grants if kind == "granted" else ()
            for count in (1, 2, 3) if grants else (0,):
                people = engine.addressees(position, kind)[:1] or ("",)
                moved = engine.step(position, Event(kind, people[0], dict.fromkeys(grants, count)))
                taken.add((position.state, kind, moved.state))
                waiting.append(moved)
    states = {state.id for state in TRIAL.states}
    assert {position.state for position in seen} == states
    lasting = {(s.id, t.event, t.to) for s in TRIAL.states for t in s.then}
    never = {("reply", "spoken", "defence-question"), ("reply", "spoken", "final-call")}
    never |= {(f"{side}-ruling", "ruled", "final-call") for side in ("prosecution", "defence")}
    assert lasting - taken <= never


def test_a_trial_takes_ten_to_twenty_eight_turns():
    assert bounds(Engine(TRIAL, ROSTER, questions=3), lambda _: (1, 1)) == (10, 28)


def test_the_turn_limit_ends_a_trial_with_that_reason():
    """FW-48, FW-51: the limit is always on and is named."""
    engine = Engine(TRIAL, ROSTER, turn_limit=2)
    position = engine.step(engine.step(engine.begin(), Event("spoken")), Event("spoken"))
    assert position.end == "turn_limit"


def test_the_floor_passes_to_the_side_that_has_questions_left():
    engine = Engine(TRIAL, ROSTER)
    position = engine.begin()
    for event in (Event("spoken"), Event("spoken"), Event("granted", counts={"prosecution": 2, "defence": 1})):
        position = engine.step(position, event)
    speakers: list[str] = []
    for event in [Event("spoken"), *[Event("addressed", "w:2"), Event("spoken")] * 3]:
        speakers.append(engine.speaker(position))
        position = engine.step(position, event)
    assert speakers == ["defence", "prosecutor", "w:2", "defence", "w:2", "prosecutor", "w:2"]
    assert position.state == "final-call"


def test_a_count_outside_the_range_is_not_granted():
    engine = Engine(TRIAL, ROSTER, questions=3)
    position = engine.step(engine.step(engine.begin(), Event("spoken")), Event("spoken"))
    for wrong in ({"prosecution": 4, "defence": 3}, {"prosecution": 0, "defence": 3}, {"prosecution": 1}, {}):
        with pytest.raises(IllegalEvent):
            engine.step(position, Event("granted", counts=wrong))


def broken(change: Callable[[dict[str, Any]], None]) -> Procedure:
    data = TRIAL.model_dump()
    for kept in ("states",):
        data[kept] = [{**state, "then": [dict(item) for item in state["then"]]} for state in data[kept]]
    change(data)
    return Procedure.model_validate(data)


def state_of(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next(state for state in data["states"] if state["id"] == name)


def test_every_removed_transition_is_caught_or_harmless():
    for state in TRIAL.states:
        for index in range(len(state.then)):

            def change(data: dict[str, Any], name: str = state.id, at: int = index) -> None:
                del state_of(data, name)["then"][at]

            if len(state.then) == 1:
                continue
            found = problems(broken(change))
            engine_ends = not found
            if engine_ends:
                low, high = bounds(Engine(broken(change), ROSTER), lambda _: (1, 1))
                assert 1 <= low <= high


def _no_speaker(data: dict[str, Any]) -> None:
    state_of(data, "grant")["speaker"] = ""


def _unknown_target(data: dict[str, Any]) -> None:
    state_of(data, "grant")["then"][0]["to"] = "nowhere"


def _endless_budget(data: dict[str, Any]) -> None:
    data["budgets"]["prosecution"]["most"] = None


def _endless_questions(data: dict[str, Any]) -> None:
    state_of(data, "prosecution-question")["then"][0]["spends"] = ""
    state_of(data, "defence-question")["then"][0]["spends"] = ""


def _endless_grants(data: dict[str, Any]) -> None:
    state_of(data, "prosecution-ruling")["then"][0]["to"] = "grant"


def _never_filled(data: dict[str, Any]) -> None:
    state_of(data, "grant")["grants"] = ["prosecution"]


def _dead_end(data: dict[str, Any]) -> None:
    state_of(data, "final-call")["then"][0]["to"] = "final-call"


def _unreachable(data: dict[str, Any]) -> None:
    for side in ("prosecution", "defence"):
        state = state_of(data, f"{side}-question")
        state["then"] = [item for item in state["then"] if item["event"] != "objected"]


def _stuck(data: dict[str, Any]) -> None:
    state_of(data, "prosecution-answer")["then"] = [{"event": "spoken", "to": "defence-question"}]


def _nowhere(data: dict[str, Any]) -> None:
    state_of(data, "prosecution-answer")["then"].pop()


def _nobody_addressed(data: dict[str, Any]) -> None:
    state_of(data, "reply")["then"][0]["to"] = "prosecution-answer"


def _shadowed(data: dict[str, Any]) -> None:
    state_of(data, "opening")["then"].append({"event": "spoken", "to": "grant"})


def _twice(data: dict[str, Any]) -> None:
    data["states"].append(dict(state_of(data, "grant")))


def _grants_nothing(data: dict[str, Any]) -> None:
    state_of(data, "grant")["grants"] = []


def _ownerless_budget(data: dict[str, Any]) -> None:
    data["budgets"]["defence"]["owner"] = "jury"


def _addresses_nobody(data: dict[str, Any]) -> None:
    state_of(data, "defence-question")["then"][0]["addresses"] = ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_no_speaker, "no owner"),
        (_unknown_target, "no state"),
        (_endless_budget, "endless"),
        (_endless_questions, "without end"),
        (_endless_grants, "again and again"),
        (_never_filled, "never filled"),
        (_dead_end, "never reaches the end"),
        (_unreachable, "cannot be reached"),
        (_stuck, "stuck"),
        (_nowhere, "leads nowhere"),
        (_nobody_addressed, "no owner"),
        (_shadowed, "never taken"),
        (_twice, "defined twice"),
        (_grants_nothing, "or neither"),
        (_ownerless_budget, "no owner"),
        (_addresses_nobody, "addresses nobody"),
    ],
)
def test_a_broken_procedure_is_caught(change: Callable[[dict[str, Any]], None], words: str):
    assert any(words in line for line in problems(broken(change)))


def test_a_file_that_is_not_sound_does_not_load(tmp_path: Any):
    text = (
        "id: endless\nversion: 1\ntitle: t\nphases: [a]\nroles: {judge: {}, defence: {}}\nplayer: defence\n"
        "outcomes: {undecided: undecided, win: win}\nturn_limit: 9\nstart: one\n"
        "states:\n  - {id: one, phase: a, speaker: judge, purpose: thesis, then: [{event: spoken, to: one}]}\n"
    )
    path = tmp_path / "endless.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ContentError, match="never reaches the end"):
        load_procedure(str(path))
