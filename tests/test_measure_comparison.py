"""Comparison and planning: pairs, corrections, ranks, sample sizes, variance."""

import math
import random

import numpy as np
import pytest

from dramaturg.measure import (
    cautious_variance,
    fewest_scenarios,
    holm,
    judged_variance,
    paired_difference,
    paired_power,
    ranks,
    scenarios_needed,
    sign_change_power,
)
from dramaturg.measure.paired import sign_change_p

MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Darwin's differences, as Fisher (1935) takes them."""


def test_changed_signs_have_fishers_value():
    """Fisher counts 1,726 of 32,768 as far from zero as what was seen."""
    assert sign_change_p(MAIZE) == pytest.approx(1726 / 32768)


def test_drawn_signs_come_near_the_exact_value_and_are_seeded():
    doubled = [difference for difference in MAIZE for _ in range(2)]
    assert sign_change_p(doubled, seed=1) == sign_change_p(doubled, seed=1)
    assert 0 < sign_change_p(doubled, seed=1) < 0.02


def test_pairing_removes_what_is_hard_for_both():
    pairs = {str(case): [(0.1 * case + 0.05, 0.1 * case)] for case in range(1, 8)}
    pairs["3"] = [(0.36, 0.3)]
    found = paired_difference(pairs)
    assert found.difference.value == pytest.approx(0.0514, abs=1e-3)
    assert found.difference.low is not None and found.difference.low > 0.04
    assert found.p_value == pytest.approx(2 / 2**7)
    assert found.p_value == found.smallest_p


def test_five_scenarios_can_never_reach_the_level():
    found = paired_difference({str(case): [(1.0, 0.1 * case)] for case in range(5)})
    assert found.p_value == found.smallest_p == 0.0625


def test_one_scenario_has_a_difference_and_nothing_else():
    found = paired_difference({"a": [(0.8, 0.5), (0.9, 0.4)]}, n_planned=4)
    assert found.difference.value == pytest.approx(0.4)
    assert (found.difference.low, found.p_value, found.smallest_p) == (None, None, None)
    assert (found.difference.n_used, found.difference.n_planned) == (2, 4)
    assert paired_difference({}).difference.value is None


def test_equal_differences_have_no_interval_of_zero_width():
    """FW-81: six scenarios with the same difference do not prove that all have it."""
    found = paired_difference({str(case): [(case / 10 + 0.1, case / 10)] for case in range(6)})
    assert (found.difference.value, found.difference.low) == (pytest.approx(0.1), None)
    assert "same difference" in found.difference.reason
    assert found.p_value == 2 / 2**6


def test_repeats_of_a_scenario_are_one_piece_of_information():
    once = {"a": [(0.8, 0.5)], "b": [(0.6, 0.7)], "c": [(0.9, 0.4)]}
    ten = {name: pairs * 10 for name, pairs in once.items()}
    assert paired_difference(ten).p_value == paired_difference(once).p_value
    assert paired_difference(ten).difference.clusters == 3


def test_holm_has_known_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, None, 0.9]) == [1.0, None, 1.0]
    assert holm([]) == []
    with pytest.raises(ValueError, match="no p-value"):
        holm([1.5])


def test_ranks_are_uncertain_where_subjects_are_alike():
    generator = random.Random(2)
    scenarios = [f"s{number}" for number in range(20)]
    values = {
        "best": {name: [0.9 + generator.uniform(-0.05, 0.05)] for name in scenarios},
        "alike": {name: [0.5 + generator.uniform(-0.2, 0.2)] for name in scenarios},
        "also": {name: [0.5 + generator.uniform(-0.2, 0.2)] for name in scenarios},
    }
    found = ranks(values, seed=1)
    assert (found["best"].rank, found["best"].low, found["best"].high, found["best"].best) == (1, 1, 1, 1.0)
    assert {found["alike"].low, found["also"].low} == {2}
    assert {found["alike"].high, found["also"].high} == {3}
    assert found == ranks(values, seed=1)


def test_equal_subjects_share_a_rank_and_the_probability_of_being_best():
    values = {name: {f"s{number}": [number / 10] for number in range(6)} for name in ("a", "b")}
    found = ranks(values, seed=1)
    assert (found["a"].rank, found["b"].rank) == (1, 1)
    assert (found["a"].best, found["b"].best) == (0.5, 0.5)


def test_ranks_over_few_common_scenarios_have_no_interval():
    values = {"a": {"x": [0.5], "y": [0.6]}, "b": {"y": [0.9]}}
    found = ranks(values, seed=1)
    assert (found["b"].rank, found["b"].low, found["b"].best, found["b"].scenarios) == (1, None, None, 1)
    assert found["b"].reason
    assert ranks({"a": {"x": [0.5]}, "b": {"y": [0.9]}}, seed=1) == {}


def test_sample_size_has_the_known_value():
    """A paired t-test of a half standard deviation needs 34 pairs for 80 %, 44 for 90 %; signs need about as many."""
    found = scenarios_needed(0.5, between=1.0, within=0.0, repeats=1)
    assert found is not None and found.scenarios in {34, 35}
    assert found.power == pytest.approx(0.81, abs=0.03)
    more = scenarios_needed(0.5, between=1.0, within=0.0, repeats=1, power=0.9)
    assert more is not None and more.scenarios in {44, 45, 46}


