"""Item sets: folders of our own and files of the published schema, with whatever is wrong in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.errors import ContentError
from dramaturg.stage.interview import LABELS, import_published, read_item_set, write_item_set
from interview_fixtures import CHARACTERS, ITEMS, write_set

SYSTEM = {"role": "system", "content": "You are Bo, a troll."}
ASK = {"role": "user", "content": "What is it?"}


def published(path: Path, *rows: Any, end: str = "\n") -> Path:
    """Writes rows as lines; a row that is text stands as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return path


def row(number: Any, kind: str, args: Any, **changes: Any) -> dict[str, Any]:
    return {"id": number, "type": kind, "context": [SYSTEM, ASK], "checks": [{"args": args}], **changes}


def test_a_set_reads_back_as_it_was_written(tmp_path: Path) -> None:
    item_set = read_item_set(write_set(tmp_path / "set"))
    assert item_set.items == ITEMS
    assert tuple(item_set.characters.values()) == CHARACTERS
    assert item_set.labels == LABELS
    assert item_set.counts() == dict.fromkeys(("emotion", "decision", "moral", "in_character", "knows"), 3)
    write_item_set(tmp_path / "again", item_set)
    assert read_item_set(tmp_path / "again").digest == item_set.digest


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"message": " "}, "the message is empty"),
        ({"character": "nobody"}, "unknown character 'nobody'"),
        ({"expected": "jealousy"}, "the label 'jealousy' is none of the set's"),
        ({"category": "moral", "expected": "maybe"}, "neither yes nor no"),
        ({"category": "knows", "expected": ""}, "it names no fact"),
        ({"category": "knows", "expected": "", "facts": [{"text": "x"}]}, "neither a form nor a date"),
    ],
)
def test_an_item_that_cannot_be_scored_is_kept_and_listed(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    folder = write_set(tmp_path / "set")
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), **changes})
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    item_set = read_item_set(folder)
    (problem,) = item_set.problems
    assert problem.item == "smith-e" and what in problem.what
    assert problem.where.endswith("items.jsonl:1")
    assert len(item_set.items) == 15 and len(item_set.sound_items()) == 14


def test_a_character_without_items_is_listed(tmp_path: Path) -> None:
    item_set = read_item_set(write_set(tmp_path / "set", items=ITEMS[:5]))
    assert [(one.item, one.character) for one in item_set.problems] == [("", "monk"), ("", "pilot")]
    assert len(item_set.sound_items()) == 5


@pytest.mark.parametrize(
    ("file", "line", "what"),
    [
        ("items.jsonl", "{", "items.jsonl:16: "),
        (
            "items.jsonl",
            '{"id": "x", "character": "monk", "category": "moral", "massage": "y"}',
            "unknown key 'massage'",
        ),
        ("items.jsonl", ITEMS[3].model_dump_json(), "items.jsonl:16: id 'smith-i' stands twice .*line 4"),
        ("characters.jsonl", CHARACTERS[0].model_dump_json(), "characters.jsonl:4: id 'smith' stands twice"),
        ("set.yaml", "licance: x", "unknown key 'licance'"),
    ],
)
def test_what_is_no_set_is_an_error_with_its_line(tmp_path: Path, file: str, line: str, what: str) -> None:
    folder = write_set(tmp_path / "set")
    with (folder / file).open("a", encoding="utf-8") as opened:
        opened.write(line + "\n")
    with pytest.raises(ContentError, match=what):
        read_item_set(folder)


def test_a_set_that_is_not_there_is_an_error_that_says_what_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="unknown item set 'nowhere'"):
        read_item_set("nowhere", beside=tmp_path)
    with pytest.raises(ContentError, match=r"holds no set\.yaml"):
        read_item_set(tmp_path)
    with pytest.raises(ContentError, match="is no item set"):
        read_item_set(published(tmp_path / "x.jsonl", {"prompt": 1}))


@pytest.mark.parametrize("args", [["anger"], "anger"])
def test_both_shapes_of_args_are_read(tmp_path: Path, args: Any) -> None:
    (item,) = read_item_set(published(tmp_path / "p.jsonl", row(7, "emotion", args))).items
    assert (item.id, item.category, item.expected, item.message) == ("7", "emotion", "anger", "What is it?")


@pytest.mark.parametrize("kind", ["in\u2010character", "in-character", "in_character", "In\u2011Character "])
def test_any_dash_of_the_type_is_read(tmp_path: Path, kind: str) -> None:
    (item,) = read_item_set(published(tmp_path / "p.jsonl", row(1, kind, ["Nolan", "2010", 2010, "Nolan"]))).items
    assert item.category == "in_character"
    assert [fact.all_forms for fact in item.facts] == [("Nolan",), ("2010",)]


