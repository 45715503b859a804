"""Improve a model on what was played and judged.

In: folders of runs, with their ledgers. Out: data sets that leak nothing between their splits, models trained on them,
and adapters that the embedded runtime loads.
"""
