"""Data sets from real run folders: the chats are the ledger's, the answers those that counted, the input is checked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dramaturg.errors import UserError
from dramaturg.files import read_jsonl
from dramaturg.ledger import Ledger
from dramaturg.train.card import DataCard, read_card
from dramaturg.train.example import Example, ExampleRow
from dramaturg.train.guided import guided
from dramaturg.train.reading import read_runs
from train_fixtures import CAREFUL, dramaturg, played, rated


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A world under two protocols, rated in two ways."""
    folder = tmp_path_factory.mktemp("runs")
    fast, paper = played(folder / "fast", protocol="fast"), played(folder / "paper", protocol="paper")
    released = played(folder / "released", protocol="released", rounds=1)
    return {
        "fast": fast,
        "paper": paper,
        "released": released,
        "joint": rated(folder / "joint", fast),
        "single": rated(folder / "single", paper, mode="single"),
        "fives": rated(folder / "fives", fast, judge="script:always-five"),
    }


def chats(*folders: Path) -> dict[str, list[tuple[str, str]]]:
    """Returns the chat of every call of some ledgers, read from their tables alone."""
    found: dict[str, list[tuple[str, str]]] = {}
    for folder in folders:
        with Ledger.open(folder / "ledger.db") as ledger:
            nodes = {row.hash: row for row in ledger.message_rows()}
            for call in ledger.call_rows():
                chat: list[tuple[str, str]] = []
                node = call.last_message
                while node:
                    chat.append((nodes[node].role, nodes[node].text))
                    node = nodes[node].parent
                found[call.key] = chat[::-1]
    return found


def made(out: Path, *arguments: str | Path) -> tuple[DataCard, list[Example]]:
    """Returns the card and the examples of a set."""
    code, _, errors = dramaturg("train", "data", *arguments, "--out", out)
    assert code == 0, errors
    card = read_card(out)
    assert card is not None
    examples: list[Example] = []
    for name, facts in card.splits.items():
        rows = [row.example for _, row in read_jsonl(out / f"{name}.jsonl", ExampleRow)]
        assert len(rows) == facts.examples
        examples += rows
    return card, examples


@pytest.mark.parametrize(
    ("kind", "names", "options"),
    [
        ("guided", ("fast", "joint", "paper", "single"), ()),
        ("narrator", ("fast", "paper", "released"), ()),
        ("reward", ("joint", "single"), ()),
    ],
)
def test_the_prompts_are_the_very_messages_of_the_ledger(
    runs: dict[str, Path], tmp_path: Path, kind: str, names: tuple[str, ...], options: tuple[str, ...]
) -> None:
    folders = [runs[name] for name in names]
    card, examples = made(tmp_path / "set", kind, *folders, *options)
    asked = chats(*folders)
    for example in examples:
        assert [(message.role, message.text) for message in example.messages] == asked[example.call]
    assert card.kind == kind
    assert set(card.splits) == {"train", "validation", "test"}
    assert card.prompt_hashes
    assert not card.changed_prompts
    assert dramaturg("train", "check", tmp_path / "set")[0] == 0


def test_an_act_is_learned_as_the_next_chat_has_it(runs: dict[str, Path], tmp_path: Path) -> None:
    _, examples = made(tmp_path / "set", "guided", runs["fast"], runs["joint"], runs["paper"], runs["single"])
    later = {message.text for example in examples for message in example.messages if message.role == "assistant"}
    assert {example.purpose for example in examples} >= {"act", "reaction", "beliefs", "action", "self-belief"}
    assert sum(example.answer in later for example in examples) > len(examples) / 2
    for example in examples:
        if example.purpose == "act":
            assert set(json.loads(example.answer)) == {"action", "speech"}


def test_beliefs_are_learned_only_where_they_are_wanted(runs: dict[str, Path], tmp_path: Path) -> None:
    _, without = made(tmp_path / "set", "guided", runs["fast"], runs["joint"], "--no-beliefs")
    assert {example.purpose for example in without} == {"act", "reaction"}


