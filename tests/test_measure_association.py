"""Correlation and discrimination: known values, clusters, and what is not defined."""

import math
import random

import pytest
from scipy import stats

from dramaturg.measure import Estimate, auc, auc_interval, balanced_accuracy, correlation, wilson_interval
from dramaturg.measure.correlation import CorrelationKind

X = [2.0, 1.0, 4.0, 3.0, 5.0, 5.0, 8.0, 7.0, 9.0, 6.0]
Y = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 6.0, 9.0, 8.0, 7.0]


def test_correlations_are_those_of_scipy_ties_included():
    references = {
        "pearson": stats.pearsonr(X, Y).statistic,
        "spearman": stats.spearmanr(X, Y).statistic,
        "kendall": stats.kendalltau(X, Y).statistic,
    }
    kinds: tuple[CorrelationKind, ...] = ("pearson", "spearman", "kendall")
    for kind in kinds:
        assert correlation(X, Y, kind).value == pytest.approx(references[kind])


def test_pearson_interval_is_fishers():
    found, reference = correlation(X, Y), stats.pearsonr(X, Y).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(reference.low), pytest.approx(reference.high))


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_correlation_intervals_cover(kind: CorrelationKind):
    """Bivariate normal with Pearson's .5; Spearman's and Kendall's truths follow from it."""
    truth = {"pearson": 0.5, "spearman": 6 / math.pi * math.asin(0.25), "kendall": 2 / math.pi * math.asin(0.5)}[kind]
    generator, covered = random.Random(6), 0
    for _ in range(400):
        one = [generator.gauss(0, 1) for _ in range(40)]
        other = [0.5 * value + math.sqrt(0.75) * generator.gauss(0, 1) for value in one]
        found = correlation(one, other, kind)
        covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_correlation_says_why_there_is_none():
    assert correlation([1.0], [2.0]).value is None
    assert correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]).reason == "one side never varies"
    assert correlation([1.0, 2.0, 3.0], [2.0, 4.0, 6.5]).low is None
    perfect = correlation([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0, 6.0, 8.0, 10.0])
    assert (perfect.value, perfect.low) == (pytest.approx(1.0), None)
    with pytest.raises(ValueError, match="no pairs"):
        correlation([1.0], [])
    with pytest.raises(ValueError, match="no measured value"):
        correlation([1.0, math.nan], [1.0, 2.0])


def test_auc_counts_ties_half():
    assert auc([(0.9, True), (0.8, True), (0.1, False)]) == 1.0
    assert auc([(0.1, True), (0.9, False)]) == 0.0
    assert auc([(0.5, True), (0.5, False)]) == 0.5
    assert auc([(3, True), (2, False), (2, True), (1, False)]) == pytest.approx(3.5 / 4)
    assert auc([(0.5, True)]) is None


def test_auc_interval_keeps_a_transcript_together():
    generator = random.Random(5)
    clusters = {
        f"t{number}": [(generator.gauss(1.0 if kind else 0.0, 1), kind)]
        for number in range(60)
        for kind in [number % 2 == 0]
    }
    repeated = {name: scored * 6 for name, scored in clusters.items()}
    once, six = auc_interval(clusters), auc_interval(repeated)
    assert (six.value, six.low, six.high) == pytest.approx((once.value, once.low, once.high))
    assert (six.n_used, six.clusters) == (360, 60)


def test_auc_interval_covers():
    """Two normals a standard deviation apart have an AUC of .760; thirty transcripts share a shift."""
    truth = 0.5 * (1 + math.erf(1 / math.sqrt(2) / math.sqrt(2)))
    generator, covered = random.Random(9), 0
    for _ in range(400):
        clusters = {
            str(number): [(generator.gauss(shift + kind, math.sqrt(0.7)), bool(kind)) for kind in (0, 0, 1, 1)]
            for number in range(30)
            for shift in [generator.gauss(0, math.sqrt(0.3))]
        }
        found = auc_interval(clusters)
        covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_auc_interval_says_why_there_is_none():
    assert auc_interval({"a": [(1.0, True)]}).value is None
    few = auc_interval({"a": [(1.0, True), (2.0, False)]})
    assert (few.value, few.low) == (0.0, None)
    apart = auc_interval({str(number): [(2.0, True), (1.0, False)] for number in range(9)})
    assert (apart.value, apart.low, apart.high) == (1.0, None, None)
    assert "do not overlap" in apart.reason


def test_balanced_accuracy_joins_two_intervals():
    found = balanced_accuracy(wilson_interval(40, 50), wilson_interval(30, 50))
    assert found.value == pytest.approx(0.7)
    assert found.low is not None and found.high is not None
    assert found.high - found.low == pytest.approx(0.17, abs=0.02)
    assert (found.n_used, found.clusters) == (100, 50)


def test_balanced_accuracy_without_a_part_is_not_invented():
    none = Estimate(None, None, None, 0, 5, 0, "", "no value was used")
    assert balanced_accuracy(none, wilson_interval(3, 4)).value is None
    bare = Estimate(0.5, None, None, 5, 5, 1, "", "one cluster")
    found = balanced_accuracy(bare, wilson_interval(3, 4))
    assert (found.value, found.low) == (0.625, None)
