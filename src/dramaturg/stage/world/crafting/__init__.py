"""Scenes by a model: a screenwriter drafts, a director refines, an evaluator marks; rules check every version.

In: a text or a few wishes, and who works. Out: a folder of scenes, with a record of what was dropped and why.
"""

from dramaturg.stage.world.crafting.chunks import Chunk, split
from dramaturg.stage.world.crafting.collection import make_scenes
from dramaturg.stage.world.crafting.crew import Crew, Stages
from dramaturg.stage.world.crafting.marks import CRITERIA
from dramaturg.stage.world.crafting.plan import CraftingPlan
from dramaturg.stage.world.crafting.premise import checked_prior
from dramaturg.stage.world.crafting.record import Collection, Entry
from dramaturg.stage.world.crafting.words import LANGUAGES, known_language, language_of

__all__ = [
    "CRITERIA",
    "LANGUAGES",
    "Chunk",
    "Collection",
    "CraftingPlan",
    "Crew",
    "Entry",
    "Stages",
    "checked_prior",
    "known_language",
    "language_of",
    "make_scenes",
    "split",
]
