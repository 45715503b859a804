"""The guides: their examples are carried out, their commands exist, their links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml
from typer.core import TyperGroup
from typer.testing import CliRunner

from dramaturg.cli.main import app
from dramaturg.files import load_yaml, read_jsonl
from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.run.labels import read_labels
from dramaturg.stage.importing import load_roles
from dramaturg.stage.transcript import Transcript

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(dramaturg [^`]+)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
PROGRAM = typer.main.get_command(app)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return [body for found, body in BLOCK.findall(text) if found == language]


def commands(text: str) -> list[str]:
    shown = [line for body in blocks(text, "") for line in body.splitlines() if line.startswith("dramaturg ")]
    return [*shown, *INLINE.findall(text)]


def problem_of(line: str) -> str:
    """Returns why a command could not be given so, or nothing; values are not looked at."""
    words = shlex.split(line.partition(" #")[0].partition(" && ")[0])[1:]
    command = PROGRAM
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        name = words.pop(0)
        if name not in command.commands:
            return f"no command {name!r}"
        command = command.commands[name]
    known = {option: parameter for parameter in command.params for option in parameter.opts}
    wrong = [word for word in words if word.startswith("--") and word.partition("=")[0] not in {*known, "--help"}]
    return f"no option {wrong[0]}" if wrong else ""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_command_of_a_guide_exists(path: Path):
    wrong = {line: found for line in commands(path.read_text(encoding="utf-8")) if (found := problem_of(line))}
    assert not wrong


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_link_of_a_guide_leads_to_a_file(path: Path):
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    assert not [target for target in targets if not (path.parent / target).exists()]


def test_the_import_of_the_guide_says_what_the_guide_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    chat, told = blocks(page("import.md"), "text")
    (tmp_path / "chat.txt").write_text(chat, encoding="utf-8")
    (tmp_path / "policy.txt").write_text("Clause 1: replace or refund.\n", encoding="utf-8")
    [line] = [line for line in commands(page("import.md")) if "chat.txt" in line]
    result = CliRunner().invoke(app, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output
    assert result.output == told
    assert [len(transcript.judged_turns()) for _, transcript in read_jsonl(Path("t.jsonl"), Transcript)] == [2]


def test_the_roles_of_the_guide_are_read(tmp_path: Path):
    path = tmp_path / "roles.yaml"
    path.write_text(blocks(page("import.md"), "yaml")[0], encoding="utf-8")
    assert [part.kind for part in load_roles(path)] == ["agent", "customer"]


def test_the_benchmark_of_the_guide_is_one(tmp_path: Path):
    benchmark, indicator = blocks(page("benchmarks.md"), "yaml")
    path = tmp_path / "tutor.yaml"
    path.write_text(benchmark, encoding="utf-8")
    assert load_yaml(path, Benchmark).id == "tutor"
    assert Indicator(id="X-1", dimension="X", **yaml.safe_load(indicator)).turned


def test_the_labels_of_the_guide_are_read(tmp_path: Path):
    path = tmp_path / "labels.csv"
    path.write_text(blocks(page("judges.md"), "csv")[0], encoding="utf-8")
    assert [label.answer for label in read_labels(path)] == ["yes", "no"]
