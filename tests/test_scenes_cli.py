"""The commands for scenes: what they say, as lines and as JSON, and how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dramaturg.cli.console import Finished
from dramaturg.cli.world import app
from dramaturg.errors import UserError
from dramaturg.files import shipped
from dramaturg.stage.world.reading import read_scenes
from test_scenes import scene
from test_scenes import write as write_scenes
from test_scenes_import import deed, row, write


def said(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["scenes", *(str(word) for word in words)])
    ended = result.exception
    assert (ended.code if isinstance(ended, Finished) else 0) == code, result.output
    assert ended is None or isinstance(ended, Finished), result.output
    return result.output


def told(*words: str | Path, code: int = 0) -> Any:
    return json.loads(said(*words, "--json", code=code))


def refused(*words: str | Path) -> str:
    result = CliRunner().invoke(app, ["scenes", *(str(word) for word in words)])
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


def test_shipped_scenes_are_listed() -> None:
    assert {one["id"] for one in told("list")["scenes"]} == set(shipped("scenes"))


def test_scenes_of_a_file_are_listed(tmp_path: Path) -> None:
    path = write_scenes(tmp_path / "two.jsonl", scene("pier"), scene("quay"))
    assert "quay  en  original  The boat is gone.  (Ann, Ben Lee)" in said("list", path)
    assert told("list", path)["scenes"][0]["characters"] == ["Ann", "Ben Lee"]


def test_shipped_scenes_are_clean() -> None:
    assert told("check")["findings"] == []


def test_findings_name_file_scene_and_issue(tmp_path: Path) -> None:
    path = write(tmp_path, row(4, actions=[deed(0, "Neo", "None")]))
    checked = told("check", path)
    assert checked["scenes"] == 1
    assert [(one["file"], one["scene"], one["issue"]) for one in checked["findings"]] == [
        (str(path), 4, "number of actions differs from number of characters"),
        (str(path), 4, "placeholder dialogue"),
    ]
    assert "4: placeholder dialogue at actions[0].dialogue: Neo: None" in said("check", tmp_path)


def test_a_file_without_scenes_ends_with_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("id: [", encoding="utf-8")
    (finding,) = told("check", path, code=1)["findings"]
    assert finding["issue"] == "unreadable"
    assert "nothing-here" in refused("check", "nothing-here")


def test_files_of_characterbox_are_imported_into_one(tmp_path: Path) -> None:
    write(tmp_path / "up" / "extracted_scenes", row(), row(1))
    write(tmp_path / "up" / "generated_data", row())
    out = tmp_path / "new" / "deep" / "scenes.jsonl"
    assert told("import", tmp_path / "up", "--out", out)["scenes"] == 3
    assert [one.id for one in read_scenes(str(out))] == [
        "the-matrix-new-0",
        "the-matrix-new-1",
        "the-matrix-extracted-0",
    ]
    assert f"{out}: scenes: 3" in said("import", tmp_path / "up", "--out", out)


def test_what_cannot_be_imported_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "scenes.jsonl"
    good, bad = write(tmp_path, row()), write(tmp_path, row(location=""), name="bad.json")
    assert "bad.json" in refused("import", good, bad, "--out", out)
    assert "location: is blank" in refused("import", good, bad, "--out", out)
    assert "two scenes have the id" in refused("import", good, good, "--out", out)
    assert "would overwrite" in refused("import", good, "--out", good)
    assert "is a folder" in refused("import", good, "--out", tmp_path)
    assert not out.exists()


@pytest.mark.parametrize("command", ["list", "check"])
def test_an_unknown_name_lists_what_is_allowed(command: str) -> None:
    assert "allowed:" in refused(command, "no-such-scene")
