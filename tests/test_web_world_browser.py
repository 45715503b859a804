"""What a person does in a browser with a story, with scripted models: Chromium against a server process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("nicegui")
pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from dramaturg.run.games import open_any_game
from dramaturg.run.transcripts import read_transcripts
from web_fixtures import CHROMIUM, DRIVER, Page, Served, browser, script_with, served, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM.exists() and DRIVER.exists()), reason="needs Chromium and its driver"),
]

STEADY = "script:world-steady"
EVIL = "<b id=evil onclick=x>bold</b><script>window.hacked=1</script>"
NOBODY: dict[str, object] = {
    "role": "narrator",
    "purpose": "influence",
    "schema": True,
    "reply": '{"target":"none","influence":"","position":"at the pane","state":"calm"}',
}
"""A rule by which no act affects anybody else, so that the turns come in the order of the scene."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("world") / "games", STEADY) as process:
        yield process


@pytest.fixture(scope="module")
def chromium() -> Iterator[Page]:
    with browser() as opened:
        yield opened


@pytest.fixture
def page(chromium: Page) -> Page:
    chromium.driver.get("about:blank")
    chromium.complaints()
    return chromium


def begin(page: Page, server: Served, *, me: int | None = None, scene: str = "one-suit", rounds: int = 3) -> str:
    """Begins a story through the pages; returns its address."""
    page.open(f"{server.address}/scenes?scene={scene}")
    page.one(".preview .button.primary").click()
    page.one(".players select")
    if me is not None:
        Select(page.all(".players select")[me]).select_by_value("me")
    Select(page.all(".form .pair select")[-1]).select_by_value(str(rounds))
    time.sleep(0.4)
    page.one(".form > .button.primary").click()
    page.one(".court.story")
    return page.driver.current_url


def control(page: Page, text: str) -> None:
    page.one(".controls .button:not([disabled])", text).click()


def doing(page: Page, text: str) -> None:
    until(lambda: text in page.one(".controls .waiting").text or None, text)


def card(page: Page, name: str) -> WebElement:
    return page.one(".character", name)


def hands(page: Page, name: str) -> WebElement:
    return card(page, name).find_element(By.CSS_SELECTOR, ".character-head .button")


def taken(page: Page) -> None:
    until(lambda: not page.all(".composer textarea")[0].get_attribute("value") or None, "the words to be taken")


def test_a_story_is_watched_held_stepped_taken_over_and_told_to_its_end_across_a_killed_server(
    tmp_path: Path, page: Page
) -> None:
    slow = script_with(tmp_path, "slow", [NOBODY], slow="character", turns=">=2", base="world-steady")
    with served(tmp_path / "games", slow) as server:
        address = begin(page, server, me=0)
        page.say("She lets go of the neck ring and looks at both of them.")
        taken(page)
        until(lambda: "say aloud" in page.one(".note").text or None, "to be asked what she says")
        server.kill()  # after what she does, before what she says
        server.start()
        page.open(address)
        until(lambda: "say aloud" in page.one(".note").text or None, "to be asked for the same again")
        page.say("I cannot go out. I have not been able to since spring.")
        assert "not been able" in page.heard("not been able")
        until(lambda: page.all(".state.changed"), "a state that has just changed to stand out")
        assert "you" in page.one(".turn.own .turn-head").text

        control(page, "Pause")
        hands(page, "Ilse Varga").click()
        until(lambda: hands(page, "Ilse Varga").text == "Take over" or None, "the character to be handed back")
        doing(page, "Paused")
        hands(page, "Bao Lindqvist").click()
        until(lambda: "you play from its next act" in card(page, "Bao Lindqvist").text or None)
        before = page.said()
        time.sleep(0.5)
        assert page.said() == before, "nothing happens while the story is held"
        server.kill()  # while it is held
        server.start()
        page.open(address)
        doing(page, "Paused")
        assert page.said() == before
        assert hands(page, "Bao Lindqvist").text == "Hand back"
        assert hands(page, "Ilse Varga").text == "Take over"
        control(page, "Next act")
        until(lambda: len(page.said()) > len(before) or page.all(".composer.open"), "one act, or the person's turn")
        control(page, "Go on")
        page.say("He clips the cutter to his belt.")
        taken(page)
        page.say("Then I go, and Okello holds the cable.")
        page.heard("Okello holds the cable")
        hands(page, "Bao Lindqvist").click()
        page.one(".verdict")

        story = open_any_game(address.rpartition("/")[2], tmp_path / "games")
        transcript = story.transcript()
        own = [turn.text for turn in transcript.turns if turn.human]
        assert own == [
            "She lets go of the neck ring and looks at both of them.",
            "I cannot go out. I have not been able to since spring.",
            "He clips the cutter to his belt.",
            "Then I go, and Okello holds the cable.",
        ]
        for taken_over in ("character:ilse-varga", "character:bao-lindqvist"):
            hands_of = [s.value for s in transcript.states if (s.owner, s.name) == (taken_over, "played_by")]
            assert hands_of == ["person", "model"]
        assert "4 turns were played by a person" in page.one(".verdict").text
        link = page.one(".verdict a.button").get_attribute("href") or ""
        written = page.driver.execute_async_script(
            "fetch(arguments[0]).then(r => r.text()).then(arguments[arguments.length - 1])", link
        )
        (tmp_path / "copy.jsonl").write_text(written, encoding="utf-8")
        assert [copy for _, copy in read_transcripts(tmp_path / "copy.jsonl")] == [transcript]
        page.driver.refresh()
        page.one(".verdict")
        page.open(server.address)
        assert page.texts(".card h2") == ["One Suit"]
        assert "the story is over" in page.one(".card").text


