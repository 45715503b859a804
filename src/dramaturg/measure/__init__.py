"""From values to claims: estimates with intervals, agreement, comparison and planning.

In: numbers, with the cluster that each belongs to. Out: an `Estimate` that says how many values were used of how
many planned, and either an interval or why there is none. Pure arithmetic: no model, no file, no global generator.
"""

from dramaturg.measure.classification import Classification, LabelScores, classification
from dramaturg.measure.clustered import clustered_correlation, inter_item_correlation
from dramaturg.measure.clusters import bootstrap_t_interval, t_interval
from dramaturg.measure.correlation import correlation
from dramaturg.measure.discrimination import auc, auc_interval, balanced_accuracy
from dramaturg.measure.estimate import Estimate
from dramaturg.measure.holm import holm
from dramaturg.measure.internal_consistency import cronbach_alpha
from dramaturg.measure.intraclass import intraclass_correlation
from dramaturg.measure.kappa import cohen_kappa, cohen_kappa_interval, fleiss_kappa
from dramaturg.measure.krippendorff import krippendorff_alpha, krippendorff_interval
from dramaturg.measure.paired import PairedDifference, fewest_scenarios, paired_difference
from dramaturg.measure.pooled import pooled_difference, pooled_share
from dramaturg.measure.power import Design, cautious_variance, paired_power, scenarios_needed, sign_change_power
from dramaturg.measure.proportions import wilson_interval
from dramaturg.measure.ranks import Rank, ranks
from dramaturg.measure.resampling import resampled_interval
from dramaturg.measure.shares import cluster_interval
from dramaturg.measure.variance import JudgedVariance, VarianceSplit, judged_variance, variance_split

__all__ = [
    "Classification",
    "Design",
    "Estimate",
    "JudgedVariance",
    "LabelScores",
    "PairedDifference",
    "Rank",
    "VarianceSplit",
    "auc",
    "auc_interval",
    "balanced_accuracy",
    "bootstrap_t_interval",
    "cautious_variance",
    "classification",
    "cluster_interval",
    "clustered_correlation",
    "cohen_kappa",
    "cohen_kappa_interval",
    "correlation",
    "cronbach_alpha",
    "fewest_scenarios",
    "fleiss_kappa",
    "holm",
    "inter_item_correlation",
    "intraclass_correlation",
    "judged_variance",
    "krippendorff_alpha",
    "krippendorff_interval",
    "paired_difference",
    "paired_power",
    "pooled_difference",
    "pooled_share",
    "ranks",
    "resampled_interval",
    "scenarios_needed",
    "sign_change_power",
    "t_interval",
    "variance_split",
    "wilson_interval",
]
