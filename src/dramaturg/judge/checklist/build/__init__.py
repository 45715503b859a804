"""Make a checklist: from a benchmark's seeds, by a model that augments and filters, under rules that need no model.

In: a benchmark, a model, an embedder. Out: a checklist and the account of every question that was written.
Lint looks at any checklist by the same rules.
"""

from dramaturg.judge.checklist.build.account import Account, Entry, account_path, read_account
from dramaturg.judge.checklist.build.building import Built, build_checklist, expected_calls
from dramaturg.judge.checklist.build.changes import Change, PlaceCount, compare, counts
from dramaturg.judge.checklist.build.keeping import read_before, write_built
from dramaturg.judge.checklist.build.lint import Lint, lint

__all__ = [
    "Account",
    "Built",
    "Change",
    "Entry",
    "Lint",
    "PlaceCount",
    "account_path",
    "build_checklist",
    "compare",
    "counts",
    "expected_calls",
    "lint",
    "read_account",
    "read_before",
    "write_built",
]