def test_the_lower_end_of_the_interval_has_to_reach_the_threshold(runs: dict[str, Path]) -> None:
    read = read_runs([runs["fast"], runs["joint"]])
    everything = guided(read, at_least=None, best=None, beliefs=False)
    some = guided(read, at_least=1.5, best=None, beliefs=False)
    assert 0 < len(some.examples) < len(everything.examples)
    assert some.left_out["trajectory: rated too low"] > 0
    assert not guided(read, at_least=5, best=None, beliefs=False).examples


def test_only_ratings_by_the_rubric_for_characters_choose_what_is_learned(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    others = shutil.copytree(runs["joint"], tmp_path / "others")
    rows = [json.loads(line) for line in (others / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]
    told = [{**row, "role": "narrator", "metric": "quality", "rubric": "narrator v1"} for row in rows]
    own = [{**row, "metric": f"own_{row['metric']}", "value": 1, "rubric": "mine v1"} for row in rows]
    lines = "".join(f"{json.dumps(row)}\n" for row in (*told, *own))
    (others / "ratings.jsonl").write_text(lines, encoding="utf-8")
    alone = guided(read_runs([runs["fast"], runs["joint"]]), at_least=1.5, best=None, beliefs=False)
    both = guided(read_runs([runs["fast"], runs["joint"], others]), at_least=1.5, best=None, beliefs=False)
    assert both.examples and both.examples == alone.examples
    assert both.terms == alone.terms
    assert both.left_out["rating: by another rubric than that for characters"] == 2 * len(rows)
    with pytest.raises(UserError, match="no ratings by the rubric for characters, only by mine v1, narrator v1"):
        guided(read_runs([runs["fast"], others]), at_least=None, best=None, beliefs=False)


def test_every_answer_of_a_narrator_is_in_its_form_and_names_somebody_who_is_there(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    card, examples = made(tmp_path / "set", "narrator", runs["fast"], runs["paper"], runs["released"])
    assert {example.purpose for example in examples} == {"influence", "result", "update", "environment"}
    for example in examples:
        if example.answer.startswith("{"):
            answer: dict[str, Any] = json.loads(example.answer)
            if example.purpose == "influence":
                assert answer["target"] == "none" or answer["target"] in example.messages[-1].text
    assert card.terms["tasks"]
    assert card.left_out["influence: repeats an earlier answer"] > 0  # this narrator has three answers


def test_a_reward_set_holds_the_critique_and_the_seven_scores(runs: dict[str, Path], tmp_path: Path) -> None:
    _, examples = made(tmp_path / "set", "reward", runs["joint"], runs["single"])
    ratings = [json.loads(example.answer) for example in examples if example.purpose == "rating"]
    assert {len(rating["answers"]) for rating in ratings if "answers" in rating} == {7}
    assert all({"critique", "rating"} <= set(rating) for rating in ratings if "answers" not in rating)
    assert any(example.purpose == "critique" for example in examples)


def test_only_rewrites_that_are_rated_better_are_learned_and_all_are_kept(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "set"
    arguments = ("reflective", runs["fast"], runs["paper"], "--rater", CAREFUL)
    stopped = dramaturg("train", "data", *arguments, "--out", out, "--max-calls", "20")
    assert (stopped[0], (out / "train.jsonl").exists()) == (3, False)
    card, examples = made(out, *arguments)
    again = dramaturg("train", "data", *arguments, "--out", out)
    assert again[0] == 0
    assert again[2].startswith("dramaturg: 0 new calls")
    reflections = [json.loads(line) for line in (out / "reflections.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = {(one["transcript"], one["role"]) for one in reflections if not one["dropped"]}
    dropped = {one["dropped"] for one in reflections}
    assert kept
    assert "the rewrite is rated no better" in dropped
    assert all(one["original"] and one["critique"] and one["rewrite"] for one in reflections)
    assert all("with care" in example.answer or "Again." in example.answer for example in examples)
    assert {tuple(example.source.split("/")[:2]) for example in examples} <= kept
    asked = chats(runs["fast"], runs["paper"])
    for example in examples:
        assert [(message.role, message.text) for message in example.messages] == asked[example.call]
    assert any(name.endswith("train-rewrite") for name in card.prompt_hashes)
    assert card.terms["kept"] == len(kept)


def test_the_same_seed_makes_the_same_set(runs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("one", "two"):
        made(tmp_path / name, "narrator", runs["fast"], runs["paper"], "--seed", "7")
    for name in ("train.jsonl", "validation.jsonl", "test.jsonl", "card.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize("kind", ["guided", "narrator", "reward"])
def test_the_order_of_the_runs_changes_nothing(runs: dict[str, Path], tmp_path: Path, kind: str) -> None:
    folders = [runs[name] for name in ("fast", "joint", "paper", "single")]
    one, _ = made(tmp_path / "one", kind, *folders)
    other, _ = made(tmp_path / "other", kind, *folders[::-1], folders[0])
    assert any("/world-" in name for name in one.prompt_hashes) == (kind != "reward")
    assert other == one
    for name in ("train.jsonl", "validation.jsonl", "test.jsonl", "card.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_play_goes_by_the_prompts_that_it_was_played_with(runs: dict[str, Path]) -> None:
    for names in (("fast", "joint"), ("joint", "fast")):
        read = read_runs([runs[name] for name in names])
        assert {source.folder for source, _ in read.transcripts.values()} == {runs["fast"]}


@pytest.mark.parametrize(
    ("kind", "names", "options", "says"),
    [
        ("guided", ("fast",), (), "these runs have no ratings"),
        ("reward", ("fast",), (), "these runs have no ratings"),
        ("guided", ("joint",), (), "no ledger of these runs holds the call"),
        ("guided", ("fast", "joint"), ("--at-least", "5"), "the set is empty"),
        ("reward", ("fives",), (), "the set has one class"),
        ("reflective", ("fast",), (), "needs a rater"),
        ("narrator", ("fast",), ("--rater", "script:always-five"), "goes with the kind reflective alone"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(
    runs: dict[str, Path], tmp_path: Path, kind: str, names: tuple[str, ...], options: tuple[str, ...], says: str
) -> None:
    code, out, errors = dramaturg(
        "train", "data", kind, *(runs[name] for name in names), "--out", tmp_path / "set", *options
    )
    assert (code, out) == (1, "")
    assert says in errors
    assert errors.count("\n") == 1


def test_a_split_of_one_scene_cannot_be_made(runs: dict[str, Path], tmp_path: Path) -> None:
    alone = shutil.copytree(runs["fast"], tmp_path / "alone")
    lines = (alone / "transcripts.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (alone / "transcripts.jsonl").write_text(lines[0], encoding="utf-8")
    code, _, errors = dramaturg("train", "data", "narrator", alone, "--out", tmp_path / "set")
    assert code == 1
    assert "a split into 3 cannot be made of 1 scene" in errors
    whole, _, _ = dramaturg(
        "train", "data", "narrator", alone, "--out", tmp_path / "set", "--validation", "0", "--test", "0"
    )
    assert whole == 0
    assert not (tmp_path / "set" / "validation.jsonl").exists()


def test_an_unfinished_run_is_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(runs["fast"], tmp_path / "open")
    units = folder / "units.jsonl"
    units.write_text(units.read_text(encoding="utf-8").replace('"done"', '"open"', 1), encoding="utf-8")
    with pytest.raises(UserError, match="the run is not finished: 1 of 8 units are open"):
        read_runs([folder])
    (folder / "transcripts.jsonl").unlink()
    with pytest.raises(UserError, match=r"the run is not finished: there is no transcripts\.jsonl yet"):
        read_runs([folder])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"holds no transcripts\.jsonl"):
        read_runs([tmp_path / "empty"])


def test_another_kind_is_not_written_over(runs: dict[str, Path], tmp_path: Path) -> None:
    made(tmp_path / "set", "narrator", runs["fast"])
    code, _, errors = dramaturg("train", "data", "reward", runs["joint"], "--out", tmp_path / "set")
    assert code == 1
    assert "holds a set of the kind narrator" in errors
