"""``dramaturg judge`` as a user types it: what it refuses before it writes, what may change, how it is interrupted."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from misbehaving import MisbehavingServer, too_long
from report_fixtures import SMALL, transcript, write
from test_cli import Typed, one_line

THREE = """\
id: three
version: 1
title: Three questions
domain: court
dimensions:
  - {id: AA, name: Only, definition: Whether a trial was played.}
indicators:
  - {id: AA-1, dimension: AA, text: Does the judge open the trial?, roles: [judge]}
  - {id: AA-2, dimension: AA, text: Does the judge close the trial?, roles: [judge]}
  - {id: AA-3, dimension: AA, text: Does the judge name a verdict?, roles: [judge]}
"""
YES = """\
name: agreeable
rules:
  - {purpose: indicator, delay_s: DELAY, json: {reasoning: Seen., answer: 'yes', evidence: [T1]}}
"""


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(monkeypatch, capsys)


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A judging that asks three questions about each of four transcripts."""
    write(tmp_path / "t.jsonl", [transcript(SMALL, case) for case in ("one", "two", "three", "four")])
    (tmp_path / "three.yaml").write_text(THREE, encoding="utf-8")
    (tmp_path / "yes.yaml").write_text(YES.replace("DELAY", "0"), encoding="utf-8")
    return [
        *("judge", str(tmp_path / "t.jsonl"), "--checklist", str(tmp_path / "three.yaml")),
        *("--judge", f"script:{tmp_path / 'yes.yaml'}", "--out", str(tmp_path / "out")),
    ]


def judgements(out: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (out / "judgements.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_torn_or_broken_line_is_named_and_nothing_is_written(
    typed: Typed, arguments: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole + whole[:200], encoding="utf-8")
    assert typed(*arguments) == 1
    assert f"{path}:5: the last line is torn" in typed.err and one_line(typed.err)
    path.write_text('{"format": \n' + whole, encoding="utf-8")
    assert typed(*arguments) == 1
    assert f"{path}:1" in typed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "mistake",
    [
        ("--judge", "scrpt:yes.yaml"),
        ("--judge", "openai:gpt-5-mini"),
        ("--checklist", "tree.yaml"),
        ("judge", "t.json"),
    ],
)
def test_a_failed_command_does_not_claim_the_folder(
    typed: Typed, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: tuple[str, str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    option, value = mistake
    wrong = list(arguments)
    wrong[wrong.index(option) + 1] = value
    assert typed(*wrong, "--mode", "joint") == 1
    assert not (tmp_path / "out" / "snapshot").exists()
    assert typed(*arguments) == 0
    assert len(judgements(tmp_path / "out")) == 12


def test_built_in_judges_are_named_where_a_judge_is_wanted_and_nowhere_else(
    typed: Typed, arguments: list[str], tmp_path: Path
) -> None:
    arguments[arguments.index("--judge") + 1] = "script:orcle"
    assert typed(*arguments) == 1
    assert "did you mean 'oracle'? allowed: always-five, always-yes, " in typed.err
    assert typed("audit", "judge", "script:coyn") == 1
    assert "did you mean 'coin'" in typed.err
    study = tmp_path / "study.yaml"
    study.write_text("study: s\nsubjects: ['script:orcle']\ncases: [summit-ridge]\n", encoding="utf-8")
    assert typed("plan", study) == 1
    assert "unknown script 'orcle'" in typed.err and "oracle" not in typed.err
    study.write_text(
        "study: s\nsubjects: ['script:court-steady']\ncases: [summit-ridge]\njudges: [{model: 'script:orcle'}]\n",
        encoding="utf-8",
    )
    assert typed("plan", study) == 1
    assert "did you mean 'oracle'" in typed.err


def test_a_report_says_why_nothing_was_asked(typed: Typed, arguments: list[str], tmp_path: Path) -> None:
    """FW-88: no turn to judge is no score, and the reader is told what is amiss with the transcript."""
    trial = transcript(SMALL, "one")
    people = {role: player.model_copy(update={"kind": "human"}) for role, player in trial.cast.items()}
    write(tmp_path / "t.jsonl", [trial.model_copy(update={"cast": people})])
    assert typed(*arguments) == 0
    assert "Only turns that a model played are judged" in " ".join(typed.out.split())
    write(tmp_path / "t.jsonl", [trial.model_copy(update={"roles": ()})])
    assert typed(*arguments, "--accept-changes") == 0
    assert "checklist about roles that the transcript does not declare 3" in " ".join(typed.out.split())


def test_a_changed_checklist_is_judged_anew_where_changes_are_accepted(
    typed: Typed, arguments: list[str], tmp_path: Path
) -> None:
    assert typed(*arguments) == 0
    (tmp_path / "three.yaml").write_text(THREE.replace("name a verdict", "give a verdict"), encoding="utf-8")
    assert typed(*arguments) == 1
    assert "checklists/three" in typed.err and "--accept-changes" in typed.err
    assert typed(*arguments, "--accept-changes", "--json") == 0
    assert json.loads(typed.out)["calls"] > 0
    assert len(judgements(tmp_path / "out")) == 12


def test_what_was_recorded_needs_no_key(
    typed: Typed, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    arguments[arguments.index("--judge") + 1] = "openai:gpt-5-mini"
    assert typed(*arguments, "--replay-only", "--json") == 2
    assert json.loads(typed.out)["units"]["failed"] == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_judging_keeps_its_answers_and_says_how_to_go_on(
    typed: Typed, arguments: list[str], tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "yes.yaml").write_text(YES.replace("DELAY", "0.4"), encoding="utf-8")
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "dramaturg", *arguments, "--concurrency", "1", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    part = out / "units.jsonl.part"
    deadline = time.monotonic() + 30
    while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    said, complained = process.communicate(timeout=60)
    assert process.returncode == 130, complained
    assert b"run the same command again" in complained and b"Traceback" not in complained
    stopped = json.loads(said)
    assert stopped["units"]["done"] + stopped["units"]["open"] == 4 and stopped["units"]["open"] > 0
    assert len(judgements(out)) == 3 * stopped["units"]["done"] > 0
    assert typed(*arguments, "--json") == 0
    assert json.loads(typed.out)["replayed"] >= 3
    assert len(judgements(out)) == 12


async def test_a_judge_whose_context_proves_too_small_is_told_the_option_that_helps(
    arguments: list[str], tmp_path: Path
) -> None:
    async with MisbehavingServer(lambda body, n: too_long()) as server:
        arguments[arguments.index("--judge") + 1] = f"{server.url}#m"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dramaturg", *arguments, "--long", "cut"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        _, complained = await process.communicate()
    assert b"12 answers are missing, and nothing could be cut: " in complained
    assert b"?context_tokens=2048 in the model's spec" in complained
