"""An annotation campaign as browsers without scripts see it: forms, cookies, and what the database then holds."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("argon2")

from annotation_fixtures import (
    FREE,
    ITEMS,
    Browser,
    Postgres,
    ServedCampaign,
    decisions,
    has_postgres,
    postgres,
    served,
    small_campaign,
    small_set,
)
from dramaturg.errors import ContentError, UserError
from dramaturg.run.interview.vote_row import VoteRow
from dramaturg.web.annotation.campaign import Rules
from dramaturg.web.annotation.progress import progress_of, votes_of
from dramaturg.web.annotation.site import LANGUAGES, annotation_words
from dramaturg.web.annotation.store import Given, Store
from dramaturg.web.survey.database import StoreAwayError
from dramaturg.web.survey.door import is_password, password_hash, read_password
from dramaturg.web.survey.guideline import read_guideline
from dramaturg.web.survey.raters import add_rater, list_raters, rater_of_key, remove_rater
from dramaturg.web.survey.signing import Signer, Ticket, read_ticket

LONG_MINUTE_S = 10**10
"""A minute that no slow machine leaves in the middle of a test."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Postgres]:
    pytest.importorskip("psycopg")
    if not has_postgres():
        pytest.skip("needs PostgreSQL's initdb")
    with TemporaryDirectory(prefix="annotation-") as folder, postgres(Path(folder)) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of a database that is empty."""
    if request.param == "sqlite":
        return str(tmp_path / "annotation.db")
    cluster: Postgres = request.getfixturevalue("cluster")
    return fresh_database(cluster)


def fresh_database(cluster: Postgres) -> str:
    import psycopg

    with psycopg.connect(cluster.url, autocommit=True) as connection:
        count = connection.execute("select count(*) from pg_database").fetchone()
        assert count is not None
        name = f"campaign_{count[0]}"
        connection.execute(f"create database {name}".encode())
    return cluster.url.rpartition("/")[0] + f"/{name}"


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[ServedCampaign]:
    with served(tmp_path / "annotation.db", small_campaign()) as server:
        yield server


def votes(server: ServedCampaign) -> list[VoteRow]:
    return list(votes_of(server.store))


async def answer_all(browser: Browser, most: int = 50) -> int:
    """Answers until nothing is left; returns how many."""
    page = await browser.get("item")
    for number in range(most):
        if not page.answers:
            return number
        page = await browser.answer(page)
    raise AssertionError("there is no end")


# Answering


async def test_a_person_answers_every_item_once_and_is_thanked(db: str) -> None:
    with served(db, small_campaign()) as server:
        async with Browser(server.address) as browser:
            assert await answer_all(browser) == 4
            assert "You have answered everything" in (await browser.get("item")).text
        rows = votes(server)
    assert sorted(row.item for row in rows) == ["do-1", "feel-1", "feel-2", "right-1"]
    assert len({row.rater for row in rows}) == 1
    assert rows[0].rater.startswith("browser-")
    assert all(row.created is not None and row.created.tzinfo == UTC for row in rows)


async def test_what_a_character_can_know_is_not_asked(campaign: ServedCampaign) -> None:
    assert "fact-1" not in campaign.campaign.items
    with pytest.raises(UserError, match="nothing to annotate"):
        small_campaign(items=small_set(ITEMS[4:]))


async def test_answer_justification_and_time_are_kept(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        await browser.answer(page, page.answers[1], justification="  because\r\nof ünïcødé 悲 \0 ")
    [row] = votes(campaign)
    assert row.answer == page.answers[1]
    assert row.justification == "because\nof ünïcødé 悲 \ufffd"
    assert row.seconds is not None and 0 <= row.seconds < 30


async def test_a_skip_and_a_report_are_kept_without_an_answer_and_do_not_come_back(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        first = page.message
        page = await browser.post("item", {**page.fields, "answer": page.answers[0], "do": "skip"})
        second = page.message
        page = await browser.post("item", {**page.fields, "do": "report", "complaint": "makes no sense"})
        assert page.message not in {first, second}
    skipped, reported = votes(campaign)
    assert skipped.skipped and not skipped.answer
    assert reported.reported and reported.justification == "makes no sense"
    assert progress_of(campaign.store).reports[0].item == reported.item
    assert progress_of(campaign.store).total.answers == 0


async def test_a_form_without_an_answer_is_shown_again_with_what_was_written(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        for answer in ({}, {"answer": "no such"}, {"answer": ""}):
            again = await browser.post("item", {**page.fields, **answer, "justification": "I wrote <this>"})
            assert again.status == 422
            assert "Please choose an answer first" in again.text
            assert "I wrote &lt;this&gt;</textarea>" in again.text
            assert again.message == page.message
        assert (await browser.answer(again)).status == 200
    assert len(votes(campaign)) == 1


async def test_a_text_that_is_too_long_is_kept_in_the_form_and_not_in_the_database(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        again = await browser.answer(page, justification="x" * 2001)
        assert again.status == 422
        assert "x" * 2001 in again.text
    assert votes(campaign) == []


async def test_words_of_people_characters_and_sets_are_never_markup(tmp_path: Path) -> None:
    mark = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    hash_ = password_hash("a long password")
    with served(tmp_path / "db", small_campaign(), owner=hash_) as server:
        async with Browser(server.address) as browser:
            page = await browser.get("item")
            while "Rook" not in page.text:
                page = await browser.answer(page)
            assert "Rook &lt;of the Mill&gt;" in page.text and "<of the Mill>" not in page.text
            page = await browser.answer(page, "nothing", justification=mark)
            assert mark not in page.text
            await browser.post("item", {**page.fields, "do": "report", "complaint": mark})
            await browser.post("progress", {"password": "a long password"})
            shown = await browser.get("progress")
            assert "onerror" in shown.text and "<img src=x" not in shown.text and "<script>alert" not in shown.text
        assert progress_of(server.store).reports[0].justification == mark


# Tickets, cookies, replays


async def test_a_forged_torn_or_foreign_ticket_stores_nothing(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser, Browser(campaign.address) as other:
        page, foreign = await browser.get("item"), await other.get("item")
        ticket = page.fields["ticket"]
        later = str(int(ticket.partition(".")[0]) + 1) + "." + ticket.partition(".")[2]
        for forged in ("", ".", "..", "a.b.c", ticket[:-1], ticket + "0", later, foreign.fields["ticket"], "é.ü.x"):
            refused = await browser.post("item", {"ticket": forged, "answer": "yes", "do": "answer"})
            assert refused.status == 403, forged
            assert "Nothing was saved" in refused.text
    assert votes(campaign) == []


async def test_a_browser_without_cookies_is_told_so(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        browser.http.cookie_jar.clear()
        refused = await browser.answer(page)
        assert refused.status == 403
        assert "cookies" in refused.text


async def test_a_forged_cookie_makes_a_new_browser(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        await answer_all(browser)
        for cookie in ("", "x", "cjp0b3Zl.0000", "Y3JvdyI.é"):
            browser.keep_cookie("annotation-visitor", cookie)
            assert (await browser.get("item")).answers


async def test_a_replayed_form_is_stored_once_and_the_next_item_comes(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        await browser.answer(page, justification="first")
        again = await browser.answer(page, justification="second")
        assert "You had answered that one already" in again.text
        assert again.message != page.message
    [row] = votes(campaign)
    assert row.justification == "first"
    assert campaign.campaign.items[row.item].message == page.message


async def test_two_tabs_that_answer_at_once_store_one_vote(db: str) -> None:
    with served(db, small_campaign()) as server:
        async with Browser(server.address) as browser:
            page = await browser.get("item")
            pages = await asyncio.gather(*(browser.answer(page, justification=str(tab)) for tab in range(12)))
            assert {answered.status for answered in pages} == {200}
        assert len(votes(server)) == 1
        counts = progress_of(server.store)
    assert counts.total.answers == 1
    assert sum(part.answers for part in counts.categories) == 1


async def test_loading_the_page_anew_shows_the_same_item(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        assert len({(await browser.get("item")).message for _ in range(6)}) == 1


async def test_a_page_that_was_open_too_long_is_confirmed_once_more(tmp_path: Path) -> None:
    with served(tmp_path / "db", small_campaign(Rules(minimum_s=0, ticket_h=0.0001))) as server:
        async with Browser(server.address) as browser:
            page = await browser.get("item")
            await asyncio.sleep(0.5)
            again = await browser.answer(page, justification="late")
            assert again.status == 409
            assert "late</textarea>" in again.text
            await browser.answer(again, justification="late")
        assert [row.justification for row in votes(server)] == ["late"]


def test_a_mark_is_good_for_one_purpose_one_rater_and_one_campaign() -> None:
    signer = Signer("secret")
    text = Ticket("item", 12).signed(signer, "anna")
    assert read_ticket(signer, text, "anna") == Ticket("item", 12)
    assert read_ticket(signer, text, "ben") is None
    assert read_ticket(Signer("another"), text, "anna") is None
    signed = signer.sign("visitor", "c:1")
    assert signer.read("visitor", signed) == "c:1"
    assert signer.read("owner", signed) is None
    assert signer.mark("a", "bc") != signer.mark("ab", "c")


# Fair allocation


async def test_items_with_fewest_answers_come_first(db: str) -> None:
    with served(db, small_campaign(items=decisions(12))) as server:
        for number in range(30):
            async with Browser(server.address) as browser:
                await browser.answer(await browser.get("item"))
            counts = progress_of(server.store).categories[0].by_answers
            assert set(counts) <= {(number + 1) // 12, (number + 1) // 12 + 1}


def test_ties_are_broken_evenly_by_chance(tmp_path: Path) -> None:
    with closing(Store.open(str(tmp_path / "db"), create=True)) as store:
        store.begin(small_campaign(items=decisions(10)))
        shown = Counter(store.offer(f"browser-{number}", FREE).item for number in range(600))
    assert len(shown) == 10
    assert min(shown.values()) > 20 and max(shown.values()) < 100  # 60 each, five standard deviations at most


async def test_an_item_with_enough_answers_is_shown_no_more(tmp_path: Path) -> None:
    rules = Rules(minimum_s=0, enough=2, most_by_address=0, most_by_browser=0)
    with served(tmp_path / "db", small_campaign(rules)) as server:
        counts: list[int] = []
        for _ in range(3):
            async with Browser(server.address) as browser:
                counts.append(await answer_all(browser))
        assert counts == [4, 4, 0]


async def test_the_order_of_emotions_is_a_persons_own_and_stays(campaign: ServedCampaign) -> None:
    orders: set[tuple[str, ...]] = set()
    for _ in range(6):
        async with Browser(campaign.address) as browser:
            page = await browser.get("item")
            while len(page.answers) != 13:
                page = await browser.answer(page)
            orders.add(tuple(page.answers))
            assert (await browser.get("item")).answers == page.answers
    assert len(orders) > 1
    assert len({frozenset(order) for order in orders}) == 1


# Honeypots, haste, pace


def honeypots(folder: Path, **changes: object) -> Path:
    row = {"id": "trap", "character": "tove", "category": "decision", "message": "Are you Tove?", "expected": "yes"}
    path = folder / "honeypots.jsonl"
    path.write_text(json.dumps(row | changes) + "\n", encoding="utf-8")
    return path


async def test_a_failed_honeypot_is_recorded_and_not_shown(tmp_path: Path) -> None:
    rules = Rules(minimum_s=0, honeypot_every=1, most_by_address=0, most_by_browser=0)
    with served(tmp_path / "db", small_campaign(rules, honeypots=honeypots(tmp_path))) as server:
        async with Browser(server.address) as browser:
            page = await browser.get("item")
            assert page.message == "Are you Tove?"
            assert "trap" not in page.text and "honeypot" not in page.text
            following = await browser.answer(page, "no")
            assert following.message != "Are you Tove?" and "notice" not in following.text
            await answer_all(browser)
        found = progress_of(server.store)
        [row] = [row for row in votes(server) if row.honeypot]
    assert (row.answer, row.expected) == ("no", "yes")
    assert (found.raters[0].honeypots, found.raters[0].failed) == (1, 1)
    assert found.raters[0].answers == 5
    assert sum(part.items for part in found.categories) == 4


@pytest.mark.parametrize(
    "changes",
    [{"expected": ""}, {"expected": "maybe"}, {"category": "knows"}, {"character": "nobody"}, {"id": "do-1"}],
)
def test_a_honeypot_that_cannot_be_asked_is_an_error_with_its_line(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(ContentError, match=r"honeypots\.jsonl:1"):
        small_campaign(honeypots=honeypots(tmp_path, **changes))


async def test_a_hasty_answer_is_marked_and_taken(tmp_path: Path) -> None:
    with served(tmp_path / "db", small_campaign(Rules(minimum_s=60))) as server:
        async with Browser(server.address) as browser:
            await browser.answer(await browser.get("item"))
        assert len(votes(server)) == 1
        assert progress_of(server.store).total.hasty == 1


@pytest.mark.parametrize("rules", [Rules(most_by_browser=2), Rules(most_by_browser=0, most_by_address=2)])
async def test_who_sends_too_much_waits_and_loses_nothing(
    db: str, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dramaturg.web.survey.store.MINUTE_S", LONG_MINUTE_S)
    with served(db, small_campaign(rules)) as server:
        async with Browser(server.address) as browser:
            page = await browser.get("item")
            for _ in range(2):
                page = await browser.answer(page)
            refused = await browser.answer(page, justification="my words")
            assert refused.status == 429
            assert refused.headers["Retry-After"] == "60"
            assert "my words</textarea>" in refused.text
        assert len(votes(server)) == 2
        assert progress_of(server.store).categories[0].answers <= 2


async def test_nothing_of_an_address_is_kept_beyond_its_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "annotation.db"
    with served(path, small_campaign(Rules())) as server:
        async with Browser(server.address) as browser:
            await answer_all(browser)
        assert b"127.0.0.1" not in b"".join(file.read_bytes() for file in tmp_path.glob("annotation.db*"))
        monkeypatch.setattr("dramaturg.web.survey.store.time.time", lambda: 4e9)
        server.store.forget_pace()
        with server.store.database.begin() as connection:
            assert connection.exec_driver_sql("select count(*) from annotation_pace").scalar() == 0


# Named raters


async def test_a_named_rater_reads_the_guideline_first_and_votes_under_the_name(db: str) -> None:
    with served(db, small_campaign(guideline="# Ours\n\nRead.\n\n- <b>one</b>\n- two")) as server:
        key = add_rater(server.store, "anna")
        async with Browser(server.address) as browser:
            page = await browser.get(f"rater/{key}")
            assert page.url.endswith("/guideline")
            assert "<h2>Ours</h2>" in page.text and "<li>&lt;b&gt;one&lt;/b&gt;</li>" in page.text
            assert (await browser.get("item")).url.endswith("/guideline")
            page = await browser.post("guideline", page.fields)
            assert page.url.endswith("/item")
            await browser.answer(page)
        async with Browser(server.address) as again:
            assert (await again.get(f"rater/{key}")).url.endswith("/item")
        assert [row.rater for row in votes(server)] == ["anna"]
        assert [(rater.name, rater.began, rater.votes) for rater in list_raters(server.store)] == [("anna", True, 1)]


async def test_a_removed_rater_can_neither_enter_nor_answer(campaign: ServedCampaign) -> None:
    key = add_rater(campaign.store, "anna")
    async with Browser(campaign.address) as browser:
        page = await browser.get(f"rater/{key}")
        page = await browser.post("guideline", page.fields)
        remove_rater(campaign.store, "anna")
        refused = await browser.answer(page)
        assert refused.status == 403
        assert "annotation-visitor" not in browser.cookies
        assert (await browser.get(f"rater/{key}")).status == 403
        assert (await browser.get("rater/nonsense")).status == 403
    assert votes(campaign) == []


async def test_a_campaign_for_raters_only_shows_strangers_no_item(tmp_path: Path) -> None:
    with served(tmp_path / "db", small_campaign(Rules(raters_only=True))) as server:
        async with Browser(server.address) as browser:
            page = await browser.get("item")
            assert page.url == server.address
            assert "invited people only" in page.text


def test_a_key_is_not_in_the_database_and_a_name_stands_once(db: str) -> None:
    with closing(Store.open(db, create=True)) as store:
        key = add_rater(store, "anna")
        found = rater_of_key(store, key)
        assert found is not None and found.name == "anna"
        with pytest.raises(UserError, match="already"):
            add_rater(store, "anna")
        for name in ("", "browser-1", "a b", "<b>", "x" * 61):
            with pytest.raises(UserError, match="cannot be used"):
                add_rater(store, name)
        with pytest.raises(UserError, match="no rater"):
            remove_rater(store, "ben")
        with store.database.begin() as connection:
            assert key not in str(connection.exec_driver_sql("select * from annotation_rater").all())


# The owner


async def test_the_owner_enters_with_the_password_alone_sees_progress_and_takes_the_votes(tmp_path: Path) -> None:
    with served(tmp_path / "db", small_campaign(), owner=password_hash("a long password")) as server:
        async with Browser(server.address) as person:
            await answer_all(person)
            assert 'type="password"' in (await person.get("progress")).text
            assert 'type="password"' in (await person.get("progress/votes.jsonl")).text
        async with Browser(server.address) as owner:
            assert (await owner.post("progress", {"password": "wrong"})).status == 403
            assert (await owner.post("progress", {})).status == 403
            page = await owner.post("progress", {"password": "a long password"})
            assert "browser-" in page.text and 'type="password"' not in page.text
            sent = await owner.get("progress/votes.jsonl")
            assert [VoteRow.model_validate_json(line) for line in sent.text.splitlines()] == votes(server)
            until = owner.cookies["annotation-owner"].partition(".")[0]
            owner.keep_cookie("annotation-owner", f"{int(until) + 9}.{'0' * 32}")
            await owner.post("progress/leave", {})
            assert 'type="password"' in (await owner.get("progress")).text


async def test_a_password_is_tried_only_so_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dramaturg.web.survey.door.TRIES_A_MINUTE", 3)
    monkeypatch.setattr("dramaturg.web.survey.store.MINUTE_S", LONG_MINUTE_S)
    with served(tmp_path / "db", small_campaign(), owner=password_hash("a long password")) as server:
        async with Browser(server.address) as browser:
            tries = [(await browser.post("progress", {"password": str(number)})).status for number in range(4)]
            assert tries == [403] * 3 + [429]
            assert (await browser.post("progress", {"password": "a long password"})).status == 429


async def test_without_a_password_nobody_is_the_owner(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        assert (await browser.get("progress")).status == 403
        assert (await browser.post("progress", {"password": ""})).status == 403
        assert (await browser.get("progress/votes.jsonl")).status == 403


def test_the_password_file_may_hold_the_password_or_its_hash(tmp_path: Path) -> None:
    file = tmp_path / "password"
    for text in ("my password\n", password_hash("my password") + "\n"):
        file.write_text(text, encoding="utf-8")
        hashed = read_password(file)
        assert hashed.startswith("$argon2id$")
        assert is_password("my password", hashed) and not is_password("my password ", hashed)
    for text in ("", " \n", "$argon2id$nonsense"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match="password"):
            read_password(file)


# The database goes away and comes back


async def test_an_answer_survives_postgres_going_away(cluster: Postgres) -> None:
    with served(fresh_database(cluster), small_campaign()) as server:
        async with Browser(server.address) as browser:
            page = await browser.get("item")
            page = await browser.answer(page)
            cluster.stop()
            try:
                refused = await browser.answer(page, justification="my words")
                assert refused.status == 503
                assert "my words</textarea>" in refused.text
                assert refused.message == page.message
                away = await browser.get("item")
                assert away.status == 503 and "One moment" in away.text and 'http-equiv="refresh"' in away.text
                with pytest.raises(StoreAwayError):
                    progress_of(server.store)
            finally:
                cluster.start()
            following = await browser.answer(refused, justification="my words")
            assert following.status == 200
            assert await answer_all(browser) == 2
        rows = votes(server)
    assert len(rows) == 4 and rows[1].justification == "my words"


async def test_an_answer_survives_the_sqlite_file_going_away(tmp_path: Path) -> None:
    path = tmp_path / "campaign" / "annotation.db"
    with served(path, small_campaign()) as server:
        async with Browser(server.address) as browser:
            page = await browser.answer(await browser.get("item"))
            path.parent.rename(tmp_path / "elsewhere")
            refused = await browser.answer(page, justification="my words")
            assert refused.status == 503
            assert (await browser.get("item")).status == 503
            assert (await browser.get("")).status == 200
            (tmp_path / "elsewhere").rename(path.parent)
            assert (await browser.answer(refused, justification="my words")).status == 200
        rows = votes(server)
    assert len(rows) == 2 and rows[1].justification == "my words"


async def test_a_campaign_goes_on_after_a_restart(db: str) -> None:
    with served(db, small_campaign()) as server:
        async with Browser(server.address) as browser:
            page = await browser.answer(await browser.get("item"))
            cookie = browser.cookies["annotation-visitor"]
    with served(db, small_campaign()) as server:
        async with Browser(server.address) as browser:
            browser.keep_cookie("annotation-visitor", cookie)
            assert (await browser.answer(page)).status == 200
            assert await answer_all(browser) == 2


# One database, one set


def test_a_database_holds_one_set_and_votes_belong_to_what_was_read(tmp_path: Path) -> None:
    with closing(Store.open(str(tmp_path / "db"), create=True)) as store:
        first = small_campaign()
        store.begin(first)
        given = Given("anna", False, "yes", "", False, False, 9.0, "")
        assert store.keep(given, first.items["do-1"], FREE) == "kept"
        other = small_set()
        renamed = type(other)(
            other.head.model_copy(update={"id": "other"}), other.characters, other.items, (), other.digest
        )
        with pytest.raises(UserError, match="holds the campaign"):
            store.begin(small_campaign(items=renamed))
        reworded = [item.model_copy(update={"message": "Otherwise"}) for item in ITEMS]
        with pytest.raises(UserError, match="do-1"):
            store.begin(small_campaign(items=small_set(tuple(reworded))))
        unvoted = [ITEMS[2], *reworded[:2]]
        store.begin(small_campaign(items=small_set(tuple(unvoted))))
        assert sum(part.items for part in progress_of(store).categories) == 3
        assert len(list(votes_of(store))) == 1


@pytest.mark.parametrize("location", ["", "mysql://a@b/c", "sqlite://", "://", "postgresql://[::1/x"])
def test_a_place_that_is_none_is_refused_without_showing_it(location: str) -> None:
    with pytest.raises(UserError):
        Store.open(location, create=True)


def test_a_campaign_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no campaign"):
        Store.open(str(tmp_path / "none.db"))
    assert not list(tmp_path.iterdir())
    (tmp_path / "empty.db").touch()
    with pytest.raises(UserError, match="no campaign"):
        Store.open(str(tmp_path / "empty.db"))


# Pages


async def test_pages_load_nothing_from_elsewhere_and_run_no_script_of_others(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        for path in ("", "item", "guideline", "progress"):
            page = await browser.get(path)
            assert "script-src 'self';" in page.headers["Content-Security-Policy"]
            assert "unsafe" not in page.headers["Content-Security-Policy"]
            assert "://" not in page.text.replace(campaign.address, "")
            assert " style=" not in page.text and " onclick" not in page.text
        for file in ("keys.js", "annotation.css", "shared/style.css", "shared/mark.svg"):
            assert (await browser.get(f"static/{file}")).status == 200


async def test_another_site_cannot_send_forms(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        for origin in ("http://evil.example", "null"):
            refused = await browser.post("item", {**page.fields, "answer": page.answers[0]}, {"Origin": origin})
            assert refused.status == 403
        browser.headers["Host"] = "rebound.example"
        assert (await browser.get("item")).status == 403
    assert votes(campaign) == []


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"ticket=" + b"x" * 70_000, "application/x-www-form-urlencoded", 413),
        (b"&".join(b"a%d=1" % number for number in range(50)), "application/x-www-form-urlencoded", 400),
        (b"\xff\xfe=1", "application/x-www-form-urlencoded", 400),
        (b"{}", "application/json", 415),
        (b"", "application/x-www-form-urlencoded", 403),
    ],
)
async def test_a_body_that_is_no_form_of_ours_is_refused_in_words(
    campaign: ServedCampaign, body: bytes, kind: str, status: int
) -> None:
    async with Browser(campaign.address) as browser:
        refused = await browser.post("item", body, {"Content-Type": kind})
        assert refused.status == status
        assert "<main" in refused.text and "Traceback" not in refused.text


async def test_a_wrong_address_is_told_so(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address) as browser:
        for path in ("nothing", "item/1", "static/../app.py", "static/%2e%2e/app.py"):
            page = await browser.get(path)
            assert page.status == 404
        assert (await browser.post("", {})).status == 405


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_the_same_texts_with_the_same_places(language: str) -> None:
    english, other = annotation_words("en").texts, annotation_words(language).texts
    assert set(other) == set(english)
    for key, text in english.items():
        assert sorted(part.partition("}")[0] for part in text.split("{")[1:]) == sorted(
            part.partition("}")[0] for part in other[key].split("{")[1:]
        ), key


async def test_the_language_is_the_browsers_until_another_one_is_chosen(campaign: ServedCampaign) -> None:
    async with Browser(campaign.address, {"Accept-Language": "fr-CH,fr;q=0.9"}) as browser:
        assert '<html lang="fr" data-theme="auto">' in (await browser.get("")).text
        page = await browser.post("look", {"language": "zh", "theme": "dark", "back": "/item"})
        assert page.url.endswith("/item")
        assert '<html lang="zh" data-theme="dark">' in page.text
        page = await browser.post("look", {"language": "xx", "theme": "<b>", "back": "//evil.example"})
        assert page.url == campaign.address
        assert '<html lang="zh" data-theme="dark">' in page.text


def test_labels_are_shown_in_the_interfaces_language_and_unknown_ones_as_they_are() -> None:
    assert annotation_words("it").name("labels", "anger") == "Rabbia"
    assert annotation_words("it").name("labels", "wistful_calm") == "wistful calm"


def test_a_guideline_has_heads_paragraphs_and_lists() -> None:
    blocks = read_guideline("# One\ntext\nmore\n\n- a\n- b\n\n\n#Two\n")
    assert [(block.kind, block.lines) for block in blocks] == [
        ("head", ("One",)),
        ("paragraph", ("text more",)),
        ("list", ("a", "b")),
        ("head", ("Two",)),
    ]
