"""Show ratings: who plays how well, how far the ratings can be relied on, and what they cost.

In: the ratings of a folder. Out: tables in the layouts of CharacterBox's Tables 1 to 4 and 6, for the terminal, a page,
papers and spreadsheets. Nothing is computed here that `judge.rating` and `measure` can compute.
"""

from dramaturg.report.rating.collect import RatingReport, collect_ratings, joined
from dramaturg.report.rating.crafting import craft_figures, is_crafting
from dramaturg.report.rating.layouts import (
    CraftFigures,
    SceneCost,
    alpha_layout,
    character_layout,
    correlation_layout,
    cost_layout,
    craft_layout,
    rating_layout,
    rating_layouts,
)

__all__ = [
    "CraftFigures",
    "RatingReport",
    "SceneCost",
    "alpha_layout",
    "character_layout",
    "collect_ratings",
    "correlation_layout",
    "cost_layout",
    "craft_figures",
    "craft_layout",
    "is_crafting",
    "joined",
    "rating_layout",
    "rating_layouts",
]
