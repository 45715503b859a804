"""Means over items in clusters and strata, and answers on labels: known values, guards, simulated coverage."""

import numpy as np
import pytest

from dramaturg.measure import classification, pooled_difference, pooled_share, wilson_interval


def test_one_stratum_is_the_plain_mean_of_items() -> None:
    found = pooled_share({"a": [("all", 1.0)], "b": [("all", 1.0), ("all", 0.0)], "c": [("all", 0.0)]}, ["all"])
    assert found.value == 0.5
    assert (found.n_used, found.clusters) == (4, 3)


def test_two_strata_weigh_alike_whatever_their_sizes() -> None:
    clusters = {str(number): [("small", 1.0), ("large", 0.0), ("large", 0.0)] for number in range(5)}
    assert pooled_share(clusters, ["small", "large"]).value == 0.5


def test_items_alone_in_their_cluster_have_about_the_exact_interval() -> None:
    """30 of 100 independent items: Clopper-Pearson is 0.2124 to 0.3998."""
    clusters = {str(number): [("all", float(number < 30))] for number in range(100)}
    found = pooled_share(clusters, ["all"])
    assert found.low == pytest.approx(0.2124, abs=0.002)
    assert found.high == pytest.approx(0.3998, abs=0.002)


def test_clusters_that_agree_with_themselves_widen_the_interval() -> None:
    apart = {str(number): [("all", float(number % 2))] for number in range(60)}
    together = {str(number): [("all", float(number % 2))] * 6 for number in range(10)}
    narrow, wide = pooled_share(apart, ["all"]), pooled_share(together, ["all"])
    assert narrow.low is not None and wide.low is not None
    assert narrow.value == wide.value == 0.5
    assert wide.low < narrow.low - 0.1


def test_no_spread_leaves_a_bound_and_never_zero_width() -> None:
    found = pooled_share({str(number): [("all", 1.0)] for number in range(10)}, ["all"])
    assert found.high == 1
    assert found.low == pytest.approx(0.6915, abs=1e-3)  # Clopper-Pearson, 10 of 10
    assert "conservative" in found.reason


@pytest.mark.parametrize(("clusters", "reason"), [(0, "no value"), (1, "one cluster"), (2, "2 clusters")])
def test_too_few_clusters_have_no_interval_and_say_so(clusters: int, reason: str) -> None:
    found = pooled_share({str(number): [("all", 0.0), ("all", 1.0)] for number in range(clusters)}, ["all"])
    assert found.low is None
    assert reason in found.reason


def test_a_stratum_without_values_forbids_a_mean() -> None:
    found = pooled_share({str(number): [("a", 1.0)] for number in range(5)}, ["a", "b"])
    assert found.value is None
    assert "b" in found.reason


@pytest.mark.parametrize("value", [float("nan"), 1.5, -0.1])
def test_what_is_no_share_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"measured|scale"):
        pooled_share({"a": [("all", value)]}, ["all"])


def test_a_value_of_an_unnamed_stratum_is_refused() -> None:
    with pytest.raises(ValueError, match="'b'"):
        pooled_share({"a": [("b", 1.0)]}, ["a"])


@pytest.mark.parametrize(("share", "correlation"), [(0.5, 0.0), (0.8, 0.2), (0.95, 0.1)])
def test_the_interval_covers(share: float, correlation: float) -> None:
    generator = np.random.default_rng(5)
    covered, samples = 0, 400
    for _ in range(samples):
        clusters: dict[str, list[tuple[str, float]]] = {}
        for number in range(30):
            each = share
            if correlation:
                scale = 1 / correlation - 1
                each = float(generator.beta(share * scale, (1 - share) * scale))
            drawn = generator.random(int(generator.choice([1, 3, 7]))) < each
            clusters[str(number)] = [("all", float(one)) for one in drawn]
        found = pooled_share(clusters, ["all"])
        assert found.low is not None and found.high is not None
        covered += found.low <= share <= found.high
    assert covered / samples >= 0.93


def test_no_difference_is_seldom_called_one() -> None:
    generator = np.random.default_rng(6)
    samples, claims = 400, 0
    for _ in range(samples):
        clusters = {
            str(number): [("all", float(one)) for one in generator.choice([-1, 0, 1], size=3, p=[0.2, 0.6, 0.2])]
            for number in range(30)
        }
        found = pooled_difference(clusters, ["all"])
        assert found.low is not None and found.high is not None
        claims += found.low > 0 or found.high < 0
    assert claims / samples <= 0.06


def test_labels_have_the_textbook_figures() -> None:
    """Two of three cats found, one dog taken for a cat."""
    answers = [("cat", "cat", 1.0), ("cat", "cat", 1.0), ("cat", "dog", 1.0), ("dog", "cat", 1.0), ("dog", "dog", 1.0)]
    found = classification(answers, ["cat", "dog"])
    cat, dog = found.labels
    assert (cat.precision, cat.recall.value, cat.f1) == (pytest.approx(2 / 3),) * 3
    assert (dog.precision, dog.recall.value, dog.f1) == (0.5, 0.5, 0.5)
    assert found.macro_f1 == pytest.approx(7 / 12)
    wilson = wilson_interval(2, 3)
    assert (cat.recall.low, cat.recall.high) == (wilson.low, wilson.high)


def test_a_constant_answer_has_the_balanced_accuracy_of_chance() -> None:
    answers = [("yes", "yes", 1.0)] * 9 + [("no", "yes", 1.0)]
    found = classification(answers, ["yes", "no"])
    assert found.balanced_accuracy == 0.5


def test_what_is_no_label_counts_against_recall_alone() -> None:
    found = classification([("yes", "yes", 1.0), ("yes", "refusal", 1.0)], ["yes", "no"])
    yes, no = found.labels
    assert (yes.precision, yes.recall.value) == (1.0, 0.5)
    assert (no.precision, no.recall.value, no.f1) == (None, None, None)
    assert found.outcomes == ("yes", "no", "refusal")


def test_weights_of_repeats_keep_items_whole() -> None:
    found = classification([("yes", "yes", 0.5), ("yes", "no", 0.5), ("no", "no", 1.0)], ["yes", "no"])
    yes, _ = found.labels
    assert (yes.expected, yes.answered, yes.recall.n_used) == (1.0, 0.5, 1)


def test_a_weight_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="weight"):
        classification([("yes", "yes", 0.0)], ["yes"])
