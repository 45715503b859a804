"""The measure room: known values, guards, seeds, and coverage in small."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.measure import (
    Estimate,
    bootstrap_t_interval,
    t_interval,
    variance_split,
    wilson_interval,
)

SHARES = st.floats(0, 1, allow_nan=False)
CLUSTERS = st.dictionaries(st.text(max_size=3), st.lists(SHARES, max_size=4), max_size=8)


def test_wilson_has_known_values():
    """Newcombe (1998), table I, method 3: 81/263, 15/148, 0/20, 1/29."""
    for yes, n, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (1, 29, 0.0061, 0.1718)]:
        found = wilson_interval(yes, n)
        assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    none = wilson_interval(0, 20)
    assert (none.low, none.high) == (0.0, pytest.approx(0.1611, abs=5e-5))


def test_wilson_of_all_yes_has_width():
    """FW-81: a share of 1 is not known without error."""
    found = wilson_interval(20, 20)
    assert found.value == found.high == 1.0
    assert found.low == pytest.approx(0.8389, abs=5e-5)


def test_wilson_without_values_has_no_value():
    """I22, I23: nothing measured is None, not 0 and not NaN."""
    found = wilson_interval(0, 0, n_planned=7)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert (found.n_used, found.n_planned, found.reason) == (0, 7, "no value was used")


@pytest.mark.parametrize(("yes", "n"), [(-1, 3), (4, 3)])
def test_wilson_refuses_what_is_no_share(yes: int, n: int):
    with pytest.raises(ValueError, match="is no share"):
        wilson_interval(yes, n)


def test_t_interval_has_known_values():
    """Means .6, .8, .7, .9: mean .75, s .1291, standard error .06455, t(3) 3.1824."""
    found = t_interval({"a": [0.6], "b": [0.8], "c": [0.7], "d": [0.9]})
    assert found.value == pytest.approx(0.75)
    assert found.low == pytest.approx(0.75 - 3.182446 * 0.0645497, abs=1e-6)
    assert found.high == pytest.approx(0.75 + 3.182446 * 0.0645497, abs=1e-6)
    assert (found.n_used, found.clusters, found.method) == (4, 4, "t over cluster means")


def test_repeats_are_reduced_before_the_error_is_computed():
    """FW-85: ten scenarios of five repeats have the error of ten values, not of fifty."""
    generator = random.Random(5)
    once = {f"s{index}": [generator.random()] for index in range(10)}
    repeated = {name: values * 5 for name, values in once.items()}
    one, five = t_interval(once), t_interval(repeated)
    assert (five.value, five.low, five.high) == pytest.approx((one.value, one.low, one.high))
    assert (five.n_used, five.clusters) == (50, 10)


def test_naive_error_over_clustered_values_would_be_too_small():
    """FW-84: 38 equal answers per transcript are one piece of information each."""
    clusters = {"a": [1.0] * 38, "b": [0.5] * 38, "c": [0.8] * 38}
    found = t_interval(clusters)
    naive = wilson_interval(87, 114)
    assert found.low is not None and found.high is not None and naive.low is not None and naive.high is not None
    assert found.high - found.low > 3 * (naive.high - naive.low)
    assert found.clusters == 3


def test_value_and_error_describe_one_estimator():
    """FW-82: a cluster of 1000 weighs as much as one of 10, in the value and in the error."""
    found = t_interval({"small": [0.2] * 10, "large": [0.6] * 1000})
    assert found.value == pytest.approx(0.4)
    assert found.low is not None and found.high is not None
    assert found.high - 0.4 == pytest.approx(min(0.6, 12.7062 * 0.2), abs=1e-6)


def test_one_cluster_has_a_value_and_no_interval():
    found = t_interval({"only": [0.5, 0.7]}, n_planned=3)
    assert (found.value, found.low, found.high) == (pytest.approx(0.6), None, None)
    assert found.reason == "one cluster; an interval needs at least two"
    assert (found.n_used, found.n_planned) == (2, 3)


def test_zero_width_is_said():
    """FW-81: an interval of width zero stands only where the variance is zero, and says so."""
    found = t_interval({"a": [0.8], "b": [0.8], "c": [0.8]})
    assert found.low == found.value == found.high == 0.8
    assert "zero width" in found.reason


@pytest.mark.parametrize(("value", "side"), [(1.0, "high"), (0.0, "low")])
def test_means_at_the_end_of_the_scale_take_wilson(value: float, side: str):
    """FW-81: five perfect cases do not prove perfection."""
    found = t_interval({name: [value] * 3 for name in "abcde"})
    assert getattr(found, side) == value
    assert found.method == "Wilson over clusters"
    assert found.low is not None and found.high is not None
    assert found.high - found.low == pytest.approx(0.4345, abs=1e-4)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(wrong: float):
    """I13: NaN and infinity are never clamped and never averaged."""
    for call in (t_interval, variance_split):
        with pytest.raises(ValueError, match="no measured value"):
            call({"a": [0.5], "b": [wrong]})
    with pytest.raises(ValueError, match="no measured value"):
        bootstrap_t_interval({"a": [0.5], "b": [wrong]}, seed=1)


def test_a_value_off_the_scale_is_refused_not_clamped():
    """I13: -3 on a scale from 0 to 1 is an error."""
    with pytest.raises(ValueError, match="off the scale"):
        t_interval({"a": [0.5], "b": [-3.0]})
    assert t_interval({"a": [5.0], "b": [-3.0]}, bounds=None).value == 1.0


def test_missing_values_do_not_pull_the_mean_down():
    """I04, I20, C17: 5, 5, 5 and two failures stand above 3, 3, 3, 3, 3, and n says 3 of 5."""
    a = t_interval({"s1": [5.0], "s2": [5.0], "s3": [5.0], "s4": [], "s5": []}, n_planned=5, bounds=None)
    b = t_interval({f"s{index}": [3.0] for index in range(5)}, bounds=None)
    assert (a.value, a.n_used, a.n_planned) == (5.0, 3, 5)
    assert a.clearly_above(b) and not b.clearly_above(a)
    one_of_three = t_interval({"s1": [4.0]}, n_planned=3, bounds=None)
    assert (one_of_three.value, one_of_three.n_used, one_of_three.n_planned) == (4.0, 1, 3)
    none = t_interval({"s1": [], "s2": [], "s3": []}, n_planned=3)
    assert (none.value, none.n_used, none.n_planned) == (None, 0, 3)


def test_differences_inside_the_intervals_are_not_ranked():
    """I53: two judgings of the same answers differ by .2 and are not told apart."""
    a = t_interval({"1": [0.9], "2": [0.6], "3": [0.8], "4": [0.7]})
    b = t_interval({"1": [0.5], "2": [0.7], "3": [0.6], "4": [0.4]})
    assert a.value is not None and b.value is not None and a.value - b.value == pytest.approx(0.2)
    assert not a.clearly_above(b)
    assert not t_interval({"1": [0.9]}).clearly_above(b)


def test_bootstrap_is_seeded():
    """FW-87: the same seed gives the same interval, whatever the global generator does."""
    clusters = {str(index): [index / 10] for index in range(9)}
    random.seed(1)
    one = bootstrap_t_interval(clusters, seed=7)
    random.seed(2)
    assert bootstrap_t_interval(clusters, seed=7) == one
    assert bootstrap_t_interval(clusters, seed=8) != one


def test_bootstrap_of_a_symmetric_sample_is_near_the_t_interval():
    clusters = {str(index): [0.3 + index / 50] for index in range(20)}
    boot, t = bootstrap_t_interval(clusters, seed=1, resamples=4000), t_interval(clusters)
    assert boot.low is not None and boot.high is not None and t.low is not None and t.high is not None
    assert (boot.low, boot.high) == (pytest.approx(t.low, abs=0.012), pytest.approx(t.high, abs=0.012))


def test_bootstrap_of_few_clusters_says_why_it_has_no_interval():
    found = bootstrap_t_interval({"a": [0.1], "b": [0.5], "c": [0.9]}, seed=1)
    assert (found.value, found.low, found.reason) == (pytest.approx(0.5), None, "3 clusters; a bootstrap needs 5")
    lopsided = bootstrap_t_interval({"a": [0.0], **{str(index): [1.0] for index in range(4)}}, seed=1)
    assert lopsided.low is None
    assert lopsided.reason == "too few distinct cluster means for a bootstrap"


@pytest.mark.parametrize("name", ["t", "bootstrap"])
def test_intervals_cover_about_as_often_as_they_say(name: str):
    """Twenty clusters of a skewed share with true mean 6/9: within three standard errors of 95 %."""
    generator = random.Random(11)
    runs, covered = 300, 0
    for run in range(runs):
        clusters = {str(index): [generator.betavariate(6, 3)] for index in range(20)}
        found = t_interval(clusters) if name == "t" else bootstrap_t_interval(clusters, seed=run, resamples=400)
        assert found.low is not None and found.high is not None
        covered += found.low <= 6 / 9 <= found.high
    assert covered / runs > 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


def test_variance_split_has_known_values():
    """Groups (1, 3) and (5, 7): mean squares 16 between and 2 within, so the between component is 7."""
    found = variance_split({"a": [1.0, 3.0], "b": [5.0, 7.0]})
    assert (found.between, found.within) == (pytest.approx(7.0), pytest.approx(2.0))


def test_variance_split_says_nothing_without_repeats():
    assert variance_split({"a": [1.0], "b": [2.0]}).within is None
    assert variance_split({"a": [1.0, 2.0]}).between is None
    assert variance_split({}) == variance_split({"a": []})


@given(CLUSTERS, st.integers(0, 9))
def test_nothing_is_ever_nan_and_the_value_lies_inside(clusters: dict[str, list[float]], seed: int):
    """I23: whatever went in, None or a finite number comes out."""
    for found in (t_interval(clusters), bootstrap_t_interval(clusters, seed=seed, resamples=50)):
        check(found)


@given(st.integers(0, 500), st.integers(0, 500))
def test_wilson_is_always_inside_the_scale(yes: int, more: int):
    check(wilson_interval(yes, yes + more))


def check(found: Estimate) -> None:
    assert all(part is None or math.isfinite(part) for part in (found.value, found.low, found.high))
    assert (found.low is None) == (found.high is None)
    if found.low is None:
        assert found.reason and not found.method
        return
    assert found.value is not None and found.high is not None and found.method
    assert 0 <= found.low <= found.value + 1e-12 and found.value - 1e-12 <= found.high <= 1
    assert found.high > found.low or found.reason
