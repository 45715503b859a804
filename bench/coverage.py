"""How often the offered intervals of shares cover the truth: nominal 95 %, to lie between 93 % and 97 %.

    python bench/coverage.py [--json] [--samples 20000]

Scores are beta-binomial: a cluster has a share of its own, drawn around the mean so that its answers have the given
intraclass correlation, and as many answers as the cluster is large. 5, 10, 20 and 50 clusters; means 0.5, 0.8 and
0.95; correlations 0 and 0.3; clusters of 20 answers each, or of 8 to 48.

Beside the interval that `cluster_interval` offers stand, without a budget, the methods that it does not offer there:
Student's t and the bootstrap-t over cluster means. Where few clusters lie near an end of the scale (half a cluster or
less is expected to be lost) covering more than 97 % cannot be helped: a sample that shows next to no loss does not tell
how much another would. Such figures are printed without a verdict as long as they do not fall below 93 %.

The last rows are paired differences of two subjects on the same scenarios, by Student's t.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dramaturg.measure import bootstrap_t_interval, paired_difference, t_interval
from dramaturg.measure.shares import share_bounds
from figures import Figure, show

CONFIDENCE = 0.95
LOW, HIGH = 0.93, 0.97
COUNTS, MEANS, CORRELATIONS = (5, 10, 20, 50), (0.5, 0.8, 0.95), (0.0, 0.3)
EQUAL, UNEQUAL = (20,), (8, 12, 20, 32, 48)
UNAVOIDABLE_LOSS = 0.5
OTHER_SAMPLES, RESAMPLES = 400, 400

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """One way in which samples come about."""

    clusters: int
    mean: float
    correlation: float
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        sizes = "equal" if len(self.sizes) == 1 else "unequal"
        return f"{self.clusters} clusters, mean {self.mean}, ICC {self.correlation}, {sizes}"

    def draw(self, generator: np.random.Generator, samples: int) -> Numbers:
        """Returns a row of cluster means for each sample."""
        shares = np.full((samples, self.clusters), self.mean)
        if self.correlation:
            weight = 1 / self.correlation - 1
            shares = generator.beta(self.mean * weight, (1 - self.mean) * weight, size=shares.shape)
        sizes = np.resize(self.sizes, self.clusters)
        return generator.binomial(sizes, shares) / sizes


def offered(cell: Cell, generator: np.random.Generator, samples: int) -> Figure:
    lows, highs, bounded = share_bounds(cell.draw(generator, samples), CONFIDENCE)
    coverage = float(np.mean((lows <= cell.mean) & (cell.mean <= highs)))
    near_an_end = cell.clusters * min(cell.mean, 1 - cell.mean) <= UNAVOIDABLE_LOSS + 1e-9
    detail = f"width {float(np.mean(highs - lows)):.3f}"
    if bounded.any():
        detail += f"; {float(bounded.mean()):.1%} of samples get a bound"
    if coverage > HIGH and near_an_end:
        return Figure(cell.name, round(coverage, 4), LOW, None, f"{detail}; covers more than it says, cannot be helped")
    return Figure(cell.name, round(coverage, 4), LOW, LOW <= coverage <= HIGH, f"at most {HIGH}; {detail}")


def others(cell: Cell, generator: np.random.Generator) -> Iterator[Figure]:
    """Yields how the methods do that are not offered for shares; few samples, since they run as a user calls them."""
    samples = [{str(place): [value] for place, value in enumerate(row)} for row in cell.draw(generator, OTHER_SAMPLES)]
    by_t = [t_interval(sample) for sample in samples]
    by_bootstrap = [bootstrap_t_interval(sample, seed=seed, resamples=RESAMPLES) for seed, sample in enumerate(samples)]
    for name, found in (("t", by_t), ("bootstrap-t", by_bootstrap)):
        given = [one for one in found if one.low is not None and one.high is not None]
        covered = sum(one.low <= cell.mean <= one.high for one in given if one.low is not None and one.high is not None)
        value = round(covered / len(given), 3) if given else None
        yield Figure(f"  {name}: {cell.name}", value, None, None, f"given in {len(given)} of {OTHER_SAMPLES}")


def differences(clusters: int, means: tuple[float, float], generator: np.random.Generator, samples: int) -> Figure:
    """Returns how the paired interval does where a scenario is hard or easy for both subjects."""
    weight, size, truth = 1 / 0.3 - 1, 20, means[0] - means[1]
    covered = 0
    for _ in range(samples):
        hardness = generator.beta(weight / 2, weight / 2, size=clusters)
        # Each subject's share falls with the hardness; on average it is the subject's mean.
        shares = [1 - (1 - mean) * 2 * hardness for mean in means]
        scores = [generator.binomial(size, share) / size for share in shares]
        pairs = {str(place): [(one, other)] for place, (one, other) in enumerate(zip(*scores, strict=True))}
        found = paired_difference(pairs).difference
        covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
    name = f"paired difference, {clusters} scenarios, means {means[0]} and {means[1]}"
    coverage = covered / samples
    error = 2 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / samples)
    return Figure(name, round(coverage, 4), LOW, LOW - error <= coverage <= HIGH + error, f"{samples} samples")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--samples", type=int, default=20_000)
    given = parser.parse_args()
    generator = np.random.default_rng(2_604_116)
    cells = [Cell(*cell) for cell in itertools.product(COUNTS, MEANS, CORRELATIONS, (EQUAL, UNEQUAL))]
    figures = [offered(cell, generator, given.samples) for cell in cells]
    figures += [figure for cell in cells for figure in others(cell, generator)]
    figures += [
        differences(count, means, generator, max(500, given.samples // 20))
        for count in COUNTS
        for means in ((0.8, 0.8), (0.9, 0.8), (0.95, 0.9))
    ]
    show(figures, as_json=given.json)


if __name__ == "__main__":
    main()