def test_who_acts_on_whom_and_what_everybody_believes_can_be_seen(server: Served, page: Page) -> None:
    begin(page, server)
    page.one(".verdict")
    arrow = page.one(".turn.act .arrow").text
    actor, _, target = arrow.partition(" → ")
    names = {"Ilse Varga", "Daniel Okello", "Bao Lindqvist"}
    assert {actor, target} <= names and actor != target
    assert page.one(".turn.narration .turn-head", f"To {target}")
    page.one(".turn.narration.surrounds")
    assert "a little later" in page.one(".surroundings").text
    believes = card(page, "Ilse Varga").find_element(By.CSS_SELECTOR, "summary")
    believes.send_keys(Keys.ENTER)
    text = until(lambda: card(page, "Ilse Varga").find_element(By.CSS_SELECTOR, "details .body").text or None)
    assert text.index("Of itself") < text.index("Round 3") < text.index("Round 1")
    assert page.complaints() == []


def test_two_windows_show_one_story_and_the_first_answers(server: Served, page: Page) -> None:
    address = begin(page, server, me=0)
    page.your_turn()
    driver = page.driver
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    try:
        page.open(address)
        page.your_turn().send_keys("My words in the second window.")
        driver.execute_script("window.socket.off('update')")  # this window has not heard of the other one's answer
        driver.switch_to.window(first)
        page.say("My words in the first window.")
        taken(page)
        driver.switch_to.window(driver.window_handles[-1])
        page.one(".composer .primary").click()
        assert "another window" in until(lambda: page.one(".composer-notice").text or None)
        assert page.one(".composer textarea").get_attribute("value") == "My words in the second window."
        driver.switch_to.window(first)
        hands(page, "Ilse Varga").click()
        page.heard("first window")
        assert "My words in the second window." not in page.said()
    finally:
        driver.switch_to.window(driver.window_handles[-1])
        driver.close()
        driver.switch_to.window(first)


def test_sending_nothing_asks_first_and_too_much_is_cut(server: Served, page: Page) -> None:
    begin(page, server, me=0)
    page.your_turn().send_keys(Keys.ENTER)
    assert "does nothing" in until(lambda: page.one(".composer-notice").text or None)
    page.paste("word " * 20_000)
    assert "2000 characters" in until(lambda: page.one(".composer-notice").text or None)
    page.one(".composer .primary").click()
    until(lambda: "say aloud" in page.one(".note").text or None)
    page.your_turn().send_keys(Keys.ENTER)
    until(lambda: page.one(".composer-notice").text or None)
    page.your_turn().send_keys(Keys.ENTER)
    assert "the rest was too long" in page.one(".turn.own .turn-note").text
    assert len(page.heard("word word")) <= 2000


