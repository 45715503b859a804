"""People rate played roles, as browsers without scripts see it: sheets, who sees what, agreement and export."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("argon2")

from annotation_fixtures import Browser, Page
from dramaturg.cli.main import app
from dramaturg.errors import UserError
from dramaturg.judge.rating.reliability import Values
from dramaturg.judge.rating.rubric import rubric_in
from dramaturg.judge.rating.score import AVERAGE
from dramaturg.run.person_ratings import by_person, read_person_ratings
from dramaturg.web.rating.agreement import agreement_of, judges_of
from dramaturg.web.rating.campaign import RatingRules
from dramaturg.web.rating.export import ratings_csv, ratings_jsonl
from dramaturg.web.rating.progress import progress_of, sheets_of, values_by_person
from dramaturg.web.rating.sheet import CANNOT_TELL, MOST_CHARACTERS, Mark, marks_of, with_marks
from dramaturg.web.rating.site import LANGUAGES, rating_words
from dramaturg.web.rating.store import FRESH_S, Filled, RatingStore
from dramaturg.web.survey.door import password_hash
from dramaturg.web.survey.raters import add_rater, remove_rater
from rating_fixtures import IDS
from rating_web_fixtures import (
    PASSWORD,
    SECRET_MODEL,
    SHEET,
    ServedRating,
    campaign_over,
    filled,
    judged,
    scene,
    scenes,
    served_rating,
    written,
)

NO_LIMIT = RatingRules(most_by_browser=0, most_by_address=0)


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[ServedRating]:
    with served_rating(tmp_path / "out", campaign_over(scenes(tmp_path, 3))) as server:
        yield server


async def hand_in(browser: Browser, page: Page, values: Any = SHEET, **more: str) -> Page:
    return await browser.post("item", {**page.fields, **filled(values, do="done"), **more})


def checked(page: Page) -> dict[str, str]:
    """Returns what is chosen on a page, by metric."""
    return dict(re.findall(r'name="rating\.(\w+)" value="(\w+)"[^>]* checked', page.text))


def sheet(person: str, role: str, marks: dict[str, Mark], state: Any = "done", **more: Any) -> Filled:
    return Filled(person, False, role, marks, state, time.time() - 60, "here", **more)


def rated(values: dict[str, int]) -> dict[str, Mark]:
    return {metric: Mark(rating=value) for metric, value in values.items()}


# Rating


async def test_a_person_rates_every_role_once_and_is_thanked(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        shown: list[str] = []
        while page.fields:
            shown.append(re.findall(r"evening number (\d)", page.text)[0])
            page = await hand_in(browser, page)
        assert "You have rated everything" in page.text
    assert sorted(shown) == ["0", "1", "2"]
    found = sheets_of(campaign.store)
    assert [one.state for one in found] == ["done"] * 3
    assert all(mark.rating == 4 for one in found for mark in one.marks.values())


async def test_scene_profile_trajectory_and_anchors_stand_on_one_page(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
    for text in ("A lock at dusk, in flood.", "A lock keeper, blunt and careful.", "Open the gate, Mara"):
        assert text in page.text
    for metric in rubric_in("character", "en").metrics:
        assert metric.name in page.text
        assert all(anchor in page.text for anchor in metric.anchors.values())
    assert page.text.count('class="line own ') == 4
    assert "&lt;" in page.text and "The Lock <" not in page.text


async def test_nothing_tells_a_rater_the_model_or_what_others_said(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as first, Browser(campaign.address) as second:
        page = await first.get("item")
        await hand_in(first, page, **{"note.immersion": "a remark of the first person"})
        for path in ("", "guideline", "item", "progress", "progress/people.csv"):
            seen = (await second.get(path)).text
            assert SECRET_MODEL not in seen and "the-model" not in seen
            assert "a remark of the first person" not in seen
        assert not checked(await second.get("item"))


async def test_what_the_role_did_not_see_and_what_a_person_played_is_not_rated(tmp_path: Path) -> None:
    played = scene(0)
    hidden = played.turns[1].model_copy(update={"seen_by": ("ilja", "narrator"), "text": "Whispered elsewhere."})
    source = written(
        tmp_path / "t.jsonl", played.model_copy(update={"turns": (played.turns[0], hidden, *played.turns[2:])})
    )
    found = campaign_over(source)
    assert [role.key[1] for role in found.roles.values()] == ["mara"]
    [role] = found.roles.values()
    assert "Whispered elsewhere." not in [line.text for line in role.lines]
    assert [line.speaker for line in role.lines if line.own] == ["Mara Voss"] * 4


async def test_guideline_and_scales_are_in_the_language_of_the_scene(tmp_path: Path) -> None:
    source = written(tmp_path / "t.jsonl", scene(0), scene(1, language="zh"))
    with served_rating(tmp_path / "out", campaign_over(source)) as server:
        async with Browser(server.address, {"Accept-Language": "zh"}) as browser:
            page = await browser.get("guideline")
            chinese, english = page.text.index("如何评分"), page.text.index("What you rate")
            assert chinese < english and "知识准确性" in page.text and "Knowledge Accuracy" in page.text
            page = await browser.get("item")
            assert ("知识准确性" in page.text) == ("evening number 1" in page.text)
            assert ("Knowledge Accuracy" in page.text) == ("evening number 0" in page.text)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_every_text_with_the_same_places(language: str) -> None:
    english, other = rating_words("en").texts, rating_words(language).texts
    assert set(english) == set(other)
    for key, text in english.items():
        assert sorted(re.findall(r"{\w+}", text)) == sorted(re.findall(r"{\w+}", other[key])), key


# Saving and resuming


async def test_a_half_filled_sheet_is_saved_and_found_again(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        fields = {**page.fields, **filled({"immersion": 2}, do="save"), "note.adaptability": "  slow\r\nto answer "}
        page = await browser.post("item", fields)
        assert "Saved. You may close this page" in page.text
        again = await browser.get("item")
    assert checked(again) == {"immersion": "2"}
    assert "slow\nto answer</textarea>" in again.text
    [kept] = sheets_of(campaign.store)
    assert kept.state == "open" and kept.marks["adaptability"] == Mark(note="slow\nto answer")


async def test_an_open_scale_keeps_a_sheet_from_being_handed_in_and_nothing_is_lost(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        page = await hand_in(browser, page, {metric: 3 for metric in IDS if metric != "adaptability"})
        assert page.status == 422 and "Still open: Adaptability." in page.text
        assert len(checked(page)) == 6
        page = await browser.post("item", {**page.fields, **filled({"adaptability": 5}, do="done")})
    [kept] = sheets_of(campaign.store)
    assert kept.state == "done"
    assert {mark.rating for metric, mark in kept.marks.items() if metric != "adaptability"} == {3}
    assert kept.marks["adaptability"].rating == 5


async def test_who_cannot_tell_says_why_and_the_rating_is_missing(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        values = {**SHEET, "immersion": CANNOT_TELL, "adaptability": CANNOT_TELL}
        page = await hand_in(browser, page, values, **{"missing.immersion": "not_known"})
        assert page.status == 200
    [kept] = sheets_of(campaign.store)
    assert (kept.marks["immersion"].rating, kept.marks["immersion"].missing) == (None, "not_known")
    assert kept.marks["adaptability"].missing == "not_shown"


async def test_the_script_saves_one_scale_and_two_tabs_do_not_undo_each_other(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as browser:
        one, other = await browser.get("item"), await browser.get("item")
        reply = await browser.post("item", {**one.fields, **filled({"immersion": 5}, do="draft")})
        assert (reply.status, reply.text) == (204, "")
        await browser.post("item", {**other.fields, **filled({"adaptability": 1}, do="save")})
        assert checked(await browser.get("item")) == {"immersion": "5", "adaptability": "1"}


async def test_a_second_hand_in_from_another_tab_or_by_the_back_button_changes_nothing(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        await hand_in(browser, page)
        again = await hand_in(browser, page, dict.fromkeys(IDS, 1))
        assert "You had handed that one in already" in again.text
        draft = await browser.post("item", {**page.fields, **filled({"immersion": 1}, do="draft")})
        assert draft.status == 200
    [kept] = sheets_of(campaign.store)
    assert {mark.rating for mark in kept.marks.values()} == {4}


async def test_a_role_that_is_passed_over_does_not_come_back_and_is_not_rated(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as browser:
        page = await browser.get("item")
        first = re.findall(r"evening number (\d)", page.text)
        page = await browser.post("item", {**page.fields, "do": "pass"})
        assert "Passed over." in page.text and re.findall(r"evening number (\d)", page.text) != first
    assert not values_by_person(sheets_of(campaign.store))
    assert not ratings_jsonl(sheets_of(campaign.store))


async def test_a_form_of_another_browser_or_a_forged_value_is_not_taken(campaign: ServedRating) -> None:
    async with Browser(campaign.address) as one, Browser(campaign.address) as other:
        page = await one.get("item")
        await other.get("item")
        assert (await hand_in(other, page)).status == 403
        forged = {**SHEET, "immersion": 6, "adaptability": "null"}
        assert (await hand_in(one, page, forged)).status == 422
    [kept] = sheets_of(campaign.store)
    assert "immersion" not in kept.marks and "adaptability" not in kept.marks


async def test_floods_are_told_to_wait(tmp_path: Path) -> None:
    with served_rating(tmp_path / "out", campaign_over(scenes(tmp_path, 2), most_by_address=2)) as server:
        async with Browser(server.address) as browser:
            page = await browser.get("item")
            statuses = [
                (await browser.post("item", {**page.fields, **filled({"immersion": 1}, do="draft")})).status
                for _ in range(3)
            ]
    assert statuses == [204, 204, 429]


def test_a_mark_is_read_from_what_a_form_can_say() -> None:
    fields = {"rating.a": "5", "rating.b": "0", "rating.c": CANNOT_TELL, "missing.c": "made up", "note.d": "x" * 900}
    found = marks_of(fields, ("a", "b", "c", "d", "e"))
    assert found == {"a": Mark(rating=5), "c": Mark(missing="not_shown"), "d": Mark(note="x" * MOST_CHARACTERS)}
    assert with_marks({"a": Mark(rating=1), "e": Mark(rating=2)}, found)["a"].rating == 5
    assert with_marks({"a": Mark(rating=1), "e": Mark(rating=2)}, found)["e"].rating == 2


# Who is shown what


def test_every_person_has_an_order_of_their_own_and_roles_are_rated_equally_often(tmp_path: Path) -> None:
    found = campaign_over(scenes(tmp_path, 12))
    orders: list[list[str]] = []
    with closing(RatingStore.in_folder(tmp_path / "out", create=True)) as store:
        store.begin(found)
        for person in range(6):
            order: list[str] = []
            for _ in range(6):
                offer = store.offer(f"p{person}", NO_LIMIT)
                assert offer.role is not None and store.offer(f"p{person}", NO_LIMIT) == offer
                assert store.keep(sheet(f"p{person}", offer.role, rated(SHEET)), NO_LIMIT) == "kept"
                order.append(offer.role)
            orders.append(order)
        progress = progress_of(store)
    assert Counter(role for order in orders for role in order) == dict.fromkeys(found.roles, 3)
    assert len({tuple(order) for order in orders}) == 6
    assert progress.roles == {"en": {3: 12}}


def test_a_role_is_rated_by_as_many_people_as_wanted(tmp_path: Path) -> None:
    found = campaign_over(scenes(tmp_path, 4))
    rules = RatingRules(people=2, most_by_browser=0, most_by_address=0)
    with closing(RatingStore.in_folder(tmp_path / "out", create=True)) as store:
        store.begin(found)
        for person in "abc":
            while (role := store.offer(person, rules).role) is not None:
                store.keep(sheet(person, role, rated(SHEET)), rules)
        assert progress_of(store).roles == {"en": {2: 4}}
        assert store.offer("d", rules).left == 0


def test_a_sheet_that_was_begun_is_offered_first_and_blocks_a_role_only_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = campaign_over(scenes(tmp_path, 1))
    rules = RatingRules(people=1)
    [role] = found.roles
    with closing(RatingStore.in_folder(tmp_path / "out", create=True)) as store:
        store.begin(found)
        store.keep(sheet("a", role, rated({"immersion": 2}), "open"), rules)
        assert store.offer("a", rules).marks == rated({"immersion": 2})
        assert store.offer("b", rules).role is None
        later = time.time() + FRESH_S + 60
        monkeypatch.setattr("dramaturg.web.rating.store.time.time", lambda: later)
        assert store.offer("b", rules).role == role
        assert store.offer("a", rules).role == role


async def test_named_raters_read_the_guideline_first_and_a_removed_one_rates_no_more(tmp_path: Path) -> None:
    found = campaign_over(scenes(tmp_path, 2), raters_only=True)
    with served_rating(tmp_path / "out", found) as server:
        key = add_rater(server.store, "anna")
        async with Browser(server.address) as stranger:
            assert (await stranger.get("item")).url == server.address
        async with Browser(server.address) as browser:
            page = await browser.get(f"rater/{key}")
            assert page.url.endswith("/guideline")
            page = await browser.post("guideline", page.fields)
            await hand_in(browser, page)
            remove_rater(server.store, "anna")
            assert (await browser.get("item")).status == 403
        assert list(values_by_person(sheets_of(server.store))) == ["anna"]


def test_ratings_belong_to_what_people_read(tmp_path: Path) -> None:
    found = campaign_over(scenes(tmp_path, 2))
    changed = campaign_over(written(tmp_path / "other.jsonl", scene(0, seed=9), scene(1)))
    fewer = campaign_over(written(tmp_path / "fewer.jsonl", scene(1)))
    narrated = scene(3)
    with closing(RatingStore.in_folder(tmp_path / "out", create=True)) as store:
        store.begin(found)
        store.begin(changed)  # nobody has read anything yet
        store.keep(sheet("a", next(iter(changed.roles)), rated(SHEET)), NO_LIMIT)
        with pytest.raises(UserError, match="1 transcripts read otherwise"):
            store.begin(found)
        store.begin(fewer)
        assert store.offer("b", NO_LIMIT).left == 1
        assert len(values_by_person(sheets_of(store))) == 1
        other = found.rubrics["en"].model_copy(update={"version": 2})
        with pytest.raises(UserError, match="other scales"):
            store.begin(type(found)(found.roles, {"en": other}, found.rules))
    silent = written(tmp_path / "s.jsonl", narrated.model_copy(update={"turns": narrated.turns[:3]}))
    with pytest.raises(UserError, match="nothing to rate"):
        campaign_over(silent)


# Agreement, by hand


def values(rows: dict[str, tuple[int | None, ...]]) -> dict[str, Values]:
    """Returns people's ratings of one metric over roles r0, r1 …, each in a scene of its own."""
    return {
        person: {
            ((f"t{number}", "r"), "immersion"): float(value) for number, value in enumerate(row) if value is not None
        }
        for person, row in rows.items()
    }


