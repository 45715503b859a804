"""LLM Court's own files: they come in playable, and go out as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from court_fixtures import CASE, cast, trial
from dramaturg.errors import ContentError
from dramaturg.files import find, parse_yaml
from dramaturg.stage.court.case import Case, read_case
from dramaturg.stage.court.cases import case_yaml, check_case, read_llm_court, to_llm_court
from dramaturg.stage.court.cases.llm_court import case_of
from dramaturg.stage.court.record import case_digest

SAVED = Path(__file__).resolve().parents[1] / "shared" / "data" / "llm_court"
SHARED = next((folder for folder in (SAVED, Path("/work/shared/data/llm_court")) if folder.is_dir()), SAVED)
FILES = sorted(SHARED.glob("case*.json"))

UPSTREAM: dict[str, Any] = {
    "title": "The Case of the Spare Wheel ",
    "playerGoal": "Have the driver acquitted.",
    "summary": "Taxi driver Ada Finch is accused of stealing a spare wheel from a depot. She says that it was lent.",
    "shortSummary": "A wheel, and a driver.",
    "evidence": ["A receipt without a date, found in the glove box.", "A tyre mark near the depot's gate."],
    "witnessNames": ["Ben Moss", "Judge Harper"],
    "witnessDescriptions": [
        "Ben Moss works as a mechanic at the depot; blunt and quick. He says he saw Ada at the gate at nine.",
        "Judge Harper is a retired magistrate. She heard a van.",
    ],
    "witnessGenders": ["M", "F"],
    "additionalInfo": ["The gate has no camera."],
    "language": "english",
    "voice": {"speed": 1.0, "tags": [None, True]},
}


def written(case: Case) -> Case:
    found = parse_yaml(case_yaml(case), Case, where="case.yaml")
    assert found == case
    return found


def test_imported_case_has_what_a_trial_needs():
    case = case_of(UPSTREAM, where="x")
    assert (case.language, case.kind, case.accused) == ("en", "criminal", "Ada Finch")
    assert case.charge.startswith("Stealing a spare wheel")
    assert case.witnesses[0].occupation == "mechanic"
    assert "He says he saw Ada at the gate at nine." in case.witnesses[0].knowledge
    assert "He says" not in case.witnesses[0].manner
    assert case.facts[0].text == "The gate has no camera."


def test_filled_in_officers_are_always_the_same_and_meet_nobody_of_the_case():
    one, other = case_of(UPSTREAM, where="x"), case_of(UPSTREAM, where="y")
    assert one == other
    officers = {one.judge.name, one.prosecutor.name, one.defence.name}
    assert len(officers) == 3
    taken = {"ada", "finch", "ben", "moss", "harper"}
    assert not taken & {part.casefold() for name in officers for part in name.split()}


def test_export_of_an_imported_case_is_what_came_in():
    assert json.dumps(to_llm_court(written(case_of(UPSTREAM, where="x")))) == json.dumps(UPSTREAM)


def test_export_takes_what_was_changed_since_and_keeps_the_rest():
    case = written(case_of(UPSTREAM, where="x")).model_copy(update={"goal": "Have the wheel returned."})
    exported = to_llm_court(case)
    assert exported == {**UPSTREAM, "playerGoal": "Have the wheel returned."}


def test_where_a_case_came_from_is_no_part_of_its_digest():
    case = case_of(UPSTREAM, where="x")
    assert case_digest(case) == case_digest(case.model_copy(update={"origin": None}))


def test_witness_called_judge_is_told_by_the_checks():
    found = [finding for finding in check_case(case_of(UPSTREAM, where="x")) if finding.code == "named-like-role"]
    assert [(finding.severity, finding.where) for finding in found] == [("error", "witnesses[1].name")]


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1).filter(lambda key: key not in UPSTREAM),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
            max_leaves=6,
        ),
        max_size=3,
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(str.strip),
)
def test_whatever_else_stands_in_a_file_comes_out_again(more: dict[str, Any], title: str):
    found = json.loads(json.dumps({**UPSTREAM, **more, "title": title}))
    case = case_of(found, where="x")
    assert json.dumps(to_llm_court(written(case))) == json.dumps(found)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"witnessNames": []}, "witnessNames"),
        ({"witnessNames": ["One"]}, "witnessNames has 1 entries and witnessDescriptions 2"),
        ({"evidence": []}, "evidence"),
        ({"summary": "  "}, "summary"),
        ({"title": 3}, "title"),
        ({"witnessNames": ["Ben Moss", "ben moss"]}, "share the name"),
    ],
)
def test_wrong_file_is_named_with_object_and_key(tmp_path: Path, change: dict[str, Any], says: str):
    path = tmp_path / "case.json"
    path.write_text(json.dumps([{**UPSTREAM, **change}]), encoding="utf-8")
    with pytest.raises(ContentError) as raised:
        read_llm_court(path)
    assert says in str(raised.value)
    assert f"{path}: [0]" in str(raised.value)


@pytest.mark.parametrize("text", ["{", "[]", "3", '[{"title": NaN}]', '[{"title": "\\ud800"}]', "[" * 100_000])
def test_what_is_no_case_file_is_one_clear_line(tmp_path: Path, text: str):
    path = tmp_path / "case.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ContentError) as raised:
        read_llm_court(path)
    assert "\n" not in str(raised.value)


def test_translations_of_a_case_get_ids_of_their_own(tmp_path: Path):
    path = tmp_path / "case.json"
    path.write_text(json.dumps([UPSTREAM, {**UPSTREAM, "language": "italian"}]), encoding="utf-8")
    cases = read_llm_court(path)
    assert [case.id for case in cases] == ["the-case-of-the-spare-wheel", "the-case-of-the-spare-wheel-it-1"]


def test_chinese_case_gets_chinese_officers():
    found: dict[str, Any] = {
        **UPSTREAM,
        "title": "备用轮胎案",
        "summary": "出租车司机李明被控盗窃一只备用轮胎。他称轮胎是借来的。",
        "witnessNames": ["王芳", "赵强"],
        "witnessDescriptions": ["王芳是一名修理工，她称九点看见李明在门口。", "赵强听见一辆面包车开走。"],
        "language": "Chinese",
    }
    case = case_of(found, where="x")
    assert (case.language, case.accused, case.witnesses[0].occupation) == ("zh", "李明", "修理工")
    assert all("\u4e00" <= sign <= "\u9fff" for sign in case.judge.name)
    assert to_llm_court(written(case)) == found


def test_own_case_is_exported_in_the_other_form_and_comes_back():
    exported = to_llm_court(CASE)
    back = case_of(exported, where="x")
    assert [witness.name for witness in back.witnesses] == [witness.name for witness in CASE.witnesses]
    assert back.goal == CASE.goal
    assert exported["evidence"] == [f"{exhibit.name}: {exhibit.description}" for exhibit in CASE.evidence]


@pytest.mark.skipif(not FILES, reason="LLM Court's saved cases are not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_saved_case_of_the_game_imports_plays_and_exports_unchanged(tmp_path: Path, path: Path):
    cases = read_llm_court(path)
    for number, case in enumerate(cases):
        file = tmp_path / f"{number}.yaml"
        file.write_text(case_yaml(case), encoding="utf-8")
        found = read_case(find("cases", str(file)))
        assert isinstance(found, Case)
        cases[number] = found
        transcript = await trial(tmp_path / str(number), cast(), "guarded", case=found)
        assert transcript.outcome is not None
        assert transcript.restarts == ()
    assert [to_llm_court(case) for case in cases] == json.loads(path.read_text(encoding="utf-8"))
