"""Stories that are open in a server, without a browser: held, stepped, taken over, put away and opened again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

pytest.importorskip("nicegui")

from dramaturg.errors import UserError
from dramaturg.model.opening import Models
from dramaturg.report.page import write_page
from dramaturg.run.games import (
    SUITES,
    GameSettings,
    StorySettings,
    delete_game,
    list_games,
    new_game,
    new_story,
    open_any_game,
    open_game,
)
from dramaturg.stage.transcript import StateChange
from dramaturg.web.hall import LINGER_S, Hall
from dramaturg.web.world.live_story import LiveStory
from dramaturg.web.world.standings import Standings

STEADY = "script:world-steady"
ILSE, DANIEL = "ilse-varga", "daniel-okello"


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    async with Models() as models, Hall(models, write_page, tmp_path / "games") as opened:
        yield opened


def begin(hall: Hall, *by_person: str, rounds: int = 2, model: str = STEADY) -> str:
    settings = StorySettings("one-suit", model, protocol="fast", rounds=rounds, by_person=by_person)
    return new_story(settings, root=hall.root).id


async def entered(hall: Hall, story: str) -> LiveStory:
    live = await hall.enter(story)
    assert isinstance(live, LiveStory)
    return live


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0.005)


async def says(live: LiveStory, text: str) -> None:
    """Answers the turn that waits for the person."""
    await until(lambda: live.due is not None)
    assert live.due is not None
    assert live.answer(live.due.number, text)
    await asyncio.sleep(0)


def human_texts(live: LiveStory) -> list[str]:
    return [said.turn.text for said in live.said if said.turn.human]


async def test_a_story_is_told_to_its_end_and_its_transcript_is_kept(hall: Hall) -> None:
    live = await entered(hall, begin(hall))
    await until(lambda: live.state == "ended")
    assert live.game.transcript() == live.transcript
    standings = live.standings
    (summary,) = list_games(hall.root, suites=SUITES)
    assert (summary.suite, summary.status, summary.phase) == ("world", "ended", "round-2")
    await hall.close(live.game.id)
    again = await entered(hall, live.game.id)
    await until(lambda: again.state == "ended")
    for name in ("position", "state", "self_belief"):
        assert again.standings.history(f"character:{ILSE}", name) == standings.history(f"character:{ILSE}", name)


async def test_a_held_story_takes_one_step_for_each_wish(hall: Hall) -> None:
    live = await entered(hall, begin(hall))
    live.pause()
    await until(lambda: live.state == "paused")
    seen: list[int] = []
    for _ in range(2):
        before = len(live.said)
        live.step()
        live.step()  # a second window that presses at the same moment
        await until(lambda before=before: live.state == "paused" and len(live.said) > before)
        seen.append(sum(said.turn.kind == "action" for said in live.said))
        await asyncio.sleep(0.05)
        assert live.state == "paused"
    assert seen[1] == seen[0] + 1
    live.go_on()
    await until(lambda: live.state == "ended")
    live.step()
    assert live.state == "ended"


async def test_a_pause_outlives_the_server_and_holds_where_it_held(hall: Hall) -> None:
    live = await entered(hall, begin(hall))
    live.pause()
    await until(lambda: live.state == "paused")
    live.step()
    await until(lambda: live.state == "paused" and live.said[-1].turn.phase == "round-1")
    said = [one.turn for one in live.said]
    await hall.put_idle_away(0.0)
    await hall.put_idle_away(LINGER_S)
    assert len(hall) == 0
    again = await entered(hall, live.game.id)
    assert again.control.paused
    await until(lambda: again.state == "paused")
    assert [one.turn for one in again.said] == said


async def test_a_character_is_taken_over_from_its_next_act_and_handed_back_in_mid_turn(hall: Hall) -> None:
    live = await entered(hall, begin(hall, rounds=3))
    live.pause()
    await until(lambda: live.state == "paused")
    live.take_over(ILSE)
    live.go_on()
    await until(lambda: live.due is not None)
    assert live.acting == ILSE
    number = live.due.number if live.due is not None else -1
    await says(live, "She opens the lock.")
    await until(lambda: live.due is not None)
    assert not live.answer(number, "a late answer of another window")
    await says(live, "Go.")
    await until(lambda: live.due is not None)
    assert human_texts(live)[:2] == ["She opens the lock.", "Go."]
    live.hand_back(ILSE)
    live.hand_back(ILSE)
    await until(lambda: live.state == "ended")
    assert human_texts(live) == ["She opens the lock.", "Go."]
    assert live.transcript is not None
    hands = [state.value for state in live.transcript.states if state.name == "played_by"]
    assert hands == ["person", "model"]


async def test_what_a_person_did_outlives_the_server_and_nobody_is_asked_for_it_again(hall: Hall) -> None:
    live = await entered(hall, begin(hall, ILSE))
    await says(live, "She takes the suit.")
    await until(lambda: live.due is not None)
    note = live.due.note if live.due is not None else ""
    await hall.close(live.game.id)  # between what she does and what she says
    again = await entered(hall, live.game.id)
    await until(lambda: again.due is not None)
    assert again.due is not None
    assert (again.due.note, again.acting) == (note, ILSE)
    await says(again, "I go.")
    await until(lambda: len(human_texts(again)) == 2)
    assert human_texts(again) == ["She takes the suit.", "I go."]
    again.hand_back(ILSE)
    await until(lambda: again.state == "ended")


async def test_a_wish_that_has_not_taken_effect_outlives_the_server(hall: Hall) -> None:
    live = await entered(hall, begin(hall))
    live.pause()
    live.take_over(DANIEL)
    await hall.close(live.game.id)
    assert (await entered(hall, live.game.id)).control.by_person == {DANIEL}


async def test_a_model_that_is_not_there_is_told_in_words_and_can_be_tried_again(hall: Hall) -> None:
    live = await entered(hall, begin(hall, model="http://127.0.0.1:9/v1#nobody"))
    await until(lambda: live.state == "stopped")
    assert live.problem is not None
    assert live.problem.kind == "connect"
    live.start()
    assert live.state == "playing"


async def test_too_much_is_cut_where_the_play_stops_listening(hall: Hall) -> None:
    live = await entered(hall, begin(hall, ILSE, rounds=1))
    await says(live, "word " * 20_000)
    await says(live, "  ")
    await until(lambda: human_texts(live))
    (act,) = [said.turn for said in live.said if said.turn.human]
    assert len(act.text) <= 2_000
    assert "cut:length" in act.flags


@pytest.mark.parametrize(
    "settings",
    [
        StorySettings("no-such-scene", STEADY),
        StorySettings("one-suit", "nonsense:model"),
        StorySettings("one-suit", STEADY, by_person=("nobody",)),
        StorySettings("one-suit", STEADY, narrator="nonsense:model"),
        StorySettings("one-suit", STEADY, rounds=0),
    ],
    ids=["scene", "model", "person", "narrator", "rounds"],
)
def test_a_story_that_cannot_begin_leaves_nothing_behind(tmp_path: Path, settings: StorySettings) -> None:
    with pytest.raises(UserError) as problem:
        new_story(settings, root=tmp_path / "games")
    assert ".new-" not in str(problem.value)
    assert not list((tmp_path / "games").glob("*")) or not list((tmp_path / "games").iterdir())


def test_stories_stand_beside_games_and_the_terminal_sends_them_to_the_browser(tmp_path: Path) -> None:
    story = new_story(StorySettings("one-suit", STEADY), root=tmp_path)
    game = new_game(GameSettings("summit-ridge", "script:court-steady"), root=tmp_path)
    assert {one.id for one in list_games(tmp_path, suites=SUITES)} == {story.id, game.id}
    assert [one.id for one in list_games(tmp_path)] == [game.id]
    assert open_any_game(story.id, tmp_path) == story
    with pytest.raises(UserError, match="browser"):
        open_game(story.id, tmp_path)
    delete_game(story)
    assert not story.folder.exists()


def test_a_first_value_is_no_change_and_a_change_is_new_until_the_next_act() -> None:
    standings = Standings()
    standings.take(StateChange(turn="T1", owner="a", name="position", value="here"), "opening")
    assert not standings.is_new("a", "position", 0)
    standings.take(StateChange(turn="T5", owner="a", name="position", value="there"), "round-1")
    assert standings.now("a", "position") == "there"
    assert standings.is_new("a", "position", 4)
    assert not standings.is_new("a", "position", 6)
    standings.clear()
    assert standings.now("a", "position") == ""