SCENES = {(f"t{number}", "r"): f"s{number}" for number in range(20)}


def test_ordinal_alpha_of_two_people_is_that_of_a_hand_computation() -> None:
    """Units 12, 12, 22, 33: of the ranks 1 (two values), 2 (four), 3 (two), squared ordinal distances are 9, 9 and 36.

    Observed: of the ordered pairs within units four differ, all by 1-2: 4 * 9. Expected: ordered pairs of all values
    over n - 1 = 7: 2 * (2*4*9 + 4*2*9 + 2*2*36) / 7 = 576 / 7. Alpha is 1 - 36 * 7 / 576 = 0.5625.
    """
    found = agreement_of(values({"a": (1, 1, 2, 3), "b": (2, 2, 2, 3)}), metrics=["immersion"], scenes=SCENES)
    [metric] = found.metrics
    assert metric.roles == 4
    assert metric.alpha.value == pytest.approx(0.5625)


def test_icc_pearson_and_spearman_of_two_people_are_those_of_a_hand_computation() -> None:
    """Ratings 1 2 3 4 and 2 3 4 5: a constant step of 1.

    Mean squares: rows 10/3, columns 2, error 0. ICC(2,1) = (10/3) / (10/3 + 2 * 2 / 4) = 10/13.
    """
    found = agreement_of(values({"a": (1, 2, 3, 4), "b": (2, 3, 4, 5)}), metrics=["immersion"], scenes=SCENES)
    assert found.metrics[0].one.value == pytest.approx(10 / 13)
    assert found.one.value == pytest.approx(10 / 13)
    [pair] = found.pairs
    immersion = next(one for one in pair.agreements if one.metric == "immersion")
    assert immersion.pearson.value == pytest.approx(1) and immersion.spearman.value == pytest.approx(1)
    assert (immersion.n, immersion.equal, immersion.near, immersion.difference) == (4, 0, 1, -1)


