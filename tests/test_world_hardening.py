"""Answers, names and scenes in forms that nobody asked for: read where it can be told what is meant, else said so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.errors import ContentError
from dramaturg.stage.world.answers import EnvironmentUpdate, Influence, Result, Update, is_blank
from dramaturg.stage.world.deeds import Reader
from dramaturg.stage.world.importing import read_characterbox, row_of
from dramaturg.stage.world.limits import WorldLimits
from dramaturg.stage.world.linting import check_files, lint
from dramaturg.stage.world.naming import Named, Names
from dramaturg.stage.world.reading import read_scene
from dramaturg.stage.world.scene import Scene, SceneCharacter
from dramaturg.stage.world.setting import WorldProtocol
from dramaturg.stage.world.written import MOST_CHARACTERS, Written, prose, read_influences, read_plan
from world_fixtures import FERRY, STEADY, Answers, Played, hits, play

OCTAVIA = SceneCharacter(id="octavia", name="Octavia Thorne", gender="female")
AMBROSE = SceneCharacter(id="ambrose", name="Ambrose Pell", gender="male")
INES = SceneCharacter(id="ines", name="Inês Roe", gender="female")
CREW = Names([OCTAVIA, AMBROSE, INES])
FOG = Names(
    [
        SceneCharacter(id="luo", name="罗长庚", gender="男"),
        SceneCharacter(id="shao", name="邵卫东", gender="男"),
        SceneCharacter(id="lin", name="林素", gender="女"),
    ]
)


async def one_round(folder: Path, changed: Answers, protocol: WorldProtocol = "paper", scene: Scene = FERRY) -> Played:
    return await play(folder, protocol, {**STEADY, **changed}, scene, limits=WorldLimits(rounds=1))


def changes(played: Played) -> list[tuple[str, str]]:
    """Returns what changed of people and surroundings after the scene was told."""
    names = {"position", "state", "time", "place", "description"}
    return [
        (state.name, state.value) for state in played.transcript.states if state.turn != "T1" and state.name in names
    ]


# Names


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        *((form, ("ambrose", "ines")) for form in ("[Ambrose, Ines]", '["ambrose", "ines"]', "(Ambrose; Ines)")),
        *((form, ("ambrose", "ines")) for form in ("It affects Ambrose and Ines", "Ambrose, then Ines")),
        ("1) Ambrose Pell\n2) Inês Roe", ("ambrose", "ines")),
    ],
)
def test_of_a_list_everybody_is_named(text: str, ids: tuple[str, ...]) -> None:
    assert CREW.resolve(text, by="octavia") == Named("several", ids)


def test_who_stands_last_in_a_sentence_is_not_alone_meant() -> None:
    assert FOG.resolve("影响到了邵卫东和林素", by="luo") == Named("several", ("shao", "lin"))


@pytest.mark.parametrize("text", ["ambrose or none", "ambrose, none", "Ambrose | nobody", "target: ambrose, or none"])
def test_an_answer_that_names_somebody_and_nobody_is_ambiguous(text: str) -> None:
    assert CREW.resolve(text, by="octavia") == Named("ambiguous", ("ambrose",))


@pytest.mark.parametrize(
    "text", ["No direct target", "none of these", "对其他人没有影响", "仅影响自己", "只影响到了她自己"]
)
def test_more_ways_to_say_nobody(text: str) -> None:
    assert CREW.resolve(text, by="octavia") == Named("nobody")


@pytest.mark.parametrize("text", ["Primarily Ambrose", "mostly ambrose", "only Ambrose Pell", "him", "he"])
def test_a_word_of_degree_and_a_gender_do_not_hide_who_is_meant(text: str) -> None:
    assert CREW.resolve(text, by="octavia") == Named("one", ("ambrose",))


def test_a_pronoun_of_a_gender_that_several_may_have_stays_ambiguous() -> None:
    assert CREW.resolve("her", by="ambrose").meaning == "ambiguous"
    assert FOG.resolve("她", by="luo") == Named("one", ("lin",))


@pytest.mark.parametrize("text", ["ariki nui", "Ariki-nui", "ARIKI NUI", "Ariki nui is hurt badly by the fall"])
def test_a_hyphen_and_a_blank_part_a_name_alike(text: str) -> None:
    names = Names([SceneCharacter(id="chief", name="Ariki-nui"), SceneCharacter(id="t", name="Tavake")])
    assert names.resolve(text, by="t") == Named("one", ("chief",))


# Free text


@pytest.mark.parametrize(
    "text",
    [
        *("[A];;[B];;[hit]", "[A];:[B];:[hit]", "[A];;;[B];;;[hit]", "[A]；：[B]；：[hit]", "[A];;\n[B];;\n[hit]"),
        *(
            "[A]\n;; [B]\n;; [hit]",
            "[A]; [B]; [hit]",
            "[A]：：[B]：：[hit]",
            "[A] | [B] | [hit]",
            "[A] -> [B] -> [hit]",
        ),
    ],
)
def test_the_published_form_is_read_however_its_parts_are_parted(text: str) -> None:
    assert read_influences(f"Here it is:\n\n{text}") == (Written("A", "B", "hit"),)


@pytest.mark.parametrize("text", ["", ";;;;", "[A];;[];;[hit]", "It hits B.", "[A] hits [B]"])
def test_what_has_not_the_published_form_is_not_read(text: str) -> None:
    assert read_influences(text) == ()


@settings(deadline=None)
@given(st.text(alphabet=";：:[]|AB \n；", max_size=60))
def test_any_line_is_read_or_not(text: str) -> None:
    assert all(one.target for one in read_influences(text))


@pytest.mark.parametrize(
    "text",
    [
        *("Ada Brandt: boards", "**Ada:** boards", "1. Ada - boards", "[Ada Brandt]: boards", "Dr. Brandt：boards"),
        *("| Ada Brandt | boards |", "### Ada Brandt:\n\nboards", '{"Ada Brandt": "boards"}', "Ada (angry): boards"),
    ],
)
def test_a_line_of_a_plan_belongs_to_whom_its_head_names(text: str) -> None:
    assert read_plan(text, lambda name: Names(FERRY.characters).resolve(name).id) == {"ada": "boards"}


def test_plain_sentences_are_taken_out_of_a_fence_or_an_object() -> None:
    assert prose("```text\nThey fall.\n```") == "They fall."
    assert prose('```json\n{"result": "They fall."}\n```', ("result",)) == "They fall."
    assert prose('{"other": "x"}', ("result",)) == '{"other": "x"}'
    assert prose("They {both} fall.", ("result",)) == "They {both} fall."


@pytest.mark.parametrize(
    "text", ["", "None", "N/A", "(unchanged)", "same as before", "No change.", "无", "没有变化", "？"]
)
def test_a_word_for_nothing_is_blank(text: str) -> None:
    assert is_blank(text.replace("？", "?"))
    assert not is_blank(f"{text} of the lamps burns")


# Forms


def test_null_and_words_for_no_change_leave_everything_as_it_was() -> None:
    assert Update.model_validate({"position": None, "state": "unchanged"}) == Update()
    assert EnvironmentUpdate.model_validate({"time": "None", "place": None, "undecided": "x"}).place == ""
    assert Influence.model_validate({"target": None, "influence": None}) == Influence(target="none")
    assert Influence.model_validate({"target": ["a", "b"]}).target == "a, b"


def test_updates_by_id_are_read_as_a_list() -> None:
    told = Result.model_validate({"result": "x", "updates": {"ada": {"position": "p"}, "bo": "gone"}})
    assert [(one.who, one.position) for one in told.updates] == [("ada", "p")]


# Deeds


def read(text: str, *, speech: bool = False) -> tuple[str, tuple[str, ...]]:
    reader = Reader(FERRY.characters[0], FERRY.characters[1:], "en")
    deed = reader.read("ok", text, text, key="k", kind="speech" if speech else "action")
    return deed.text, deed.flags


@pytest.mark.parametrize(
    "text",
    [
        *(
            "none",
            "(silent)",
            "Speech: none",
            "Ada Brandt: (silent)",
            "Ada says nothing.",
            "I say nothing.",
            "No response.",
        ),
        *("Ada Brandt remains silent.", "Action: Ada waits.\nSpeech: none", "…"),
    ],
)
def test_silence_is_never_spoken(text: str) -> None:
    assert read(text, speech=True) == ("", ())


def test_of_an_action_and_a_speech_the_one_is_read_that_was_asked_for() -> None:
    both = 'Action: Ada jumps across.\nSpeech: "We leave at 10:30."'
    assert read(both)[0] == "Ada jumps across."
    assert read(both, speech=True)[0] == "We leave at 10:30."


@pytest.mark.parametrize("text", ["none", "N/A", "...", "Action: none"])
def test_a_word_for_nothing_is_no_action(text: str) -> None:
    assert read(text) == ("", ("empty",))


@pytest.mark.parametrize("line", ["Narrator: The boat sinks.", "Lindgren: No!", "旁白：船沉了。"])
def test_lines_of_the_narrator_and_of_a_short_name_are_cut(line: str) -> None:
    assert read(f"Ada lifts the bag.\n{line}") == ("Ada lifts the bag.", ("cut:other_speaker",))


def test_a_short_answer_in_chinese_signs_is_of_another_language() -> None:
    assert read("我是艾达，我要走。", speech=True)[1] == ("other_language",)


def test_an_action_that_turns_the_task_down_is_refused_and_words_that_do_are_kept() -> None:
    said = "I'm sorry, but I can't help with that."
    assert read(said) == ("", ("refused",))
    assert read(said, speech=True) == (said, ())
    assert read("抱歉，我无法协助您的请求。")[1] == ("refused",)


def test_a_deed_without_end_is_cut_at_a_sentence() -> None:
    text, flags = read(" ".join(f"Ada climbs step number {number}." for number in range(2_000)))
    assert len(text) <= MOST_CHARACTERS and text.endswith(".")
    assert flags == ("cut:length",)


# Plays


async def test_no_answer_fills_the_chats_of_others_however_long_it_is(tmp_path: Path) -> None:
    endless = " ".join(f"The rope number {number} tears." for number in range(3_000))
    form = json.dumps({"position": endless, "state": endless})
    changed = {**hits("bo", "Ada Brandt"), "self-belief": endless, "result": endless, "update": form}
    played = await one_round(tmp_path, {**changed, "action": endless})
    assert max(len(turn.text) for turn in played.transcript.turns) <= MOST_CHARACTERS
    assert max(len(state.value) for state in played.transcript.states) <= MOST_CHARACTERS


async def test_words_for_nothing_never_become_states(tmp_path: Path) -> None:  # C02
    nothing = {
        "update": '{"position": "None", "state": "N/A"}',
        "environment": '{"time": "None", "place": "unchanged", "description": null, "undecided": "all"}',
    }
    assert changes(await one_round(tmp_path, nothing)) == []


async def test_nothing_is_told_of_an_act_where_the_narrator_says_none(tmp_path: Path) -> None:
    for number, said in enumerate(("None", '{"result": "N/A"}')):
        folder = tmp_path / str(number)
        folder.mkdir()
        played = await one_round(folder, {**hits("bo", "Ada Brandt"), "result": said})
        assert ("result:empty", "") in {(cure.kind, cure.detail) for cure in played.transcript.cures}
        assert said not in {turn.text for turn in played.transcript.turns}


async def test_updates_count_though_the_result_is_blank(tmp_path: Path) -> None:
    said = '{"result": null, "updates": {"ada": {"position": "on deck"}, "bo": {"state": "wet"}}}'
    played = await one_round(tmp_path, {**hits("bo", "Ada Brandt"), "result": said}, "fast")
    assert {("position", "on deck"), ("state", "wet")} <= set(changes(played))
    assert "result:empty" in {cure.kind for cure in played.transcript.cures}


async def test_an_update_beside_a_target_that_cannot_be_told_is_nobodys(tmp_path: Path) -> None:
    said = '{"target": "Hektor", "influence": "It hits him.", "position": "overboard", "state": "drowned"}'
    played = await one_round(tmp_path, {"influence": said}, "fast")
    assert changes(played) == []
    assert {cure.kind for cure in played.transcript.cures} == {"influence:unknown"}


@pytest.mark.parametrize(
    ("said", "flags"),
    [
        ('```json\n{"target": "Bo", "influence": "hit"}\n```', {"target:bo"}),
        ("Target: Bo Lindgren\nInfluence: hit", {"target:bo"}),
        ("[actor];;[target];;[influence]\n[Ada];;[Bo];;[hit]", {"target:bo"}),
        ("[Ada];;[Bo];;[hit]\n[Ada];;[Cy];;[hit]", {"target:bo", "influence:several"}),
        ("[Ada];;[Bo];;[hit]\n[Ada];;[none];;[]", {"influence:ambiguous"}),
    ],
)
async def test_under_released_every_form_of_an_influence_is_read(tmp_path: Path, said: str, flags: set[str]) -> None:
    played = await one_round(tmp_path, {"influence": said}, "released")
    first = next(turn for turn in played.transcript.turns if turn.role == "character:ada" and turn.kind == "action")
    assert set(first.flags) == flags


async def test_a_plan_reaches_who_is_called_by_a_short_name(tmp_path: Path) -> None:
    played = await one_round(tmp_path, {"synopsis": "Ada: boards\nLindgren: blocks her\nCy: waits"}, "released")
    plans = [turn.text for turn in played.transcript.turns if turn.role == "director"]
    assert plans == ["boards", "blocks her", "waits"]
    assert "synopsis:left_out" not in {cure.kind for cure in played.transcript.cures}


# Scenes

SCENE = {
    "id": "duel",
    "title": "The duel",
    "event": "One boat.",
    "environment": {"place": "a jetty"},
    "characters": [{"id": "ann", "name": "Ann", "profile": "x"}, {"id": "bob", "name": "Bob", "profile": "y"}],
}


def written(folder: Path, name: str, scene: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(scene, ensure_ascii=False), encoding="utf-8")
    return path


def test_an_id_in_two_files_is_found(tmp_path: Path) -> None:
    first, second = (written(tmp_path, name, SCENE) for name in ("a.yaml", "b.yaml"))
    one, other = check_files([first, second])
    assert one.findings == ()
    assert [(found.issue, found.detail) for found in other.findings] == [("id of two scenes", f"also in {first}")]


def test_an_alias_by_which_nobody_can_be_named_is_found() -> None:
    for alias in ("none", "[None]", "…"):
        ann = {"id": "ann", "name": "Ann", "profile": "x", "aliases": [alias]}
        scene = Scene.model_validate({**SCENE, "characters": [ann, {"id": "bob", "name": "Bob", "profile": "y"}]})
        assert [found.issue for found in lint([scene], "f")] == ["name that names nobody"]


def test_a_name_is_one_line_and_a_language_a_code(tmp_path: Path) -> None:
    ann = {"id": "ann", "name": "Ann\n\nLee", "profile": "x"}
    path = written(tmp_path, "a.yaml", {**SCENE, "characters": [ann]})
    assert read_scene(str(path)).characters[0].name == "Ann Lee"
    for language in ("zh-CN", "EN", "klingon"):
        with pytest.raises(ContentError, match="language"):
            read_scene(str(written(tmp_path, "b.yaml", {**SCENE, "language": language})))


def test_a_finding_of_a_file_that_cannot_be_read_names_the_place_alone(tmp_path: Path) -> None:
    (checked,) = check_files([written(tmp_path, "empty.json", {"title": "x", "scenes": []})])
    assert [str(found) for found in checked.findings] == ["unreadable at .scenes: is empty"]


def test_long_text_under_an_unknown_key_is_left_out_of_an_imported_scene(tmp_path: Path) -> None:
    row = {
        "id": 0,
        "event": "E",
        "location": "l",
        "characters": [{"name": "Ann"}],
        "chunk": {"id": 1, "text": "secret " * 40},
        "raw_text": "secret " * 40,
        "note": "short",
    }
    (scene,) = read_characterbox(written(tmp_path, "cb.json", {"title": "B", "scenes": [row]}))
    assert "secret" not in scene.model_dump_json()
    found = row_of(scene)
    assert found is not None
    assert found.unknown_keys == ("note", "raw_text")


def test_an_influence_in_which_the_parting_signs_go_on_is_told_once_and_without_them() -> None:
    assert read_influences("[Ada];;[Bo];;She nods;;She nods;;She waits") == (
        Written("Ada", "Bo", "She nods; She waits"),
    )
    assert read_influences("[Ada];;[Bo];;[He falls; hard.]") == (Written("Ada", "Bo", "He falls; hard."),)
