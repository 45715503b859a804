"""Test a judge with planted faults before its scores are believed.

In: clean transcripts, a checklist whose indicators say what they detect, and a judge. Out: the judge's card: which
faults it sees, what it takes for one, and how sure either is. The judge reads transcripts and nothing else.
"""

from dramaturg.judge.audit.binding import Binding, binding_of
from dramaturg.judge.audit.card import Card, Figure, Parts
from dramaturg.judge.audit.card_store import Nearest, find_card, known_cards
from dramaturg.judge.audit.clean import Base, base_of, shipped_bases
from dramaturg.judge.audit.mutation import Mutation, Severity, Specimen
from dramaturg.judge.audit.plan import Assignment, Plan, plan_audit

__all__ = [
    "Assignment",
    "Base",
    "Binding",
    "Card",
    "Figure",
    "Mutation",
    "Nearest",
    "Parts",
    "Plan",
    "Severity",
    "Specimen",
    "base_of",
    "binding_of",
    "find_card",
    "known_cards",
    "plan_audit",
    "shipped_bases",
]