def test_alpha_takes_roles_that_only_some_rated_and_icc_those_that_all_rated() -> None:
    people = values({"a": (1, 3, 5, 2), "b": (1, 3, 5, None), "c": (None, 3, 5, 4)})
    found = agreement_of(people, metrics=["immersion"], scenes=SCENES)
    [metric] = found.metrics
    assert metric.roles == 4
    assert metric.common == metric.one.clusters == 2
    assert found.pair_count == 3 and len(found.pairs) == 3


def test_intervals_come_with_enough_scenes_and_a_lone_person_agrees_with_nobody() -> None:
    row = (1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 2, 3)
    near = (1, 2, 3, 4, 5, 2, 2, 3, 5, 5, 2, 3)
    found = agreement_of(values({"a": row, "b": near}), metrics=["immersion"], scenes=SCENES)
    alpha = found.metrics[0].alpha
    assert alpha.low is not None and alpha.value is not None and alpha.high is not None
    assert alpha.low < alpha.value < alpha.high
    alone = agreement_of(values({"a": row}), metrics=["immersion"], scenes=SCENES)
    assert alone.metrics[0].alpha.value is None and alone.one.value is None and not alone.pairs


# Export, and judges against people


def fill(store: RatingStore, roles: list[str], ratings: dict[str, list[list[int]]]) -> None:
    for person, rows in ratings.items():
        for role, row in zip(roles, rows, strict=True):
            store.keep(sheet(person, role, rated(dict(zip(IDS, row, strict=True)))), NO_LIMIT)


