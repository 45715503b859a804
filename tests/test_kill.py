"""A run that is killed goes on as if nothing had happened; set DRAMATURG_KILLS for more moments."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "scripts"
KILLS = int(os.environ.get("DRAMATURG_KILLS", "4"))
FILES = ("transcripts.jsonl", "judgements.jsonl", "units.jsonl")

STUDY = f"""\
study: killed
seed: 11
subjects: [script:{SCRIPTS / "counted.py"}]
cases: [summit-ridge, dukes-yard]
seeds: 2
protocol: guarded
judges:
  - model: script:{SCRIPTS / "counted.py"}
    checklist: court
    mode: single
concurrency: 3
"""


def command(folder: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "dramaturg", "run", str(folder / "study.yaml"), "--out", str(out)]


def environment(asked: Path) -> dict[str, str]:
    return {**os.environ, "DRAMATURG_TEST_ASKED": str(asked)}


def asked_seeds(path: Path) -> list[int]:
    return [int(line) for line in path.read_text(encoding="utf-8").split()] if path.exists() else []


def committed_seeds(out: Path) -> set[int]:
    if not (out / "ledger.db").exists():
        return set()
    with sqlite3.connect(out / "ledger.db") as connection:
        try:
            query = "SELECT seed FROM call JOIN model ON model.hash = call.model WHERE final AND model.name = 'counted'"
            return {seed for (seed,) in connection.execute(query)}
        except sqlite3.OperationalError:
            return set()


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    folder = tmp_path_factory.mktemp("unbroken")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    started = time.monotonic()
    subprocess.run(command(folder, folder / "out"), env=environment(folder / "asked"), check=True, capture_output=True)
    return folder, time.monotonic() - started


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_run_is_continued_byte_for_byte_and_asks_nothing_twice(
    number: int, unbroken: tuple[Path, float], tmp_path: Path
) -> None:
    """I26, FW-31, FW-33, FW-34: kill -9 at a random moment, then the same command again."""
    reference, seconds = unbroken
    out = tmp_path / "out"
    moment = random.Random(f"kill {number}").uniform(0.1, 0.95) * seconds
    process = subprocess.Popen(
        command(reference, out),
        env=environment(tmp_path / "first"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = committed_seeds(out)
    assert before <= set(asked_seeds(tmp_path / "first"))

    subprocess.run(command(reference, out), env=environment(tmp_path / "second"), check=True, capture_output=True)

    for name in FILES:
        assert (out / name).read_bytes() == (reference / "out" / name).read_bytes()
    again = asked_seeds(tmp_path / "second")
    assert not before & set(again)
    assert len(again) == len(set(again))
    assert before | set(again) == set(asked_seeds(reference / "asked"))
