"""The terminal door: every command as a user types it, in this process."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dramaturg.cli import main
from misbehaving import MisbehavingServer, error

STUDY = """\
study: typed
seed: 3
subjects: [script:court-steady]
cases: [summit-ridge]
protocol: paper
"""


class Typed:
    """Runs a command line and keeps what it wrote."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.out = ""
        self.err = ""

    def __call__(self, *arguments: str | Path) -> int:
        self._monkeypatch.setattr(sys, "argv", ["dramaturg", *(str(argument) for argument in arguments)])
        monkey_stream(self._monkeypatch)
        with pytest.raises(SystemExit) as left:
            main()
        self.out, self.err = self._capsys.readouterr()
        code = left.value.code
        return 0 if code is None else int(code)


def monkey_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pytest's streams cannot be reconfigured; the program asks for it."""
    for stream in (sys.stdout, sys.stderr):
        if not hasattr(stream, "reconfigure"):
            monkeypatch.setattr(stream, "reconfigure", lambda **_: None, raising=False)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(monkeypatch, capsys)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def one_line(text: str) -> bool:
    return text.count("\n") == 1 and "Traceback" not in text


def test_run_writes_everything_and_a_second_run_asks_nothing(typed: Typed, study: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "deep" / "folder"
    assert typed("run", study, "--out", out, "--json") == 0
    first = json.loads(typed.out)
    assert first["calls"] > 10
    for name in ("report.html", "transcripts.jsonl", "judgements.jsonl", "units.jsonl", "study.yaml", "ledger.db"):
        assert (out / name).is_file(), name
    assert typed("run", study, "--out", out, "--json") == 0
    second = json.loads(typed.out)
    assert (second["calls"], second["replayed"]) == (0, first["calls"])


def test_plan_counts_without_a_call(typed: Typed, study: Path) -> None:
    """FW-67."""
    assert typed("plan", study, "--json") == 0
    plan = json.loads(typed.out)
    assert plan["performances"] == 1
    assert 0 < plan["calls"]["least"] <= plan["calls"]["most"]


def test_budget_ends_with_three_and_the_next_run_goes_on(typed: Typed, study: Path, tmp_path: Path) -> None:
    """FW-69."""
    assert typed("run", study, "--out", tmp_path / "out", "--max-calls", "5") == 3
    assert "run the same command again" in typed.err
    assert typed("run", study, "--out", tmp_path / "out", "--json") == 0
    assert json.loads(typed.out)["replayed"] == 5


def test_unknown_key_names_its_line_and_the_nearest_one(typed: Typed, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY + "protocl: paper\n", encoding="utf-8")
    assert typed("run", study, "--out", tmp_path / "out") == 1
    assert f"{study}:6" in typed.err
    assert "did you mean 'protocol'" in typed.err
    assert one_line(typed.err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("subjects: [embeded:smollm2-135m]", "did you mean 'embedded'"),
        ("subjects: [embedded:smollm2]", "did you mean 'smollm2-135m'"),
        ("subjects: [script:court-stedy]", "did you mean 'court-steady'"),
        ("cases: [summit-rigde]", "did you mean 'summit-ridge'"),
        ("judges: [{model: 'script:court-steady', checklist: cuort}]", "did you mean 'court'"),
        ("cast: {defense: script}", "did you mean 'defence'"),
    ],
)
def test_unknown_names_get_one_clear_line(typed: Typed, tmp_path: Path, line: str, hint: str) -> None:
    key = line.split(":", 1)[0]
    kept = [old for old in STUDY.splitlines() if not old.startswith(f"{key}:")]
    study = tmp_path / "study.yaml"
    study.write_text("\n".join([*kept, line]), encoding="utf-8")
    assert typed("run", study, "--out", tmp_path / "out") == 1
    assert hint in typed.err
    assert one_line(typed.err)


