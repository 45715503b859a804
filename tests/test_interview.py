"""An interview: items are put to models one call each, and every reply is kept with what it answered."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
from pathlib import Path

import pytest

from dramaturg.errors import RunChangedError, StudyError, UserError
from dramaturg.ledger import Budget, Ledger
from dramaturg.model.request import chain_hashes
from dramaturg.run.interview.material import read_interview
from dramaturg.run.interview.plan import plan_interview
from dramaturg.run.interview.reply_row import ReplyRow
from dramaturg.run.study import suite_of
from dramaturg.stage.interview import Asking, Strategy, asked_as, read_item_set, read_strategy
from dramaturg.stage.interview.sampling import stratified_sample
from interview_fixtures import CHARACTERS, ITEMS, interview, rows, write_interview, write_set

LABELS = ("anger", "joy")


async def test_every_item_is_asked_once_and_its_row_says_what_it_answered(tmp_path: Path) -> None:
    result = await interview(write_interview(tmp_path), tmp_path / "out")
    assert (result.planned, result.answered, result.calls, result.exit_code) == (15, 15, 15, 0)
    found = [ReplyRow.model_validate(row) for row in rows(tmp_path / "out")]
    assert [row.item for row in found] == [item.id for item in ITEMS]
    material = read_interview(tmp_path / "study.yaml")
    characters = material.item_set.characters
    for row, item in zip(found, ITEMS, strict=True):
        messages = material.askings[0].messages(item, characters[item.character])
        assert row.prompt == chain_hashes(messages)[-1]
        assert (row.set, row.character, row.asked_as) == ("small", item.character, item.character)
        assert (row.strategy, row.form, row.condition, row.repeat, row.status) == ("bare", "tag", "own", 1, "ok")


async def test_the_hash_of_a_row_is_the_one_under_which_the_ledger_keeps_the_chat(tmp_path: Path) -> None:
    await interview(write_interview(tmp_path), tmp_path / "out")
    with Ledger.open(tmp_path / "out" / "ledger.db") as ledger:
        kept = {row.key: row.last_message for row in ledger.call_rows()}
    assert {row["call"]: row["prompt"] for row in rows(tmp_path / "out")} == kept


async def test_to_resume_is_to_run_again(tmp_path: Path) -> None:
    study, out = write_interview(tmp_path), tmp_path / "out"
    stopped = await interview(study, out, budget=Budget(max_calls=4))
    assert (stopped.answered, stopped.stop, stopped.exit_code) == (4, "limit", 3)
    assert "4 of 15 replies are done" in stopped.advice
    assert len(rows(out)) == 4
    went_on = await interview(study, out)
    assert (went_on.answered, went_on.calls, went_on.replayed, went_on.exit_code) == (15, 11, 4, 0)
    before = (out / "replies.jsonl").read_bytes()
    again = await interview(study, out, replay_only=True)
    assert (again.calls, again.replayed) == (0, 15)
    assert (out / "replies.jsonl").read_bytes() == before


async def test_a_call_that_the_endpoint_failed_is_a_row_and_is_asked_again(tmp_path: Path) -> None:
    study, out = write_interview(tmp_path), tmp_path / "out"
    (tmp_path / "right.down").write_text("monk", encoding="utf-8")
    failed = await interview(study, out)
    assert (failed.answered, dict(failed.failed), failed.exit_code) == (10, {"connect": 5}, 2)
    lost = [row for row in rows(out) if row["status"] == "failed"]
    assert {row["character"] for row in lost} == {"monk"}
    assert all(row["text"] is None and row["failure"] == "connect" for row in lost)
    records = [json.loads(line) for line in (out / "units.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["status"] for record in records] == ["done", "failed", "done"]
    (tmp_path / "right.down").unlink()
    assert (await interview(study, out)).calls == 5


async def test_files_do_not_depend_on_how_many_calls_are_in_flight(tmp_path: Path) -> None:
    one = await interview(write_interview(tmp_path, concurrency=1, repeats=2), tmp_path / "one")
    many = await interview(write_interview(tmp_path, concurrency=64, repeats=2), tmp_path / "many")
    assert one.answered == many.answered == 30
    for name in ("replies.jsonl", "units.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes()


async def test_repeats_have_seeds_of_their_own_and_more_of_them_re_ask_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    await interview(write_interview(tmp_path, subjects=["script:echo.py"]), out)
    more = await interview(write_interview(tmp_path, subjects=["script:echo.py"], repeats=3), out)
    assert (more.calls, more.replayed) == (30, 15)
    found = rows(out)
    assert len({row["seed"] for row in found}) == 45
    assert len({row["text"] for row in found if row["item"] == "monk-e"}) == 3


async def test_a_study_gains_subjects_strategies_and_items_without_asking_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_set(tmp_path / "set", items=ITEMS[:10])
    assert (await interview(write_interview(tmp_path), out)).calls == 10
    write_set(tmp_path / "set")
    grown = write_interview(tmp_path, subjects=["script:right.py", "script:echo.py"], strategies=["bare", "period"])
    result = await interview(grown, out)
    assert (result.planned, result.replayed, result.calls) == (60, 10, 50)
    ways = {(row["subject"], row["strategy"]) for row in rows(out)}
    assert ways == {(subject, name) for subject in ("script:right.py", "script:echo.py") for name in ("bare", "period")}


async def test_a_run_never_goes_on_under_another_message_unasked(tmp_path: Path) -> None:
    study, out = write_interview(tmp_path), tmp_path / "out"
    await interview(study, out)
    changed = ITEMS[0].model_copy(update={"message": "I told your sister."})
    write_set(tmp_path / "set", items=(changed, *ITEMS[1:]))
    with pytest.raises(RunChangedError, match="items/smith-e"):
        await interview(study, out)
    assert (await interview(study, out, accept_changes=True)).calls == 1


async def test_rows_of_another_set_never_mix(tmp_path: Path) -> None:
    study, out = write_interview(tmp_path), tmp_path / "out"
    await interview(study, out)
    write_set(tmp_path / "set", id="other")
    with pytest.raises(RunChangedError, match="item-set: small → other"):
        await interview(study, out)


async def test_what_is_expected_may_change_without_asking_again(tmp_path: Path) -> None:
    study, out = write_interview(tmp_path), tmp_path / "out"
    await interview(study, out)
    voted = ITEMS[0].model_copy(update={"expected": "sadness", "votes": {"sadness": 3}})
    write_set(tmp_path / "set", items=(voted, *ITEMS[1:]))
    assert (await interview(study, out)).calls == 0


async def test_ctrl_c_keeps_what_was_answered(tmp_path: Path) -> None:
    slow = """