def test_both_exports_read_back_as_the_same_ratings(tmp_path: Path) -> None:
    found = campaign_over(scenes(tmp_path, 2))
    with closing(RatingStore.in_folder(tmp_path / "out", create=True)) as store:
        store.begin(found)
        first, second = found.roles
        marks = {**rated(SHEET), "immersion": Mark(missing="not_shown", note='=1+1; "so",\nand so')}
        store.keep(sheet("anna", first, marks), NO_LIMIT)
        store.keep(sheet("ben", first, rated(dict.fromkeys(IDS, 2))), NO_LIMIT)
        store.keep(sheet("ben", second, rated({"immersion": 2}), "open"), NO_LIMIT)
        sheets = sheets_of(store)
    expected = values_by_person(sheets)
    for name, text in (("people.csv", ratings_csv(sheets)), ("people.jsonl", ratings_jsonl(sheets))):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert by_person(read_person_ratings(tmp_path / name, metrics=IDS)) == expected
    assert {person: len(ratings) for person, ratings in expected.items()} == {"anna": 6, "ben": 7}
    [missing] = [row for row in csv.DictReader(io.StringIO(ratings_csv(sheets))) if row["missing"]]
    assert missing["rating"] == "" and missing["note"].startswith("'=")
    [missing] = [row for row in map(json.loads, ratings_jsonl(sheets).splitlines()) if row["missing"]]
    assert (missing["rating"], missing["missing"]) == (None, "not_shown")