def test_usage_error_is_a_user_error(typed: Typed) -> None:
    assert typed("run") == 1
    assert typed("nonesuch") == 1
    assert typed("--help") == 0


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_closed_stream_does_not_matter(study: Path, tmp_path: Path, closed: str) -> None:
    program = f"import sys; sys.{closed} = None; sys.argv[0] = 'dramaturg'; from dramaturg.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, "run", str(study), "--out", str(tmp_path / "out")],
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False)
    assert (tmp_path / "out/report.html").is_file()


def test_ctrl_c_before_the_run_began_ends_with_130(
    typed: Typed, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dramaturg.run.material.read_material", interrupt)
    assert typed("run", study, "--out", tmp_path / "out") == 130
    assert one_line(typed.err) and "run the same command again" in typed.err


def test_bytes_that_are_no_utf8_are_named(typed: Typed, tmp_path: Path) -> None:
    """I47, FW-93."""
    study = tmp_path / "study.yaml"
    study.write_bytes(STUDY.encode() + b"# caf\xe9\n")
    assert typed("run", study, "--out", tmp_path / "out") == 1
    assert f"{study}:6: byte 0xe9 is not UTF-8" in typed.err


def test_folder_of_another_study_is_refused(typed: Typed, study: Path, tmp_path: Path) -> None:
    assert typed("run", study, "--out", tmp_path / "out") == 0
    study.write_text(STUDY.replace("typed", "other"), encoding="utf-8")
    assert typed("run", study, "--out", tmp_path / "out") == 1
    assert "'typed'" in typed.err
    assert one_line(typed.err)


def test_server_that_is_down_fails_the_unit_and_not_the_model(typed: Typed, study: Path, tmp_path: Path) -> None:
    """I25, I29, I32."""
    study.write_text(STUDY.replace("script:court-steady", "'http://127.0.0.1:9/v1#m?max_retries=0'"), encoding="utf-8")
    assert typed("run", study, "--out", tmp_path / "out", "--json") == 2
    told = json.loads(typed.out)
    assert told["units"]["failed"] == 1
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "transcripts.jsonl").read_text(encoding="utf-8") == ""


