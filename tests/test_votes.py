"""Votes: what the rules accept, what chance would pass, how raters are weighed and checked, the filtered set."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from dramaturg.cli.rpeval_votes import votes as votes_command
from dramaturg.errors import ContentError, UserError
from dramaturg.measure.dawid_skene import dawid_skene
from dramaturg.measure.krippendorff import krippendorff_alpha
from dramaturg.measure.raters import check_raters
from dramaturg.measure.vote_agreement import vote_alpha
from dramaturg.measure.votes import Vote, VoteRule, expected_by_chance
from dramaturg.run.interview.vote_filter import Filtered, Rules, filter_by_votes
from dramaturg.run.interview.votes import Votes, read_votes
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview import Item, ItemSet, read_item_set, write_item_set
from dramaturg.stage.interview.item_set import ItemSetHead, item_set_of

YES_NO = VoteRule(3, Fraction("0.70"))
EMOTION = VoteRule(3, Fraction("0.55"))
COIN = (1, 1)


@pytest.mark.parametrize(("votes", "passes"), [(2, 0), (3, 0.25), (4, 0.625), (5, 0.375), (6, 0.21875), (7, 0.453125)])
def test_coins_pass_the_yes_no_rule_as_often_as_counting_says(votes: int, passes: float):
    assert YES_NO.chance(votes, COIN) == Fraction(passes)


def test_a_share_must_be_exceeded_not_reached():
    assert YES_NO.accepted({"yes": 7, "no": 3}) is None
    assert YES_NO.accepted({"yes": 8, "no": 2}) == "yes"
    assert EMOTION.accepted({"joy": 11, "fear": 9}) is None


@given(
    weights=st.lists(st.integers(0, 3), min_size=2, max_size=3).filter(any),
    votes=st.integers(1, 6),
    above=st.sampled_from(("0", "0.2", "0.4", "0.55", "0.7")),
)
def test_chance_is_what_going_through_every_outcome_gives(weights: list[int], votes: int, above: str):
    rule = VoteRule(1, Fraction(above))
    ways = 0
    for outcome in product(range(len(weights)), repeat=votes):
        if rule.accepted(Counter(outcome)) is not None:
            weight = 1
            for answer in outcome:
                weight *= weights[answer]
            ways += weight
    assert rule.chance(votes, weights) == Fraction(ways, sum(weights) ** votes)


def test_thirteen_labels_pass_by_chance_as_a_simulation_says():
    generator = random.Random(1)
    passed = sum(EMOTION.accepted(Counter(generator.choices(range(13), k=3))) is not None for _ in range(20_000))
    assert passed / 20_000 == pytest.approx(float(EMOTION.chance(3, [1] * 13)), abs=0.01)


def test_expected_survivors_add_up_over_the_items():
    assert expected_by_chance([3, 3, 4, 2], YES_NO, COIN) == pytest.approx(0.25 + 0.25 + 0.625)


@pytest.mark.parametrize("above", ["1", "-0.1"])
def test_a_share_that_is_none_is_refused(above: str):
    with pytest.raises(ValueError, match="share to exceed"):
        VoteRule(3, Fraction(above))


def crowd(seed: int, *, items: int, labels: Sequence[str], random_raters: int = 2) -> tuple[dict[str, str], list[Vote]]:
    generator = random.Random(seed)
    truth = {f"i{number}": generator.choice(labels) for number in range(items)}
    skill = {f"r{number}": 0.0 if number < random_raters else 0.85 for number in range(8)}
    votes: list[Vote] = []
    for item, right in truth.items():
        for rater in generator.sample(sorted(skill), 5):
            knows = generator.random() < skill[rater]
            votes.append(Vote(item, rater, right if knows else generator.choice(labels), "emotion"))
    return truth, votes


def test_weighing_finds_the_good_raters_and_gets_more_answers_right_than_counting():
    labels = ("anger", "fear", "joy", "hope")
    truth, votes = crowd(2, items=200, labels=labels, random_raters=4)
    weighed = dawid_skene(votes, labels)
    counted: dict[str, Counter[str]] = {}
    for vote in votes:
        counted.setdefault(vote.item, Counter())[vote.answer] += 1
    by_count = sum(counted[item].most_common(1)[0][0] == right for item, right in truth.items())
    by_weight = sum(max(answers, key=answers.__getitem__) == truth[item] for item, answers in weighed.answers.items())
    assert by_weight > by_count
    assert weighed.settled
    assert max(weighed.raters[f"r{number}"] for number in range(4)) < min(
        weighed.raters[f"r{number}"] for number in range(4, 8)
    )


def test_weighed_answers_are_probabilities_and_unanimous_ones_stay():
    votes = [Vote(f"i{item}", f"r{rater}", "ab"[item % 2], "g") for item in range(6) for rater in range(3)]
    weighed = dawid_skene(votes, "ab")
    for item, answers in weighed.answers.items():
        assert sum(answers.values()) == pytest.approx(1)
        assert max(answers, key=answers.__getitem__) == "ab"[int(item[1:]) % 2]
    assert dawid_skene([], "ab").answers == {}


def test_a_rater_who_clicks_at_random_is_told_and_others_are_not():
    _, votes = crowd(3, items=200, labels=("anger", "fear", "joy", "hope"))
    checks = check_raters(votes, seed=1)
    assert {check.rater for check in checks if check.at_random} == {"r0", "r1"}


def test_always_the_same_answer_is_as_random_as_a_coin():
    _, votes = crowd(4, items=100, labels=("yes", "no"), random_raters=0)
    lazy = [Vote(vote.item, "lazy", "yes", vote.group) for vote in votes[::5]]
    (check,) = [check for check in check_raters([*votes, *lazy], seed=1) if check.rater == "lazy"]
    assert check.at_random
    assert check.kappa is None or check.kappa == pytest.approx(0, abs=0.01)


def test_of_a_few_answers_nothing_is_said():
    checks = check_raters([Vote("i", "r1", "yes", "g"), Vote("i", "r2", "no", "g"), Vote("j", "r1", "no", "g")], seed=1)
    assert all(check.p is None and not check.at_random for check in checks)


def test_alpha_of_counted_votes_is_alpha_of_the_votes():
    labels = ("anger", "fear", "joy")
    _, votes = crowd(5, items=60, labels=labels)
    by_item: dict[str, list[str]] = {}
    for vote in votes:
        by_item.setdefault(vote.item, []).append(vote.answer)
    by_item["alone"] = ["joy"]
    clusters = {item: [[values.count(label) for label in labels]] for item, values in by_item.items()}
    found = vote_alpha(clusters, seed=1, resamples=200)
    assert found.value == pytest.approx(krippendorff_alpha(list(by_item.values())))
    assert found.low is not None and found.high is not None and found.low < found.high
    assert (found.n_used, found.n_planned) == (60, 61)


# The filtered set


def small_set() -> ItemSet:
    characters = [Character(id=name, name=name.title(), description=f"You are {name.title()}.") for name in "abc"]
    items = [
        Item(id="a-joy", character="a", category="emotion", message="I got engaged!", expected="joy", reason="r"),
        Item(id="a-go", character="a", category="decision", message="Will you come?", expected="yes", reason="r"),
        Item(id="b-lie", character="b", category="moral", message="Will you lie for me?", expected="no"),
        Item.model_validate(
            {
                "id": "c-film",
                "character": "c",
                "category": "in_character",
                "message": "Who made the film?",
                "facts": [{"forms": {"": ["Nolan"]}}],
            }
        ),
    ]
    return item_set_of(ItemSetHead(id="small", title="Small"), characters, items)


def row(item: str, rater: str, answer: str, category: str = "decision", **more: object) -> dict[str, object]:
    return {"item": item, "rater": rater, "answer": answer, "category": category, **more}


def votes_file(path: Path, rows: Sequence[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


GIVEN = [
    *(row("a-joy", f"r{rater}", "joy" if rater < 3 else "hope", "emotion") for rater in range(5)),
    *(row("a-go", f"r{rater}", "no") for rater in range(4)),
    *(row("b-lie", f"r{rater}", "yes" if rater else "no", "moral") for rater in range(3)),
]


def filtered(tmp_path: Path, rows: Sequence[dict[str, object]] = GIVEN, rules: Rules | None = None) -> Filtered:
    given_votes = read_votes(votes_file(tmp_path / "votes.jsonl", rows), small_set())
    return filter_by_votes(small_set(), given_votes, rules or Rules())


def test_kept_items_hold_their_votes_and_the_answer_of_people(tmp_path: Path):
    items = {item.id: item for item in filtered(tmp_path).item_set.items}
    assert items["a-joy"].votes == {"joy": 3, "hope": 2}
    assert (items["a-joy"].expected, items["a-joy"].reason) == ("joy", "r")
    assert (items["a-go"].expected, items["a-go"].reason) == ("no", "")


def test_a_character_without_an_item_left_is_dropped_with_its_reason(tmp_path: Path):
    found = filtered(tmp_path)
    assert [(one.id, one.why) for one in found.characters] == [("b", "its only item was dropped")]
    assert [(one.id, one.why) for one in found.dropped] == [
        ("b-lie", "yes: 2 of 3 votes, more than 0.7 of them is needed")
    ]
    assert set(found.item_set.characters) == {"a", "c"}


def test_items_about_facts_need_no_votes(tmp_path: Path):
    assert "c-film" in {item.id for item in filtered(tmp_path).item_set.items}


def test_the_rules_are_parameters(tmp_path: Path):
    kept = filtered(tmp_path, rules=Rules(min_votes=3, emotion_above=Fraction("0.6"), yes_no_above=Fraction("0.6")))
    assert {item.id for item in kept.item_set.items} == {"a-go", "b-lie", "c-film"}
    fewer = filtered(tmp_path, rules=Rules(min_votes=5))
    assert {item.id for item in fewer.item_set.items} == {"a-joy", "c-film"}


def test_an_item_without_an_answer_of_its_own_gets_one(tmp_path: Path):
    empty = small_set()
    items = [item.model_copy(update={"expected": ""}) for item in empty.items]
    unanswered = item_set_of(empty.head, empty.characters.values(), items)
    given_votes = read_votes(votes_file(tmp_path / "votes.jsonl", GIVEN), unanswered)
    found = filter_by_votes(unanswered, given_votes, Rules())
    assert not found.item_set.problems
    assert found.changed == ()


def test_weighing_needs_to_know_the_raters(tmp_path: Path):
    rows = [{**one, "rater": ""} for one in GIVEN]
    with pytest.raises(ValueError, match="some have none"):
        filtered(tmp_path, rows, Rules(weighing="dawid-skene"))


def read(tmp_path: Path, rows: Sequence[dict[str, object]], **options: object) -> Votes:
    return read_votes(votes_file(tmp_path / "votes.jsonl", rows), small_set(), **options)  # pyright: ignore[reportArgumentType]


def test_honeypots_skips_and_reports_are_counted_and_are_no_votes(tmp_path: Path):
    rows = [
        *GIVEN,
        row("trap", "r0", "no", honeypot=True, expected="yes"),
        row("trap", "r1", "yes", honeypot=True, expected="yes"),
        row("a-go", "r9", "", skipped=True),
        row("b-lie", "r9", "", "moral", reported=True),
        row("elsewhere", "r9", "yes"),
    ]
    found = read(tmp_path, rows)
    assert len(found.votes) == len(GIVEN)
    assert (found.honeypots, found.skipped, found.elsewhere, found.reported) == (2, 1, 1, {"b-lie": 1})
    assert {rater.check.rater: rater.failed for rater in found.raters if rater.honeypots} == {"r0": 1, "r1": 0}


def test_raters_who_failed_a_honeypot_are_left_out_only_where_asked(tmp_path: Path):
    rows = [*GIVEN, row("trap", "r0", "no", honeypot=True, expected="yes")]
    assert read(tmp_path, rows).left_out == {}
    left = read(tmp_path, rows, leave_out=["honeypots"])
    assert left.left_out == {"honeypots": 3}
    assert all(vote.rater != "r0" for vote in left.votes)


def test_an_answer_faster_than_anybody_reads_is_told(tmp_path: Path):
    rows = [row("a-go", "r1", "yes", seconds=0.1), row("a-go", "r2", "yes", seconds=4), row("a-go", "r3", "yes")]
    assert read(tmp_path, rows).fast == 1
    assert read(tmp_path, rows, leave_out=["fast"]).left_out == {"fast": 1}


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ([row("a-joy", "r1", "jealousy", "emotion")], 1, "answer is 'jealousy'"),
        ([row("a-go", "r1", "maybe")], 1, "answer is 'maybe'"),
        ([row("a-go", "r1", "yes"), row("a-go", "r1", "no")], 2, "answers 'a-go' twice"),
        ([row("a-go", "r1", "yes", "moral")], 1, "category is 'moral'"),
        ([row("c-film", "r1", "yes", "in_character")], 1, "in_character"),
        ([row("a-go", "r1", "yes", skipped=True)], 1, "a skipped item has an answer"),
        ([row("a-go", "r1", "")], 1, "answer is empty"),
        ([row("a-go", "r1", "yes", mood="good")], 1, "unknown key 'mood'"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(tmp_path: Path, rows: Sequence[dict[str, object]], line: int, message: str):
    with pytest.raises(ContentError, match=message) as error:
        read(tmp_path, rows)
    assert f"votes.jsonl:{line}" in str(error.value)


def test_votes_on_another_set_are_refused(tmp_path: Path):
    with pytest.raises(ContentError, match="no vote is about an item of small"):
        read(tmp_path, [row("x", "r1", "yes")])


# The command


def command(*arguments: str) -> str:
    app = typer.Typer()
    app.command()(votes_command)
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None:
        raise result.exception
    return result.stdout


def arguments(tmp_path: Path, *more: str) -> tuple[str, ...]:
    write_item_set(tmp_path / "set", small_set())
    rows = [*GIVEN, row("a-joy", "<b>r7</b>", "joy", "emotion")]
    path = votes_file(tmp_path / "votes.jsonl", rows)
    return (str(path), "--items", str(tmp_path / "set"), "--out", str(tmp_path / "out"), *more)


def test_the_command_writes_a_set_that_reads_back_and_its_report(tmp_path: Path):
    said = command(*arguments(tmp_path))
    kept = read_item_set(tmp_path / "out")
    assert {item.id for item in kept.items} == {"a-joy", "a-go", "c-film"}
    assert "What the rule lets through by chance" in said
    assert "<b>r7</b>" not in (tmp_path / "out" / "votes.html").read_text(encoding="utf-8")
    assert "had nobody looked at the items" in (tmp_path / "out" / "card.md").read_text(encoding="utf-8")


def test_the_command_gives_the_report_as_json(tmp_path: Path):
    record = json.loads(command(*arguments(tmp_path, "--json")))
    by_votes = {one["votes"]: one["even"] for one in record["rule_reports"][1]["table"]}
    assert (by_votes[3], by_votes[4]) == (0.25, 0.625)
    assert record == {**json.loads((tmp_path / "out" / "votes.json").read_text(encoding="utf-8")), "out": record["out"]}
    assert [one["id"] for one in record["characters_dropped"]] == ["b"]


def test_the_command_weighs_by_rater_and_says_what_chance_would_do(tmp_path: Path):
    record = json.loads(command(*arguments(tmp_path, "--weigh", "dawid-skene", "--json")))
    assert record["raters"][0]["accuracy"].keys() == {"emotion", "yes_no"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--emotion-above", "55"), "--emotion-above is '55'"),
        (("--leave-out", "slow"), "--leave-out is 'slow'"),
    ],
)
def test_wrong_options_are_one_clear_line(tmp_path: Path, more: tuple[str, ...], message: str):
    with pytest.raises(UserError, match=message):
        command(*arguments(tmp_path, *more))


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path):
    given_arguments = arguments(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "set.yaml").write_text("id: mine\n", encoding="utf-8")
    with pytest.raises(UserError, match="is in use"):
        command(*given_arguments)
