"""Test a rater with planted faults before its ratings are believed.

In: clean scenes, written by hand, in which every character is played well, and a judge. Out: the rater's card: which
faults lower which metric, what it marks down without a fault, and how sure either is.
"""

from dramaturg.judge.audit.world.card import RaterBinding, RaterCard, rater_card
from dramaturg.judge.audit.world.faults import DETECTED_BY, FaultKind
from dramaturg.judge.audit.world.plan import RaterAssignment, RaterPlan, plan_rater_audit
from dramaturg.judge.audit.world.scenes import RaterBase, shipped_rater_bases
from dramaturg.judge.audit.world.store import keep_rater_card, known_rater_cards, rater_card_for

__all__ = [
    "DETECTED_BY",
    "FaultKind",
    "RaterAssignment",
    "RaterBase",
    "RaterBinding",
    "RaterCard",
    "RaterPlan",
    "keep_rater_card",
    "known_rater_cards",
    "plan_rater_audit",
    "rater_card",
    "rater_card_for",
    "shipped_rater_bases",
]
