"""Scores of interviews: what earns credit, what weighs alike, what is missing, and what baselines reach."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.facts import Fact
from dramaturg.judge.matching import Question, ReplyText, Verdict, compat, robust
from dramaturg.judge.matching.baselines import BASELINES, Baseline, baseline_scored
from dramaturg.judge.matching.beating import beating
from dramaturg.judge.matching.compat import Crash
from dramaturg.judge.matching.question import Kind
from dramaturg.judge.matching.scored import Match, Scored
from dramaturg.judge.matching.scores import InterviewScores, scores_of

LABELS = ("anger", "fear", "joy")
NOLAN = Fact(text="Christopher Nolan directed Inception", forms={"": ("Nolan",)})

RIGHT, WRONG, FAILED = Verdict("right"), Verdict("wrong"), Verdict("failed")


def published(question: Question, reply: ReplyText) -> Verdict | Crash:
    return compat(question, reply.text)


def question(kind: Kind, expected: str = "", votes: dict[str, int] | None = None) -> Question:
    match kind:
        case "emotion":
            return Question(kind, "They took your ship.", LABELS, expected or "anger", votes=votes or {})
        case "decision" | "moral":
            return Question(kind, "Will you come with us?", expected=expected or "yes", votes=votes or {})
        case "in_character" | "knows":
            return Question(kind, "Who directed Inception?", facts=(NOLAN,))


def entry(item: str, kind: Kind, verdict: Verdict | Crash, *, character: str = "", repeat: int = 1) -> Scored:
    return Scored(item, character or f"of {item}", question(kind), verdict, repeat)


KINDS: tuple[Kind, ...] = ("emotion", "decision", "moral", "in_character", "knows")

entries = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 4),
        st.sampled_from(("right", "wrong", "refusal", "persona_break", "empty", "unparsed", "failed")),
        st.sampled_from(("anger", "fear", "yes", "no", "")),
    ),
    max_size=40,
).map(
    lambda rows: [
        Scored(f"i{number}", f"c{character}", question(kind), Verdict(status, answer), 1)
        for number, (kind, character, status, answer) in enumerate(rows)
    ]
)


@given(entries, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_replies_changes_nothing(scored: list[Scored], chance: random.Random) -> None:
    other = list(scored)
    chance.shuffle(other)
    assert scores_of(scored) == scores_of(other)


@given(entries)
@settings(max_examples=60, deadline=None)
def test_a_missing_reply_leaves_the_score_alone_and_opens_the_bounds(scored: list[Scored]) -> None:
    """Missing is never 0: without its missing replies a subject has the same value, and the bounds hold it."""
    answered = [one for one in scored if one.verdict != FAILED and one.verdict.credit is not None]
    whole, part = scores_of(scored), scores_of(answered)
    for measure, score in whole.scores.items():
        if measure in part.scores and score.estimate.value is not None:
            assert score.estimate.value == pytest.approx(part.scores[measure].estimate.value)
            assert score.low - 1e-9 <= score.estimate.value <= score.high + 1e-9
    assert whole.planned - whole.used == len(scored) - len(answered)


@given(st.lists(st.tuples(st.sampled_from(("decision", "moral")), st.booleans()), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_always_yes_earns_exactly_the_share_of_yes(rows: list[tuple[Kind, bool]]) -> None:
    planned = [
        Scored(f"i{number}", f"c{number % 5}", question(kind, "yes" if yes else "no"), FAILED)
        for number, (kind, yes) in enumerate(rows)
    ]
    score = scores_of(baseline_scored("always_yes", planned, published)).scores["micro"]
    assert score.estimate.value == pytest.approx(sum(yes for _, yes in rows) / len(rows))
    assert score.low == score.high == pytest.approx(score.estimate.value)


def one_of_each_kind(characters: int) -> list[Scored]:
    return [
        Scored(f"{kind}-{number}", f"c{number}", question(kind), FAILED)
        for number in range(characters)
        for kind in KINDS
    ]


def through(match: Match, baseline: Baseline) -> InterviewScores:
    return scores_of(baseline_scored(baseline, one_of_each_kind(6), match))


@pytest.mark.parametrize("baseline", ["refuse_all", "empty"])
def test_who_refuses_everything_earns_nothing_under_robust(baseline: Baseline) -> None:
    scores = through(robust, baseline).scores
    assert {measure: score.estimate.value for measure, score in scores.items() if score.estimate.value} == {}


@pytest.mark.parametrize("language", ["en", "fr", "it", "zh"])
def test_a_refusal_is_read_as_one_in_every_language_of_the_baselines(language: str) -> None:
    asked = Question("in_character", "?", facts=(NOLAN,), language=language)
    (one,) = baseline_scored("refuse_all", [Scored("i", "c", asked, FAILED)], robust)
    assert isinstance(one.verdict, Verdict) and one.verdict.status == "refusal"


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("match", [robust, published], ids=["robust", "compat"])
def test_no_baseline_keeps_to_its_character_and_knows(match: Match, baseline: Baseline) -> None:
    found = through(match, baseline)
    assert found.joint is not None and found.joint.both.value == 0


def test_the_published_rule_lets_an_empty_reply_pass_in_character() -> None:
    scores = through(published, "empty").scores
    assert scores["in_character"].estimate.value == 1
    assert scores["published_macro"].estimate.value == pytest.approx(1 / 3)


def test_macro_weighs_categories_and_micro_items() -> None:
    scored = [entry(f"e{number}", "emotion", RIGHT) for number in range(9)] + [
        entry(f"d{number}", "decision", WRONG) for number in range(3)
    ]
    scores = scores_of(scored).scores
    assert scores["macro"].estimate.value == 0.5
    assert scores["micro"].estimate.value == 0.75
    assert scores["macro"].wilson is None and scores["micro"].wilson is not None


@pytest.mark.parametrize(
    ("hits", "macro", "micro"),
    [((1511, 4341, 14), 44.41, 65.05), ((1433, 4490, 144), 62.24, 67.28), ((1086, 1799, 116), 39.33, 33.28)],
    ids=["GPT-4o", "Gemini-1.5-Pro", "Llama-3.2-1B"],
)
def test_the_published_averages_come_out_of_the_published_counts(
    hits: tuple[int, int, int], macro: float, micro: float
) -> None:
    kinds: tuple[Kind, ...] = ("emotion", "decision", "in_character")
    scored = [
        Scored(f"{kind}-{number}", f"c{number % 3061}", question(kind), RIGHT if number < right else WRONG)
        for kind, items, right in zip(kinds, (2698, 6079, 241), hits, strict=True)
        for number in range(items)
    ]
    scores = scores_of(scored).scores
    percent = {
        measure: round(100 * (scores[measure].estimate.value or 0), 2)
        for measure in ("published_macro", "published_micro")
    }
    assert percent == {"published_macro": macro, "published_micro": micro}


def test_moral_and_decision_are_apart_and_together_and_weigh_once_in_the_published_mean() -> None:
    scored = [
        entry("e", "emotion", WRONG),
        entry("d1", "decision", RIGHT),
        entry("d2", "decision", RIGHT),
        entry("d3", "decision", RIGHT),
        entry("m", "moral", WRONG),
        entry("i", "in_character", WRONG),
    ]
    scores = scores_of(scored).scores
    assert scores["decision"].estimate.value == 1
    assert scores["moral"].estimate.value == 0
    assert scores["decision_moral"].estimate.value == 0.75
    assert scores["published_macro"].estimate.value == 0.25
    assert scores["macro"].estimate.value == 0.25


def test_no_published_mean_where_one_of_its_categories_was_not_asked() -> None:
    scores = scores_of([entry("e", "emotion", RIGHT), entry("d", "decision", RIGHT)]).scores
    assert "published_macro" not in scores


def test_a_category_whose_replies_are_all_missing_leaves_the_macro_without_a_value() -> None:
    scores = scores_of([entry("e", "emotion", RIGHT), entry("d", "decision", FAILED)]).scores
    assert scores["macro"].estimate.value is None
    assert (scores["macro"].low, scores["macro"].high) == (0.5, 1.0)
    assert scores["emotion"].estimate.value == 1


def test_items_that_cannot_be_scored_are_counted_and_belong_to_no_score() -> None:
    scores = scores_of([entry("e", "emotion", RIGHT), entry("x", "in_character", Verdict("invalid_item"))])
    assert scores.invalid == 1
    assert set(scores.items) == {"e"}
    assert "in_character" not in scores.scores


def test_a_crash_of_the_published_runner_scores_nothing_and_is_counted() -> None:
    scores = scores_of([entry("i", "in_character", Crash("no text")), entry("j", "in_character", RIGHT)])
    assert scores.scores["in_character"].estimate.value == 0.5
    assert scores.statuses["in_character"] == {"crash": 1, "right": 1}


def test_repeats_are_one_mean_for_each_item_first() -> None:
    scored = [entry("a", "decision", RIGHT, repeat=repeat) for repeat in range(1, 7)]
    scored += [entry("b", "decision", WRONG, repeat=1), entry("b", "decision", FAILED, repeat=2)]
    score = scores_of(scored).scores["decision"]
    assert score.estimate.value == 0.5
    assert (score.used, score.planned, score.estimate.n_used) == (7, 8, 2)


def test_the_same_repeat_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="stands twice"):
        scores_of([entry("a", "decision", RIGHT), entry("a", "decision", WRONG)])


def test_the_deviation_between_runs_is_that_of_the_runs_scores() -> None:
    """Three runs over four items with 1, 2 and 3 right ones: deviation 0.25."""
    scored = [
        entry(f"i{item}", "decision", RIGHT if item < run else WRONG, repeat=run)
        for run in (1, 2, 3)
        for item in range(4)
    ]
    scored += [entry("torn", "decision", RIGHT, repeat=1), entry("torn", "decision", FAILED, repeat=2)]
    found = scores_of(scored).repeats
    assert found is not None
    deviation = found.deviations["micro"]
    assert deviation.runs == (0.25, 0.5, 0.75)
    assert deviation.value == pytest.approx(0.25)
    # 0.25 · sqrt(2 / χ²) with χ² of 2 degrees of freedom at 0.975 and 0.025: 7.3778 and 0.0506
    assert deviation.low == pytest.approx(0.25 * math.sqrt(2 / 7.3778), abs=1e-4)
    assert deviation.high == pytest.approx(0.25 * math.sqrt(2 / 0.050636), abs=1e-3)
    assert (found.items, found.left_out, found.changed) == (4, 1, 0.5)


def test_one_run_says_nothing_of_another() -> None:
    assert scores_of([entry("a", "decision", RIGHT)]).repeats is None


def test_joint_is_the_chance_that_both_kinds_are_right_for_one_character() -> None:
    scored = [
        entry("i1", "in_character", RIGHT, character="monk"),
        entry("i2", "in_character", WRONG, character="monk"),
        entry("k1", "knows", RIGHT, character="monk"),
        entry("i3", "in_character", RIGHT, character="smith"),
        entry("k2", "knows", WRONG, character="smith"),
        entry("i4", "in_character", RIGHT, character="alone"),
    ]
    found = scores_of(scored).joint
    assert found is not None
    assert found.both.value == 0.25
    assert (found.only_in_character, found.only_knows, found.neither) == (0.5, 0.25, 0.0)
    assert (found.both.n_used, found.one_kind_alone) == (2, 1)


def test_soft_credit_is_the_share_of_votes_and_stands_beside_what_people_reach() -> None:
    """56 % of the people said excitement, 40 % joy: joy is not worth nothing."""
    asked = Question(
        "emotion", "?", ("excitement", "joy", "fear"), "excitement", votes={"excitement": 14, "joy": 10, "fear": 1}
    )
    joy = Scored("a", "c", asked, Verdict("wrong", "joy"))
    refusal = Scored("b", "c", asked, Verdict("refusal", "joy"))
    found = scores_of([joy, refusal, entry("d", "decision", RIGHT)]).soft
    assert found is not None
    assert found.score.value == pytest.approx(0.2)
    assert found.ceiling == pytest.approx(0.56)
    assert found.people == pytest.approx((14 * 13 + 10 * 9) / (25 * 24))
    assert (found.score.n_used, found.people_items) == (2, 2)


def test_answers_that_do_not_count_are_no_labels_in_the_confusion() -> None:
    scored = [
        Scored("a", "c", question("emotion", "anger"), Verdict("right", "anger")),
        Scored("b", "c", question("emotion", "anger"), Verdict("persona_break", "anger")),
        Scored("d", "c", question("emotion", "fear"), Verdict("wrong", "anger")),
    ]
    found = scores_of(scored).labels["emotion"]
    assert found.confusion == {("anger", "anger"): 1, ("anger", "persona_break"): 1, ("fear", "anger"): 1}
    anger, fear, joy = found.labels
    assert (anger.precision, anger.recall.value, anger.f1) == (0.5, 0.5, 0.5)
    assert (fear.precision, fear.recall.value, fear.f1) == (None, 0.0, 0.0)
    assert (joy.recall.value, joy.f1) == (None, None)
    assert found.macro_f1 == 0.25


def test_a_handful_of_better_answers_is_not_called_better() -> None:
    one = [entry(f"i{number}", "decision", RIGHT if number < 4 else WRONG) for number in range(200)]
    other = [entry(f"i{number}", "decision", WRONG) for number in range(200)]
    assert beating(scores_of(one), scores_of(other)).differences["micro"].standing == "unclear"


def test_a_clear_difference_is_called_better_and_its_reverse_worse() -> None:
    one = scores_of([entry(f"i{number}", "decision", RIGHT) for number in range(40)])
    other = scores_of([entry(f"i{number}", "decision", WRONG) for number in range(40)])
    assert beating(one, other).differences["macro"].standing == "better"
    assert beating(other, one).differences["macro"].standing == "worse"


def test_many_items_of_two_characters_prove_nothing() -> None:
    one = [entry(f"i{number}", "decision", RIGHT, character=f"c{number % 2}") for number in range(100)]
    other = [entry(f"i{number}", "decision", WRONG, character=f"c{number % 2}") for number in range(100)]
    found = beating(scores_of(one), scores_of(other)).differences["macro"]
    assert found.estimate.value == 1
    assert found.standing == "unclear"


def test_a_comparison_looks_at_the_items_that_both_answered() -> None:
    one = scores_of([entry("a", "decision", RIGHT), entry("b", "decision", FAILED)])
    other = scores_of([entry("a", "decision", RIGHT), entry("b", "decision", WRONG), entry("z", "decision", WRONG)])
    estimate = beating(one, other).differences["micro"].estimate
    assert (estimate.value, estimate.n_used, estimate.n_planned) == (0, 1, 2)
