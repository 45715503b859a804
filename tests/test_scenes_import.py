"""CharacterBox's files: imported whole, and every defect of theirs found."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.errors import ContentError
from dramaturg.stage.world.importing import is_characterbox, read_characterbox
from dramaturg.stage.world.linting import check_file
from dramaturg.stage.world.naming import Names
from dramaturg.stage.world.reading import read_scenes, scene_files
from dramaturg.stage.world.scene import Opening, Scene
from dramaturg.text import sha256

SAVED = Path(__file__).resolve().parents[1] / "shared" / "data" / "characterbox"
SHARED = next((folder for folder in (SAVED, Path("/work/shared/data/characterbox")) if folder.is_dir()), SAVED)
needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the scenes of CharacterBox are not here")

NOVEL = "It was a dark night, and nobody may print this."


def person(number: int, name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "name": name,
        "gender": "Male",
        "description": f"{name} is careful.",
        "position": "at the door",
        "states": "tired",
        **more,
    }


def deed(number: int, name: str, dialogue: str = "“Stop!”", **more: Any) -> dict[str, Any]:
    row = {"action_id": number, "character": name, "character_id": number, "action": f"{name} waits."}
    return {**row, "dialogue": dialogue, **more}


def row(number: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "event": f"Event {number}",
        "time": "night",
        "location": "a hall",
        "description": "Rain.",
        "plot": "They part.",
        "characters": [person(0, "Neo"), person(1, "Trinity")],
        "actions": [deed(0, "Neo"), deed(1, "Trinity")],
        "chunk": {"id": number, "text": NOVEL},
        **more,
    }


def write(folder: Path, *rows: dict[str, Any], name: str = "The_Matrix.json", **head: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    text = json.dumps({"title": "The Matrix", **head, "scenes": list(rows)}, ensure_ascii=False)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return path


def issues(path: Path) -> list[tuple[int | str, str, str]]:
    return [(finding.scene, finding.issue, finding.where) for finding in check_file(path).findings]


def test_a_scene_is_imported_with_its_cast_and_opening(tmp_path: Path) -> None:
    (scene,) = read_characterbox(write(tmp_path / "generated_data", row()))
    assert (scene.id, scene.language, scene.source, scene.work) == (
        "the-matrix-extracted-0",
        "en",
        "extracted",
        "The Matrix",
    )
    neo = scene.characters[0]
    assert (neo.id, neo.name, neo.state) == ("neo", "Neo", "tired")
    assert neo.opening == Opening(action="Neo waits.", speech="Stop!")


def test_the_folders_of_upstream_have_each_others_names(tmp_path: Path) -> None:
    (new,) = read_characterbox(write(tmp_path / "extracted_scenes", row()))
    (told,) = read_characterbox(write(tmp_path, row(), set="new"))
    (named,) = read_characterbox(write(tmp_path, row(), name="matrix.new.json"))
    assert (new.source, told.source, named.source) == ("generated", "generated", "generated")
    assert (new.id, named.id) == ("the-matrix-new-0", "matrix-new-0")


def test_the_text_of_the_work_is_left_out(tmp_path: Path) -> None:
    (scene,) = read_characterbox(write(tmp_path, row()))
    assert NOVEL not in scene.model_dump_json()
    assert scene.origin is not None
    kept: Any = scene.origin["row"]
    assert kept["chunk_ref"] == {"id": 0, "chars": len(NOVEL), "sha256": sha256(NOVEL)}


def test_an_imported_scene_is_checked_the_same_once_written(tmp_path: Path) -> None:
    path = write(tmp_path, row(), row(1, event="Event 0", actions=[deed(0, "Neo", "None")]))
    out = tmp_path / "all.jsonl"
    scenes = read_characterbox(path)
    out.write_text("".join(f"{one.model_dump_json(exclude_defaults=True)}\n" for one in scenes), encoding="utf-8")
    assert read_scenes(str(out)) == scenes
    assert [found[1:] for found in issues(out)] == [found[1:] for found in issues(path)]
    assert {found[0] for found in issues(out)} == {"the-matrix-extracted-0", "the-matrix-extracted-1"}


@pytest.mark.parametrize("silence", ["None", "N/A", "无", "“无”", "none.", "(silent)"])
def test_a_placeholder_is_silence_and_is_found(tmp_path: Path, silence: str) -> None:
    path = write(tmp_path, row(actions=[deed(0, "Neo", silence), deed(1, "Trinity", "None of us will go.")]))
    (scene,) = read_characterbox(path)
    assert [one.opening.speech for one in scene.characters if one.opening] == ["", "None of us will go."]
    assert issues(path) == [(0, "placeholder dialogue", "actions[0].dialogue")]


DIRTY: dict[str, tuple[dict[str, Any], str]] = {
    "one character": (row(characters=[person(0, "Neo")], actions=[deed(0, "Neo")]), "fewer than 2 characters"),
    "mixed": (
        row(characters=[person(0, "Neo", description="A骄傲 hacker"), person(1, "Trinity")]),
        "Chinese inside English text",
    ),
    "empty dialogue": (row(actions=[deed(0, "Neo", ""), deed(1, "Trinity")]), "empty dialogue"),
    "blank": (
        row(characters=[person(0, "Neo"), person(1, "Choi")], actions=[deed(0, "Neo"), deed(1, " Choi")]),
        "blanks around a name",
    ),
    "gender": (row(characters=[person(0, "Neo", gender="Gender"), person(1, "Trinity")]), "unusual gender value"),
    "no gender": (row(characters=[person(0, "Neo", gender=None), person(1, "Trinity")]), "missing gender"),
    "keys": (row(characters=[person(0, "Neo", mood="grim"), person(1, "Trinity")]), "unknown keys"),
    "fewer actions": (row(actions=[deed(0, "Neo")]), "number of actions differs from number of characters"),
    "stranger": (row(actions=[deed(0, "Neo"), deed(1, "Smith")]), "actor is not in the cast"),
}


@pytest.mark.parametrize("kind", DIRTY)
def test_each_kind_of_dirt_is_found_and_nothing_else(tmp_path: Path, kind: str) -> None:
    dirty, issue = DIRTY[kind]
    found = issues(write(tmp_path, dirty, row(1)))
    assert [(name, what) for name, what, _ in found] == [(0, issue)]


def test_repeats_inside_a_file_are_found_at_every_place(tmp_path: Path) -> None:
    path = write(tmp_path, row(0), row(1, event="Event 0"), row(2, chunk={"id": 0, "text": NOVEL}))
    assert [(name, what) for name, what, _ in issues(path)] == [
        (0, "event title repeated in file"),
        (0, "chunk used more than once"),
        (1, "event title repeated in file"),
        (2, "chunk used more than once"),
    ]


def test_several_actions_of_one_character_become_one_opening(tmp_path: Path) -> None:
    actions = [deed(0, "Neo", "One."), deed(1, "Trinity"), deed(2, "Neo", "“Two.” he says. “Three.”")]
    (scene,) = read_characterbox(write(tmp_path, row(actions=actions)))
    assert scene.characters[0].opening == Opening(
        action="Neo waits.\nNeo waits.", speech="One.\n“Two.” he says. “Three.”"
    )


def test_characters_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (scene,) = read_characterbox(write(tmp_path, row(characters=[person(0, "Guard"), person(1, "guard ")], actions=[])))
    assert [(one.id, one.name) for one in scene.characters] == [("guard", "Guard"), ("guard-2", "guard (2)")]


def test_a_scene_number_that_stands_twice_still_gives_two_ids(tmp_path: Path) -> None:
    scenes = read_characterbox(write(tmp_path, row(3), row(3)))
    assert [scene.id for scene in scenes] == ["the-matrix-extracted-3", "the-matrix-extracted-3-at-1"]


def test_a_chinese_file_is_known_by_its_titles_and_gets_ascii_ids(tmp_path: Path) -> None:
    told = row(event="夜宴", characters=[person(0, "宝玉"), person(1, "黛玉")], actions=[deed(0, "宝玉", "「好。」")])
    (scene,) = read_characterbox(write(tmp_path, told, name="红楼梦.json", title="红楼梦"))
    assert scene.language == "zh"
    assert scene.id == f"work-{sha256('红楼梦')[:8]}-extracted-0"
    assert [one.id for one in scene.characters] == ["c1", "c2"]
    assert scene.characters[0].opening == Opening(action="宝玉 waits.", speech="好。")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"scenes": []}', '{"scenes": [1]}', '{"scenes": NaN}', "[" * 100_000]
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ContentError):
        read_characterbox(path)
    assert {finding.issue for finding in check_file(path).findings} == {"unreadable"}


def test_every_broken_scene_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, row(location=""), row(1), row(2, characters=[]), row(3, event=7))
    with pytest.raises(ContentError) as caught:
        read_characterbox(path)
    lines = str(caught.value).splitlines()
    assert [line.split("scenes.")[1][0] for line in lines] == ["0", "2", "3"]
    assert "location: is blank" in lines[0]


_VALUE = st.one_of(st.none(), st.text(max_size=20), st.integers(), st.lists(st.text(max_size=5), max_size=2))


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(row())), _VALUE, max_size=4))
def test_any_row_is_imported_or_refused(tmp_path_factory: pytest.TempPathFactory, change: dict[str, Any]) -> None:
    path = write(tmp_path_factory.mktemp("rows"), {**row(), **change})
    try:
        (scene,) = read_characterbox(path)
    except ContentError:
        return
    assert Scene.model_validate_json(scene.model_dump_json()) == scene
    check_file(path)


@needs_data
def test_all_published_scenes_are_imported() -> None:
    scenes = read_scenes(str(SHARED))
    assert len(scenes) == 311
    assert Counter(scene.source for scene in scenes) == {"generated": 152, "extracted": 159}
    assert {scene.language for scene in scenes} == {"zh"}
    for scene in scenes:
        names = Names(scene.characters)
        assert all(names.resolve(one.name).id == one.id for one in scene.characters)


@needs_data
def test_every_known_defect_is_found_and_the_rest_are_shared_chunks() -> None:
    rows = json.loads((SHARED / "dirty_rows.json").read_text(encoding="utf-8"))
    known = Counter((one["file"], one["scene_id"], one["issue"]) for one in rows)
    found = Counter(
        (str(Path(finding.file).relative_to(SHARED)), finding.scene, finding.issue)
        for path in scene_files(SHARED)
        for finding in check_file(path).findings
    )
    assert known - found == Counter()
    rest = found - known
    assert {issue for _, _, issue in rest} == {"chunk used more than once"}
    for file in {file for file, _, _ in rest}:
        data = json.loads((SHARED / file).read_text(encoding="utf-8"))
        chunks = Counter(scene["chunk_ref"]["id"] for scene in data["scenes"])
        shared = {scene["id"] for scene in data["scenes"] if chunks[scene["chunk_ref"]["id"]] > 1}
        assert shared == {number for name, number, _ in rest if name == file}


def test_only_an_object_with_scenes_is_taken_for_one(tmp_path: Path) -> None:
    assert is_characterbox(write(tmp_path, row()))
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    assert not is_characterbox(tmp_path / "list.json")
    assert not is_characterbox(tmp_path / "missing.json")
