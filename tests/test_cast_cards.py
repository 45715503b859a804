"""Character cards and chats: read in every version and shape, written without loss, refused in one clear line."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cast_fixtures import people
from dramaturg.cli.cast import app
from dramaturg.errors import ContentError, UserError
from dramaturg.stage.cast.cards import Card, card_for, card_of, character_of, parse_card, read_card
from dramaturg.stage.cast.cards.png import MOST_TEXT, SIGNATURE, Chunk, blank_image, read_chunks, with_texts
from dramaturg.stage.chat_export import to_sillytavern
from dramaturg.stage.importing import RoleMap, Settings, parse_role, read_log, to_transcripts
from dramaturg.stage.transcript import Player, Role, Scenario, Transcript, Turn

V1: dict[str, Any] = {
    "name": "Zoë 山田",
    "description": "{{char}} repairs clocks.",
    "personality": "patient",
    "scenario": "{{user}} enters the shop.",
    "first_mes": "Yes?",
    "mes_example": "",
    "unknown_to_all": {"deep": [1, 2.5, None, True]},
}
V2: dict[str, Any] = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "top_level_stranger": "kept",
    "data": {
        **V1,
        "creator_notes": "for tests",
        "tags": ["clock"],
        "alternate_greetings": ["Hm?"],
        "extensions": {"other/program": {"depth": 4}},
        "character_book": {"entries": [{"keys": ["spring"], "content": "It broke.", "extensions": {}}]},
    },
}
V3: dict[str, Any] = {
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "data": {**V2["data"], "nickname": "Zo", "assets": [{"type": "icon", "uri": "ccdefault:"}]},
}


def png(keyword: str, payload: bytes, kind: bytes = b"tEXt") -> bytes:
    """Returns an image with one text in it, of any kind of chunk."""
    match kind:
        case b"zTXt":
            data = keyword.encode() + b"\0\0" + zlib.compress(payload)
        case b"iTXt":
            data = keyword.encode() + b"\0\1\0en\0\0" + zlib.compress(payload)
        case _:
            data = keyword.encode() + b"\0" + payload
    chunks = read_chunks(blank_image(2, 2), where="")
    return SIGNATURE + b"".join(chunk.encoded() for chunk in (*chunks[:-1], Chunk(kind, data), chunks[-1]))


def packed(card: dict[str, Any]) -> bytes:
    return base64.b64encode(json.dumps(card).encode())


@pytest.mark.parametrize(("raw", "version"), [(V1, 1), (V2, 2), (V3, 3)])
def test_every_version_is_read_from_json_and_from_an_image(raw: dict[str, Any], version: int):
    keyword = "ccv3" if version == 3 else "chara"
    for content in (json.dumps(raw).encode(), b"\xef\xbb\xbf" + json.dumps(raw).encode(), png(keyword, packed(raw))):
        card = card_of(content, where="x")
        assert (card.version, card.raw) == (version, raw)
        character = character_of(card)
        assert character.name == "Zoë 山田"
        assert character.description == "Zoë 山田 repairs clocks.\n\npatient\n\nwhoever speaks to you enters the shop."
        assert character.id.startswith("zoe-")


@pytest.mark.parametrize("kind", [b"tEXt", b"zTXt", b"iTXt"])
def test_every_kind_of_text_chunk_is_read_in_any_case_of_its_keyword(kind: bytes):
    assert card_of(png("Chara", packed(V2), kind), where="x").raw == V2


def test_of_two_cards_in_an_image_the_newest_version_counts():
    image = with_texts(png("chara", packed(V2)), {"ccv3": packed(V3)}, frozenset(), where="x")
    assert card_of(image, where="x").version == 3


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is no JSON"),
        (b"[]", "is no JSON object"),
        (b"{}", "is no character card"),
        (b'{"spec": "chara_card_v9", "data": {}}', "unknown card specification 'chara_card_v9'"),
        (b'{"spec": "chara_card_v2"}', "has no object 'data'"),
        (b'{"spec": "lorebook_v3", "data": {}}', "unknown card specification"),
        (b'{"name": "  "}', "has no name"),
        (b'{"name": "A", "description": 5}', "'description' is no text"),
        (b'{"name": "\xff"}', "is not UTF-8: byte 0xff"),
        (b"[" * 100_000, "nested too deeply"),
        (b"PK\x03\x04rest", "CHARX"),
        (blank_image(), "holds no character card"),
        (SIGNATURE, "torn"),
        (png("chara", packed(V2))[:-20], "torn"),
        (png("chara", packed(V2)).replace(b"chara\0", b"chare\0"), "checksum is wrong"),
        (png("chara", b"!!! not base64 !!!"), "is no base64"),
        (png("chara", base64.b64encode(b'{"name": "\xc3\x28"}')), "is not UTF-8"),
        (png("chara", base64.b64encode(b"{torn")), "is no JSON"),
        (png("chara", b"\xff" * (MOST_TEXT + 1), b"zTXt"), "too large"),
        (SIGNATURE + struct.pack(">I4s", 0xFFFFFFFF, b"IHDR") + b"x" * 20, "torn"),
    ],
)
def test_what_is_no_card_is_refused_in_one_line_that_names_the_file(content: bytes, what: str):
    with pytest.raises(ContentError) as refused:
        card_of(content, where="file.png")
    assert what in str(refused.value)
    assert str(refused.value).startswith("file.png") and "\n" not in str(refused.value)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path):
    path = tmp_path / "huge.png"
    with path.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    with pytest.raises(ContentError, match="too large for a card"):
        read_card(path)
    with pytest.raises(ContentError, match="cannot be read"):
        read_card(tmp_path / "missing.png")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_image_gives_a_card_or_one_clear_line(data: st.DataObject):
    content = bytearray(png("chara", packed(V2)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    try:
        card_of(bytes(content[:cut]), where="x")
    except ContentError as refused:
        assert "\n" not in str(refused)


@pytest.mark.parametrize("raw", [V2, V3])
def test_a_card_that_is_not_changed_comes_out_as_it_came_in(raw: dict[str, Any]):
    card = parse_card(json.dumps(raw), where="x")
    version: Any = card.version
    assert card_for(character_of(card), version, card).raw == raw


def test_a_changed_character_keeps_every_field_that_it_does_not_hold():
    card = parse_card(json.dumps(V2), where="x")
    changed = character_of(card).model_copy(update={"description": "You are new.", "knows_until": 1900})
    written = card_for(changed, 2, card)
    assert written.raw["top_level_stranger"] == "kept"
    data: Any = written.data
    assert data["unknown_to_all"] == V1["unknown_to_all"] and data["character_book"] == V2["data"]["character_book"]
    assert data["extensions"]["other/program"] == {"depth": 4}
    assert (data["description"], data["personality"], data["scenario"]) == ("You are new.", "", "")
    assert character_of(written) == changed


@pytest.mark.parametrize("version", [2, 3])
def test_a_drawn_character_survives_card_and_image_whole(version: Any):
    character = people(1)[0]
    card = card_for(character, version)
    assert character_of(card_of(card.as_json().encode(), where="x")) == character
    image = card.as_png()
    assert character_of(card_of(image, where="x")) == character
    again = card_of(image, where="x").as_png(where="x")
    assert again == image


def test_an_image_keeps_its_other_chunks_and_a_card_of_version_3_is_readable_as_version_2():
    picture = png("Comment", b"drawn by hand")
    image = Card(3, V3, picture).as_png(where="x")
    texts = [chunk.data for chunk in read_chunks(image, where="x") if chunk.kind == b"tEXt"]
    assert b"Comment\0drawn by hand" in texts
    old = next(text for text in texts if text.startswith(b"chara\0"))
    assert json.loads(base64.b64decode(old[6:]))["spec"] == "chara_card_v2"


def test_half_a_surrogate_pair_in_a_card_is_written_with_an_escape():
    card = parse_card('{"name": "A", "description": "x\\ud800"}', where="x").as_version(2)
    assert json.loads(card.as_json().encode("utf-8"))["data"]["description"] == "x\ud800"
    assert character_of(card).description.encode("utf-8")


def test_the_commands_import_and_export_without_loss(tmp_path: Path):
    source, out, cards = tmp_path / "zoe.png", tmp_path / "c.jsonl", tmp_path / "cards"
    source.write_bytes(png("chara", packed(V2)))
    run = CliRunner()
    told = run.invoke(app, ["import", str(source), "--out", str(out), "--json"])
    name = json.loads(told.stdout)["characters"][0]["id"]
    assert run.invoke(app, ["export", str(out), "--out", str(cards), "--card-version", "2"]).exit_code == 0
    assert json.loads((cards / f"{name}.json").read_text(encoding="utf-8")) == V2
    done = run.invoke(app, ["export", str(out), "--out", str(cards), "--card-version", "2", "--format", "png"])
    assert done.exit_code == 0 and read_card(cards / f"{name}.png").raw == V2
    again = run.invoke(app, ["import", str(source), str(source), "--out", str(tmp_path / "d.jsonl")])
    assert isinstance(again.exception, UserError) and "each character once" in str(again.exception)


def transcript() -> Transcript:
    return Transcript(
        id="court-1",
        suite="court",
        protocol="paper",
        scenario=Scenario(id="a", title="A case", language="en"),
        roles=(Role(id="judge", kind="judge", name="Zoë"), Role(id="player", kind="player", name="Ann")),
        cast={"judge": Player(kind="model", model="script:x"), "player": Player(kind="human")},
        seed=1,
        turns=(
            Turn(id="T1", role="procedure", speaker="", kind="procedure", text="The court sits."),
            Turn(id="T2", role="judge", speaker="Zoë", text='Speak.\n"Now".'),
            Turn(id="T3", role="player", speaker="Ann", text="I did not.", human=True),
        ),
        end_reason="completed",
    )


def test_a_transcript_becomes_a_chat_that_reads_back_as_the_same_talk(tmp_path: Path):
    path = tmp_path / "chat.jsonl"
    path.write_text(to_sillytavern(transcript()), encoding="utf-8")
    head, *messages = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (head["user_name"], head["character_name"]) == ("Ann", "Zoë")
    assert [(one["is_user"], one["is_system"]) for one in messages] == [(False, True), (False, False), (True, False)]
    roles = RoleMap((parse_role("Zoë=judge"), parse_role("Ann=player"), parse_role("Narrator=procedure")))
    imported, _ = to_transcripts([read_log(path, roles, None)], roles, Settings(title="A case"))
    back = imported[0].transcript
    assert [(turn.kind, turn.text) for turn in back.turns] == [(turn.kind, turn.text) for turn in transcript().turns]
    assert [player.kind for player in back.cast.values()] == ["model", "human"]


def test_the_person_at_the_keyboard_can_be_chosen_and_must_be_there(tmp_path: Path):
    chosen = [json.loads(line) for line in to_sillytavern(transcript(), user="Zoë").splitlines()]
    assert chosen[0]["user_name"] == "Zoë" and chosen[2]["is_user"] is True
    with pytest.raises(UserError, match="no role 'Bob'"):
        to_sillytavern(transcript(), user="Bob")
    path = tmp_path / "t.jsonl"
    path.write_text(f"{transcript().model_dump_json()}\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["chat", str(path), "--out", str(tmp_path / "chats"), "--json"])
    assert json.loads(done.stdout)["chats"] == [str(tmp_path / "chats" / "court-1.jsonl")]
