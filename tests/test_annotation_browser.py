"""A campaign in Chromium: keys, touch, two tabs, a phone's width, no scripts; then the votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from typer.testing import CliRunner

from annotation_fixtures import ServedCampaign, served, small_campaign, small_set
from dramaturg.cli.main import app
from dramaturg.files import read_jsonl
from dramaturg.judge.matching import robust
from dramaturg.run.interview.questions import questions_of, reply_text
from dramaturg.run.interview.reply_row import ReplyRow
from dramaturg.stage.interview.item_set import read_item_set, write_item_set
from dramaturg.web.annotation.progress import progress_of, votes_of
from web_fixtures import CHROMIUM, DRIVER, Page, browser, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM.exists() and DRIVER.exists()), reason="needs Chromium and its driver"),
]

PHONE = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
ITEMS = 4


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[ServedCampaign]:
    with served(tmp_path / "annotation.db", small_campaign()) as server:
        yield server


def forget(page: Page) -> None:
    """Makes the browser another person's."""
    page.driver.delete_all_cookies()


def press(page: Page, *keys: str) -> None:
    page.driver.find_element(By.TAG_NAME, "body").send_keys(*keys)


def devtools(page: Page, command: str, **values: object) -> None:
    page.driver.execute_cdp_cmd(command, values)  # pyright: ignore[reportUnknownMemberType]


def ticket(page: Page) -> str:
    return page.driver.find_element(By.NAME, "ticket").get_attribute("value") or ""


def touch(page: Page, css: str, text: str = "") -> None:
    """Touches what a finger would first have scrolled to, away from the bar at the foot of a narrow page."""
    element = page.one(css, text)
    page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def after(page: Page, old: str) -> None:
    """Waits for the page that follows an item's."""
    until(lambda: old not in page.driver.page_source and page.all("#main"), "the next page")


def test_three_annotators_keys_two_tabs_on_a_phone_and_no_scripts(campaign: ServedCampaign) -> None:
    with browser() as page:
        _by_keys(page, campaign)
        forget(page)
        _by_touch_in_two_tabs(page, campaign)
        forget(page)
        _without_scripts(page, campaign)
        assert not [line for line in page.complaints() if "favicon" not in line]
    rows = list(votes_of(campaign.store))
    assert len({row.rater for row in rows}) == 3
    assert Counter(row.item for row in rows) == dict.fromkeys(("do-1", "feel-1", "feel-2", "right-1"), 3)
    assert sum(row.reported for row in rows) == sum(row.skipped for row in rows) == 1
    assert {row.answer for row in rows if row.category in ("decision", "moral")} <= {"yes", "no", ""}
    total = progress_of(campaign.store).total
    assert (total.answers, total.skipped, total.reported) == (10, 1, 1)


def _by_keys(page: Page, campaign: ServedCampaign) -> None:
    """Answers, skips and reports by keys alone."""
    page.open(campaign.address)
    page.one("a.button.primary").click()
    for number in range(ITEMS):
        page.one("#item")
        old = ticket(page)
        if number == 1:
            press(page, "s")
        elif number == 2:
            press(page, "r")
            page.one("#complaint").send_keys("srny: 1 letters typed here choose nothing")
            page.one(".report button").click()
        else:
            yes_no = len(page.all(".answer")) == 2
            press(page, "n" if yes_no else "9")
            page.one(f".answer:has(:checked[data-key='{'n' if yes_no else '9'}'])")
            press(page, Keys.ENTER)
        after(page, old)
    page.one("h1", "You have answered everything")


def _by_touch_in_two_tabs(page: Page, campaign: ServedCampaign) -> None:
    """Opens one item in two tabs, and answers it in both."""
    driver = page.driver
    devtools(page, "Emulation.setDeviceMetricsOverride", **PHONE)
    page.open(f"{campaign.address}item")
    first, item = driver.current_window_handle, page.one(".message").text
    driver.switch_to.new_window("tab")
    devtools(page, "Emulation.setDeviceMetricsOverride", **PHONE)
    page.open(f"{campaign.address}item")
    assert page.one(".message").text == item
    for window in (driver.current_window_handle, first):
        driver.switch_to.window(window)
        old = ticket(page)
        assert page.shows_all_in_width()
        touch(page, ".answer")
        touch(page, "summary", "Why?")
        page.one("textarea[name=justification]").send_keys("because")
        page.one(".send .primary").click()
        after(page, old)
    page.one(".notice", "You had answered that one already")
    for _ in range(ITEMS - 1):
        old = ticket(page)
        touch(page, ".answer")
        page.one(".send .primary").click()
        after(page, old)
    page.one("h1", "You have answered everything")
    assert page.shows_all_in_width()


