"""Scores and reliability of ratings: means as the paper and as its code take them, and figures computed by hand."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from dramaturg.errors import ContentError
from dramaturg.judge.rating import RatingJudgement, rubric_in
from dramaturg.judge.rating.reliability import (
    alphas,
    among_people,
    compare_ratings,
    consensus,
    halo_of,
    values_of,
    votes_of,
)
from dramaturg.judge.rating.score import AVERAGE, score_table
from dramaturg.judge.rating.table import RatingTable, tables_of
from dramaturg.measure import clustered_correlation, inter_item_correlation
from dramaturg.report import exports
from dramaturg.report.rating import CraftFigures, SceneCost, cost_layout, craft_layout, rating_layout
from dramaturg.run.person_ratings import by_person, read_person_ratings
from rating_fixtures import IDS

RUBRIC = rubric_in("character", "en")
FIDELITY, HUMAN, CONSISTENCY = RUBRIC.dimensions


def rating(
    scene: str, role: str, metric: str, value: float | None, *, subject: str = "a", judge: str = "j", **more: object
) -> RatingJudgement:
    return RatingJudgement.model_validate(
        {
            "transcript": f"{scene}/{subject}",
            "transcript_digest": "d",
            "scene": scene,
            "language": "en",
            "protocol": "paper",
            "role": role,
            "name": role,
            "subject": subject,
            "metric": metric,
            "value": value,
            "reason": "" if value is not None else "unparsed",
            "judge": judge,
            "mode": "joint",
            "rubric": "character v1",
            "rubric_digest": "r",
            **more,
        }
    )


def table(rows: Mapping[tuple[str, str, str], Sequence[float | None]], *, judge: str = "j") -> RatingTable:
    """Returns the table of rows by (scene, role, subject), each with a value for every metric."""
    (found,) = tables_of(
        rating(scene, role, metric, value, subject=subject, judge=judge)
        for (scene, role, subject), values in rows.items()
        for metric, value in zip(IDS, values, strict=True)
    )
    return found


def test_a_scene_counts_once_for_the_paper_and_each_character_for_the_code() -> None:
    found = table(
        {("s1", "x", "a"): [5] * 7, ("s2", "x", "a"): [1] * 7, ("s2", "y", "a"): [1] * 7, ("s2", "z", "a"): [1] * 7}
    )
    (score,) = score_table(found)
    assert score.scores["immersion"].by_scene.value == 3
    assert score.scores["immersion"].by_character.value == 2
    assert score.scores[AVERAGE].by_scene.value == 3
    assert (score.scenes, score.characters) == (2, 4)
    assert score.scores["immersion"].sd == pytest.approx(8**0.5)


def test_a_missing_rating_is_left_out_counted_and_bounded() -> None:
    (score,) = score_table(table({("s1", "x", "a"): [None, *[4] * 6], ("s2", "x", "a"): [2] * 7}))
    accuracy = score.scores["knowledge_accuracy"]
    assert (accuracy.by_scene.value, accuracy.by_scene.n_used, accuracy.by_scene.n_planned) == (2, 1, 2)
    assert (accuracy.if_worst, accuracy.if_best) == (1.5, 3.5)
    assert score.scores[AVERAGE].by_scene.n_used == 1
    layout = rating_layout([score], RUBRIC, title="j", reduction="scene")
    assert any("1 of 2" in note for note in layout.notes)


def test_characters_of_different_models_in_one_scene_count_for_their_own_model() -> None:
    first, second = score_table(table({("s1", "x", "a"): [5] * 7, ("s1", "y", "b"): [2] * 7}))
    assert (first.subject, first.scores[AVERAGE].by_scene.value) == ("a", 5)
    assert (second.subject, second.scores[AVERAGE].by_scene.value) == ("b", 2)


def test_alpha_is_as_computed_by_hand_for_every_unit_and_says_its_n() -> None:
    # Items (1,2), (3,3), (5,4): variances 4 and 1, of the sums 9; alpha = 2 (1 - 5/9) = 8/9.
    rows = {
        (f"s{n}", "x", f"m{n}"): [one, two, 3, 3, 3, 3, 3]
        for n, (one, two) in enumerate([(1, 2), (3, 3), (5, 4)], start=1)
    }
    found = [one for one in alphas(table(rows), RUBRIC) if one.dimension == FIDELITY]
    assert {one.unit: one.estimate.value for one in found} == pytest.approx(
        dict.fromkeys(("trajectory", "scene", "subject"), 8 / 9)
    )
    assert {one.estimate.n_used for one in found} == {3}


def test_alpha_over_subjects_is_of_their_means() -> None:
    rows = {
        (f"s{n}", role, subject): [one + shift, two - shift, 3, 3, 3, 3, 3]
        for subject, (one, two) in {"a": (2, 2), "b": (3, 3), "c": (4, 4)}.items()
        for n, (role, shift) in enumerate((("x", 1), ("y", -1)))
    }
    by_unit = {one.unit: one.estimate for one in alphas(table(rows), RUBRIC) if one.dimension == FIDELITY}
    assert by_unit["subject"].value == pytest.approx(1.0)
    assert by_unit["subject"].n_used == 3
    assert by_unit["trajectory"].n_used == 6
    assert by_unit["trajectory"].value is not None and by_unit["trajectory"].value < 0


TABLES = Path(os.environ.get("DRAMATURG_PUBLISHED_TABLES", "/work/shared/data/characterbox/paper_tables.json"))


@pytest.mark.skipif(not TABLES.is_file(), reason="the published means are not at hand")
@pytest.mark.parametrize(
    ("language", "dimension", "expected"),
    [
        ("english", FIDELITY, 0.443),
        ("english", HUMAN, 0.773),
        ("english", CONSISTENCY, 0.932),
        ("chinese", FIDELITY, 0.981),
        ("chinese", HUMAN, 0.925),
        ("chinese", CONSISTENCY, 0.975),
    ],
)
def test_the_published_means_give_other_alphas_than_are_printed(language: str, dimension: str, expected: float) -> None:
    models = json.loads(TABLES.read_text(encoding="utf-8"))["table1"][language]
    shorts = [metric.short for metric in RUBRIC.metrics]
    found = table({("all", "x", model): [values[short][0] for short in shorts] for model, values in models.items()})
    by_key = {(one.dimension, one.unit): one.estimate for one in alphas(found, RUBRIC)}
    assert by_key[dimension, "subject"].value == pytest.approx(expected, abs=0.0006)
    assert by_key[dimension, "subject"].n_used == 9


def test_two_judges_that_agree_but_for_level_correlate_and_differ() -> None:
    low = table({(f"s{n}", "x", "a"): [n % 4 + 1] * 7 for n in range(12)})
    high = table({(f"s{n}", "x", "a"): [n % 4 + 2] * 7 for n in range(12)}, judge="k")
    scenes = {row.key: row.scene for row in low.rows}
    found = {one.metric: one for one in compare_ratings(values_of(low), values_of(high), metrics=IDS, scenes=scenes)}
    overall = found[AVERAGE]
    assert overall.pearson.value == pytest.approx(1.0)
    assert (overall.equal, overall.near, overall.difference) == (0.0, 1.0, -1.0)
    assert overall.icc.value is not None and overall.icc.value < 1
    assert (overall.n, overall.scenes) == (12, 12)


def test_the_same_ratings_twice_agree_wholly() -> None:
    once = table({(f"s{n}", "x", "a"): [n % 5 + 1] * 7 for n in range(10)})
    scenes = {row.key: row.scene for row in once.rows}
    overall = compare_ratings(values_of(once), values_of(once), metrics=IDS, scenes=scenes)[-1]
    assert (overall.equal, overall.alpha) == (1.0, 1.0)
    assert overall.icc.value == pytest.approx(1.0)


def test_two_votes_are_a_test_and_a_retest() -> None:
    (found,) = tables_of(
        [
            rating("s1", "x", "immersion", 3.5, votes=("3", "4")),
            rating("s1", "x", "adaptability", 4, votes=("4", "missing:empty")),
        ]
    )
    first, second = votes_of(found)
    key = (("s1/a", "x"), "immersion")
    assert (first, second) == ({key: 3.0}, {key: 4.0})


def test_one_impression_many_times_is_halo_and_honest_differences_are_not() -> None:
    impression = {(f"s{n}", "x", "a"): [n * 7 % 5 + 1] * 7 for n in range(20)}
    other = {(f"s{n}", "x", "a"): [n * 3 % 5 + 1] * 7 for n in range(20)}
    found = halo_of(table(impression), [table(other, judge="k")])
    assert found.within.value == pytest.approx(1.0)
    assert found.halo is not None and found.halo > 0.5
    twin = halo_of(table(impression), [table(impression, judge="k")])
    assert twin.halo == pytest.approx(0.0)
    assert halo_of(table(impression), []).halo is None


def test_better_subjects_alone_make_no_halo() -> None:
    rows = {
        (f"s{n}", "x", subject): [level + (n + m) % 2 for m in range(7)]
        for subject, level in (("a", 1), ("b", 4))
        for n in range(12)
    }
    within = halo_of(table(rows), []).within.value
    assert within is not None and within < 0.2


def test_a_correlation_keeps_pairs_of_one_scene_together_and_says_where_it_cannot() -> None:
    few = clustered_correlation({f"s{n}": [(n, n + n % 2), (n + 1, n)] for n in range(4)}, seed=1)
    assert "independent" in few.reason
    many = clustered_correlation({f"s{n}": [(n, n + n % 3), (n + 1, n)] for n in range(14)}, seed=1)
    assert many.low is not None and many.high is not None and many.value is not None
    assert many.low <= many.value <= many.high
    assert many == clustered_correlation({f"s{n}": [(n, n + n % 3), (n + 1, n)] for n in range(14)}, seed=1)


def test_the_mean_correlation_of_items_is_as_computed_by_hand() -> None:
    # Items (1,2,3), (1,2,3), (3,2,1): correlations 1, -1, -1.
    found = inter_item_correlation({"a": [(1, 1, 3), (2, 2, 2)], "b": [(3, 3, 1)]}, seed=0)
    assert found.value == pytest.approx(-1 / 3)
    assert inter_item_correlation({"a": [(1, 2)]}, seed=0).value is None


def test_people_are_read_compared_and_averaged(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    lines = [
        f"s{n}/a,x,immersion,{person},{n % 4 + 1 + shift}" for n in range(8) for person, shift in (("p", 0), ("q", 1))
    ]
    path.write_text(
        "transcript,role,metric,person,rating\n" + "\n".join(lines) + "\ns0/a,x,adaptability,p,\n", encoding="utf-8"
    )
    people = by_person(read_person_ratings(path, metrics=IDS))
    one, together, alpha = among_people(people, metrics=IDS)
    assert one.value is not None and together.value is not None and together.value > one.value
    assert alpha is not None and alpha < 1
    assert consensus(people)[("s0/a", "x"), "immersion"] == 1.5


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("s,x,immersion,p,0", "off the scale"),
        ("s,x,immersion,p,3.5", "off the scale"),
        ("s,x,imersion,p,3", "unknown metric"),
        ("s,x,immersion,,3", "person is empty"),
    ],
)
def test_a_wrong_line_of_peoples_ratings_is_named(tmp_path: Path, row: str, problem: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"transcript,role,metric,person,rating\n{row}\n", encoding="utf-8")
    with pytest.raises(ContentError, match=f"people.csv:2: .*{problem}"):
        read_person_ratings(path, metrics=IDS)


def test_a_person_cannot_rate_twice(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    line = {"transcript": "s", "role": "x", "metric": "immersion", "person": "p", "rating": 3}
    path.write_text(f"{json.dumps(line)}\n{json.dumps({**line, 'rating': 4})}\n", encoding="utf-8")
    with pytest.raises(ContentError, match="twice"):
        read_person_ratings(path, metrics=IDS)


def test_tables_of_making_scenes_and_of_cost_have_the_published_columns() -> None:
    scores = {"creativity": (3.5, 0.5), "coherence": (4.0, None)}
    layout = craft_layout(
        [CraftFigures("three-stage", "extracted", scores, 5), CraftFigures("one-stage", "generated", scores, 4)]
    )
    assert [column.name for column in layout.columns] == [
        "Model", "Creativity EXT", "Creativity GEN", "Coherence EXT", "Coherence GEN", "Scenes EXT", "Scenes GEN",
    ]  # fmt: skip
    assert [cell.text for cell in layout.rows[0]] == ["three-stage", "3.500 ± 0.50", "–", "4.000", "–", "5", "–"]
    parts = {"narrator": "n", "character": "c", "judge": ""}
    amounts = {"narrator": 10.0, "character": 20.0, "judge": 0.0}
    cost = cost_layout([SceneCost("", parts, amounts, amounts, amounts, None, 3)])
    assert cost.number == 6
    assert "–" in [cell.text for cell in cost.rows[0]]
    assert exports.as_latex([layout, cost])


def test_a_truth_value_is_no_rating_of_a_person(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text(
        '{"transcript": "t", "role": "r", "metric": "immersion", "person": "p", "rating": true}\n', encoding="utf-8"
    )
    with pytest.raises(ContentError, match="a truth value is no rating"):
        read_person_ratings(path, metrics=["immersion"])
