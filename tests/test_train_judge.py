"""Judge data: questions about turns of excerpts and of audits, in the prompts of mode `glance`."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import yaml

from dramaturg.errors import ContentError, UserError
from dramaturg.files import dump_yaml, load_yaml, parse_yaml, shipped
from dramaturg.judge.audit import shipped_bases
from dramaturg.judge.audit.excerpts import Excerpt, load_excerpts, transcript_of
from dramaturg.judge.audit.natural import natural_excerpts
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.glance import glance_at, glance_question
from dramaturg.stage.transcript import Role
from dramaturg.train.example import Example
from dramaturg.train.judge import excerpts_in, judge_examples, shipped_excerpts, shipped_questions
from dramaturg.train.names import names_of
from dramaturg.train.splitting import components
from train_fixtures import dramaturg

EXCERPT = {
    "id": "lost-key",
    "domain": "world",
    "reference": "The key lies in the well. Only Mara Venn saw it fall.",
    "roles": [
        {"id": "mara", "kind": "character", "name": "Mara Venn", "description": "Calm."},
        {"id": "tolo", "kind": "character", "name": "Tolo Brask"},
    ],
    "turns": [
        {"role": "tolo", "text": "Have you seen the key, Mara? The gate is locked."},
        {"role": "mara", "text": "I have. It fell into the well this morning."},
        {"role": "tolo", "text": "Then I shall fetch a rope and climb down."},
    ],
    "hooks": {
        "contradicts_reference": [
            {
                "turn": "T2",
                "mild": {"find": "the well", "put": "the pond"},
                "severe": {"say": "The key? It hangs on its nail by the door."},
                "innocent": {"find": "the well", "put": "the deep well"},
            }
        ]
    },
    "present": [{"turn": "T1", "ask": "Does Tolo ask for the key?"}],
    "absent": [{"turn": "T3", "ask": "Does Tolo give up?"}],
}


def examples_of(*excerpts: dict[str, object]) -> list[Example]:
    made = [Excerpt.model_validate(one) for one in excerpts]
    return judge_examples(made, [], shipped_questions(), seed=1).examples


def turn_of(example: Example) -> str:
    """Returns the id of the turn that is asked about."""
    return example.messages[-1].text.rpartition("About ")[2].split()[0]


def said(example: Example) -> str:
    """Returns the turn that is asked about, as it is shown."""
    turn = turn_of(example)
    shown = example.messages[1].text
    return next(line for line in shown.splitlines() if line.startswith(f"[{turn}]"))


def test_a_fault_is_asked_about_where_it_is_and_where_it_is_not():
    answers = {
        said(one).partition(": ")[2]: one.answer
        for one in examples_of(EXCERPT)
        if one.purpose == "contradicts_reference" and said(one).startswith("[T2]")
    }
    assert answers == {
        "I have. It fell into the well this morning.": "No",
        "I have. It fell into the pond this morning.": "Yes",
        "The key? It hangs on its nail by the door.": "Yes",
        "I have. It fell into the deep well this morning.": "No",
    }


def test_where_a_fault_is_another_kind_is_no():
    faulty = [one for one in examples_of(EXCERPT) if "pond" in said(one) or "nail" in said(one)]
    others = [one for one in faulty if one.purpose != "contradicts_reference"]
    assert len(others) == 2 and {one.answer for one in others} == {"No"}
    assert {one.purpose for one in others} <= set(shipped_questions().strangers("contradicts_reference"))


def test_an_example_is_what_the_judge_is_asked():
    (asked,) = [one for one in examples_of(EXCERPT) if "ask for the key" in one.messages[-1].text]
    glance = glance_at(transcript_of(Excerpt.model_validate(EXCERPT)), 0, "en")
    facts = "<reference>" in asked.messages[-1].text
    assert asked.messages == (*glance.opened, glance_question(glance, "Does Tolo ask for the key?", "en", facts=facts))
    assert (asked.answer, asked.scene, asked.characters) == ("Yes", "lost-key", ("Mara Venn", "Tolo Brask"))
    assert len(asked.messages[1].text) == len(glance.opened[1].text)


def test_equal_seeds_give_equal_examples_and_another_seed_others():
    made = [Excerpt.model_validate(EXCERPT)]
    first, again, other = (judge_examples(made, [], shipped_questions(), seed=seed).examples for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_kind_that_nothing_is_asked_about_is_refused():
    wrong = {**EXCERPT, "hooks": {"too_loud": EXCERPT["hooks"]["contradicts_reference"]}}  # type: ignore[index]
    with pytest.raises(ContentError, match="nothing is asked about 'too_loud'"):
        examples_of(wrong)


def hooked(**edits: dict[str, str]) -> dict[str, object]:
    """Returns what changes in an excerpt whose hook has other edits."""
    (hook,) = EXCERPT["hooks"]["contradicts_reference"]  # type: ignore[index]
    return {"hooks": {"contradicts_reference": [{**hook, **edits}]}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turns": EXCERPT["turns"][:1]}, "at least 2"),  # type: ignore[index]
        ({"present": [{"turn": "T9", "ask": "Is it?"}]}, "there is no turn T9"),
        ({"present": [{"turn": "T1", "ask": "Is it"}]}, "pattern"),
        ({"roles": EXCERPT["roles"] * 2}, "two roles share an id"),  # type: ignore[operator]
        ({"turns": [{"role": "nobody", "text": "Hm."}] * 2}, "no role 'nobody'"),
        (hooked(mild={"find": "the well", "put": "the  well"}), "mild: changes nothing in T2"),
        (hooked(innocent={"say": " I have. It fell into the well this morning. "}), "innocent: changes nothing in T2"),
        (hooked(severe={"find": "I have. It fell into the well this morning.", "put": ""}), "severe: leaves T2 empty"),
        (hooked(severe={"say": " \n"}), "severe: leaves T2 empty"),
        (hooked(mild={"find": "the sea", "put": "the pond"}), "stands 0 times in T2"),
        (hooked(innocent={"find": "well", "put": "Pond"}), "innocent: makes of T2 what mild makes of it"),
        ({"absent": [{"turn": "T1", "ask": "Does Tolo ask  for the key?"}]}, "in present and in absent of T1"),
    ],
)
def test_a_wrong_excerpt_says_what_is_wrong(tmp_path: Path, change: dict[str, object], message: str):
    (tmp_path / "x.yaml").write_text(yaml.safe_dump({"excerpts": [{**EXCERPT, **change}]}))
    with pytest.raises(ContentError, match=message):
        load_excerpts(tmp_path / "x.yaml")


def test_one_question_about_two_turns_may_have_two_answers():
    again = {"absent": [{"turn": "T3", "ask": "Does Tolo ask for the key?"}]}
    assert Excerpt.model_validate({**EXCERPT, **again}).absent[0].turn == "T3"


def test_shipped_excerpts_are_many_and_balanced():
    made = judge_examples(shipped_excerpts(), [], shipped_questions(), seed=1)
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for one in made.examples:
        answers[one.purpose][one.answer] += 1
    assert len(made.examples) > 10_000
    assert len(answers) > 30
    for kind, counted in answers.items():
        share = counted["Yes"] / counted.total()
        assert 0.15 < share < 0.6, f"{kind}: {counted}"
        assert counted["Yes"] >= 60, kind


def test_scenes_hang_together_by_names_and_not_by_labels():
    def scene(number: int, *names: tuple[str, str]) -> list[Example]:
        roles = [{"id": f"r{place}", "kind": kind, "name": name} for place, (kind, name) in enumerate(names)]
        turns = [{"role": f"r{place}", "text": f"Words {number} {place}."} for place in range(len(names))]
        asked = {"present": [{"turn": "T1", "ask": "Is it said?"}]}
        return examples_of(
            {"id": f"scene-{number}", "domain": "d", "reference": "R.", "roles": roles, "turns": turns, **asked}
        )

    one_word = [*scene(1, ("healer", "Mara"), ("player", "Bo")), *scene(2, ("character", "mara"), ("judge", "Judge"))]
    chinese = [*scene(3, ("witness", "林秀珍"), ("judge", "法官")), *scene(4, ("witness", "林秀珍"), ("judge", "法官"))]
    labels = [
        *scene(5, ("judge", "Judge"), ("witness", "the witness"), ("agent", "Agent"), ("customer", "Customer 2")),
        *scene(6, ("judge", "Judge"), ("witness", "the witness"), ("agent", "Agent"), ("customer", "Customer 2")),
    ]
    assert len(components(one_word)) == len(components(chinese)) == 1
    assert len(components(labels)) == 2 and not labels[0].characters
    assert len(components([*one_word, *chinese, *labels])) == 4
    assert len(components(judge_examples(shipped_excerpts(), [], shipped_questions(), seed=1).examples)) > 100


@pytest.mark.parametrize(
    ("name", "kind", "is_name"),
    [
        ("Witness 2", "witness", False),
        ("Claimant's lawyer", "prosecutor", False),
        ("The Beekeeper", "character", False),
        ("the old woman", "character", False),
        ("Beekeeper", "beekeeper", False),
        ("证人甲", "witness", False),
        ("第一位证人", "witness", False),
        ("Judge Ward", "judge", True),
        ("An Nguyen", "customer", True),
        ("La Spina", "customer", True),
        ("An", "customer", True),
        ("Speaker B", "customer", False),
        ("王法官", "judge", True),
        ("Zoë", "agent", True),
    ],
)
def test_a_label_is_no_name(name: str, kind: str, is_name: bool):
    assert names_of([Role(id="r", kind=kind, name=name)]) == ((name,) if is_name else ())


def test_the_roles_of_shipped_procedures_are_labels_in_every_language():
    for path in shipped("procedures").values():
        roles = yaml.safe_load(path.read_text(encoding="utf-8"))["roles"]
        for kind, role in roles.items():
            for name in (kind, *role.get("titles", {}).values()):
                assert names_of([Role(id="r", kind="role", name=name)]) == (), name


def test_nothing_of_an_audit_or_of_natural_text_is_trained_on():
    court = load_yaml(shipped("checklists")["court"], Checklist)
    service = load_yaml(shipped("checklists")["customer-service"], Checklist)
    audited = {turn.text for by in (court, service) for base in shipped_bases(by) for turn in base.transcript.turns}
    audited |= {turn.text for one in natural_excerpts("en") for turn in one.turns}
    trained = {turn.text for one in shipped_excerpts() for turn in one.turns}
    assert not trained & audited
    kinds = {kind for one in shipped_excerpts() for kind in one.hooks}
    assert not kinds & {"as_an_ai", "witness_questions", "prosecutor_concedes", "judge_opines_guilt"}


def _scenes(told: dict[str, str]) -> list[dict[str, object]]:
    """Returns an excerpt for each key, told some words of its own."""
    return [
        {
            **EXCERPT,
            "id": f"key-{word.casefold()}",
            "reference": words,
            "roles": [{**role, "name": f"{role['name']} {word}"} for role in EXCERPT["roles"]],  # type: ignore[union-attr, index]
            "turns": [{**turn, "text": f"{word}: {turn['text']}"} for turn in EXCERPT["turns"]],  # type: ignore[union-attr, index]
        }
        for word, words in told.items()
    ]


def test_a_set_of_a_users_own_excerpts(tmp_path: Path):
    words = ("Barn", "Cellar", "Dell", "Elm", "Ford", "Glen", "Hall", "Inn")
    many = _scenes({word: f"The key lies in the {word}." for word in words})
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"excerpts": many}))
    out = tmp_path / "set"
    code, told, errors = dramaturg(
        "train", "data", "judge", "--excerpts", tmp_path / "mine.yaml", "--out", out, "--test", "0.2", "--json",
        "--format", "alpaca", "--format", "sharegpt", "--format", "trl",
    )  # fmt: skip
    assert code == 0, errors
    card = json.loads(told)
    assert card["sources"] == [str(tmp_path / "mine.yaml")]
    assert card["kind"] == "judge" and set(card["terms"]["answers"]) == {"yes", "no"}
    assert "contradicts_reference" in card["terms"]["fault_kinds"]
    assert all(path.startswith("default/en/") for path in card["prompt_hashes"])
    for folder in (out, out / "alpaca", out / "sharegpt", out / "trl"):
        code, _, errors = dramaturg("train", "check", folder)
        assert code == 0, errors

    lesson = tmp_path / "lesson"
    code, _, errors = dramaturg(
        "train", "data", "judge", "--excerpts", tmp_path / "mine.yaml", "--out", lesson, "--first-lesson",
        "--split-as", out,
    )  # fmt: skip
    assert code == 0, errors
    for split in ("train", "validation", "test"):
        wholly, first = (
            [json.loads(line) for line in (folder / f"{split}.jsonl").read_text().splitlines()]
            for folder in (out, lesson)
        )
        assert {one["scene"] for one in first} <= {one["scene"] for one in wholly}
        assert all(one["messages"][1]["content"].count("\n[T") == 1 and not one["purpose"] for one in first)
    code, _, errors = dramaturg("train", "data", "judge", "--out", tmp_path / "x", "--split-as", out)
    assert code == 1 and "does not have the scene" in errors
    for option in ("--validation", "--test"):
        beside = ("--split-as", out, option, "0.2")
        code, _, errors = dramaturg("train", "data", "judge", "--out", tmp_path / "x", *beside)
        assert code == 1 and f"{option}: the splits are those of another set" in errors
    code, _, errors = dramaturg("train", "data", "judge", "--out", tmp_path / "x", "--split-as", tmp_path / "none")
    assert code == 1 and "holds no data set" in errors
    code, _, errors = dramaturg("train", "data", "judge", tmp_path, "--out", tmp_path / "x", "--first-lesson")
    assert code == 1 and "is made of excerpts alone" in errors


def test_what_another_set_holds_out_is_not_learnt_in_other_words_either(tmp_path: Path):
    words = {word: f"The {word} was sold when it rained for nine days and {word} lost its last roof." for word in
             ("Barn", "Cellar", "Dell", "Elm", "Ford", "Glen", "Hall", "Inn")}  # fmt: skip
    (tmp_path / "one.yaml").write_text(yaml.safe_dump({"excerpts": _scenes(words)}))
    whole, lesson = tmp_path / "whole", tmp_path / "lesson"
    code, _, errors = dramaturg("train", "data", "judge", "--excerpts", tmp_path / "one.yaml", "--out", whole)
    assert code == 0, errors
    by_split = {
        name: [json.loads(line)["scene"] for line in (whole / f"{name}.jsonl").read_text().splitlines()]
        for name in ("train", "test")
    }
    held_out, learner = by_split["test"][0], by_split["train"][0]
    retold = _scenes(words)
    one = next(one for one in retold if one["id"] == learner)
    secret = words[held_out.removeprefix("key-").title()]
    one["turns"] = [{**turn, "text": f"{turn['text']} {secret}"} for turn in one["turns"]]  # type: ignore[attr-defined]
    (tmp_path / "two.yaml").write_text(yaml.safe_dump({"excerpts": retold}))
    code, told, errors = dramaturg(
        "train", "data", "judge", "--excerpts", tmp_path / "two.yaml", "--out", lesson, "--first-lesson",
        "--split-as", whole, "--json",
    )  # fmt: skip
    assert code == 0, errors
    assert json.loads(told)["left_out"]["shares a run of words with test"] == 2
    assert learner not in (lesson / "train.jsonl").read_text()
    code, told, errors = dramaturg("train", "check", lesson / "train.jsonl", whole / "test.jsonl")
    assert code == 0, errors


def test_what_is_stock_in_another_set_may_be_a_leak_in_this_one_alone(tmp_path: Path):
    stock = "Everybody in the valley knows that the old key of the mill was never made to be lent to a stranger"
    words = ("Barn", "Cellar", "Dell", "Elm", "Ford", "Glen", "Hall", "Inn")
    many = _scenes({word: f"The key lies in the {word}. {stock}." for word in words})
    (tmp_path / "all.yaml").write_text(yaml.safe_dump({"excerpts": many}))
    out = tmp_path / "set"
    make = ("train", "data", "judge", "--excerpts")
    code, _, errors = dramaturg(*make, tmp_path / "all.yaml", "--out", out, "--test", "0.2")
    assert code == 0, errors
    some = {json.loads((out / f"{name}.jsonl").read_text().splitlines()[0])["scene"] for name in ("train", "test")}
    few = {"excerpts": [one for one in many if one["id"] in some]}
    (tmp_path / "few.yaml").write_text(yaml.safe_dump(few))
    code, _, errors = dramaturg(*make, tmp_path / "few.yaml", "--out", tmp_path / "few", "--split-as", out)
    assert code == 0, errors
    code, _, errors = dramaturg("train", "check", tmp_path / "few")
    assert code == 0, errors


def test_splits_of_a_set_that_tears_a_scene_or_learns_nothing_are_not_taken(tmp_path: Path):
    excerpts = tmp_path / "one.yaml"
    excerpts.write_text(yaml.safe_dump({"excerpts": _scenes({"Barn": "A barn.", "Dell": "A dell.", "Elm": "An elm."})}))
    whole, out = tmp_path / "whole", tmp_path / "out"
    code, _, errors = dramaturg(
        "train", "data", "judge", "--excerpts", excerpts, "--out", whole, "--validation", "0", "--test", "0"
    )
    assert code == 0, errors
    again = ("train", "data", "judge", "--excerpts", excerpts, "--out", out, "--split-as", whole)
    lines = (whole / "train.jsonl").read_text()
    (whole / "test.jsonl").write_text(lines)
    code, _, errors = dramaturg(*again)
    assert code == 1 and "in train and in test" in errors
    (whole / "train.jsonl").unlink()
    code, _, errors = dramaturg(*again)
    assert code == 1 and "nothing is left to learn from" in errors
    assert not out.exists()


def test_a_set_of_an_audit_has_a_yes_where_each_fault_is(tmp_path: Path):
    audit = tmp_path / "audit"
    code, _, errors = dramaturg(
        "audit", "judge", "script:oracle", "--mode", "glance", "--sample", "12", "--out", audit, "--json"
    )
    assert code == 0, errors
    found = judge_examples([], [audit], shipped_questions(), seed=1)
    assert found.labels["yes"] >= 10 and found.labels["no"] >= 10
    (audit / "checklist.yaml").unlink()  # as in folders of older audits: a shipped one is found by its name
    assert judge_examples([], [audit], shipped_questions(), seed=1).examples == found.examples
    planted = [json.loads(line) for line in (audit / "planted.jsonl").read_text().splitlines()]
    faulty = {(one["transcript"], turn) for one in planted for done in one["mutations"] for turn in done["turns"]}
    for one in found.examples:
        if one.answer == "Yes":
            assert (one.source, turn_of(one)) in faulty
    lines = (audit / "specimens.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (audit / "specimens.jsonl").write_text("".join(lines[1:]), encoding="utf-8")
    with pytest.raises(ContentError, match=r"planted\.jsonl:1: there is no specimen"):
        judge_examples([], [audit], shipped_questions(), seed=1)


def test_an_audit_by_a_checklist_of_ones_own_becomes_judge_data(tmp_path: Path):
    mine = yaml.safe_load(shipped("checklists")["customer-service"].read_text(encoding="utf-8"))
    mine |= {"id": "my-service", "title": "My own list"}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(mine), encoding="utf-8")
    audit = tmp_path / "audit"
    wanted = ("--checklist", tmp_path / "mine.yaml", "--mode", "glance", "--sample", "6", "--out", audit, "--json")
    code, _, errors = dramaturg("audit", "judge", "script:oracle", *wanted)
    assert code == 0, errors
    found = judge_examples([], [audit], shipped_questions(), seed=1)
    assert found.labels["yes"] and found.labels["no"]

    lines = (audit / "checklist.yaml").read_text(encoding="utf-8")
    (audit / "checklist.yaml").write_text(lines.replace("version: ", "version: 9", 1), encoding="utf-8")
    with pytest.raises(ContentError, match="judged by another state of the checklist my-service"):
        judge_examples([], [audit], shipped_questions(), seed=1)
    (audit / "checklist.yaml").unlink()
    with pytest.raises(ContentError, match="my-service"):
        judge_examples([], [audit], shipped_questions(), seed=1)


def test_a_kept_checklist_is_the_one_that_was_judged_by():
    for path in shipped("checklists").values():
        checklist = load_yaml(path, Checklist)
        kept = dump_yaml(checklist.model_dump(mode="json", exclude_defaults=True))
        assert parse_yaml(kept, Checklist, where="kept").hash == checklist.hash


def test_what_ships_has_a_name_beside_files_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    mine = tmp_path / "mine.yaml"
    mine.write_text(yaml.safe_dump({"excerpts": [EXCERPT]}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert len(excerpts_in([Path("shipped"), mine])) == len(shipped_excerpts()) + 1
    (tmp_path / "shipped").mkdir()
    with pytest.raises(ContentError, match="no excerpt is there"):
        excerpts_in([Path("shipped")])


def test_kinds_that_are_left_out_stand_nowhere(tmp_path: Path):
    out = tmp_path / "audit"
    dramaturg("audit", "judge", "script:oracle", "--mode", "glance", "--sample", "34", "--out", out)
    kinds = frozenset({"as_an_ai", "witness_questions"})
    excerpts = list(shipped_excerpts()[:30])
    whole = judge_examples(excerpts, [out], shipped_questions(), seed=1)
    spared = judge_examples(excerpts, [out], shipped_questions(), seed=1, without=kinds | {"slang"})
    assert kinds < {one.purpose for one in whole.examples} and "slang" in {one.purpose for one in whole.examples}
    assert not {one.purpose for one in spared.examples} & (kinds | {"slang"})
    checklist = load_yaml(shipped("checklists")["court"], Checklist)
    asks = [one.question for one in checklist.indicators if kinds & set(one.detects)]
    assert not [one for one in spared.examples if any(ask in one.messages[-1].text for ask in asks)]
    with pytest.raises(UserError, match="no fault is of the kind 'too_loud'"):
        judge_examples(excerpts, [], shipped_questions(), seed=1, without=frozenset({"too_loud"}))


def test_plain_excerpts_ask_of_presence_alone():
    made = [Excerpt.model_validate(EXCERPT)]
    plain = judge_examples(made, [], shipped_questions(), seed=1, plain=True).examples
    assert [(one.answer, one.purpose) for one in plain] == [("Yes", ""), ("No", "")]
    assert all("<reference>" not in message.text for one in plain for message in one.messages)


def test_a_first_lesson_asks_about_no_fault_that_could_be_left_out(tmp_path: Path):
    code, _, errors = dramaturg(
        "train", "data", "judge", "--first-lesson", "--without", "slang", "--out", tmp_path / "set"
    )
    assert code == 1 and "--without" in errors


def test_runs_that_are_no_audits_are_refused(tmp_path: Path):
    code, _, errors = dramaturg("train", "data", "judge", tmp_path, "--out", tmp_path / "set")
    assert code == 1 and "there is no specimens.jsonl" in errors
    code, _, errors = dramaturg("train", "data", "guided", "--out", tmp_path / "set")
    assert code == 1 and "is made of runs" in errors
