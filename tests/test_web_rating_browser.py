"""Two people rate played roles in Chromium, by keys and on a phone; the owner then sees how far they agree."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from dramaturg.web.rating.progress import sheets_of, values_by_person
from dramaturg.web.survey.door import password_hash
from dramaturg.web.survey.raters import add_rater
from rating_fixtures import IDS
from rating_web_fixtures import PASSWORD, SECRET_MODEL, ServedRating, campaign_over, scenes, served_rating
from web_fixtures import CHROMIUM, DRIVER, Page, browser, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM.exists() and DRIVER.exists()), reason="needs Chromium and its driver"),
]

ROLES = 3


def press(page: Page, key: str) -> None:
    page.driver.switch_to.active_element.send_keys(key)


def touch(page: Page, css: str) -> None:
    """Touches what a finger would first have scrolled to, away from the bar at the foot of a narrow page."""
    element = page.all(css)[0]
    page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)  # pyright: ignore[reportUnknownMemberType]
    element.click()


def ticket(page: Page) -> str:
    return page.driver.find_element(By.NAME, "ticket").get_attribute("value") or ""


def after(page: Page, old: str) -> None:
    until(lambda: old not in page.driver.page_source and page.all("#main"), "the next page")


def sign_in(page: Page, server: ServedRating, name: str) -> None:
    page.open(f"{server.address}rater/{add_rater(server.store, name)}")
    page.one("h1", "How to rate")
    page.one("#main .button.primary").click()
    page.one("#item")


def number_of(page: Page) -> int:
    """Returns the number of the evening that the role speaks of: what is rated after it differs from role to role."""
    return int(page.one(".line.own:last-child .line-text").text.rstrip(".")[-1])


def test_two_people_rate_and_the_owner_sees_their_agreement(tmp_path: Path) -> None:
    with served_rating(
        tmp_path / "out", campaign_over(scenes(tmp_path, ROLES)), owner=password_hash(PASSWORD)
    ) as server:
        with browser() as page:
            _by_keys(page, server)
            assert SECRET_MODEL not in page.driver.page_source
            assert not [line for line in page.complaints() if "favicon" not in line]
        with browser(width=390, height=844, dark=True) as page:
            _by_touch(page, server)
            _owner_sees_both(page, server)
        with browser() as page:
            _owner_sees_both(page, server)
        ratings = values_by_person(sheets_of(server.store))
    assert {name: len(given) for name, given in ratings.items()} == {"anna": 7 * ROLES, "ben": 7 * ROLES - 1}


def _by_keys(page: Page, server: ServedRating) -> None:
    """Rates by keys alone; in the middle of the first role the page is closed, and opened again."""
    sign_in(page, server, "anna")
    for role in range(ROLES):
        value = str(number_of(page) + 1)
        keys = len(IDS)
        if role == 0:
            page.driver.find_element(By.TAG_NAME, "body").send_keys(value)
            press(page, value)
            page.one("#saving", "Saved")
            page.open(f"{server.address}item")
            assert len(page.all(".point:has(:checked)")) == 2
            assert page.shows_all_in_width()
            keys -= 2
        old = ticket(page)
        page.driver.find_element(By.TAG_NAME, "body").send_keys(value)
        for _ in range(keys - 1):
            press(page, value)
        page.one("#saving", "Saved")
        press(page, Keys.ENTER)
        after(page, old)
    page.one("h1", "You have rated everything")


def _by_touch(page: Page, server: ServedRating) -> None:
    """Rates by touch; forgets a scale at first, cannot tell one, and writes a note."""
    sign_in(page, server, "ben")
    for role in range(ROLES):
        assert page.shows_all_in_width()
        value, old = min(number_of(page) + 2, 5), ticket(page)
        for metric in IDS[1:] if role == 0 else IDS:
            touch(page, f"#scale-{metric} .point:has([value='{value}'])")
        if role == 0:
            touch(page, "#scale-immersion summary")
            page.one("#scale-immersion textarea").send_keys("123 keys are letters here")
            page.one(".send .primary").click()
            page.one("#problem", f"Still open: {page.one('.open-scale legend').text}")
            touch(page, f"#scale-{IDS[0]} .cannot")
            page.one(f"#scale-{IDS[0]} select")
            old = ticket(page)
        page.one(".send .primary").click()
        after(page, old)
    page.one("h1", "You have rated everything")


def _owner_sees_both(page: Page, server: ServedRating) -> None:
    page.open(f"{server.address}progress")
    page.one("#password").send_keys(PASSWORD, Keys.ENTER)
    page.one("h2", "Whether people agree")
    page.one("h2", "Person against person: anna and ben")
    names = page.texts("#agreement tbody th")
    assert names[0] == "Knowledge Accuracy" and names[-1] == "All metrics"
    immersion = page.texts("#agreement tbody tr:nth-child(5) td")
    assert immersion[0] == str(ROLES)
    assert immersion[3].startswith("0.667")  # steps of 1: rows 2, people 3/2, error 0: 2 / (2 + 2 * 3/2 / 3)
    assert page.shows_all_in_width()
