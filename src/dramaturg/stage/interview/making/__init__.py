"""Item sets by a model: written, checked, read by a critic, mended.

In: characters and who writes. Out: the folder of an item set with its data card, and a record of what was dropped.
"""

from dramaturg.stage.interview.making.checks import CODES, asks_yes_or_no, check_drafts
from dramaturg.stage.interview.making.making import (
    Entry,
    Making,
    MakingPlan,
    make_set,
    model_author,
    plan_counts,
    set_head,
)

__all__ = [
    "CODES",
    "Entry",
    "Making",
    "MakingPlan",
    "asks_yes_or_no",
    "check_drafts",
    "make_set",
    "model_author",
    "plan_counts",
    "set_head",
]
