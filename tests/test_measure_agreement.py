"""Agreement and reliability: published values, gaps, and what is not defined."""

import math
import random

import pytest

from dramaturg.measure import (
    cohen_kappa,
    cohen_kappa_interval,
    cronbach_alpha,
    fleiss_kappa,
    intraclass_correlation,
    krippendorff_alpha,
    krippendorff_interval,
    resampled_interval,
)
from dramaturg.measure.intraclass import IccForm
from dramaturg.measure.krippendorff import Level

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""Shrout and Fleiss (1979), table 2: six targets, four judges."""

FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Krippendorff (2011), section C."""

FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
"""A published worked example of ten subjects and fourteen raters: kappa .210."""

TWO_RATERS = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
"""A published worked example: kappa .4."""


def test_cohen_kappa_has_the_published_value():
    one, other = zip(*TWO_RATERS, strict=True)
    assert cohen_kappa(one, other) == pytest.approx(0.4)


def test_cohen_kappa_error_is_that_of_the_jackknife():
    one, other = zip(*TWO_RATERS, strict=True)
    n = len(one)
    left_out = [cohen_kappa(one[:place] + one[place + 1 :], other[:place] + other[place + 1 :]) for place in range(n)]
    known = [value for value in left_out if value is not None]
    mean = math.fsum(known) / n
    error = math.sqrt((n - 1) / n * math.fsum((value - mean) ** 2 for value in known))
    found = cohen_kappa_interval(one, other)
    assert found.low is not None and found.high is not None
    assert (found.high - found.low) / 2 / 1.959964 == pytest.approx(error, rel=0.05)


def test_kappa_of_raters_who_always_say_the_same_is_not_defined():
    assert cohen_kappa(["yes"] * 5, ["yes"] * 5) is None
    assert cohen_kappa([], []) is None
    assert cohen_kappa_interval(["yes"] * 5, ["yes"] * 5).reason.startswith("both raters always say the same")
    assert fleiss_kappa([[3, 0], [3, 0]]) is None
    assert cohen_kappa(["yes", "no"], ["no", "yes"]) == -1.0


def test_perfect_kappa_has_no_interval():
    found = cohen_kappa_interval(["yes", "no", "yes"], ["yes", "no", "yes"])
    assert (found.value, found.low) == (1.0, None)
    assert found.reason


def test_fleiss_kappa_has_the_published_value():
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize("rows", [[[1, 0]], [[2, 1], [1, 1]], [[2, 0], [2, 0, 0]]])
def test_fleiss_kappa_refuses_unequal_ratings(rows: list[list[int]]):
    with pytest.raises(ValueError, match=r"ratings"):
        fleiss_kappa(rows)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorff_alpha_has_the_published_values(level: Level, alpha: float):
    units = list(zip(*FOUR_OBSERVERS, strict=True))
    assert krippendorff_alpha(units, level=level) == pytest.approx(alpha, abs=5e-4)


def test_krippendorff_alpha_of_two_raters_and_two_values():
    """Krippendorff (2011), section A: ten units, alpha .095."""
    one, other = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(list(zip(one, other, strict=True))) == pytest.approx(0.095, abs=5e-4)


def test_alpha_is_not_defined_without_pairs_or_variation():
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([["yes", None], [None, "no"]]) is None
    assert krippendorff_alpha([["yes", "yes"], ["yes", "yes"]]) is None


def test_alpha_above_nominal_needs_numbers():
    with pytest.raises(ValueError, match="is no number"):
        krippendorff_alpha([["yes", "no"]], level="ordinal")
    with pytest.raises(ValueError, match="no measured value"):
        krippendorff_alpha([[1.0, math.nan]], level="interval")


def test_alpha_interval_draws_whole_transcripts():
    generator = random.Random(3)
    clusters = {
        f"t{number}": [[truth, truth if generator.random() < 0.9 else not truth]] * 4
        for number in range(40)
        for truth in [generator.random() < 0.5]
    }
    found = krippendorff_interval(clusters, seed=1, resamples=300)
    assert found == krippendorff_interval(clusters, seed=1, resamples=300)
    assert found.value is not None and found.low is not None and found.high is not None
    assert found.low < found.value < found.high
    assert (found.clusters, found.n_used) == (40, 160)
    few = krippendorff_interval({"a": [["yes", "no"], ["no", "no"]]}, seed=1)
    assert (few.low, few.reason) == (None, "1 clusters; resampling needs 10")


def test_a_statistic_without_value_has_no_resampled_interval():
    found = resampled_interval([1, 2], lambda _: None, seed=1, n_used=2, n_planned=2)
    assert (found.value, found.low) == (None, None)


@pytest.mark.parametrize(
    ("form", "value", "low", "high"),
    [
        ("1,1", 0.17, -0.13, 0.72),
        ("2,1", 0.29, 0.02, 0.76),
        ("3,1", 0.71, 0.34, 0.95),
        ("1,k", 0.44, -0.88, 0.91),
        ("2,k", 0.62, 0.07, 0.93),
        ("3,k", 0.91, 0.68, 0.99),
    ],
)
def test_intraclass_correlations_have_the_published_values(form: IccForm, value: float, low: float, high: float):
    found = intraclass_correlation(SHROUT_FLEISS, form)
    assert found.low is not None and found.high is not None
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=6e-3)


@pytest.mark.parametrize("form", ["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"])
def test_no_intraclass_interval_goes_below_what_ratings_can_have(form: IccForm):
    opposed = [[1, 4], [5, 2], [2, 5], [4, 1], [1, 5], [5, 1.5]]
    found = intraclass_correlation(opposed, form)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert -1.0 <= found.low <= found.value <= found.high < 0.9


def test_intraclass_correlation_says_why_there_is_none():
    assert intraclass_correlation([[1, 2]], "2,1").value is None
    assert intraclass_correlation([[1, 1], [1, 1]], "2,1").reason == "all ratings are equal"
    perfect = intraclass_correlation([[1, 1], [2, 2], [3, 3]], "2,1")
    assert (perfect.value, perfect.low) == (1.0, None)
    with pytest.raises(ValueError, match="differ in length"):
        intraclass_correlation([[1, 2], [1]], "2,1")


def test_cronbach_alpha_is_the_consistency_of_the_mean_of_the_items():
    """Alpha equals ICC(3,k), its interval too."""
    alpha, icc = cronbach_alpha(SHROUT_FLEISS), intraclass_correlation(SHROUT_FLEISS, "3,k")
    assert (alpha.value, alpha.low, alpha.high) == pytest.approx((icc.value, icc.low, icc.high))
    assert alpha.value == pytest.approx(0.909, abs=5e-4)


def test_cronbach_alpha_says_why_there_is_none():
    assert cronbach_alpha([]).value is None
    assert cronbach_alpha([[1.0], [0.0]]).reason.startswith("2 rows of 1 items")
    assert cronbach_alpha([[1, 0], [0, 1]]).reason == "all sums are equal"