def test_the_terminal_exports_and_shows_agreement_with_people_and_with_a_judge(tmp_path: Path) -> None:
    transcripts = [scene(number) for number in range(4)]
    source = written(tmp_path / "transcripts.jsonl", *transcripts)
    found = campaign_over(source)
    ratings = {"anna": [[1] * 7, [2] * 7, [3] * 7, [4] * 7], "ben": [[2] * 7, [3] * 7, [4] * 7, [5] * 7]}
    with closing(RatingStore.in_folder(tmp_path / "out", create=True)) as store:
        store.begin(found)
        fill(store, list(found.roles), ratings)
    judge = {one.id: [value] * 7 for one, value in zip(transcripts, (1, 2, 3, 4), strict=True)}
    run = judged(tmp_path / "ratings.jsonl", transcripts, judge)
    runner = CliRunner()
    out = str(tmp_path / "out")
    done = runner.invoke(app, ["rate", "agreement", out, "--ratings", str(run), "--json"], catch_exceptions=False)
    told = json.loads(done.stdout)
    assert told["people"] == ["anna", "ben"]
    assert told["metrics"][0]["one"]["value"] == pytest.approx(10 / 13)
    [agreements] = told["judges"]["judges"].values()
    overall = next(one for one in agreements if one["metric"] == AVERAGE)
    assert (overall["n"], overall["difference"]) == (4, -0.5)
    assert overall["pearson"]["value"] == pytest.approx(1)
    shown = runner.invoke(app, ["rate", "agreement", out], catch_exceptions=False).stdout
    assert "Whether people agree" in shown and "Person against person: anna and ben" in shown
    people = tmp_path / "people.csv"
    runner.invoke(app, ["rate", "export", out, "--out", str(people)], catch_exceptions=False)
    done = runner.invoke(
        app, ["audit", "reliability", str(run), "--people", str(people), "--json"], catch_exceptions=False
    )
    assert json.loads(done.stdout)["people"]["persons"] == ["anna", "ben"]