def test_the_system_message_becomes_the_character_word_for_word(tmp_path: Path) -> None:
    other = {"role": "system", "content": "You are Mo."}
    path = published(
        tmp_path / "p.jsonl",
        row(1, "decision", ["yes"]),
        row(2, "decision", "no"),
        row(3, "decision", ["no"], context=[other, ASK]),
        row(4, "emotion", ["joy"], context=[SYSTEM, ASK, {"role": "assistant", "content": "It?"}, ASK], more=1),
    )
    item_set = read_item_set(path)
    assert [character.description for character in item_set.characters.values()] == [SYSTEM["content"], "You are Mo."]
    assert item_set.items[0].character == item_set.items[1].character != item_set.items[2].character
    assert [turn.role for turn in item_set.items[3].history] == ["user", "assistant"]
    assert not item_set.problems


DIRTY = [
    ({"id": 1}, "the row has no type"),
    (row(1, "trivia", ["x"]), "the type 'trivia' is none of emotion, decision, in-character"),
    ({"type": "emotion", "context": [SYSTEM, ASK]}, "the row has no id"),
    (row(1, "emotion", ["jealousy"]), "the label 'jealousy' is none of the set's"),
    (row(1, "emotion", []), "the label '' is none of the set's"),
    (row(1, "emotion", ["joy"], checks=[]), "the label '' is none of the set's"),
    (row(1, "decision", ["perhaps"]), "neither yes nor no"),
    (row(1, "decision", None), "neither yes nor no"),
    (row(1, "decision", [True]), "checks.0.args"),
    (row(1, "in\u2010character", []), "it names no fact"),
    (row(1, "in\u2010character", ["Nolan", ""]), "a keyword is empty"),
    (row(1, "decision", ["yes"], context=[ASK]), "no system message"),
    (row(1, "decision", ["yes"], context="What?"), "no system message"),
    (row(1, "decision", ["yes"], context=[SYSTEM]), "last message is no user's"),
    (row(1, "decision", ["yes"], context=[SYSTEM, SYSTEM, ASK]), "2 system messages"),
    (row(1, "decision", ["yes"], context=None), "no system message"),
    (row(1, "decision", ["yes"], context=[SYSTEM, {"role": "user", "content": None}]), "the message is empty"),
    (row(1, "decision", ["yes"], context=[{"role": "tool"}]), "context.0.role"),
    (json.dumps(row(1, "decision", ["yes"], context=[SYSTEM, {"role": "user", "content": "\ud83d?"}])), "surrogate"),
    (json.dumps(row("\ud83d", "decision", ["yes"])), "surrogate"),
]


@pytest.mark.parametrize(("dirty", "what"), DIRTY)
def test_a_dirty_row_is_listed_and_the_others_are_read(tmp_path: Path, dirty: Any, what: str) -> None:
    path = published(tmp_path / "p.jsonl", row(8, "emotion", ["joy"]), dirty, row(9, "decision", "yes"))
    item_set = read_item_set(path)
    assert [item.id for item in item_set.sound_items()] == ["8", "9"]
    (problem,) = [one for one in item_set.problems if one.where.endswith(":2")]
    assert what in problem.what
    write_item_set(tmp_path / "set", item_set)
    again = read_item_set(tmp_path / "set")
    assert [item.id for item in again.sound_items()] == ["8", "9"], "an import forgets no problem"
    assert len(again.problems) == len(item_set.problems)


@pytest.mark.parametrize(
    ("rows", "end", "what"),
    [
        ((row(1, "emotion", "joy"), row("1", "emotion", "joy")), "\n", ":2: id '1' stands twice"),
        ((row(1, "emotion", "joy"), "[1]"), "\n", ":2: is no JSON object"),
        ((row(1, "emotion", "joy"), "{x}"), "\n", ":2: is no JSON"),
        ((row(1, "emotion", "joy"), '{"id": 2, "ty'), "", ":2: the last line is torn"),
    ],
)
def test_what_is_no_published_file_is_an_error(tmp_path: Path, rows: Any, end: str, what: str) -> None:
    with pytest.raises(ContentError, match=what):
        read_item_set(published(tmp_path / "p.jsonl", *rows, end=end))


def test_an_imported_set_has_the_id_that_was_asked_for(tmp_path: Path) -> None:
    path = published(tmp_path / "Eval Data.jsonl", row(1, "emotion", ["joy"]))
    assert import_published(path).id == "eval-data"
    assert import_published(path, name="mine").id == "mine"
    with pytest.raises(ContentError, match="'My Set' is no id of a set"):
        import_published(path, name="My Set")


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1.5, "", "x", "joy", [], [None], ["joy"], [[]], {}, {"args": 1}, [{"args": "joy"}]]
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional={"id": ODD, "type": ODD | st.just("emotion"), "context": ODD, "checks": ODD}
        ),
        min_size=1,
        max_size=6,
    )
)
def test_no_row_whatever_it_holds_is_lost_or_breaks_the_import(tmp_path_factory: Any, rows: list[Any]) -> None:
    first = row("first", "emotion", ["joy"])
    named = [one | {"id": f"n{index}"} if "id" in one else one for index, one in enumerate(rows)]
    path = published(tmp_path_factory.mktemp("rows") / "p.jsonl", first, *named)
    item_set = read_item_set(path)
    listed = [problem for problem in item_set.problems if "has no item" not in problem.what]
    assert len(item_set.sound_items()) + len(listed) == 1 + len(rows)