def test_several_judges_judge_one_file_and_can_be_added_later(typed: Typed, study: Path, tmp_path: Path) -> None:
    assert typed("run", study, "--out", tmp_path / "out") == 0
    scripts = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for script, said in zip(scripts, ("yes", "no"), strict=True):
        rules = f"- {{purpose: indicator, json: {{reasoning: Seen., answer: '{said}', evidence: [T2]}}}}"
        script.write_text(f"name: {script.stem}\nrules:\n  {rules}\n", encoding="utf-8")
    one, two = (("--judge", f"script:{script}") for script in scripts)
    arguments = ("judge", tmp_path / "out" / "transcripts.jsonl", "--mode", "windowed", "--ask", "text", "--json")
    assert typed(*arguments, *one, "--out", tmp_path / "judged") == 0
    alone = json.loads(typed.out)["calls"]
    assert typed(*arguments, *one, *two, "--out", tmp_path / "judged") == 0
    assert json.loads(typed.out)["calls"] == json.loads(typed.out)["replayed"] == alone
    lines = (tmp_path / "judged" / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    judgements = [json.loads(line) for line in lines]
    assert len(judgements) == 2 * 38 and {judgement["mode"] for judgement in judgements} == {"windowed"}
    assert {judgement["judge"] for judgement in judgements} == {"script:one", "script:two"}
    units = (tmp_path / "judged" / "units.jsonl").read_text(encoding="utf-8").splitlines()
    assert len({json.loads(line)["unit"] for line in units}) == 2
    assert typed(*arguments, *one, *one, "--out", tmp_path / "judged") == 1
    assert "each judge once" in typed.err
    assert typed(*arguments[:-3], *one, "--out", tmp_path / "judged") == 1
    assert "ask: text → presence" in typed.err


def test_a_mode_that_is_not_there_is_refused_with_those_that_are(typed: Typed, tmp_path: Path) -> None:
    assert typed("judge", "x.jsonl", "--judge", "script:court-steady", "--mode", "fast", "--out", tmp_path) != 0
    assert all(mode in typed.err for mode in ("paper", "probability", "windowed"))


def test_ledger_verify_finds_what_was_changed(typed: Typed, study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert typed("run", study, "--out", out) == 0
    assert typed("ledger", "verify", out) == 0
    with sqlite3.connect(out / "ledger.db") as connection:
        connection.execute("UPDATE call SET text = 'I confess.' WHERE id = 3")
    connection.close()
    assert typed("ledger", "verify", out) == 1
    assert "its reply was changed" in typed.err
    assert typed("ledger", "stats", out, "--json") == 0
    assert json.loads(typed.out)["units"] == 1


def test_schemas_are_published(typed: Typed) -> None:
    for document in ("transcript", "study", "checklist", "judgement", "case"):
        assert typed("schema", document) == 0
        assert json.loads(typed.out)["type"] == "object"


def test_report_is_made_again_without_a_model(typed: Typed, study: Path, tmp_path: Path) -> None:
    """I28, FW-30."""
    assert typed("run", study, "--out", tmp_path / "out") == 0
    (tmp_path / "out" / "report.html").unlink()
    assert typed("report", tmp_path / "out") == 0
    assert (tmp_path / "out" / "report.html").is_file()
    assert typed("report", tmp_path) == 1
    assert one_line(typed.err)


async def test_key_is_nowhere(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FW-45: a server that echoes the key changes nothing."""
    key = "sk-test-0123456789abcdef"
    async with MisbehavingServer(lambda body, n: error(401, f"the key {key} is not valid")) as server:
        study.write_text(STUDY.replace("script:court-steady", f"'{server.url}#m?key_env=TEST_KEY'"), encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dramaturg", "run", str(study), "--out", str(tmp_path / "out")),
            env={**os.environ, "TEST_KEY": key},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
    assert process.returncode == 2
    assert key.encode() not in said
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes(), path


def program(*arguments: str | Path, typed_in: bytes = b"", **environment: str) -> tuple[int, bytes, bytes]:
    """Runs the program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "dramaturg", *(str(argument) for argument in arguments)],
        input=typed_in,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_error_with_signs_beyond_the_terminals_encoding_is_still_told(tmp_path: Path) -> None:
    """FW-90."""
    code, _, said = program("run", tmp_path / "trial \u2705.yaml", "--out", tmp_path, PYTHONIOENCODING="cp1252")
    assert code == 1
    assert b"\\u2705.yaml" in said
    assert b"Traceback" not in said


def test_folder_names_with_blanks_and_foreign_letters_are_kept(typed: Typed, study: Path, tmp_path: Path) -> None:
    """FW-91, FW-93."""
    out = tmp_path / "Zoë 山田" / "a b#c?d%20e"
    assert typed("run", study, "--out", out) == 0
    assert (out / "report.html").is_file()
    assert typed("ledger", "verify", out) == 0


@pytest.mark.parametrize("typed_in", [b"", b"\n\nI object.\n"])
def test_person_who_leaves_or_says_nothing_does_not_break_the_trial(
    study: Path, tmp_path: Path, typed_in: bytes
) -> None:
    """C08: empty input and the end of input are turns like others."""
    study.write_text(STUDY + "cast: {defence: human}\n", encoding="utf-8")
    code, shown, said = program("run", study, "--out", tmp_path / "out", typed_in=typed_in)
    assert (code, b"Traceback" in said) == (0, False)
    assert b"Adelaide Boyd:" in shown
    (transcript,) = (tmp_path / "out" / "transcripts.jsonl").read_text(encoding="utf-8").splitlines()
    assert any(turn["human"] for turn in json.loads(transcript)["turns"])