import os, signal
def reply(request):
    if request.labels["item"] == "monk-m":
        os.kill(os.getpid(), signal.SIGINT)
    return "[yes] So."
"""
    study = write_interview(tmp_path, subjects=["script:slow.py"], concurrency=2)
    (tmp_path / "slow.py").write_text(slow, encoding="utf-8")
    before = signal.getsignal(signal.SIGINT)
    result = await interview(study, tmp_path / "out")
    assert (result.stop, result.exit_code) == ("interrupted", 130)
    assert 0 < result.answered < 15
    assert len(rows(tmp_path / "out")) == result.answered
    assert signal.getsignal(signal.SIGINT) == before


async def test_controls_leave_the_character_out_or_ask_another(tmp_path: Path) -> None:
    echo = {"subjects": ["script:echo.py"], "form": "free"}
    await interview(write_interview(tmp_path, **echo, condition="message-only"), tmp_path / "alone")
    assert all(row["text"].startswith("[] ") and row["asked_as"] == "" for row in rows(tmp_path / "alone"))
    await interview(write_interview(tmp_path, **echo, condition="shuffled"), tmp_path / "shuffled")
    described = {character.id: character.description for character in CHARACTERS}
    for row in rows(tmp_path / "shuffled"):
        assert row["asked_as"] not in {"", row["character"]}
        assert described[row["asked_as"]] in row["text"]
        assert described[row["character"]] not in row["text"]


def test_who_is_asked_in_anothers_place_depends_on_the_seed_and_the_item_alone() -> None:
    by_id = {character.id: character for character in CHARACTERS}
    drawn = [[asked_as(item, by_id, "shuffled", seed) for item in ITEMS] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(("form", "begins"), [("tag", "[anger"), ("json", '"emotion"'), ("free", "")])
def test_the_form_is_said_behind_the_character(form: str, begins: str) -> None:
    asking = Asking(Strategy("bare"), form, LABELS)  # pyright: ignore[reportArgumentType]
    system, message = asking.messages(ITEMS[0], CHARACTERS[0])
    assert system.text.startswith(CHARACTERS[0].description)
    assert message.text == ITEMS[0].message
    assert (system.text == CHARACTERS[0].description) == (form == "free")
    if form != "free":
        assert "anger, joy" in system.text
    schema = asking.schema(ITEMS[0])
    assert (schema is not None) == (form == "json")
    if schema is not None:
        assert list(schema.schema["properties"]) == ["emotion", "text"]  # pyright: ignore


def test_what_is_asked_of_facts_has_no_form() -> None:
    for item in ITEMS:
        if item.category in {"in_character", "knows"}:
            (system, _) = Asking(Strategy("bare"), "json", LABELS).messages(item, CHARACTERS[0])
            assert system.text == CHARACTERS[0].description
            assert Asking(Strategy("bare"), "json", LABELS).schema(item) is None


def test_as_is_adds_nothing(tmp_path: Path) -> None:
    (system, _) = Asking(read_strategy("as-is"), "tag", LABELS).messages(ITEMS[0], CHARACTERS[0])
    assert system.text == CHARACTERS[0].description


def test_a_strategy_of_ones_own_is_a_prompt_with_the_description(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("{# variables: description #}\nStay so: {{description}}\n", encoding="utf-8")
    (system, _) = Asking(read_strategy("own.txt", beside=tmp_path), "free", LABELS).messages(ITEMS[0], CHARACTERS[0])
    assert system.text == f"Stay so: {CHARACTERS[0].description}"
    own.write_text("{# variables: #}\nStay.\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"exactly \['description'\]"):
        read_strategy("own.txt", beside=tmp_path)
    with pytest.raises(UserError, match=r"unknown strategy 'perod'.*did you mean 'period'"):
        read_strategy("perod")


def test_a_sample_keeps_the_shares_and_grows_without_losing_an_item() -> None:
    drawn = [stratified_sample(ITEMS, size, seed=3) for size in (5, 8, 12, 99)]
    assert [len(sample) for sample in drawn] == [5, 8, 12, 15]
    assert {item.category for item in drawn[0]} == {item.category for item in ITEMS}
    for smaller, larger in itertools.pairwise(drawn):
        assert {item.id for item in smaller} <= {item.id for item in larger}
    assert stratified_sample(ITEMS, 5, seed=3) == drawn[0] != stratified_sample(ITEMS, 5, seed=4)


async def test_a_larger_sample_asks_only_what_is_new(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (await interview(write_interview(tmp_path, sample=6), out)).calls == 6
    more = await interview(write_interview(tmp_path, sample=9), out)
    assert (more.planned, more.calls, more.replayed) == (9, 3, 6)


def test_the_plan_counts_every_call_and_no_model_is_there(tmp_path: Path) -> None:
    study = write_interview(
        tmp_path, subjects=["openai:gpt-4o", "http://127.0.0.1:1/v1#x"], strategies=["bare", "period"], repeats=3
    )
    planned = plan_interview(read_interview(study))
    assert planned.load.least_calls == planned.load.most_calls == 2 * 2 * 3 * 15
    assert planned.load.output_tokens == 180 * 300
    assert planned.unpriced == ("http://127.0.0.1:1/v1#x",)
    priced = [sitting.cost_usd for sitting in planned.sittings]
    assert priced[0] is not None and priced[2] is None and planned.cost_usd is None
    longer = planned.sittings[1].load.input_tokens
    assert longer > planned.sittings[0].load.input_tokens > 45 * len(CHARACTERS[0].description) // 5


def test_a_wrong_study_says_what_and_where(tmp_path: Path) -> None:
    study = write_interview(tmp_path, strategies=["bare", "brave"], items="nowhere", subjects=["script:no.py"])
    with pytest.raises(StudyError) as wrong:
        read_interview(study)
    assert "unknown strategy 'brave'" in str(wrong.value)
    assert "unknown item set 'nowhere'" in str(wrong.value)
    assert "no.py" in str(wrong.value)
    assert suite_of(study) == "interview"
    with pytest.raises(StudyError, match="suite"):
        suite_of(write_interview(tmp_path, suite="opera"))


def test_a_set_with_one_character_cannot_be_shuffled(tmp_path: Path) -> None:
    write_set(tmp_path / "set")
    only = (tmp_path / "set" / "characters.jsonl").read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "set" / "characters.jsonl").write_text(only + "\n", encoding="utf-8")
    with pytest.raises(StudyError, match="one character alone"):
        read_interview(write_interview(tmp_path, condition="shuffled"))


async def test_an_item_with_a_problem_is_never_asked(tmp_path: Path) -> None:
    broken = ITEMS[0].model_copy(update={"expected": "jealousy"})
    write_set(tmp_path / "set", items=(broken, *ITEMS[1:]))
    result = await interview(write_interview(tmp_path), tmp_path / "out")
    assert result.planned == result.answered == 14
    kept = read_item_set(tmp_path / "out" / "item-set")
    assert len(kept.items) == 15
    assert [problem.item for problem in kept.problems] == ["smith-e"]


async def test_a_budget_in_the_middle_leaves_no_worker_behind(tmp_path: Path) -> None:
    result = await interview(write_interview(tmp_path, concurrency=64), tmp_path / "out", budget=Budget(max_calls=1))
    assert result.answered == 1
    assert len(asyncio.all_tasks()) == 1
