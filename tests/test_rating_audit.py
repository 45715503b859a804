"""The audit of raters and the doors of rating: what each kind of rater comes out as, and that a rerun asks nothing."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from dramaturg.cli.audit_world import world
from dramaturg.cli.rate import app
from dramaturg.cli.reliability import reliability
from dramaturg.judge.audit.world import DETECTED_BY, plan_rater_audit, shipped_rater_bases
from dramaturg.judge.audit.world.faults import KINDS
from dramaturg.judge.rating import rubric_in
from rating_fixtures import played

AUDIT = typer.Typer()
AUDIT.command("world")(world)
AUDIT.command("reliability")(reliability)


def audited(folder: Path, spec: str, *options: str) -> dict[str, object]:
    result = CliRunner().invoke(AUDIT, ["world", spec, "--out", str(folder), "--json", *options])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path / "cache"))


def test_every_kind_of_fault_is_planted_in_every_scene_and_offends_a_metric() -> None:
    metrics = {metric.id for metric in rubric_in("character", "en").metrics}
    assert {metric for of in DETECTED_BY.values() for metric in of} == metrics
    for base in shipped_rater_bases():
        assert set(base.hooks) == set(KINDS), base.id


def test_specimens_differ_from_their_scene_in_one_turn_and_their_ids_tell_nothing() -> None:
    bases = {base.id: base for base in shipped_rater_bases()}
    for one in plan_rater_audit(list(bases.values())).assignments:
        before = bases[one.base].transcript
        changed = [
            turn.id for turn, old in zip(one.transcript.turns, before.turns, strict=True) if turn.text != old.text
        ]
        assert one.transcript.id != one.base
        if one.nature == "mutant":
            assert changed == [one.turn]
            assert next(turn.role for turn in one.transcript.turns if turn.id == one.turn) == one.role
        elif one.nature == "clean":
            assert not changed
        else:
            assert one.transcript.turns != before.turns


def test_equal_arguments_give_equal_plans_and_a_sample_is_spread_over_kinds() -> None:
    bases = shipped_rater_bases()
    assert plan_rater_audit(bases, sample=14, seed=3) == plan_rater_audit(bases, sample=14, seed=3)
    kinds = [one.kind for one in plan_rater_audit(bases, sample=14, seed=3).assignments if one.kind]
    assert set(kinds) == set(KINDS)


@pytest.mark.parametrize("mode", ["joint", "single"])
def test_a_rater_that_knows_the_faults_sees_them_all_and_spares_the_rest(tmp_path: Path, mode: str) -> None:
    card = audited(tmp_path / "out", "script:rating-oracle", "--mode", mode, "--sample", "28")
    assert card["sensitivity"]["value"] == 1  # pyright: ignore
    assert card["specificity"]["value"] == 1  # pyright: ignore
    assert card["auc"]["value"] == 1  # pyright: ignore
    assert card["drop_elsewhere"]["value"] == 0  # pyright: ignore
    assert card["level"]["value"] == 5  # pyright: ignore
    assert not card["poor"]
    assert not card["missing"]
    assert {kind: parts["sensitivity"]["value"] for kind, parts in card["by_kind"].items()} == dict.fromkeys(KINDS, 1)  # pyright: ignore


def test_a_rater_that_always_gives_five_is_worth_nothing(tmp_path: Path) -> None:
    card = audited(tmp_path / "out", "script:always-five")
    assert (card["sensitivity"]["value"], card["specificity"]["value"]) == (0, 1)  # pyright: ignore
    assert card["balanced_accuracy"]["value"] == 0.5  # pyright: ignore
    assert card["auc"]["value"] == 0.5  # pyright: ignore
    assert card["poor"]


def test_a_rater_that_draws_lots_is_worth_nothing(tmp_path: Path) -> None:
    card = audited(tmp_path / "out", "script:random-rater")
    found = card["balanced_accuracy"]
    assert found["low"] < 0.5 < found["high"]  # pyright: ignore
    assert abs(card["auc"]["value"] - 0.5) < 0.1  # pyright: ignore
    assert card["poor"]


def test_a_rerun_of_an_audit_asks_nothing_and_gives_the_same_card(tmp_path: Path) -> None:
    first = audited(tmp_path / "out", "script:rating-oracle", "--sample", "7", "--language", "zh")
    again = audited(tmp_path / "out", "script:rating-oracle", "--sample", "7", "--language", "zh", "--replay-only")
    assert again["calls"] == 0
    assert {**again, "calls": 0, "replayed": 0} == {**first, "calls": 0, "replayed": 0}


def rate(folder: Path, *arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(app, [*arguments, "--out", str(folder), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_file_and_a_folder_are_rated_and_a_rerun_asks_nothing(tmp_path: Path) -> None:
    source = tmp_path / "run" / "transcripts.jsonl"
    source.parent.mkdir()
    chinese = played(id="scene-2", language="zh")
    source.write_text(f"{played().model_dump_json()}\n{chinese.model_dump_json()}\n", encoding="utf-8")
    first = rate(tmp_path / "a", str(source), "--judge", "script:random-rater")
    assert (first["units"]["done"], first["calls"]) == (2, 8)  # pyright: ignore
    again = rate(tmp_path / "a", str(source.parent), "--judge", "script:random-rater", "--replay-only")
    assert again["calls"] == 0
    assert again["judges"] == first["judges"]
    assert any("no card" in caution for caution in first["cautions"])  # pyright: ignore
    lines = (tmp_path / "a" / "ratings.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 * 2 * 7
    assert {json.loads(line)["rubric"] for line in lines} == {"character v1", "character-zh v1"}

    shown = CliRunner().invoke(app, ["report", str(tmp_path / "a"), "--format", "csv"])
    assert shown.exit_code == 0, shown.output
    assert "Table 1. Ratings by scene" in shown.stdout
    assert "Table 2. Cronbach's alpha" in shown.stdout

    rate(tmp_path / "b", str(source), "--judge", "script:random-rater", "--seed", "5")
    rate(tmp_path / "c", str(source), "--judge", "script:always-five", "--votes", "2", "--mode", "single")
    found = CliRunner().invoke(AUDIT, ["reliability", *(str(tmp_path / name) for name in "abc"), "--json"])
    assert found.exit_code == 0, found.output
    kinds = [one["kind"] for one in json.loads(found.stdout)["compared"]]
    assert sorted(kinds) == ["judges", "judges", "retest", "votes"]


def test_ratings_are_no_retest_of_themselves_and_ratings_of_strangers_are_told(tmp_path: Path) -> None:
    source = tmp_path / "run" / "transcripts.jsonl"
    source.parent.mkdir()
    source.write_text(f"{played().model_dump_json()}\n", encoding="utf-8")
    table = tmp_path / "a"
    rate(table, str(source), "--judge", "script:random-rater")
    refused = CliRunner().invoke(AUDIT, ["reliability", str(table), f"{table}/."])
    assert "stands twice" in str(refused.exception)
    people = tmp_path / "people.csv"
    people.write_text("transcript,role,metric,person,rating\nx,y,immersion,p,4\n", encoding="utf-8")
    refused = CliRunner().invoke(AUDIT, ["reliability", str(table), "--people", str(people)])
    assert "rates nothing that was rated here" in str(refused.exception)


def test_a_rubric_of_ones_own_is_rated_and_reported(tmp_path: Path) -> None:
    source = tmp_path / "transcripts.jsonl"
    source.write_text(f"{played().model_dump_json()}\n", encoding="utf-8")
    rubric = tmp_path / "own.yaml"
    rubric.write_text(
        "id: own\nversion: 1\ntitle: Own\nlanguage: en\nrates: character\ndimensions: {care: Care}\nmetrics:\n"
        "  - {id: care, short: CA, name: Care, dimension: care, definition: Is it careful?, "
        "anchors: {1: Never., 3: At times., 5: Always.}}\n",
        encoding="utf-8",
    )
    script = tmp_path / "rater.py"
    script.write_text("def reply(request):\n    return 'critique: fine\\nrating: 4'\n", encoding="utf-8")
    found = rate(
        tmp_path / "out", str(source), "--judge", f"script:{script}", "--mode", "single", "--rubric", str(rubric)
    )
    assert found["judges"][0]["subjects"][0]["scores"]["care"]["by_scene"]["value"] == 4  # pyright: ignore


def test_a_folder_without_transcripts_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path), "--judge", "script:always-five", "--out", str(tmp_path / "out")])
    assert result.exit_code != 0
    assert "holds no transcripts.jsonl" in str(result.exception)
