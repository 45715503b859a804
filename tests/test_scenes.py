"""Scenes: found, read and checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from dramaturg.errors import ContentError
from dramaturg.files import dump_yaml, shipped
from dramaturg.stage.world.linting import LONG_PROFILE_TOKENS, check_file, lint
from dramaturg.stage.world.naming import Names
from dramaturg.stage.world.reading import read_scene, read_scenes, scene_files, shipped_scenes
from dramaturg.stage.world.scene import Environment, Opening, Scene, SceneCharacter

ANN = SceneCharacter(id="ann", name="Ann", profile="Keeps the lighthouse.")
BEN = SceneCharacter(id="ben", name="Ben Lee", aliases=("本",), profile="Owes Ann a boat.")


def scene(name: str = "pier", *people: SceneCharacter, event: str = "The boat is gone.", language: str = "en") -> Scene:
    return Scene(
        id=name,
        title=event,
        language=language,
        event=event,
        environment=Environment(time="dawn", place="a pier", description="Fog."),
        characters=people or (ANN, BEN),
    )


def issues(*scenes: Scene) -> list[tuple[int | str, str]]:
    return [(finding.scene, finding.issue) for finding in lint(scenes, "some.jsonl")]


def write(path: Path, *scenes: Scene) -> Path:
    if path.suffix == ".yaml":
        path.write_text(dump_yaml(scenes[0].model_dump(mode="json")), encoding="utf-8")
    else:
        path.write_text("".join(f"{one.model_dump_json()}\n" for one in scenes), encoding="utf-8")
    return path


@pytest.mark.parametrize("one", shipped_scenes(), ids=lambda one: one.id)
def test_a_shipped_scene_is_clean_and_everybody_in_it_can_be_named(one: Scene) -> None:
    assert lint([one], one.id) == ()
    names = Names(one.characters)
    for character in one.characters:
        for called in (character.id, character.name, *character.aliases):
            assert names.resolve(called).id == character.id, called


def test_a_scene_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    for name in shipped("scenes"):
        assert read_scene(name).id == name
    assert read_scene(str(write(tmp_path / "pier.yaml", scene()))) == scene()
    assert read_scene("pier.yaml", beside=tmp_path) == scene()


def test_one_of_many_scenes_is_named_by_its_id(tmp_path: Path) -> None:
    path = write(tmp_path / "two.jsonl", scene("pier"), scene("quay"))
    assert [one.id for one in read_scenes(str(path))] == ["pier", "quay"]
    assert read_scene(f"{path}#quay").id == "quay"
    with pytest.raises(ContentError, match=r"holds 2 scenes .*#ID \(pier, quay\)"):
        read_scene(str(path))
    with pytest.raises(ContentError, match="did you mean 'quay'"):
        read_scene(f"{path}#quai")


def test_a_folder_gives_its_scenes_and_passes_over_other_data(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "pier.yaml", scene("pier"))
    write(tmp_path / "quay.jsonl", scene("quay"))
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    (tmp_path / "note.txt").write_text("none", encoding="utf-8")
    assert len(scene_files(tmp_path)) == 2
    assert [one.id for one in read_scenes(str(tmp_path))] == ["pier", "quay"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ContentError, match="holds no scenes"):
        read_scenes("empty", beside=tmp_path)


def test_an_id_that_stands_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    path = write(tmp_path / "two.jsonl", scene("pier"), scene("pier"))
    with pytest.raises(ContentError, match=r"two\.jsonl:2: id 'pier' stands twice .*two\.jsonl:1"):
        read_scenes(str(path))


def test_a_wrong_key_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("id: a\ntitle: A\nevent: E\nenvironment: {place: P}\ncharacter: []\n", encoding="utf-8")
    with pytest.raises(ContentError, match=r"unknown key 'character' \(did you mean 'characters'"):
        read_scenes(str(path))
    (unreadable,) = {finding.issue for finding in check_file(path).findings}
    assert unreadable == "unreadable"


def test_two_characters_cannot_share_a_name(tmp_path: Path) -> None:
    path = tmp_path / "twins.jsonl"
    path.write_text(scene().model_dump_json().replace('"name":"Ben Lee"', '"name":"ANN"') + "\n", encoding="utf-8")
    with pytest.raises(ContentError, match="two characters have the name 'ann'"):
        read_scenes(str(path))


def test_a_clean_scene_has_no_findings() -> None:
    assert issues(scene()) == []


def test_a_lonely_character_is_found_and_can_be_read() -> None:
    assert issues(scene("pier", ANN)) == [("pier", "fewer than 2 characters")]


def test_profiles_that_are_empty_or_very_long_are_found() -> None:
    empty = SceneCharacter(id="a", name="Ada")
    long = SceneCharacter(id="b", name="Bo", profile="word " * 8_000)
    assert len(long.profile) // 4 >= 10_000 > LONG_PROFILE_TOKENS
    assert issues(scene("pier", empty, long)) == [("pier", "empty profile"), ("pier", "very long profile")]


def test_chinese_inside_english_text_is_found_in_prose_and_not_in_names() -> None:
    mixed = SceneCharacter(id="d", name="Draco", aliases=("德拉科",), profile="A骄傲 and cunning student.")
    assert issues(scene("pier", ANN, mixed)) == [("pier", "Chinese inside English text")]
    said = SceneCharacter(id="d", name="Dee", profile="A cook.", opening=Opening(action="Waves.", speech="你好"))
    (found,) = lint([scene("pier", ANN, said)], "file")
    assert (found.where, found.detail) == ("characters[1].opening.speech", "你好")
    assert issues(scene("pier", ANN, mixed, language="zh")) == []


def test_names_that_two_characters_share_are_found() -> None:
    other = SceneCharacter(id="bea", name="Bea", aliases=("本",), profile="A diver.")
    assert issues(scene("pier", BEN, other)) == [("pier", "name of two characters")] * 2
    part = SceneCharacter(id="lee", name="Lee", profile="Ben's uncle.")
    assert issues(scene("pier", BEN, part)) == []


def test_event_titles_that_stand_twice_are_found_in_one_file() -> None:
    assert issues(scene("a"), scene("b"), scene("c", event="Another.")) == [
        ("a", "event title repeated in file"),
        ("b", "event title repeated in file"),
    ]
