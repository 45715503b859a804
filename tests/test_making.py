"""Item sets by a model: checked, mended, resumable, complete, and honest about where their answers come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cast_fixtures import good, made, people, plan, scenario, writer
from dramaturg.cli.cast_files import as_lines
from dramaturg.errors import LimitReached, UserError
from dramaturg.ledger import Budget
from dramaturg.model import Request
from dramaturg.stage.cast import checking
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview import LABELS, read_item_set
from dramaturg.stage.interview.item import CATEGORIES, Category
from dramaturg.stage.interview.making import CODES, asks_yes_or_no, check_drafts, plan_counts
from dramaturg.stage.interview.making.forms import FORMS, item_of

FILES = ("set.yaml", "characters.jsonl", "items.jsonl", "card.md", "making.json")


def files(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text(encoding="utf-8") for name in FILES}


def codes(category: Category, character: Character, **change: Any) -> set[str]:
    """Returns what is found about a sound scenario with a change."""
    raw = {**scenario(f"items-{category}", 1, character.name), **change}
    drafts = FORMS[category].model_validate({"scenarios": [raw]}).scenarios
    found = check_drafts(drafts, character, category, LABELS, ())
    return {finding.code for listed in found.values() for finding in listed}


async def test_the_papers_numbers_make_a_complete_set_that_has_no_problem(tmp_path: Path):
    making = await made(tmp_path / "trial", plan(), people(2), writer(good))
    read = read_item_set(tmp_path / "trial")
    assert not read.problems
    assert read.counts() == {"emotion": 6, "decision": 6, "moral": 6, "in_character": 14, "knows": 14}
    assert making.complete and making.figures()["items"] == making.figures()["wanted"] == 46
    head = yaml.safe_load((tmp_path / "trial" / "set.yaml").read_text(encoding="utf-8"))
    assert "until people annotate them" in head["description"] and head["licence"] == "CC-BY-4.0"
    card = (tmp_path / "trial" / "card.md").read_text(encoding="utf-8")
    assert "script:writer" in card and "interview-make-moral" in card and "| emotion | 6 | fear | 100% (!) |" in card


async def test_a_set_that_was_stopped_is_whole_and_goes_on_to_the_same_bytes(tmp_path: Path):
    characters = people(3)
    with pytest.raises(LimitReached):
        await made(tmp_path / "a", plan(), characters, writer(good), budget=Budget(max_calls=7))
    assert "not complete" in (tmp_path / "a" / "card.md").read_text(encoding="utf-8")
    read_item_set(tmp_path / "a")
    rest, whole = Budget(), Budget()
    await made(tmp_path / "a", plan(), characters, writer(good), budget=rest, concurrency=1)
    await made(tmp_path / "b", plan(), characters, writer(good), budget=whole, concurrency=16)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert rest.calls + rest.replayed == whole.calls and rest.replayed == 7
    replay = Budget()
    await made(tmp_path / "a", plan(), characters, writer(good), budget=replay)
    assert replay.calls == 0


async def test_another_character_asks_nothing_of_the_first_ones_again_and_another_seed_is_refused(tmp_path: Path):
    await made(tmp_path, plan(), people(2), writer(good))
    first = files(tmp_path)["items.jsonl"]
    budget = Budget()
    await made(tmp_path, plan(), people(3), writer(good), budget=budget)
    assert files(tmp_path)["items.jsonl"].startswith(first)
    assert budget.replayed == 2 * budget.calls
    with pytest.raises(UserError, match="another seed"):
        await made(tmp_path, plan(seed=2), people(2), writer(good))


async def test_findings_are_quoted_once_and_what_keeps_an_error_is_dropped_with_its_reason(tmp_path: Path):
    asked: list[str] = []

    def answer(request: Request) -> dict[str, Any]:
        said = good(request)
        last = request.messages[-1].text
        if request.labels["purpose"] == "items-decision":
            asked.append(last)
            for one in said["scenarios"][1:]:
                one["message"] = "What do you want?"
            if "check of the scenarios" not in last:
                said["scenarios"][0]["message"] = "As I said, will you come?"
        return said

    counts: dict[Category, int] = {"decision": 3}
    making = await made(tmp_path, plan(counts), people(1), writer(answer))
    assert len(asked) == 2 and "scenario 1: 'As I said' needs an earlier talk" in asked[1]
    entry = making.entries[0]
    assert (entry.items, len(entry.dropped), entry.repairs) == (1, 2, 1)
    assert {found.code for dropped in entry.dropped for found in dropped.findings} == {"not-yes-no", "repeated"}
    assert "not-yes-no" in files(tmp_path)["making.json"]


async def test_a_critics_remark_sends_a_scenario_back(tmp_path: Path):
    asked: list[str] = []

    def answer(request: Request) -> dict[str, Any]:
        if request.labels["purpose"] == "items-critique":
            return {"problems": [{"number": 2, "what": "Anybody would say so."}, {"number": 4, "what": "None such."}]}
        asked.append(request.messages[-1].text)
        said = good(request)
        if len(asked) == 2:
            said["scenarios"][1]["message"] = "The old debt is paid, friend!"
        return said

    making = await made(tmp_path, plan({"emotion": 3}), people(1), writer(answer))
    assert "- scenario 2: Anybody would say so." in asked[1]
    assert "None such" not in asked[1]
    assert [item.message for item in making.items][1] == "The old debt is paid, friend!" and len(making.items) == 3


async def test_a_message_that_another_character_was_told_is_left_out(tmp_path: Path):
    def answer(request: Request) -> dict[str, Any]:
        said = good(request)
        for one in said.get("scenarios", ()):
            one["message"] = one["message"].partition(", ")[2]
        return said

    making = await made(tmp_path, plan({"emotion": 3}), people(2), writer(answer))
    assert [(entry.items, entry.repeated) for entry in making.entries] == [(3, 0), (0, 3)]
    assert len(read_item_set(tmp_path).characters) == 1


async def test_a_character_whose_limits_nobody_knows_is_asked_for_nothing_beyond_them(tmp_path: Path):
    stranger = Character(id="s", name="Sam", description="You are Sam.")
    budget = Budget()
    making = await made(tmp_path, plan({"in_character": 7}), [stranger], writer(good), budget=budget)
    assert making.entries[0].status == "skipped" and "knows_until" in making.entries[0].detail
    assert budget.calls == 0


async def test_a_writer_that_answers_no_form_fails_as_data(tmp_path: Path):
    making = await made(tmp_path, plan({"emotion": 3}), people(1), writer(lambda _: "No."))
    assert making.entries[0].status == "failed" and "form 1: unparsed" in making.entries[0].detail


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_sound_scenario_has_no_finding(category: Category):
    assert codes(category, people(1)[0]) == set()


@pytest.mark.parametrize(
    ("category", "change", "code"),
    [
        ("emotion", {"answer": "jealousy"}, "label-unknown"),
        ("emotion", {"message": "I see that you are fearful, friend."}, "gives-away"),
        ("emotion", {"message": "Hm."}, "length"),
        ("emotion", {"message": "*smiles* The roof burns, friend."}, "markup"),
        ("emotion", {"message": "As we discussed, the roof burns."}, "context"),
        ("emotion", {"message": "Guard: Halt!\nThief: I did nothing."}, "several-speakers"),
        ("decision", {"message": "Come with us to the river."}, "no-question"),
        ("decision", {"message": "Where will you go tonight?"}, "not-yes-no"),
        ("decision", {"message": "Will you take the gold or the horse?"}, "two-choices"),
        ("decision", {"message": "Won't you come with us tonight?"}, "polarity"),
        ("decision", {"message": "Would you mind if I left now?"}, "polarity"),
        ("moral", {"message": "I know you would never steal. Will you take it?"}, "gives-away"),
        ("in_character", {"since": 700}, "no-conflict"),
        ("in_character", {"since": None}, "no-conflict"),
        ("in_character", {"since": 1990, "date": "0700-05"}, "no-conflict"),
        ("in_character", {"message": "Did Zorblatt 1 row it?"}, "gives-away"),
        ("in_character", {"forms": ["tea seller", "court physician", "silk weaver", "China"]}, "known-already"),
        ("in_character", {"message": "Tell me who rowed it."}, "no-question"),
        ("knows", {"since": 1969}, "beyond"),
        ("knows", {"message": "Who built the railway, friend?"}, "beyond"),
    ],
)
def test_each_fault_of_a_scenario_is_found(category: Category, change: dict[str, Any], code: str):
    assert code in codes(category, people(1)[0], **change)


def test_a_thing_of_a_later_time_shows_the_conflict_where_the_writer_gave_no_year():
    character = people(1)[0]
    assert codes("in_character", character, since=None, message="Who made the first telephone?") == set()


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Will you come?", ""),
        ("They need you. So, Anna, would you go?", ""),
        ("If they come, will you fight?", ""),
        ("When they come, will you fight?", ""),
        ("Are you ready to go or not?", ""),
        ("Why? Do you want it?", ""),
        ("Do you want it? Why?", "not-yes-no"),
        ("You will come, won't you?", "polarity"),
        ("Do you not want it?", "polarity"),
        ("How about it?", "not-yes-no"),
        ("Come.", "no-question"),
    ],
)
def test_questions_that_yes_or_no_answers_are_told_from_others(message: str, answer: str):
    assert asks_yes_or_no(message) == answer


@given(st.text(max_size=200))
def test_any_text_is_judged_without_a_crash(message: str):
    asks_yes_or_no(f"{message}?")


def test_forms_of_facts_are_kept_by_language_and_a_date_that_is_none_is_dropped():
    raw = {
        **scenario("items-knows", 1, "A"),
        "forms": ["Cologne", "Cologne"],
        "translations": [{"language": "de", "form": "Köln"}, {"language": "en", "form": "Cologne"}],
        "date": "long ago",
    }
    draft = FORMS["knows"].model_validate({"scenarios": [raw]}).scenarios[0]
    (fact,) = item_of(draft, people(1)[0], "knows", 1, "en").facts
    assert (fact.forms, fact.date) == ({"": ("Cologne",), "de": ("Köln",)}, "")


def test_facts_are_halved_between_what_is_beyond_and_what_is_known():
    assert plan_counts() == {"emotion": 3, "decision": 3, "moral": 3, "in_character": 7, "knows": 7}
    assert plan_counts(facts=1)["in_character"] == 1


def test_the_command_makes_a_set_and_goes_on_with_it(tmp_path: Path):
    import typer

    from dramaturg.cli.rpeval_make import make

    app = typer.Typer()
    app.command()(make)
    characters, script = tmp_path / "c.jsonl", tmp_path / "writer.py"
    characters.write_text(as_lines(people(1)), encoding="utf-8")
    script.write_text(
        "import json\nfrom cast_fixtures import good\ndef reply(request):\n    return json.dumps(good(request))\n",
        encoding="utf-8",
    )
    options = ["--characters", str(characters), "--model", f"script:{script}", "--out", str(tmp_path / "My Set")]
    first = CliRunner().invoke(app, [*options, "--per-facts", "4", "--json"])
    assert first.exit_code == 0, first.output
    told = json.loads(first.stdout)
    assert told["counts"] == {"emotion": 3, "decision": 3, "moral": 3, "in_character": 2, "knows": 2}
    assert read_item_set(tmp_path / "My Set").id == "my-set"
    again = json.loads(CliRunner().invoke(app, [*options, "--per-facts", "4", "--json"]).stdout)
    assert again["calls"] == 0 and again["entries"] == told["entries"]


def test_the_guide_explains_every_code():
    guide = (Path(__file__).parents[1] / "docs" / "make-a-benchmark.md").read_text(encoding="utf-8")
    assert [code for code in (*checking.CODES, *CODES) if f"`{code}`" not in guide] == []