def _without_scripts(page: Page, campaign: ServedCampaign) -> None:
    devtools(page, "Emulation.setScriptExecutionDisabled", value=True)
    page.driver.get(f"{campaign.address}item")
    for _ in range(ITEMS):
        old = ticket(page)
        page.one(".answer").click()
        page.one(".send .primary").click()
        after(page, old)
    page.one("h1", "You have answered everything")


AGREED = {"emotion": "sadness", "decision": "yes", "moral": "no"}
ANSWERER = """\
name: answerer
description: Answers as the annotators did, but for what is right.
rules:
  - {anywhere: "row out", reply: "[yes] Get in the boat."}
  - {anywhere: "miller's ring", reply: "[yes] It shines."}
  - {anywhere: "World Cup", reply: "I know of no such cup."}
  - {reply: "[sadness] Oh."}
"""


def test_what_people_answered_becomes_a_set_that_is_run_and_scored(tmp_path: Path) -> None:
    write_item_set(tmp_path / "set", small_set())
    db, votes, kept = tmp_path / "annotation.db", tmp_path / "votes.jsonl", tmp_path / "kept"
    with served(db, small_campaign()) as campaign, browser() as page:
        for _ in range(3):
            _answers_all_alike(page, campaign)
            forget(page)
    command("annotate", "export", "--db", db, "--out", votes)
    command("rpeval", "votes", votes, "--items", tmp_path / "set", "--out", kept)
    items = {item.id: item for item in read_item_set(str(kept)).items}
    assert {name: item.expected for name, item in items.items() if item.expected} == {
        "feel-1": "sadness",
        "feel-2": "sadness",
        "do-1": "yes",
        "right-1": "no",
    }
    assert items["right-1"].votes == {"no": 3}
    (tmp_path / "answerer.yaml").write_text(ANSWERER, encoding="utf-8")
    model = f"script:{tmp_path / 'answerer.yaml'}"
    command("rpeval", "run", "--model", model, "--items", kept, "--out", tmp_path / "run")
    questions = questions_of(read_item_set(str(kept)))
    rows = [row for _, row in read_jsonl(tmp_path / "run" / "replies.jsonl", ReplyRow)]
    right = {row.item for row in rows if robust(questions[row.item], reply_text(row)).status == "right"}
    assert right == {"feel-1", "feel-2", "do-1"}


def command(*words: object) -> None:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output


def _answers_all_alike(page: Page, campaign: ServedCampaign) -> None:
    page.open(f"{campaign.address}item")
    categories = {item.message: item.category for item in small_set().items}
    for _ in range(ITEMS):
        old = ticket(page)
        answer = AGREED[categories[page.one(".message").text]]
        page.one(f".answer:has([value={answer}])").click()
        page.one(".send .primary").click()
        after(page, old)
    page.one("h1", "You have answered everything")


def test_an_answer_written_by_a_person_is_shown_and_never_run(campaign: ServedCampaign) -> None:
    hostile = "</textarea><script>document.title='hacked'</script><img src=x onerror=document.title='hacked'>"
    with browser() as page:
        page.open(f"{campaign.address}item")
        page.one("summary", "Why?").click()
        page.one("textarea[name=justification]").send_keys(hostile)
        page.one(".send .primary").click()
        page.one(".notice", "Please choose an answer first")
        assert page.driver.find_element(By.NAME, "justification").get_attribute("value") == hostile
        assert "hacked" not in page.driver.title


def test_language_and_theme_are_kept_by_the_browser(campaign: ServedCampaign) -> None:
    with browser(language="it") as page:
        page.open(campaign.address)
        page.one("h1", "Mettiti nei panni di qualcuno")
        page.one(".foot-of-page summary").click()
        page.one("#language option[value=fr]").click()
        page.one("#theme option[value=dark]").click()
        page.one(".foot-of-page details button").click()
        page.one("h1", "Mettez-vous à la place de quelqu'un")
        page.one("html[data-theme=dark]")