def test_words_of_people_and_models_are_shown_and_never_run(tmp_path: Path, page: Page) -> None:
    moved = {"position": EVIL, "state": EVIL}
    rules: list[dict[str, object]] = [
        {
            "role": "narrator",
            "purpose": "influence",
            "schema": True,
            "json": {"target": "none", "influence": "", **moved},
        },
        {"role": "narrator", "purpose": "update", "json": moved},
        {"role": "character", "purpose": "self-belief", "reply": f"I believe {EVIL}."},
        {"role": "character", "purpose": "speech", "reply": f"I say {EVIL}."},
    ]
    with served(tmp_path / "games", script_with(tmp_path, "evil", rules, base="world-steady")) as server:
        begin(page, server, me=0, rounds=1)
        page.say(f"She does {EVIL}.")
        taken(page)
        page.say(EVIL)
        page.one(".verdict")
        assert "onclick=x" in page.heard("She does")
        assert "onclick=x" in page.heard("I say")
        assert EVIL in card(page, "Daniel Okello").text
        assert page.driver.execute_script("return window.hacked") is None
        assert not page.all("#evil")


def test_a_model_that_fails_in_the_middle_is_told_and_can_be_tried_again(tmp_path: Path, page: Page) -> None:
    broken: dict[str, object] = {"role": "character", "purpose": "action", "turn": "2", "fault": "failed"}
    spec = script_with(tmp_path, "broken", [NOBODY, broken], base="world-steady")
    with served(tmp_path / "games", spec) as server:
        begin(page, server)
        notice = page.one(".foot .notice")
        assert "nothing is lost" in notice.text
        assert "Traceback" not in page.driver.page_source
        before = page.said()
        page.one(".foot .notice .button", "Try again").click()
        page.one(".foot .notice")
        until(lambda: page.said() == before or None, "the same story once more")


def test_the_keyboard_alone_holds_steps_and_takes_over(server: Served, page: Page) -> None:
    begin(page, server, me=0)
    page.your_turn()
    page.one(".controls .button", "Pause").send_keys(Keys.ENTER)
    page.one(".controls .button", "Go on")
    hands(page, "Daniel Okello").send_keys(Keys.SPACE)
    until(lambda: hands(page, "Daniel Okello").text == "Hand back" or None)
    assert hands(page, "Daniel Okello").get_attribute("aria-label") == "Hand back: Daniel Okello"
    hands(page, "Ilse Varga").send_keys(Keys.ENTER)
    doing(page, "Paused")
    page.one(".controls .button", "Next act").send_keys(Keys.ENTER)
    page.your_turn()
    names = page.driver.execute_script(
        "return [...document.querySelectorAll('button, a, input, select, textarea')].filter(e => "
        "!(e.innerText || e.ariaLabel || e.title || (e.labels && e.labels.length))).map(e => e.outerHTML)"
    )
    assert names == []


def test_what_is_not_there_is_told_in_words(server: Served, page: Page) -> None:
    for path in ("/scenes?scene=../x", "/scenes/options?scene=nobody", "/games/no-story/transcript"):
        page.driver.get(f"{server.address}{path}")
        assert "Traceback" not in page.driver.page_source
    page.open(f"{server.address}/scenes/options?scene=one-suit")
    seed = page.all(".form .field input")[-1]
    seed.clear()
    seed.send_keys("9" * 30)
    time.sleep(0.5)
    page.one(".form > .button.primary").click()
    assert "Seed" in page.one(".notice").text


@pytest.mark.parametrize("language", ["en", "it", "zh"])
def test_a_phone_never_scrolls_sideways(server: Served, language: str) -> None:
    with browser(width=390, height=844, language=language, dark=True) as phone:
        for path in ("/scenes", "/scenes?scene=one-suit", "/scenes/options?scene=one-suit"):
            phone.open(f"{server.address}{path}")
            time.sleep(0.3)
            assert phone.shows_all_in_width(), path
        phone.one(".players select").send_keys(Keys.ARROW_DOWN)
        time.sleep(0.4)
        phone.one(".form > .button.primary").click()
        phone.your_turn()
        phone.say("W" * 300)
        phone.your_turn()
        assert phone.one(".composer textarea").rect["height"] > 30
        phone.one(".record-button").click()
        phone.one(".record .character")
        assert phone.shows_all_in_width()
        phone.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        until(lambda: not phone.all(".record-open .record") or None)
