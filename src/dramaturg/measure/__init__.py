"""From values to claims: estimates with intervals.

In: numbers, with the cluster that each belongs to. Out: an `Estimate` that says how many values were used of how
many planned, and either an interval or why there is none. Pure arithmetic: no model, no file, no global generator.
"""

from dramaturg.measure.clusters import VarianceSplit, bootstrap_t_interval, cluster_interval, t_interval, variance_split
from dramaturg.measure.estimate import Estimate
from dramaturg.measure.proportions import wilson_interval

__all__ = [
    "Estimate",
    "VarianceSplit",
    "bootstrap_t_interval",
    "cluster_interval",
    "t_interval",
    "variance_split",
    "wilson_interval",
]
