"""The tables of CharacterBox, made by one command from what lies in the folders of runs, ratings and craftings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from craft_fixtures import book, crafted, plan
from dramaturg.cli.rate import app as rating
from dramaturg.cli.report import report
from dramaturg.errors import UserError
from dramaturg.stage.transcript import Player, Transcript
from rating_fixtures import CAST, played

APP = typer.Typer()
APP.command()(report)

NARRATORS = ("teller", "mumbler")


def transcripts(folder: Path, models: tuple[str, ...] = NARRATORS) -> Path:
    """Returns a file of plays whose characters and narrators are models."""
    made: list[Transcript] = []
    for scene in ("lock", "weir", "mill"):
        for model in models:
            cast = {**CAST, "narrator": Player(kind="model", model=f"script:{model}")}
            one = played(cast=cast, id=f"{scene}-{model}")
            made.append(one.model_copy(update={"scenario": one.scenario.model_copy(update={"id": scene})}))
    path = folder / "transcripts.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{one.model_dump_json()}\n" for one in made), encoding="utf-8")
    return path


def rated(source: Path, out: Path, judge: str = "script:random-rater", *options: str) -> Path:
    arguments = ["run", str(source), "--judge", judge, "--out", str(out), "--mode", "single", "--json", *options]
    result = CliRunner().invoke(rating, arguments)
    assert result.exit_code == 0, result.output
    return out


def tables(*arguments: str | Path) -> list[Any]:
    result = CliRunner().invoke(APP, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def column(table: Any, name: str) -> list[Any]:
    place = table["columns"].index(name)
    return [row[place] for row in table["rows"]]


def test_a_folder_of_ratings_gives_tables_1_2_and_6(tmp_path: Path) -> None:
    out = rated(transcripts(tmp_path / "in"), tmp_path / "out")
    made = tables(out, "--table", "all")
    assert {table["table"] for table in made} == {0, 1, 2, 6}
    (first,) = [table for table in made if table["table"] == 1]
    assert column(first, "Scenes") == ["3"]
    assert "±" in str(column(first, "Average")[0])
    (sixth,) = [table for table in made if table["table"] == 6]
    assert column(sixth, "Plays") == ["6"]


def test_table_3_sets_each_judge_against_people(tmp_path: Path) -> None:
    out = rated(transcripts(tmp_path / "in"), tmp_path / "out")
    lines = [json.loads(line) for line in (out / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]
    people = tmp_path / "people.jsonl"
    people.write_text(
        "".join(
            json.dumps({"transcript": one["transcript"], "role": one["role"], "metric": one["metric"], "person": person,
                        "rating": int(one["value"])}) + "\n"
            for one in lines
            for person in ("p1", "p2")
        ),
        encoding="utf-8",
    )  # fmt: skip
    (third,) = tables(out, "--table", "3", "--people", people)
    assert column(third, "n") == ["12"]
    (overall,) = column(third, "Overall")
    assert (overall if isinstance(overall, str) else overall["text"]) == "1.000"
    with pytest.raises(UserError, match="Table 3 needs --people FILE"):
        CliRunner().invoke(APP, [str(out), "--table", "3"], catch_exceptions=False)


async def test_table_4_sets_three_stages_beside_one_from_the_records_of_craftings(tmp_path: Path) -> None:
    text = book(12)
    await crafted(tmp_path / "three", plan(3, text=text))
    await crafted(tmp_path / "invented", plan(2))
    await crafted(tmp_path / "one", plan(3, text=text, stages="one", evaluator="script:marker"))
    await crafted(tmp_path / "bare", plan(3, text=text, stages="one", screenwriter="script:bare", evaluator=""))
    (fourth,) = tables(*(tmp_path / name for name in ("three", "invented", "one", "bare")), "--table", "4")
    labels = column(fourth, "Model")
    assert [str(label).rpartition(", ")[2] for label in labels] == ["three stages", "one stage", "one stage"]
    assert column(fourth, "Scenes EXT") == ["3", "3", "0"]
    assert column(fourth, "Scenes GEN") == ["2", None, None]
    record = json.loads((tmp_path / "three" / "crafting.json").read_text(encoding="utf-8"))
    mean = record["marks"]["all"]["creativity"]["mean"]
    assert str(column(fourth, "Creativity EXT")[0]).startswith(f"{mean:.3f}")
    assert "Without marks, because nobody was asked for them" in " ".join(map(str, fourth["notes"]))


def test_folders_of_one_judge_are_put_together_and_a_retest_is_refused(tmp_path: Path) -> None:
    one = rated(
        transcripts(tmp_path / "a", ("teller",)), tmp_path / "one", "script:random-rater", "--rubric", "narrator"
    )
    two = rated(
        transcripts(tmp_path / "b", ("mumbler",)), tmp_path / "two", "script:random-rater", "--rubric", "narrator"
    )
    (first,) = tables(one, two, "--table", "1")
    assert sorted(map(str, column(first, "Model"))) == ["script:mumbler", "script:teller"]
    again = rated(
        tmp_path / "a" / "transcripts.jsonl", tmp_path / "again", "script:random-rater", "--rubric", "narrator"
    )
    with pytest.raises(UserError, match="in two folders"):
        CliRunner().invoke(APP, [str(one), str(again), "--table", "1"], catch_exceptions=False)


def test_narrators_are_rated_on_their_own_turns_by_the_four_maxims_and_drawn(tmp_path: Path) -> None:
    out = rated(transcripts(tmp_path / "in"), tmp_path / "out", "script:random-rater", "--rubric", "narrator")
    lines = [json.loads(line) for line in (out / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {one["role"] for one in lines} == {"narrator"}
    assert [one["metric"] for one in lines[:4]] == ["quality", "quantity", "relevance", "manner"]
    result = CliRunner().invoke(APP, [str(out)])
    assert result.exit_code == 0, result.output
    assert "How a narrator tells" in result.stdout
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count('<polygon class="shape"') == len(NARRATORS)
    for name in ("Quality", "Quantity", "Relevance", "Manner"):
        assert f">{name}</tspan>" in page


def test_a_report_of_worlds_speaks_of_plays_and_scenes_and_says_who_acted_on_whom(tmp_path: Path) -> None:
    path = transcripts(tmp_path / "in", ("teller",))
    one = Transcript.model_validate_json(path.read_text(encoding="utf-8").splitlines()[0])
    turns = tuple(turn.model_copy(update={"phase": "round-1"}) for turn in one.turns)
    hit = turns[0].model_copy(update={"flags": ("target:mara",)})
    roles = tuple(
        role.model_copy(update={"id": f"character:{role.id}"}) if role.id == "mara" else role for role in one.roles
    )
    named = [turn.model_copy(update={"role": "character:mara"}) if turn.role == "mara" else turn for turn in turns[1:]]
    cast = {f"character:{name}" if name == "mara" else name: player for name, player in one.cast.items()}
    changed = one.model_copy(update={"turns": (hit, *named), "roles": roles, "cast": cast})
    path.write_text(f"{changed.model_dump_json()}\n", encoding="utf-8")
    out = rated(path, tmp_path / "out", "script:always-five")
    result = CliRunner().invoke(APP, [str(out)])
    assert "1 subject, 1 scene, 1 play, rated by script:always-five with the rubric character." in result.stdout
    page = (out / "report.html").read_text(encoding="utf-8")
    for words in ("Who acted on whom", "Round 1", '<h2 id="trials-h">Plays</h2>', "on nobody"):
        assert words in page
    assert "Nothing was judged" not in page
    assert "trial came about" not in page
