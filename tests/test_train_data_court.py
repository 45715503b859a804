"""Data sets from trials: only what a judge gave in its form is learned, and only rewrites that a trial would take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dramaturg.files import read_jsonl
from dramaturg.stage.transcript import Player, Role, Scenario, Transcript, Turn
from dramaturg.train.example import ExampleRow
from dramaturg.train.guided import guided
from dramaturg.train.noticing import fault_of_rewrite
from dramaturg.train.reading import read_runs
from train_fixtures import SCRIPTS, dramaturg, rated, tried

DECIDES = f"script:{SCRIPTS / 'decides.py'}"
REFLECTS = f"script:{SCRIPTS / 'reflects_in_court.py'}"
PREFERS_CARE = f"script:{SCRIPTS / 'prefers_care.py'}"
REPEATED = "It was as I have told the officers, and I have nothing to add to what I said there."


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


def test_a_rewrite_that_a_trial_would_not_take_is_left_out_and_counted(tmp_path: Path) -> None:
    run, out = tried(tmp_path / "run", REFLECTS), tmp_path / "set"
    code, told, errors = dramaturg(
        "train", "data", "reflective", run, "--rater", PREFERS_CARE, "--out", out,
        "--validation", "0", "--test", "0", "--json",
    )  # fmt: skip
    assert code == 0, errors
    examples = [row.example for _, row in read_jsonl(out / "train.jsonl", ExampleRow)]
    assert examples and all("with care I say" in example.answer for example in examples)
    assert not any("Simon Trask:" in example.answer or "assist" in example.answer for example in examples)
    left_out = json.loads(told)["left_out"]
    for fault in ("refused", "cut:other_speaker", "as_an_ai"):
        assert left_out[f"rewritten turn: {fault}"] > 0
    (verdict,) = (example for example in examples if example.purpose == "verdict")
    decision = json.loads(verdict.answer)
    assert set(decision) == {"announcement", "outcome"}
    assert decision["announcement"].startswith('Your Honour, with care I say "T')


def _turn(number: int, role: str, text: str, kind: str = "speech", **more: object) -> Turn:
    return Turn.model_validate(
        {"id": f"T{number}", "role": role, "speaker": role, "kind": kind, "text": text, "call": "c", **more}
    )


def transcript(suite: str, turns: list[Turn], kinds: tuple[str, str] = ("witness", "prosecutor")) -> Transcript:
    roles = tuple(
        Role(id=name, kind=kind, name=f"{name.title()} Finch") for name, kind in zip("ab", kinds, strict=True)
    )
    player = Player(kind="model", model="script:x")
    return Transcript(
        id="t",
        suite=suite,
        protocol="guarded",
        scenario=Scenario(id="s", title="s"),
        roles=roles,
        cast={role.id: player for role in roles},
        seed=0,
        turns=tuple(turns),
        end_reason="completed",
    )


@pytest.mark.parametrize(
    ("text", "purpose", "fault"),
    [
        ("I saw the gate stand open at ten that night.", "answer", ""),
        ("Well.\nB Finch: And then?", "answer", "cut:other_speaker"),
        ("B Finch: what did you see there?", "answer", "speaks_for_others"),
        ("B Finch: what did you see there?", "question", ""),
        ("I cannot help you with that request.", "answer", "refused"),
        ("Being an AI, I saw nothing at all.", "answer", "as_an_ai"),
        ("作为一个人工智能，我什么也没有看见。", "answer", "as_an_ai"),
        (REPEATED, "answer", "loop"),
        ("The record shows the key in the coat, and the gate stood open from ten on.", "answer", "copy"),
        ("I saw it. <NextSpeaker: B Finch>", "answer", "tag:unasked"),
    ],
)
def test_a_rewritten_speech_is_read_as_a_trial_reads_one(text: str, purpose: str, fault: str) -> None:
    turns = [
        _turn(1, "a", REPEATED),
        _turn(2, "b", "The record shows the key in the coat, and the gate stood open from ten on."),
        _turn(3, "a", "I have nothing to say."),
        _turn(4, "a", "I saw the gate stand open at ten that night."),
    ]
    assert fault_of_rewrite(transcript("court", turns), turns[2], text, purpose=purpose) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A Finch lifts the lamp and looks into the well.", ""),
        ("A Finch lifts the lamp. B Finch takes it from her and runs away.", "cut:other_act"),
        ("A Finch sits down by the fire and warms both her hands over it.", "repeat"),
        ("Locks the heavy iron gate and hides the only key in a coat.", "copy"),
        ("As an AI, A Finch does nothing.", "as_an_ai"),
        ("I cannot help you with that request.", "refused"),
        ("...", "empty"),
    ],
)
def test_a_rewritten_deed_is_read_as_a_world_reads_one(text: str, fault: str) -> None:
    turns = [
        _turn(1, "a", "A Finch sits down by the fire and warms both her hands over it.", "action"),
        _turn(2, "b", "Locks the heavy iron gate and hides the only key in a coat.", "action"),
        _turn(3, "a", "A Finch waits.", "action"),
    ]
    played = transcript("world", turns, ("character", "character"))
    assert fault_of_rewrite(played, turns[2], text, purpose="action") == fault
