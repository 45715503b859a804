"""`audit bleed`: persona leakage across the rows of a file of replies."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from dramaturg.cli.audit_bleed import bleed as bleed_command
from dramaturg.errors import ContentError
from dramaturg.judge.audit.bleed import Answered, find_bleed
from dramaturg.judge.audit.persona_names import likely_names, name_in, parts_of, rows_naming
from dramaturg.measure.scan import dealt, run_scores, strongest_run
from dramaturg.run.interview.reply_row import ReplyRow

NAMES = [f"{one}{two}" for one in ("Bel", "Dar", "Fen", "Gor", "Hal", "Jor") for two in ("dric", "mina", "wick", "oth")]
LINES = ("I will not hear of it.", "The harbour can wait.", "What would you have me do?", "My mother said the same.")
ROWS = 720
BLOCK = ROWS // 6


def published_items(path: Path, generator: random.Random) -> list[tuple[int, str, str]]:
    """Writes an item file of the published schema; returns id, type and character of each row."""
    rows: list[tuple[int, str, str]] = []
    with path.open("w", encoding="utf-8") as out:
        for number in range(ROWS):
            kind = generator.choice(("emotion", "decision", "in\u2010character"))
            name = generator.choice(NAMES)
            answer = {"emotion": ["joy"], "decision": ["yes"]}.get(kind, ["Nolan"])
            system = f"You are {name}, who keeps the light of a small harbour."
            context = [{"role": "system", "content": system}, {"role": "user", "content": "The boat is in. What now?"}]
            row = {"id": 1000 + number, "type": kind, "context": context, "checks": [{"args": answer}]}
            out.write(json.dumps(row) + "\n")
            rows.append((1000 + number, kind, name))
    return rows


def said(kind: str, name: str, generator: random.Random, *, yes: float = 0.6) -> str:
    line = generator.choice(LINES)
    match kind:
        case "emotion":
            label = generator.choice(("joy", "fear", "anger"))
            return json.dumps(
                {"emotion": label, "text": f"{line} So says {name}." if generator.random() < 0.2 else line}
            )
        case "decision":
            return json.dumps({"decision": "yes" if generator.random() < yes else "no"})
        case _:
            return f"({name} looks up.) {line}" if generator.random() < 0.6 else line


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """An item file, and responses of a clean model and of one that keeps the first persona of each of six blocks."""
    generator = random.Random(11)
    rows = published_items(tmp_path / "items.jsonl", generator)
    stuck = ("Beldric", "Darmina", "Fenwick", "Goroth", "Halmina", "Jorwick")
    for file in ("clean", "leaking"):
        with (tmp_path / f"{file}.jsonl").open("w", encoding="utf-8") as out:
            for place, (number, kind, name) in enumerate(rows):
                playing = stuck[place // BLOCK] if file == "leaking" else name
                yes = (0.95, 0.2)[place // BLOCK % 2] if file == "leaking" else 0.6
                out.write(json.dumps({"id": number, "response": said(kind, playing, generator, yes=yes)}) + "\n")
    return {name: tmp_path / f"{name}.jsonl" for name in ("items", "clean", "leaking")}


def found(*arguments: str) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", json.loads(command(*arguments, "--json"))["runs"])


def command(*arguments: str) -> str:
    app = typer.Typer()
    app.command()(bleed_command)
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.mark.parametrize("known", [True, False])
def test_six_persona_blocks_are_caught(files: dict[str, Path], known: bool):
    (run,) = found(str(files["leaking"]), *(["--items", str(files["items"])] if known else []))
    assert run["verdict"] == "leak"
    assert cast("float", run["p"]) <= 0.01
    blocks = cast("list[dict[str, object]]", run["blocks"])
    if known:
        assert [block["personas"] for block in blocks] == [
            ["Beldric"], ["Darmina"], ["Fenwick"], ["Goroth"], ["Halmina"], ["Jorwick"]
        ]  # fmt: skip
        for place, block in enumerate(blocks):
            first, last = cast("int", block["first"]), cast("int", block["last"])
            assert place * BLOCK < first < last <= (place + 1) * BLOCK
            assert cast("int", block["characters"]) > 5
    assert cast("float", run["p_edges"]) <= 0.05


@pytest.mark.parametrize("known", [True, False])
def test_a_clean_file_is_not(files: dict[str, Path], known: bool):
    (run,) = found(str(files["clean"]), *(["--items", str(files["items"])] if known else []))
    assert run["verdict"] == "none seen"
    assert run["blocks"] == []


def test_the_terminal_shows_the_blocks(files: dict[str, Path]):
    shown = command(str(files["leaking"]), "--items", str(files["items"]))
    assert "leak: " in shown
    assert "Goroth" in shown


def test_one_persona_all_over_the_file_is_a_leak_without_any_block():
    generator = random.Random(5)
    names = {name.lower(): name for name in NAMES}
    rows = [
        Answered(number, said("", "Goroth", generator), character=generator.choice(list(names)), known="")
        for number in range(300)
    ]
    result = find_bleed(rows, names)
    assert result.verdict == "leak"
    assert [one.persona for one in result.spread] == ["Goroth"]


def test_a_file_sorted_by_character_is_clean():
    generator = random.Random(6)
    rows = [
        Answered(number, said("", NAMES[number // 12], generator), character=NAMES[number // 12].lower())
        for number in range(12 * len(NAMES))
    ]
    assert find_bleed(rows).verdict == "none seen"
    nobody = [Answered(row.row, row.text) for row in rows]
    assert not find_bleed(nobody).blocks


def test_a_name_that_the_row_was_told_is_no_leak():
    generator = random.Random(7)
    names = {name.lower(): name for name in NAMES}
    rows = [
        Answered(
            number,
            f"Goroth owes me money. {generator.choice(LINES)}" if 50 <= number < 90 else "No.",
            character=generator.choice(sorted(set(names) - {"goroth"})),
            known="Goroth sent me. What now?" if 50 <= number < 90 else "What now?",
        )
        for number in range(300)
    ]
    assert find_bleed(rows, names).verdict == "none seen"


def test_rows_of_a_run_are_read_by_subject_and_repeat(tmp_path: Path):
    path = tmp_path / "replies.jsonl"
    rows = [
        ReplyRow(
            set="s", item=f"i{number}", character="c", category="decision", subject=subject, repeat=repeat, status="ok",
            text="[yes] I go.",
        )
        for subject in ("one", "other")
        for repeat in (1, 2)
        for number in range(3)
    ]  # fmt: skip
    path.write_text("".join(row.model_dump_json() + "\n" for row in rows) + '{"format": "dram', encoding="utf-8")
    assert [(run["run"], run["rows"], run["verdict"]) for run in found(str(path))] == [
        ("one", 3, "none seen"),
        ("one, repeat 2", 3, "none seen"),
        ("other", 3, "none seen"),
        ("other, repeat 2", 3, "none seen"),
    ]


def test_replies_to_another_set_are_refused(files: dict[str, Path], tmp_path: Path):
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": 7, "response": "yes"}\n', encoding="utf-8")
    with pytest.raises(ContentError, match="no row answers an item"):
        command(str(other), "--items", str(files["items"]))


@pytest.mark.parametrize("text", ["", "\n", '{"question": "?"}\n', "[1]\n", "nonsense\n"])
def test_a_file_that_holds_no_replies_is_one_clear_line(tmp_path: Path, text: str):
    path = tmp_path / "replies.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ContentError):
        command(str(path))


def test_odd_replies_are_read_as_text(tmp_path: Path):
    path = tmp_path / "odd.jsonl"
    odd: Sequence[object] = [
        "",
        "{",
        '{"emotion": 3}',
        "[joy]",
        "\u0627\u0644\u0633\u0644\u0627\u0645",
        {"decision": "no"},
        None,
    ]
    rows = [*({"id": n, "response": one} for n, one in enumerate(odd)), {"id": "without"}]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    (run,) = found(str(path))
    assert (run["rows"], run["verdict"]) == (6, "none seen")


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("You are Almhil, an elf of the moon.", "Almhil"),
        ("You’re Sergeant Arthur Hayes, a 28-year-old infantryman.", "Arthur Hayes"),
        ("You are a young elf named Celandine Brook, born by the sea.", "Celandine Brook"),
        ("You are the goblin Shadbak, and you hunt for pay.", "Shadbak"),
        ("You are an English monk of the year 1125.", ""),
        ("You are a determined woman, 28 years old.", ""),
    ],
)
def test_a_description_gives_its_name(description: str, name: str):
    assert name_in(description) == name


def test_a_name_that_is_a_word_too_is_no_name():
    texts = ["There is hope.", "I hope so.", "Hope is here.", "We hope, Hope and I."]
    assert "hope" not in rows_naming(texts, ["hope"])
    assert "hope" not in likely_names(texts * 2)


def test_names_without_capitals_are_found_inside_the_line():
    assert parts_of("\u674e\u767d") == ("\u674e\u767d",)
    assert rows_naming(["\u6211\u662f\u674e\u767d\u3002", "\u4e0d\u3002"], ["\u674e\u767d"]) == {"\u674e\u767d": [0]}


def test_dealing_keeps_packs_together_and_loses_no_row():
    places = dealt(103, deals=5, together=25, generator=np.random.default_rng(1))
    for order in places:
        assert sorted(order.tolist()) == list(range(103))
        assert np.all(np.diff(order[25:50]) == 1)


def test_the_densest_run_is_the_one_that_was_planted():
    marks = np.array([3, 200, 201, 203, 204, 206, 210, 480], dtype=np.int64)
    run = strongest_run(marks, 500)
    assert (run.first, run.last) == (200, 210)
    assert run.score == pytest.approx(float(run_scores(marks[None, :], 500)[0]))
