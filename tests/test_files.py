"""Text files that people write: read as UTF-8 anywhere, and every error says where it stands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from dramaturg.errors import ContentError, StudyError
from dramaturg.files import ends_torn, find, load_yaml, parse_yaml, place_of, read_jsonl, read_text, shipped
from dramaturg.text import canonical_json, redact, storable, write_atomically

TEXT = "Zoë 山田 🎭 西游记"


class Role(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    age: int = 0


class Ranks(BaseModel):
    roles: Annotated[tuple[Role, ...], Field(min_length=1)]


class Cast(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    roles: list[Role] = []


def problem(text: str) -> str:
    with pytest.raises(ContentError) as raised:
        parse_yaml(text, Cast, where="cast.yaml")
    return str(raised.value)


def test_content_is_read_and_validated() -> None:
    cast = parse_yaml(f"title: {TEXT}\nroles:\n  - name: Ron\n    age: 3\n", Cast, where="x")
    assert (cast.title, cast.roles[0].age) == (TEXT, 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title: x\nrols: []\n", "cast.yaml:2: unknown key 'rols' (did you mean 'roles'?"),
        (
            "title: x\nroles:\n  - name: a\n  - name: b\n    ag: 3\n",
            "cast.yaml:5: unknown key 'roles.1.ag' (did you mean 'age'?",
        ),
        ("roles: []\n", "cast.yaml:1: key 'title' is missing"),
        ("title: x\nroles:\n  - age: 3\n", "cast.yaml:3: key 'roles.0.name' is missing"),
        ("title: x\nroles:\n  - name: a\n    age: old\n", "cast.yaml:4: roles.0.age: "),
        ("title: x\ntitle: y\n", "cast.yaml:2: key 'title' stands twice"),
        ("title: x\nroles:\n  - name: a\n    name: b\n", "cast.yaml:4: key 'name' stands twice"),
        ("title: [x\n", "is no valid YAML"),
        ("title: x\n\tbad: y\n", "cast.yaml:2: is no valid YAML"),
        ("title: \x00\n", "is no valid YAML"),
        ("? [a, b]\n: x\n", "is no valid YAML"),
        ("title: 2024-99-99\n", "is no valid YAML"),
        ("title: !!python/object/apply:os.system ['true']\n", "is no valid YAML"),
        ("", "cast.yaml: "),
        ("- a\n- b\n", "cast.yaml:1: "),
        ("[" * 5000, "is no valid YAML"),
    ],
)
def test_error_names_the_line_and_what_is_allowed(text: str, says: str) -> None:
    said = problem(text)
    assert says in said
    assert len(said.splitlines()) == 1


def test_list_of_wrong_items_is_not_called_empty() -> None:
    for text, says in (("roles:\n  - age: 3\n", "key 'roles.0.name' is missing"), ("roles: []\n", "at least 1 item")):
        with pytest.raises(ContentError, match=says) as raised:
            parse_yaml(text, Ranks, where="cast.yaml")
        assert len(str(raised.value).splitlines()) == 1


def test_every_problem_is_named() -> None:
    assert len(problem("roles:\n  - nme: a\n").splitlines()) == 3


def test_aliases_that_multiply_are_refused_in_time() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "unknown key" in problem("\n".join(lines))


def test_error_can_be_of_another_class() -> None:
    with pytest.raises(StudyError):
        parse_yaml("x: 1", Cast, where="s", error=StudyError)


@given(st.text(max_size=60))
def test_any_text_is_content_or_a_content_error(text: str) -> None:
    try:
        parse_yaml(text, Cast, where="x")
    except ContentError as error:
        assert str(error)


def test_byte_order_mark_is_dropped_and_bad_utf8_named(tmp_path: Path) -> None:  # I47, FW-93
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbftitle: x")
    assert read_text(tmp_path / "bom") == "title: x"
    (tmp_path / "latin").write_bytes(b"title: x\nroles: caf\xe9\n")
    with pytest.raises(ContentError, match="latin:2: byte 0xe9 is not UTF-8"):
        read_text(tmp_path / "latin")
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(ContentError, match="cannot be read"):
            read_text(path)


def test_encoding_of_the_platform_does_not_matter(tmp_path: Path) -> None:  # I47, C12
    (tmp_path / "cast.yaml").write_text(f"title: {TEXT}\n", encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from pydantic import BaseModel\n"
        "from dramaturg.files import load_yaml; from dramaturg.text import write_atomically\n"
        "class Cast(BaseModel): title: str\n"
        "write_atomically(Path(sys.argv[2]), load_yaml(Path(sys.argv[1]), Cast).title)"
    )
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": "/usr/bin"}
    subprocess.run(
        [sys.executable, "-c", code, tmp_path / "cast.yaml", tmp_path / "out"], env=environment, check=True, timeout=60
    )
    assert (tmp_path / "out").read_bytes() == TEXT.encode()


def test_shipped_file_or_path_is_found(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").touch()
    assert find("cases", "summit-ridge") == shipped("cases")["summit-ridge"]
    assert find("cases", "my.yaml", beside=tmp_path) == tmp_path / "my.yaml"
    for name in ("sumit-ridge", "x" * 5000, "a\0b", ""):
        with pytest.raises(ContentError, match="unknown case"):
            find("cases", name)
    with pytest.raises(ContentError, match="did you mean 'summit-ridge'"):
        find("cases", "sumit-ridge")


def test_place_of_a_key_is_its_line(tmp_path: Path) -> None:
    path = tmp_path / "cast.yaml"
    path.write_text("title: x\nroles:\n  - name: a\n  - name: b\n", encoding="utf-8")
    assert place_of(path, "roles", 1, "name") == f"{path}:4"
    assert place_of(path, "roles", 9) == f"{path}:2"
    assert load_yaml(path, Cast).roles[1].name == "b"


def records(path: Path) -> list[tuple[int, str]]:
    return [(number, role.name) for number, role in read_jsonl(path, Role)]


def test_a_torn_last_line_is_an_error_unless_somebody_is_told_of_it(tmp_path: Path) -> None:
    path = tmp_path / "roles.jsonl"
    whole = json.dumps({"name": TEXT}, ensure_ascii=False).encode()
    for cut in range(1, len(whole)):
        path.write_bytes(b'\xef\xbb\xbf{"name": "a"}\n\n' + whole[:cut])
        with pytest.raises(ContentError, match=r"roles\.jsonl:3: the last line is torn"):
            records(path)
        told: list[str] = []
        assert [role.name for _, role in read_jsonl(path, Role, on_torn=told.append)] == ["a"]
        assert told == [f"{path}:3"] and ends_torn(path)
    path.write_bytes(b'{"name": "a"}\n' + whole)
    assert records(path) == [(1, "a"), (2, TEXT)]
    assert not ends_torn(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"name": "a"}\n{"name": \n{"name": "b"}\n', "roles.jsonl:2: "),
        (b'{"name": "a"}\n{"nam": "b"}\n', "roles.jsonl:2: unknown key 'nam' (did you mean 'name'?"),
        (b'{"name": "caf\xe9"}\n', "roles.jsonl:1: "),
        (b'{"name": "a"}\n{"nam": "b"}', "roles.jsonl:2: unknown key"),
    ],
)
def test_broken_line_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "roles.jsonl").write_bytes(content)
    with pytest.raises(ContentError) as raised:
        records(tmp_path / "roles.jsonl")
    assert says in str(raised.value)


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="cannot be read"):
        records(tmp_path / "none")


def test_file_is_whole_or_old(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomically(path, "old\n")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "half \ud83d")
    assert path.read_bytes() == b"old\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


@given(st.text(st.characters()))
def test_storable_text_can_be_stored_and_stays(text: str) -> None:
    kept = storable(text)
    assert "\0" not in kept
    assert kept.encode("utf-8").decode("utf-8") == kept == storable(kept)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_sound_text_is_storable_as_it_is(text: str) -> None:
    assert storable(text) is text


def test_canonical_json_is_one_text_for_one_value() -> None:
    assert canonical_json({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"é"]}'
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"a": float("nan")})


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abc_DEF-123456",
        "sk-abcd********wxyz",
        "hf_abcDEF123456789",
        "Bearer abc.def.ghi",
        "https://user:hunter2@host/v1",
        "postgresql://hunter2@host",
        "my-own-secret-value",
    ],
)
def test_what_looks_like_a_key_is_not_shown(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "my-own-secret-value")
    shown = redact(f"it said {secret}, and more")
    for part in ("abc", "hunter2", "my-own"):
        assert part not in shown
    assert "and more" in shown


def test_plain_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "parallel")
    text = "the key-witness-statement of a risk-averse hf_hub_download ran in parallel at http://host/a@b"
    assert redact(text) == text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", r"roles\.yaml: is empty \(keys: title\)"),
        ("# to be written\n", r"roles\.yaml: is empty \(keys: title\)"),
        ("- a\n- b\n", r"roles\.yaml:1: holds a list where keys are expected"),
        ("just a word\n", r"roles\.yaml:1: holds text where keys are expected"),
        ("roles:\n", r"roles\.yaml:1: key 'roles' is empty"),
        ("roles:\n  - name:\n", r"roles\.yaml:2: key 'roles\.0\.name' is empty"),
    ],
)
def test_what_is_empty_is_said_to_be_empty(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "roles.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ContentError, match=says):
        load_yaml(path, Cast)
