"""``dramaturg world play``, ``run`` and ``cost`` as a user types them: exit codes, JSON, resuming, clear lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dramaturg.run.transcripts import read_transcripts
from test_cli import Typed
from world_fixtures import ALONE, FERRY

CAST = "script:world-steady"


class Dramaturg:
    """Runs a command line; gives its exit code, what it wrote, and what it complained of."""

    def __init__(self, typed: Typed) -> None:
        self._typed = typed

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        code = self._typed(*arguments)
        return code, self._typed.out, self._typed.err


@pytest.fixture
def dramaturg(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dramaturg:
    return Dramaturg(Typed(monkeypatch, capsys))


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    path = tmp_path / "scenes.jsonl"
    lines = (f"{scene.model_dump_json(exclude_defaults=True)}\n" for scene in (FERRY, ALONE))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def told(out: str) -> Any:
    return json.loads(out)


def test_play_plays_one_scene_of_a_file_and_says_in_json_what_came_of_it(
    dramaturg: Dramaturg, scenes: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, said, _ = dramaturg(
        *("world", "play", f"{scenes}#ferry", "--model", CAST, "--narrator", CAST),
        *("--protocol", "fast", "--rounds", "2", "--seed", "7", "--out", out, "--json"),
    )
    assert code == 0
    result = told(said)
    assert (result["units"]["done"], result["exit_code"], result["trials"]) == (1, 0, 1)
    ((_, transcript),) = read_transcripts(out / "transcripts.jsonl")
    assert (transcript.scenario.id, transcript.seed, transcript.protocol) == ("ferry", 7, "fast")
    assert {turn.phase for turn in transcript.turns} >= {"opening", "round-1", "round-2"}
    assert (out / "report.html").is_file()


def test_run_stops_at_a_limit_with_3_and_goes_on_without_asking_again(
    dramaturg: Dramaturg, scenes: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = ("world", "run", "--model", CAST, "--scene", scenes, "--seeds", "2", "--protocol", "fast", "--out", out)
    code, _, complaint = dramaturg(*command, "--max-calls", "15", "--json")
    assert code == 3
    assert "run the same command again to go on" in complaint
    code, said, _ = dramaturg(*command, "--json")
    whole = told(said)
    assert (code, whole["units"]["done"], whole["replayed"]) == (0, 4, 15)
    before = (out / "transcripts.jsonl").read_bytes()
    code, said, _ = dramaturg(*command, "--replay-only", "--json")
    assert (code, told(said)["calls"], (out / "transcripts.jsonl").read_bytes()) == (0, 0, before)
    code, said, _ = dramaturg("run", out / "study.yaml", "--out", out, "--json")
    assert (code, told(said)["calls"]) == (0, 0)


def test_run_under_another_protocol_in_the_same_folder_is_refused(
    dramaturg: Dramaturg, scenes: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = ("world", "run", "--model", CAST, "--scene", f"{scenes}#alone", "--rounds", "1", "--out", out)
    assert dramaturg(*command, "--protocol", "fast")[0] == 0
    code, _, complaint = dramaturg(*command, "--protocol", "paper")
    assert code == 1
    assert "protocol: fast → paper" in complaint
    assert "--accept-changes" in complaint


def test_a_scene_that_fails_gives_2_and_a_record(dramaturg: Dramaturg, scenes: Path, tmp_path: Path) -> None:
    mute = tmp_path / "mute.yaml"
    mute.write_text("name: mute\nrules: [{role: narrator, reply: none}]\n", encoding="utf-8")
    out = tmp_path / "out"
    code, said, _ = dramaturg(
        *("world", "play", f"{scenes}#ferry", "--model", f"script:{mute}", "--out", out, "--json")
    )
    assert code == 2
    (failure,) = told(said)["failures"]
    assert failure["kind"] == "protocol" and "mute" in failure["detail"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("scene-that-is-not", "--model", CAST), "unknown scene 'scene-that-is-not'"),
        (("SCENES#nobody", "--model", CAST), "nobody"),
        (("SCENES", "--model", CAST), "holds 2 scenes (one of them"),
        (("SCENES#ferry", "--model", "nowhere:x"), "unknown provider"),
        (("SCENES#ferry", "--model", CAST, "--cast", "ada"), "'ada' casts nobody"),
        (("SCENES#ferry", "--model", CAST, "--cast", "character:zoe=human"), "no scene of this study has the role"),
        (("SCENES#ferry", "--model", CAST, "--narrator", "human"), "human"),
    ],
)
def test_what_cannot_be_played_is_told_in_a_line_without_a_traceback(
    dramaturg: Dramaturg, scenes: Path, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    given = [argument.replace("SCENES", str(scenes)) for argument in arguments]
    code, _, complaint = dramaturg("world", "play", *given, "--out", tmp_path / "out")
    assert code == 1
    assert says in complaint
    assert "Traceback" not in complaint
    assert not (tmp_path / "out" / "transcripts.jsonl").exists()


def test_a_broken_file_of_scenes_is_named_with_its_line(dramaturg: Dramaturg, scenes: Path, tmp_path: Path) -> None:
    with scenes.open("a", encoding="utf-8") as file:
        file.write('{"id": "third", "characters": []}\n')
    code, _, complaint = dramaturg("world", "run", "--model", CAST, "--scene", scenes, "--out", tmp_path / "out")
    assert code == 1
    assert f"{scenes}:3" in complaint


@pytest.mark.parametrize("option", [("--rounds", "0"), ("--protocol", "quick"), ("--seed", "-1")])
def test_an_option_out_of_range_is_refused_before_anything_is_written(
    dramaturg: Dramaturg, scenes: Path, tmp_path: Path, option: tuple[str, str]
) -> None:
    out = tmp_path / "out"
    code, _, complaint = dramaturg("world", "play", f"{scenes}#ferry", "--model", CAST, "--out", out, *option)
    assert code == 1
    assert option[0] in complaint
    assert not out.exists()


def test_cost_compares_the_three_protocols_and_leaves_nothing_behind(
    dramaturg: Dramaturg, scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said, _ = dramaturg("world", "cost", f"{scenes}#ferry", "--rounds", "1", "--json")
    assert code == 0
    costs = {one["protocol"]: one for one in told(said)["protocols"]}
    assert list(costs) == ["paper", "released", "fast"]
    assert costs["fast"]["total"]["calls"] < costs["paper"]["total"]["calls"]
    for one in costs.values():
        assert one["total"]["calls"] == sum(part["calls"] for part in one["by_role"].values())
        assert [row["round"] for row in one["rounds"]] == [1]
    assert [path.name for path in tmp_path.iterdir()] == [scenes.name]


def test_cost_of_a_file_of_several_scenes_asks_for_one_of_them(dramaturg: Dramaturg, scenes: Path) -> None:
    code, _, complaint = dramaturg("world", "cost", scenes)
    assert code == 1
    assert "holds 2 scenes" in complaint and "#ID" in complaint
