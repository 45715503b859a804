"""The browser door without a browser: words, preferences, portraits, the guard, and games that are open in a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("nicegui")

from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from court_fixtures import CASE
from dramaturg.errors import ContentError, UserError
from dramaturg.model.opening import Models
from dramaturg.report.page import write_page
from dramaturg.run.games import GameSettings, list_games, new_game
from dramaturg.stage.court.cases import case_yaml
from dramaturg.web import hall as hall_module
from dramaturg.web.case_shelf import CaseShelf, write_case
from dramaturg.web.guard import Guard
from dramaturg.web.hall import LINGER_S, Hall, HallFullError
from dramaturg.web.live import LiveGame
from dramaturg.web.offer import Offer
from dramaturg.web.portraits import AVATARS, avatar, portrait_at, portrait_of
from dramaturg.web.preferences import Preferences, read_preferences
from dramaturg.web.room import room_of_game
from dramaturg.web.server import SharedModels
from dramaturg.web.words import LANGUAGES, preferred, words

STEADY = "script:court-steady"


# Words and preferences


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_the_same_texts_with_the_same_places(language: str) -> None:
    english, other = words("en").texts, words(language).texts
    assert set(other) == set(english)
    for key, text in english.items():
        assert sorted(part.partition("}")[0] for part in text.split("{")[1:]) == sorted(
            part.partition("}")[0] for part in other[key].split("{")[1:]
        ), key


def test_a_value_is_never_read_as_a_text_with_places() -> None:
    assert words("en")("verdict.other", label="{label.__class__}") == "The decision: {label.__class__}"


def test_an_unknown_text_is_an_error_that_names_it() -> None:
    with pytest.raises(ContentError, match="no-such"):
        words("it")("court.no-such")


def test_an_unknown_language_speaks_english() -> None:
    assert words("xx").language == "en"
    assert preferred("de-DE,de;q=0.9") == "en"
    assert preferred("fr,it;q=0.8") == "it"


def test_preferences_survive_the_cookie() -> None:
    chosen = Preferences("zh", "dark", "calm", voices=True, dictation=True)
    assert read_preferences(chosen.cookie, "") == chosen


@pytest.mark.parametrize("cookie", ["", "....", "xx.<script>.fast.2.yes", "en" * 5000, "\0.\0"])
def test_a_broken_cookie_counts_as_not_said(cookie: str) -> None:
    assert read_preferences(cookie, "it-IT") == Preferences("it")


# Portraits


def test_a_name_always_has_the_same_face_and_no_name_is_in_the_drawing() -> None:
    name = '"><script>alert(1)</script>'
    portrait = portrait_of(name, "witness")
    assert portrait == portrait_of(name, "witness")
    assert "script" not in portrait.svg()
    assert "script" not in portrait.address


def test_every_avatar_is_served_under_its_address() -> None:
    drawn = {avatar(name).svg() for name in AVATARS}
    assert len(drawn) == len(AVATARS)
    for name in AVATARS:
        assert portrait_at(avatar(name).address.rpartition("/")[2]) == avatar(name)


@pytest.mark.parametrize("file", ["", "judge-.svg", "judge-zzzzzz.svg", "king-012345.svg", "../judge-012345.svg"])
def test_an_address_that_is_no_portrait_has_none(file: str) -> None:
    assert portrait_at(file) is None


# The guard


async def _status(headers: dict[str, str], *, only_here: bool = True) -> tuple[int, dict[str, str]]:
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("fine")(scope, receive, send)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": raw}
    await Guard(app, only_here=only_here)(scope, receive, send)
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "[::1]:8642", "localhost"])
async def test_this_machines_own_names_are_answered_and_pages_may_load_nothing_from_outside(host: str) -> None:
    status, headers = await _status({"host": host, "origin": f"http://{host}"})
    assert status == 200
    assert "default-src 'self'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "rebound.example:8642"},
        {"host": ""},
        {"host": "127.0.0.1:8642", "origin": "http://elsewhere.example"},
        {"host": "127.0.0.1:8642", "origin": "http://127.0.0.1:9999"},
        {"host": "127.0.0.1:8642", "origin": "null"},
    ],
)
async def test_other_sites_are_refused(headers: dict[str, str]) -> None:
    assert (await _status(headers))[0] == 403


async def test_a_server_for_others_answers_to_any_name_but_not_to_other_sites() -> None:
    assert (await _status({"host": "court.example"}, only_here=False))[0] == 200
    assert (await _status({"host": "court.example", "origin": "http://evil.example"}, only_here=False))[0] == 403


# Models


def test_a_stranger_may_choose_only_an_offered_model() -> None:
    offer = Offer(["script:a", "script:b"], any_model=False)
    assert offer.allowed(" script:b ") == "script:b"
    with pytest.raises(UserError, match="not offered"):
        offer.allowed("script:/tmp/any.py")


async def test_shared_models_stay_open_until_the_end() -> None:
    async with SharedModels() as models:
        model = await models.open(STEADY)
        await models.release(STEADY)
        assert await models.open(STEADY) is model


# Games that are open


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    async with Models() as models, Hall(models, write_page, tmp_path / "games") as opened:
        yield opened


def _begin(hall: Hall, seed: int = 1) -> str:
    return new_game(GameSettings("museum-intrusion", STEADY, seed=seed, questions=1), root=hall.root).id


async def _until(live: LiveGame, state: str) -> None:
    async with asyncio.timeout(20):
        while live.state != state:
            await asyncio.sleep(0.005)


async def _play_to_the_end(live: LiveGame) -> None:
    async with asyncio.timeout(30):
        while live.state in {"playing", "waiting"}:
            if live.due is not None:
                live.answer(live.due.number, "Jonas Pell, were you at home?")
            await asyncio.sleep(0.005)


async def test_the_first_answer_to_a_turn_is_taken_and_the_second_is_not(hall: Hall) -> None:
    live = await hall.enter(_begin(hall))
    await _until(live, "waiting")
    assert live.due is not None
    number = live.due.number
    assert live.answer(number, "first")
    assert not live.answer(number, "second")
    while not any(said.turn.text == "first" for said in live.said):
        await asyncio.sleep(0.005)
    assert not live.answer(number, "third")
    assert not any(said.turn.text in {"second", "third"} for said in live.said)


async def test_two_who_enter_one_game_share_it(hall: Hall) -> None:
    game = _begin(hall)
    first, second = await asyncio.gather(hall.enter(game), hall.enter(game))
    assert first is second
    assert len(hall) == 1


async def test_a_game_goes_on_when_nobody_watches_and_is_put_away_when_it_waits(hall: Hall) -> None:
    live = await hall.enter(_begin(hall))
    watcher = live.watch(lambda: None)
    await _until(live, "waiting")
    live.unwatch(watcher)
    await hall.put_idle_away(0.0)
    assert len(hall) == 1
    await hall.put_idle_away(LINGER_S)
    assert len(hall) == 0


async def test_a_game_that_is_opened_again_shows_its_history_and_the_same_turn(hall: Hall) -> None:
    game = _begin(hall)
    live = await hall.enter(game)
    await _until(live, "waiting")
    assert live.due is not None
    live.answer(live.due.number, "The record leaves a doubt.")
    await asyncio.sleep(0)
    await _until(live, "waiting")
    said, note = [one.turn for one in live.said], live.due.note
    await hall.close(game)
    again = await hall.enter(game)
    await _until(again, "waiting")
    assert [one.turn for one in again.said] == said
    assert again.due is not None
    assert again.due.note == note


async def test_the_page_knows_who_has_the_floor_and_whom_the_person_may_address(hall: Hall) -> None:
    live = await hall.enter(_begin(hall))
    await _until(live, "waiting")
    assert live.due is not None and live.floor is not None
    assert live.floor.role == room_of_game(live.game).player.id
    assert live.floor.addressees == ()
    live.answer(live.due.number, "The record leaves a doubt.")
    await asyncio.sleep(0)
    await _until(live, "waiting")
    assert "witness:jonas-pell" in live.floor.addressees
    assert live.floor.left == {"defence": 1, "defence-objections": 2}


async def test_an_ended_game_is_judged_and_its_report_is_found_again(hall: Hall) -> None:
    game = _begin(hall)
    live = await hall.enter(game)
    await _play_to_the_end(live)
    assert live.state == "ended"
    live.judge(checklist="court", judge="script:always-yes", mode="joint")
    async with asyncio.timeout(30):
        while live.judging.task is not None:
            await asyncio.sleep(0.01)
    assert live.judging.problem is None
    assert live.judging.report is not None
    await hall.close(game)
    again = await hall.enter(game)
    await _until(again, "ended")
    assert again.judging.report == live.judging.report
    assert list_games(hall.root)[0].status == "ended"


async def test_a_model_that_is_not_there_is_told_in_words_and_can_be_tried_again(hall: Hall) -> None:
    settings = GameSettings("museum-intrusion", "http://127.0.0.1:9/v1#nobody")
    live = await hall.enter(new_game(settings, root=hall.root).id)
    await _until(live, "stopped")
    assert live.problem is not None
    assert live.problem.kind == "connect"
    assert "Traceback" not in live.problem.detail
    live.start()
    assert live.state == "playing"


async def test_a_game_that_is_open_elsewhere_is_told_so(hall: Hall) -> None:
    game = _begin(hall)
    async with Models() as models, Hall(models, write_page, hall.root) as other:
        await _until(await other.enter(game), "waiting")
        live = await hall.enter(game)
        await _until(live, "stopped")
        assert live.problem is not None
        assert "open elsewhere" in live.problem.detail


@pytest.mark.parametrize("game", ["", "..", "../x", "/etc", "nothing-here", "a" * 5000])
async def test_what_is_no_game_cannot_be_entered(hall: Hall, game: str) -> None:
    with pytest.raises(UserError):
        await hall.enter(game)
    assert len(hall) == 0


async def test_only_so_many_games_are_open_at_once(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hall_module, "MOST_OPEN", 1)
    await hall.enter(_begin(hall))
    with pytest.raises(HallFullError):
        await hall.enter(_begin(hall, seed=2))


# Cases


def test_a_saved_case_is_listed_beside_the_shipped_ones_and_never_hides_one(tmp_path: Path) -> None:
    shelf = CaseShelf.beside(tmp_path / "games")
    first, second = shelf.save(CASE), shelf.save(CASE)
    assert (first, second) == ("open-gate", "open-gate-2")
    taken = shelf.save(CASE.model_copy(update={"id": "museum-intrusion"}))
    assert taken == "museum-intrusion-2"
    own, ready = shelf.readable()
    assert set(own) == {first, second, taken}
    assert "museum-intrusion" in ready
    (shelf.folder / "broken.yaml").write_text("title: [", encoding="utf-8")
    assert "broken" not in shelf.readable()[0]


@pytest.mark.parametrize("name", ["", "../x", "/etc/passwd", "nothing"])
def test_a_name_leads_to_no_file_outside_the_shelf(tmp_path: Path, name: str) -> None:
    (tmp_path / "x.yaml").write_text(case_yaml(CASE), encoding="utf-8")
    assert CaseShelf.beside(tmp_path / "games").path(name) is None


async def test_a_case_without_a_wish_is_refused_before_the_model_is_asked(models: Models) -> None:
    with pytest.raises(UserError, match="prior"):
        await write_case(await models.open(STEADY), prior="  ", language="en", attempt=1)
