"""Raters in a study of worlds: plays and ratings in one run, resumed, planned, and reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dramaturg.errors import StudyError
from dramaturg.ledger import Budget, Ledger
from dramaturg.model.opening import Models
from dramaturg.report.rating import collect_ratings
from dramaturg.report.rating.collect import read_ratings
from dramaturg.run.progress import Silent
from dramaturg.run.rating import rating_benches, rating_docket
from dramaturg.run.result import RunResult
from dramaturg.run.sitting import Sitting
from dramaturg.run.world.engine import run_world
from dramaturg.run.world.material import read_world
from dramaturg.run.world.plan import plan_world
from world_fixtures import ALONE, FERRY

STUDY = """\
study: rated
suite: world
subjects: [{model: script:world-steady, name: steady}]
narrator: script:world-steady
scenes: [scenes.jsonl]
protocol: fast
seeds: 2
raters:
  - {model: script:random-rater, mode: single}
  - {model: script:always-five}
"""

FILES = ("transcripts.jsonl", "ratings.jsonl", "units.jsonl")


def write(folder: Path, text: str = STUDY) -> Path:
    scenes = "".join(f"{scene.model_dump_json(exclude_defaults=True)}\n" for scene in (FERRY, ALONE))
    (folder / "scenes.jsonl").write_text(scenes, encoding="utf-8")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return folder / "study.yaml"


async def run(study: Path, out: Path, budget: Budget | None = None, *, replay_only: bool = False) -> RunResult:
    with Ledger.open(out / "ledger.db", replay_only=replay_only) as ledger:
        async with Models() as models:
            return await run_world(
                read_world(study),
                out=out,
                ledger=ledger,
                models=models,
                budget=budget or Budget(),
                replay_only=replay_only,
            )


async def test_a_study_plays_and_rates_in_one_run_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    study, out = write(tmp_path), tmp_path / "out"
    whole = await run(study, tmp_path / "whole")
    assert (whole.exit_code, whole.counts()["done"]) == (0, 4 + 2 * 4)
    planned = plan_world(read_world(study))
    assert planned.load.least_calls <= whole.calls <= planned.load.most_calls
    assert [name for name, _ in planned.lines[-2:]] == [
        "rating by script:random-rater (character, single)",
        "rating by script:always-five (character, joint)",
    ]
    stopped = await run(study, out, Budget(max_calls=whole.calls - 10))
    assert (stopped.exit_code, stopped.stop) == (3, "limit")
    rest = await run(study, out)
    assert (rest.exit_code, rest.calls) == (0, 10)
    again = await run(study, out, replay_only=True)
    assert again.calls == 0
    for name in FILES:
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


async def test_ratings_of_a_study_equal_those_of_its_folder_rated_afterwards(tmp_path: Path) -> None:
    study, out, later = write(tmp_path), tmp_path / "out", tmp_path / "later"
    await run(study, out)
    benches = rating_benches(["script:always-five"], rubric="character", mode="joint", votes=1)
    docket = rating_docket(later, source=out, benches=benches)
    with Ledger.open(later / "ledger.db") as ledger:
        async with Models() as models:
            await Sitting(docket, models, ledger, Budget()).carry_out(later, concurrency=2, progress=Silent())
    of_file = [(one.transcript, one.role, one.metric, one.value) for one in read_ratings(later)]
    assert {role for _, role, _, _ in of_file} == {f"character:{name}" for name in ("ada", "bo", "cy", "eva")}
    assert of_file == [
        (one.transcript, one.role, one.metric, one.value)
        for one in read_ratings(out)
        if one.judge == "script:always-five"
    ]


async def test_a_rubric_whose_roles_no_model_plays_is_named(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY + "  - {model: script:always-five, rubric: narrator}\n")
    result = await run(study, tmp_path / "out")
    assert result.exit_code == 0
    with Ledger.open(tmp_path / "out" / "ledger.db") as ledger:
        report = collect_ratings(tmp_path / "out", ledger)
    assert [one.rubric.id for one in report.rated] == ["character", "character"]
    assert "no model plays a role that the rubric narrator is about" in " ".join(report.cautions)


async def test_a_play_that_failed_is_not_rated_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "mute.yaml").write_text("name: mute\nrules: [{role: narrator, reply: none}]\n", encoding="utf-8")
    study = write(tmp_path, STUDY.replace("{model: script:world-steady, name: steady}", "script:mute.yaml"))
    result = await run(study, tmp_path / "out")
    assert result.exit_code == 2
    assert {(one.kind, one.status, one.failure) for one in result.records} == {
        ("stage", "failed", "protocol"),
        ("judge", "not_run", "stage_failed"),
    }


async def test_a_rater_that_is_gained_changes_no_play(tmp_path: Path) -> None:
    head = STUDY.partition("raters:")[0]
    out = tmp_path / "out"
    before = await run(write(tmp_path, head), out)
    assert not (out / "ratings.jsonl").exists()
    after = await run(write(tmp_path), out)
    assert after.records[: len(before.records)] == before.records
    assert after.replayed == before.calls


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("raters: [script:always-five, {model: script:always-five}]", "means the same as an entry above"),
        ("raters: [{model: script:always-five, rubric: nothing}]", "unknown rubric 'nothing'"),
        ("raters: [{model: script:always-five, mode: grouped}]", "mode"),
        ("raters: [{model: nowhere:x}]", "unknown provider"),
        ("raters: [{model: script:always-five, votes: 0}]", "votes"),
    ],
)
def test_a_wrong_rater_is_told_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(StudyError, match=r"study\.yaml:") as raised:
        read_world(write(tmp_path, STUDY.partition("raters:")[0] + line))
    assert says in str(raised.value)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_killed_study_is_continued_byte_for_byte(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY.replace("seeds: 2", "seeds: 4"))

    def command(out: Path) -> list[str]:
        return [sys.executable, "-m", "dramaturg", "run", str(study), "--out", str(out)]

    started = time.monotonic()
    subprocess.run(command(tmp_path / "whole"), check=True, capture_output=True)
    seconds = time.monotonic() - started
    process = subprocess.Popen(command(tmp_path / "out"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds * 0.6)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run(command(tmp_path / "out"), check=True, capture_output=True)
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
