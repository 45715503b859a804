"""Splits, leaks and forms: a planted leak is found in any form, and every form gives back the chat."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.errors import ContentError, UserError
from dramaturg.model import Message
from dramaturg.train.checking import check_files
from dramaturg.train.example import Example, ExampleRow, Gathered, example_id
from dramaturg.train.formats import FORMS, formed, read_row
from dramaturg.train.leaks import Piece, find_leaks
from dramaturg.train.recipes import write_llamafactory, write_trl
from dramaturg.train.splitting import components, split_examples
from dramaturg.train.writing import Layout, write_set

WORDS = (
    "river stone lantern copper anvil ember thistle harbour wicker saddle marrow cinder velvet gravel orchard".split()
)


def own_text(scene: int, length: int = 20) -> str:
    return " ".join(f"{WORDS[(scene * 7 + at) % len(WORDS)]}{scene}" for at in range(length))


def example(scene: int, number: int, characters: Sequence[str] = (), answer: str = "") -> Example:
    messages = (
        Message("system", f"You are somebody. {own_text(scene)}"),
        Message("user", "What now?"),
        Message("assistant", f"I wait {number}."),
        Message("user", f"And then, for the {number}th time?"),
    )
    answer = answer or f"I go {number}."
    return Example(
        id=example_id("guided", messages, answer),
        kind="guided",
        messages=messages,
        answer=answer,
        scene=f"scene-{scene}",
        characters=tuple(characters) or (f"Person {scene}",),
        language="en",
        source=f"play-{scene}/{number}",
        teacher="script:t",
    )


def written(out: Path, **layout: object) -> Path:
    examples = [example(scene, number) for scene in range(8) for number in range(6)]
    options: dict[str, object] = {"validation": 0.1, "test": 0.1, "seed": 3, **layout}
    write_set(out, "guided", Gathered(examples), Layout(**options), sources=[Path("a-run")])  # type: ignore[arg-type]
    return out


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=60), st.integers(0, 99))
def test_no_scene_and_no_character_is_ever_torn(cast: list[tuple[int, int]], seed: int) -> None:
    examples = [example(scene, at, [f"Person {person}"]) for at, (scene, person) in enumerate(cast)]
    parts = components(examples)
    assert sum(map(len, parts)) == len(examples)
    if len(parts) < 3:
        with pytest.raises(UserError, match="cannot be made"):
            split_examples(examples, validation=0.2, test=0.2, seed=seed)
        return
    splits = split_examples(examples, validation=0.2, test=0.2, seed=seed)
    assert all(splits.values())
    for key in ("scene", "characters"):
        held = [{getattr(one, key) for one in split} for split in splits.values()]
        assert not (held[0] & held[1] or held[0] & held[2] or held[1] & held[2])


def test_sizes_are_by_examples_and_the_seed_decides() -> None:
    examples = [example(scene, number) for scene in range(20) for number in range(5)]
    splits = split_examples(examples, validation=0.1, test=0.1, seed=1)
    assert {name: len(split) for name, split in splits.items()} == {"train": 80, "validation": 10, "test": 10}
    others = [split_examples(examples, validation=0.1, test=0.1, seed=seed)["test"] for seed in range(2, 6)]
    assert any(other != splits["test"] for other in others)


def test_scenes_that_share_a_character_are_named_when_no_split_can_be_made() -> None:
    examples = [example(scene, number, ["Ada", f"Person {scene}"]) for scene in range(4) for number in range(3)]
    with pytest.raises(UserError, match=r"4 scenes are 1 part, since they share characters \('Ada' is in 4\)"):
        split_examples(examples, validation=0.1, test=0.1, seed=0)


def test_our_own_set_passes_in_every_form(tmp_path: Path) -> None:
    out = written(tmp_path / "set", forms=("trl", "alpaca", "sharegpt"))
    for folder in (out, out / "trl", out / "alpaca", out / "sharegpt"):
        assert check_files([folder]).leaks == ()


@pytest.mark.parametrize("form", ["", "trl", "alpaca", "sharegpt"])
@pytest.mark.parametrize("named", [True, False])
def test_a_planted_leak_is_found_in_every_form(tmp_path: Path, form: str, named: bool) -> None:
    folder = written(tmp_path / "set", forms=("trl", "alpaca", "sharegpt")) / form
    ending = "jsonl" if form in {"", "trl"} else "json"

    def read(name: str) -> list[dict[str, object]]:
        text = (folder / f"{name}.{ending}").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()] if ending == "jsonl" else json.loads(text)

    rows = {name: read(name) for name in ("train", "validation", "test")}
    rows["test"].append(rows["train"][0])
    for name, split in rows.items():
        kept = (
            split if named else [{key: row[key] for key in row if key not in {"scene", "characters"}} for row in split]
        )
        lines = "".join(f"{json.dumps(row)}\n" for row in kept)
        (folder / f"{name}.{ending}").write_text(lines if ending == "jsonl" else json.dumps(kept), encoding="utf-8")
    checked = check_files([folder])
    kinds = {leak.kind for leak in checked.leaks}
    assert kinds == ({"scene", "character", "duplicate", "run"} if named else {"duplicate", "run"})
    assert all({"train", "test"} == set(leak.splits) for leak in checked.leaks)


def test_text_of_a_scene_under_another_name_is_found() -> None:
    pieces = [Piece("train", f"a{number}", (f"{own_text(1)} {number}", "Yes."), "s") for number in range(2)]
    assert find_leaks([*pieces, Piece("test", "b", ("Something else.", "Yes, indeed."), "t")]) == []
    (leak,) = find_leaks([*pieces, Piece("test", "b", (f"Now: {own_text(1)}", "No."), "t")])
    assert (leak.kind, leak.places) == ("run", ("b", "a0"))


def test_twenty_signs_of_chinese_are_a_run_and_twelve_words_are_none() -> None:
    signs = "他把铜灯放在河边的石头上然后一句话也没有说"
    assert [leak.kind for leak in find_leaks([Piece("train", "a", (signs,)), Piece("test", "b", (f"{signs}走",))])] == [
        "run"
    ]
    twelve = own_text(1, 12)
    assert find_leaks([Piece("train", "a", (f"{twelve} one",)), Piece("test", "b", (f"{twelve} two",))]) == []


def test_prompts_of_the_system_and_stock_phrases_are_no_leak() -> None:
    prompt = (
        "Look at the performance under each of these points: For each point one or two sentences, with the id of a turn"
    )
    stock = own_text(9)
    pieces = [
        Piece("test" if at == 4 else "train", f"p{at}", (prompt, stock, own_text(at)), f"s{at}") for at in range(5)
    ]
    assert find_leaks(pieces) == []
    assert [leak.kind for leak in find_leaks([pieces[0], pieces[4]])] == ["run"]


def test_a_third_split_changes_nothing_for_the_other_two(tmp_path: Path) -> None:
    stock = own_text(9)
    examples = [example(scene, number, answer=f"{stock} {scene} {number}") for scene in range(4) for number in range(4)]
    write_set(tmp_path, "guided", Gathered(examples), Layout(0.2, 0.2, 1), sources=[])
    assert check_files([tmp_path]).leaks == ()
    assert check_files([tmp_path / "train.jsonl", tmp_path / "validation.jsonl"]).leaks == ()


def _chat(system: str, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    turns = [turn for asked, answered in pairs for turn in (("user", asked), ("assistant", answered))]
    return [*([("system", system)] if system else []), *turns]


TEXTS = st.text(max_size=20)
CHATS = st.builds(_chat, TEXTS, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))


@given(CHATS, st.sampled_from(FORMS))
def test_a_form_gives_back_the_chat(chat: list[tuple[str, str]], form: str) -> None:
    row = ExampleRow.model_validate(
        {
            "id": "x",
            "kind": "guided",
            "messages": [{"role": role, "content": text} for role, text in chat],
            "scene": "s",
            "characters": ["Ada"],
            "language": "en",
            "source": "t/T1",
            "teacher": "script:t",
        }
    )
    again = read_row(json.loads(json.dumps(formed(row, form))))  # type: ignore[arg-type]
    assert again.messages == tuple(chat)
    assert (again.scene, again.characters) == ("s", ("Ada",))


def test_neighbours_of_one_role_are_joined_where_a_form_has_turns_alone() -> None:
    row = ExampleRow.of(replace(example(1, 1), messages=(Message("user", "What is shown."), Message("user", "Is it?"))))
    for form in ("alpaca", "sharegpt"):
        assert read_row(formed(row, form)).messages == (("user", "What is shown.\n\nIs it?"), ("assistant", "I go 1."))  # type: ignore[arg-type]
    for form in ("trl", "parquet"):
        assert len(read_row(formed(row, form)).messages) == 3  # type: ignore[arg-type]


def test_a_form_that_cannot_hold_a_chat_leaves_the_set_before(tmp_path: Path) -> None:
    out = written(tmp_path / "set", forms=("alpaca",))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    examples = [replace(example(at, 0), messages=(Message("assistant", own_text(at)),)) for at in range(8)]
    with pytest.raises(UserError, match="user and assistant do not take turns"):
        write_set(out, "guided", Gathered(examples), Layout(0.2, 0.2, 1, forms=("trl", "alpaca")), sources=[])
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_row_of_no_known_form_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"instruction": "x", "output": "y"}\n', encoding="utf-8")
    with pytest.raises(ContentError, match=r"a\.jsonl:1: is no row of a training file"):
        check_files([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    with pytest.raises(UserError, match="one split alone"):
        check_files([tmp_path / "b.jsonl"])


def test_a_file_that_stands_for_two_splits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text('{"instruction": "x", "output": "y"}\n', encoding="utf-8")
    (tmp_path / "test.jsonl").write_text('{"instruction": "v", "output": "w"}\n', encoding="utf-8")
    again = tmp_path / ".." / tmp_path.name / "train.jsonl"
    for named in ([tmp_path / "train.jsonl", again], [tmp_path, tmp_path / "train.jsonl"]):
        with pytest.raises(UserError, match=r"train\.jsonl: is named 2 times \(each split once\)"):
            check_files(named)


def test_the_configurations_have_the_published_values(tmp_path: Path) -> None:
    out = written(tmp_path / "set", forms=("trl", "sharegpt"), base="")
    trl = yaml.safe_load((out / "trl.yaml").read_text(encoding="utf-8"))
    factory = yaml.safe_load((out / "llamafactory.yaml").read_text(encoding="utf-8"))
    for settings in (trl, factory):
        assert (settings["learning_rate"], settings["lr_scheduler_type"], settings["warmup_steps"]) == (
            5e-5,
            "cosine",
            20,
        )
        assert (settings["num_train_epochs"], settings["gradient_accumulation_steps"]) == (6, 16)
    assert (trl["max_length"], factory["cutoff_len"]) == (8192, 8192)
    assert (trl["completion_only_loss"], factory["mask_history"]) == (True, True)
    info = json.loads((out / "sharegpt" / "dataset_info.json").read_text(encoding="utf-8"))
    assert {entry["file_name"] for entry in info.values()} == {"train.json", "validation.json", "test.json"}
    assert factory["dataset"] in info


def test_every_form_that_llamafactory_reads_has_its_own_list_of_files(tmp_path: Path) -> None:
    out = written(tmp_path / "set", forms=("alpaca", "trl", "sharegpt"))
    for form in ("alpaca", "sharegpt"):
        info = json.loads((out / form / "dataset_info.json").read_text(encoding="utf-8"))
        assert {entry["formatting"] for entry in info.values()} == {form}
        assert all((out / form / entry["file_name"]).is_file() for entry in info.values())


def test_the_configurations_say_how_long_examples_are(tmp_path: Path) -> None:
    long = example(0, 0, answer=" ".join(str(number) for number in range(8000)))
    examples = [long, *(example(scene, 1) for scene in range(8))]
    layout = Layout(0.1, 0.1, 1, forms=("trl", "alpaca"))
    card = write_set(tmp_path, "guided", Gathered(examples), layout, sources=[])
    longest = max(facts.tokens.most for facts in card.splits.values())
    for name in ("trl.yaml", "llamafactory.yaml"):
        head = (tmp_path / name).read_text(encoding="utf-8").splitlines()[0]
        assert head.startswith("# An example longer than the cutoff is cut. The longest has ")
        assert f"{longest} tokens, 1 are longer than 8192 (tokens are estimated" in head


def test_a_base_of_this_machine_stands_in_the_configurations_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models" / "own").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for base, stands in (("models/own", str(tmp_path / "models" / "own")), ("owner/name", "owner/name")):
        trl = write_trl(tmp_path, "guided", base=base, splits=["train"], seed=0, note="")
        factory = write_llamafactory(tmp_path, "guided", base=base, reads="alpaca", splits=["train"], seed=0, note="")
        for path in (trl, factory):
            assert yaml.safe_load(path.read_text(encoding="utf-8"))["model_name_or_path"] == stands


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ({"scene": 7}, {"scene": 7}, "scene"),
        ({"case": 7}, {"case": "7"}, "scene"),
        ({"scene": None, "case": "c"}, {"case": "c"}, "scene"),
        ({"characters": "Ada Finch"}, {"characters": ["Bo", "Ada Finch"]}, "character"),
        ({"characters": [3]}, {"characters": 3}, "character"),
    ],
)
def test_scenes_and_characters_of_any_kind_are_taken_as_text(
    tmp_path: Path, one: dict[str, object], other: dict[str, object], kind: str
) -> None:
    for name, row in (("train", {"instruction": "x", "output": "y", **one}), ("test", {"prompt": "a", **other})):
        line = {"completion": "b", **row} if name == "test" else row
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line), encoding="utf-8")
    assert [leak.kind for leak in check_files([tmp_path]).leaks] == [kind]
    nobody = [{"instruction": text, "output": "y", "scene": None, "characters": None} for text in ("u", "v")]
    for name, row in zip(("train", "test"), nobody, strict=True):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert check_files([tmp_path]).leaks == ()


def test_a_set_made_again_leaves_nothing_of_the_one_before(tmp_path: Path) -> None:
    out = written(tmp_path, forms=("alpaca", "trl"))
    written(out, test=0)
    assert sorted(path.name for path in out.rglob("*") if path.is_file()) == [
        "card.json",
        "card.md",
        "train.jsonl",
        "validation.jsonl",
    ]


def test_duplicates_are_left_out_and_counted(tmp_path: Path) -> None:
    examples = [example(scene, 0) for scene in range(4)]
    gathered = Gathered([*examples, *examples])
    card = write_set(tmp_path, "guided", gathered, Layout(0.2, 0.2, 0), sources=[])
    assert sum(facts.examples for facts in card.splits.values()) == 4
    assert card.left_out == {"duplicate": 4}