@pytest.mark.parametrize(("level", "fewest"), [(0.05, 6), (0.05 / 3, 7), (0.05 / 10, 9), (1e-4, 15)])
def test_few_scenarios_can_never_reach_a_level(level: float, fewest: int):
    assert fewest_scenarios(level) == fewest
    alike = [1.0] * fewest
    assert sign_change_p(alike) <= level < sign_change_p(alike[1:])
    assert sign_change_power(9.0, between=1.0, within=0.0, scenarios=fewest - 1, repeats=1, alpha=level) == 0
    assert sign_change_power(9.0, between=1.0, within=0.0, scenarios=fewest, repeats=1, alpha=level) == 1
    found = scenarios_needed(9.0, between=1.0, within=0.0, repeats=1, alpha=level)
    assert found is not None and found.scenarios == fewest


@pytest.mark.parametrize("scenarios", [9, 20])
def test_the_power_of_changing_signs_is_how_often_the_test_shows_the_difference(scenarios: int):
    generator = np.random.default_rng(3)
    drawn = generator.normal(0.7, 1.0, size=(150, scenarios))
    shown = sum(sign_change_p(list(row)) <= 0.05 for row in drawn) / len(drawn)
    power = sign_change_power(0.7, between=1.0, within=0.0, scenarios=scenarios, repeats=1)
    assert power == pytest.approx(shown, abs=0.12)


def test_a_level_that_nothing_reaches_is_refused():
    with pytest.raises(ValueError, match="no number of scenarios"):
        fewest_scenarios(1e-6)


def test_seeds_help_with_what_varies_between_seeds_only():
    def needed(repeats: int, between: float, within: float) -> int:
        found = scenarios_needed(0.05, between=between, within=within, repeats=repeats)
        assert found is not None
        return found.scenarios

    assert needed(4, 0.0, 0.04) < needed(1, 0.0, 0.04) / 3
    assert needed(4, 0.04, 0.0) == needed(1, 0.04, 0.0)


def test_what_no_number_of_scenarios_shows_has_no_plan():
    assert scenarios_needed(1e-6, between=1.0, within=0.0, repeats=1) is None


def test_power_of_no_difference_is_the_level():
    assert paired_power(0.0, between=1, within=0, scenarios=20, repeats=1) == pytest.approx(0.05, abs=1e-6)
    assert all(paired_power(9.0, between=1, within=0, scenarios=n, repeats=1) > 0.999 for n in range(6, 30))
    assert paired_power(5.0, between=0.01, within=0, scenarios=20, repeats=1) == 1.0
    assert paired_power(0.1, between=0, within=0, scenarios=2, repeats=1) == 1.0


@pytest.mark.parametrize("wrong", [{"scenarios": 1}, {"repeats": 0}, {"alpha": 0.0}, {"between": -1.0}])
def test_power_refuses_what_makes_no_sense(wrong: dict[str, float]):
    arguments = {"between": 1.0, "within": 0.0, "scenarios": 5, "repeats": 1, **wrong}
    with pytest.raises(ValueError):
        paired_power(0.1, **arguments)  # pyright: ignore[reportArgumentType]


def test_a_small_pilot_gets_a_large_bound():
    """Chi-square's 20 % point with 4 degrees of freedom is 1.6488."""
    assert cautious_variance(1.0, 4) == pytest.approx(4 / 1.6488, rel=1e-4)
    assert cautious_variance(1.0, 400) < 1.07
    with pytest.raises(ValueError, match="no bound"):
        cautious_variance(1.0, 0)


def test_judged_variance_finds_what_was_put_in():
    generator = random.Random(8)
    mild = {"a": 0.1, "b": -0.1}
    values: dict[tuple[str, str], dict[str, float]] = {}
    for case in range(200):
        of_case = generator.gauss(0, 0.2)
        for seed in range(3):
            of_seed = generator.gauss(0, 0.1)
            values[str(case), str(seed)] = {
                judge: of_case + of_seed + level + generator.gauss(0, 0.05) for judge, level in mild.items()
            }
    found = judged_variance(values)
    assert found is not None
    assert math.sqrt(found.scenario) == pytest.approx(0.2, rel=0.15)
    assert math.sqrt(found.seed) == pytest.approx(0.1, rel=0.1)
    assert math.sqrt(found.judge) == pytest.approx(math.sqrt(0.02), rel=0.1)
    assert math.sqrt(found.rest) == pytest.approx(0.05, rel=0.1)
    assert (found.performances, found.left_out) == (600, 0)


def test_judged_variance_needs_two_judges_and_repeats():
    assert judged_variance({}) is None
    assert judged_variance({("a", "1"): {"x": 0.5}, ("b", "1"): {"x": 0.4}}) is None
    no_repeats = {(case, "1"): {"x": 0.1 * place, "y": 0.5} for place, case in enumerate("abc")}
    assert judged_variance(no_repeats) is None
    gap = {("a", "1"): {"x": 0.1, "y": 0.2}, ("a", "2"): {"x": 0.3, "y": 0.2}, ("b", "1"): {"x": 0.5, "y": 0.9}}
    found = judged_variance({**gap, ("b", "2"): {"x": 0.5}})
    assert found is not None and (found.performances, found.left_out) == (3, 1)
