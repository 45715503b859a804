"""Data sets from trials: only what a judge gave in its form is learned, and only rewrites that a trial would take."""

from __future__ import annotations

from pathlib import Path

import pytest

from dramaturg.train.guided import guided
from dramaturg.train.reading import read_runs
from train_fixtures import SCRIPTS, rated, tried

DECIDES = f"script:{SCRIPTS / 'decides.py'}"


@pytest.mark.parametrize(
    ("decides", "is_learned"), [("whole", True), ("fenced", False), ("other word", False), ("asked again", False)]
)
def test_a_decision_is_learned_only_where_it_was_in_its_form_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decides: str, is_learned: bool
) -> None:
    monkeypatch.setenv("DECIDES", decides)
    run = tried(tmp_path / "run", DECIDES)
    read = read_runs([run, rated(tmp_path / "rated", run)])
    found = guided(read, at_least=None, best=None, beliefs=False)
    assert any(example.purpose == "verdict" for example in found.examples) == is_learned
    assert found.left_out["act: not in its form at the first ask"] == (not is_learned)
    assert {example.purpose for example in found.examples} >= {"grant", "question", "answer"}
