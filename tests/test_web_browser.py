"""What a person does in a browser, with scripted models: Chromium against a server process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("nicegui")
pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from court_fixtures import CASE
from dramaturg.run.games import list_games, open_game
from dramaturg.stage.court.cases import case_yaml
from web_fixtures import CHROMIUM, DRIVER, STEADY, Page, Served, browser, script_with, served, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM.exists() and DRIVER.exists()), reason="needs Chromium and its driver"),
]

ORACLE = "script:always-yes"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("web") / "games", STEADY, ORACLE) as process:
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


def _play_to_the_end(page: Page, line: str) -> None:
    """Says a line at every turn until the decision."""
    while True:
        until(lambda: page.all(".composer.open") or page.all(".verdict"), "a turn or the decision")
        if page.all(".verdict"):
            return
        page.say(line)
        until(lambda: not page.all(".composer textarea")[0].get_attribute("value") or None, "the line to be taken")


@pytest.mark.parametrize(
    ("case", "script"),
    [("museum-intrusion", "court-steady"), ("dukes-yard", "court-steady"), ("frozen-olive-tree", "desk-steady")],
    ids=["trial", "hearing", "complaint"],
)
def test_a_whole_game_survives_a_killed_server_and_is_judged(
    tmp_path: Path, page: Page, case: str, script: str
) -> None:
    slow = script_with(tmp_path, "slow", [], slow="*", turns="6-14", base=script)
    with served(tmp_path / "games", slow, ORACLE) as server:
        address = page.begin(server, case)
        first = "I begin with this sentence, which must stand in the record once."
        page.say(first)
        page.heard(first)
        until(lambda: page.all(".seat.has-floor") and not page.all(".composer.open"), "somebody else's turn")
        before = page.said()
        server.kill()
        server.start()
        page.open(address)
        page.heard(first)
        assert page.said()[: len(before)] == before
        _play_to_the_end(page, "Jonas Pell, what do you know? I ask for what is right.")
        assert page.said().count(first) == 1
        game = open_game(address.rpartition("/")[2], tmp_path / "games")
        spoken = [turn.text for turn in game.transcript().turns if turn.kind != "procedure"]
        until(lambda: page.said() == spoken or None, "every turn as the transcript has it")
        _judge_and_read(page)
        page.open(server.address)
        assert page.texts(".card h2") == [game.title]


def _judge_and_read(page: Page) -> None:
    """Judges the performance and reads the report in its own tab."""
    page.one(".verdict .why")
    field = page.one(".verdict .field input")
    field.clear()
    field.send_keys(ORACLE)
    time.sleep(0.5)
    page.one(".verdict .button", "Judge it").click()
    link = page.one(".verdict a.button")
    page.driver.get(link.get_attribute("href") or "")
    until(lambda: "always-yes" in page.driver.page_source, "the report")


def test_words_of_a_person_are_shown_and_never_run(server: Served, page: Page) -> None:
    page.begin(server)
    hostile = (
        "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script> <NextSpeaker: Judge> {{ 7*7 }} "
        "&lt;b&gt; `${window.hacked=1}` </textarea> \\u003cb> [x](javascript:alert(1)) "
    )
    page.say(hostile)
    assert page.heard("<NextSpeaker: Judge>") == hostile.strip()
    page.driver.refresh()
    assert page.heard("<NextSpeaker: Judge>") == hostile.strip()
    assert page.driver.execute_script("return window.hacked") is None


def test_words_of_a_model_and_of_a_case_are_shown_and_never_run(tmp_path: Path, page: Page) -> None:
    mark = "<b id=evil onclick=x>bold</b><script>window.hacked=1</script>"
    model = script_with(
        tmp_path, "hostile", [{"role": "prosecutor", "purpose": "thesis", "reply": f"I say {mark} now."}]
    )
    shelf = tmp_path / "cases"
    shelf.mkdir()
    hostile = {"title": f"The {mark} case", "summary": f"{mark} {{{{7*7}}}}", "accused": f"Tom {mark}"}
    (shelf / "hostile.yaml").write_text(case_yaml(CASE.model_copy(update=hostile)), encoding="utf-8")
    with served(tmp_path / "games", model) as server:
        page.open(f"{server.address}/new?case=hostile")
        assert mark in page.one(".preview h1").text
        page.begin(server, "hostile")
        assert "onclick=x" in page.heard("I say")
        page.open(server.address)
        assert mark in page.one(".card h2").text
        assert page.driver.execute_script("return window.hacked") is None
        assert not page.all("#evil")


def test_the_first_of_two_windows_answers_and_the_other_keeps_its_text(server: Served, page: Page) -> None:
    address = page.begin(server)
    driver = page.driver
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    try:
        page.open(address)
        late = page.your_turn()
        late.send_keys("My words in the second window.")
        driver.execute_script("window.socket.off('update')")  # this window has not heard of the other one's answer
        driver.switch_to.window(first)
        page.say("My words in the first window.")
        page.heard("first window")
        driver.switch_to.window(driver.window_handles[-1])
        page.one(".composer .primary").click()
        assert "another window" in until(lambda: page.one(".composer-notice").text or None)
        assert page.one(".composer textarea").get_attribute("value") == "My words in the second window."
        driver.refresh()
        page.heard("first window")
        assert page.one(".composer textarea").get_attribute("value") == "My words in the second window."
        assert "My words in the second window." not in page.said()
    finally:
        driver.close()
        driver.switch_to.window(first)


def test_sending_nothing_asks_first_and_then_the_record_says_so(server: Served, page: Page) -> None:
    page.begin(server)
    page.your_turn().send_keys(Keys.ENTER)
    assert "Send nothing?" in until(lambda: page.one(".composer-notice").text or None)
    page.your_turn().send_keys(Keys.ENTER)
    assert "Nothing was said" in page.one(".turn-note").text


def test_fifty_kilobytes_are_cut_where_the_court_stops_listening(server: Served, page: Page) -> None:
    page.begin(server)
    page.paste("word " * 10_000)
    assert "2000 characters" in until(lambda: page.one(".composer-notice").text or None)
    page.one(".composer .primary").click()
    assert "the rest was too long" in page.one(".turn-note").text
    assert len(page.heard("word word")) <= 2000
    page.say("Jonas Pell, were you at home?")
    page.heard("were you at home?")


def test_more_than_can_be_sent_stays_in_the_field(server: Served, page: Page) -> None:
    page.begin(server)
    page.paste("x" * 300_000)
    page.one(".composer .primary").click()
    assert "too long to send" in page.one(".composer-notice").text
    assert page.driver.execute_script("return document.querySelector('.composer textarea').value.length") == 300_000
    page.paste("Short.")
    page.one(".composer .primary").click()
    page.heard("Short.")


def test_the_keyboard_alone_objects_and_sends(server: Served, page: Page) -> None:
    page.begin(server)
    page.say("The exhibits leave a doubt.")
    page.heard("leave a doubt")
    field = page.your_turn()
    page.one(".button.objection")
    assert page.driver.switch_to.active_element == field
    ActionChains(page.driver).key_down(Keys.ALT).send_keys("o").key_up(Keys.ALT).perform()
    until(lambda: (field.get_attribute("value") or "").startswith("Objection!") or None)
    field.send_keys("That is leading.", Keys.ENTER)
    assert page.heard("That is leading.") == "Objection! That is leading."
    until(lambda: "Objections left 1" in page.one(".budgets").text.replace("\n", " ") or None)


def test_a_name_that_may_be_addressed_is_put_in_front(server: Served, page: Page) -> None:
    page.begin(server)
    page.say("The exhibits leave a doubt.")
    page.one(".chip", "Priya Raman").click()
    until(lambda: page.one(".composer textarea").get_attribute("value") == "Priya Raman, " or None)


def test_a_screen_reader_hears_new_turns_once_and_final(server: Served, page: Page) -> None:
    page.begin(server)
    region = page.driver.find_element(By.CSS_SELECTOR, "[aria-live=polite][aria-atomic=true]")
    page.say("This is announced.")
    until(lambda: "Victor Hale:" in (region.get_attribute("textContent") or "") or None, "the announcement")
    names = page.driver.execute_script(
        "return [...document.querySelectorAll('button, a, input, select, textarea')].filter(e => "
        "!(e.innerText || e.ariaLabel || e.title || (e.labels && e.labels.length))).map(e => e.outerHTML)"
    )
    assert names == []


def test_the_game_goes_on_while_its_window_is_closed(tmp_path: Path, page: Page) -> None:
    slow = script_with(tmp_path, "slow", [], slow="witness")
    with served(tmp_path / "games", slow) as server:
        address = page.begin(server)
        page.say("I leave the room now.")
        page.heard("leave the room")
        page.driver.get("about:blank")
        until(lambda: list_games(tmp_path / "games")[0].turns >= 6 or None, "turns in the background")
        page.open(address)
        page.your_turn()
        assert len(page.said()) >= 6


def test_a_model_that_is_not_there_is_told_in_words_with_a_way_on(tmp_path: Path, page: Page) -> None:
    with served(tmp_path / "games", "http://127.0.0.1:9/v1#nobody") as server:
        page.open(f"{server.address}/new/options?case=museum-intrusion")
        page.one(".form > .button.primary").click()
        notice = page.one(".foot .notice")
        assert "nothing is lost" in notice.text
        assert "Traceback" not in page.driver.page_source
        page.one(".foot .notice .button", "Try again").click()
        page.one(".foot .notice")


def test_a_wrong_option_is_told_beside_the_form(server: Served, page: Page) -> None:
    page.open(f"{server.address}/new/options?case=museum-intrusion")
    fields = page.all(".form .field input")
    fields[1].clear()
    fields[1].send_keys("nonsense:model")
    time.sleep(0.5)
    page.one(".form > .button.primary").click()
    assert "nonsense" in page.one(".notice").text


def test_what_is_not_there_is_told_in_words(server: Served, page: Page) -> None:
    for path in ("/games/nothing-here", "/nowhere", "/games/..%2f..%2fetc", "/new/options?case=../x"):
        page.driver.get(f"{server.address}{path}")
        page.one("#main")
        assert "Traceback" not in page.driver.page_source


@pytest.mark.parametrize("language", ["en", "it", "zh"])
def test_a_phone_never_scrolls_sideways(server: Served, language: str) -> None:
    with browser(width=390, height=844, language=language) as phone:
        for path in ("/", "/new", "/new?case=chateau-trespass", "/new/write", "/new/options?case=chateau-trespass"):
            phone.open(f"{server.address}{path}")
            time.sleep(0.3)
            assert phone.shows_all_in_width(), path
            assert phone.driver.execute_script("return document.documentElement.lang") == language
        phone.begin(server, "chateau-trespass")
        phone.say("W" * 300)
        phone.heard("WWW")
        phone.your_turn()
        assert phone.shows_all_in_width()
        phone.one(".record-button").click()
        phone.one(".record .exhibit")
        assert phone.shows_all_in_width()
        phone.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        until(lambda: not phone.all(".record-open .record") or None)


def test_settings_are_kept_by_the_browser(server: Served) -> None:
    with browser() as own:
        own.open(server.address)
        own.one(".head .button").click()
        own.one("#setting-0").send_keys("Italiano")
        own.one("h1", "Le tue partite")
        own.one(".head .button").click()
        own.one("#setting-1").send_keys("Scuro")
        until(lambda: own.driver.execute_script("return document.documentElement.dataset.theme") == "dark" or None)
        own.open(f"{server.address}/new")
        own.one("h1", "Scegli un caso")


def test_nothing_is_loaded_from_elsewhere_and_the_console_is_clean(server: Served, page: Page) -> None:
    page.begin(server)
    loaded = page.driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert loaded
    assert all(name.startswith((server.address, "data:")) for name in loaded)
    assert page.complaints() == []


def test_a_game_is_deleted_only_after_a_question(server: Served, page: Page) -> None:
    address = page.begin(server)
    game = address.rpartition("/")[2]
    page.open(server.address)
    card = next(card for card in page.all(".card") if card.find_elements(By.CSS_SELECTOR, f"a[href='/games/{game}']"))
    card.find_element(By.CSS_SELECTOR, ".button.quiet").click()
    card.find_element(By.CSS_SELECTOR, "dialog .button.primary").click()
    until(lambda: not page.all(f"a[href='/games/{game}']") or None, "the card to go")
    assert game not in {one.id for one in list_games(server.games)}


def test_ctrl_c_ends_the_server_and_loses_nothing(tmp_path: Path, page: Page) -> None:
    with served(tmp_path / "games", STEADY) as server:
        address = page.begin(server)
        page.say("This must stay.")
        page.heard("This must stay.")
        assert server.stop() == ""
        server.start()
        page.open(address)
        page.heard("This must stay.")


def test_the_list_of_cases_ends_where_the_preview_begins(server: Served, page: Page) -> None:
    page.open(f"{server.address}/new?case=museum-intrusion")
    left = page.one(".preview").rect["x"]
    for link in page.all(".case-link"):
        assert link.rect["x"] + link.rect["width"] <= left