def test_people_get_personal_links_in_the_terminal(tmp_path: Path) -> None:
    runner, out = CliRunner(), str(tmp_path / "out")
    link = runner.invoke(app, ["rate", "rater", "add", "anna", "--out", out]).stdout.strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:8644/rater/[\w-]{32}", link)
    assert "has not begun" in runner.invoke(app, ["rate", "rater", "list", "--out", out]).stdout
    runner.invoke(app, ["rate", "rater", "remove", "anna", "--out", out])
    assert "removed" in runner.invoke(app, ["rate", "rater", "list", "--out", out]).stdout
    with pytest.raises(UserError, match="nobody has handed in"):
        runner.invoke(app, ["rate", "agreement", out], catch_exceptions=False)


def test_a_judge_of_other_transcripts_is_refused(tmp_path: Path) -> None:
    transcripts = [scene(0)]
    run = judged(tmp_path / "ratings.jsonl", transcripts, {transcripts[0].id: [3] * 7})
    key = (transcripts[0].id, "mara")
    assert judges_of([run], {key: transcripts[0].digest})[0].table.rows
    with pytest.raises(UserError, match="no rating of the roles"):
        judges_of([run], {key: "another version"})


async def test_the_owner_alone_sees_progress_agreement_and_export(tmp_path: Path) -> None:
    transcripts = [scene(number) for number in range(3)]
    found = campaign_over(written(tmp_path / "t.jsonl", *transcripts))
    run = judged(tmp_path / "r.jsonl", transcripts, {one.id: [2, 3, 4, 5, 1, 2, 3] for one in transcripts})
    judges = judges_of([run], {role.key: role.digest for role in found.roles.values()})
    with served_rating(tmp_path / "out", found, owner=password_hash(PASSWORD), judges=judges) as server:
        fill(server.store, list(found.roles), {"anna": [[1] * 7, [3] * 7, [5] * 7], "ben": [[1] * 7, [3] * 7, [4] * 7]})
        async with Browser(server.address) as browser:
            assert "anna" not in (await browser.get("progress")).text
            assert (await browser.post("progress", {"password": "a guess"})).status == 403
            page = await browser.post("progress", {"password": PASSWORD})
            for text in ("anna", "Whether people agree", "anna and ben", "Pearson correlation with people"):
                assert text in page.text
            exported = await browser.get("progress/people.csv")
            assert exported.headers["Content-Disposition"].endswith('"people.csv"')
            assert exported.text == ratings_csv(sheets_of(server.store))


# The server as a process


def start(folder: Path, source: Path, port: int = 0) -> tuple[subprocess.Popen[str], str]:
    command = ["rate", "serve", str(source), "--out", str(folder), "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", "from dramaturg.cli.main import app; app()", *command],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[0]


async def test_what_was_saved_is_there_after_the_server_was_killed(tmp_path: Path) -> None:
    source = scenes(tmp_path, 2)
    process, address = start(tmp_path / "out", source)
    try:
        async with Browser(address) as browser:
            page = await browser.get("item")
            fields = {**page.fields, **filled({"immersion": 2, "adaptability": 5}, do="draft")}
            assert (await browser.post("item", fields)).status == 204
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=20)
            process, again = start(tmp_path / "out", source, int(address.rstrip("/").rpartition(":")[2]))
            assert again == address
            assert checked(await browser.get("item")) == {"immersion": "2", "adaptability": "5"}
    finally:
        process.kill()
        process.communicate(timeout=20)
