"""The kinds of faults that are planted in played scenes, and the metrics that each must lower."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

FaultKind = Literal[
    "trait_reversed",
    "outside_knowledge",
    "flat_emotion",
    "impossible_action",
    "ignored_event",
    "contradicts_earlier_act",
    "other_voice",
]
"""A fault of one act.

trait_reversed: it does what its temper forbids. outside_knowledge: it knows what it cannot know. flat_emotion: it feels
nothing where it must. impossible_action: it cannot be done there, or with that. ignored_event: it passes over what just
befell it. contradicts_earlier_act: it undoes what the same character did before. other_voice: it talks like another.
"""

KINDS: tuple[FaultKind, ...] = get_args(FaultKind)

DETECTED_BY: Mapping[FaultKind, tuple[str, ...]] = {
    "trait_reversed": ("personality_traits", "behavioral_accuracy"),
    "outside_knowledge": ("knowledge_accuracy", "immersion"),
    "flat_emotion": ("emotional_expression",),
    "impossible_action": ("behavioral_coherence", "immersion"),
    "ignored_event": ("adaptability", "behavioral_coherence"),
    "contradicts_earlier_act": ("behavioral_coherence", "immersion"),
    "other_voice": ("behavioral_accuracy", "immersion"),
}
"""Fault → ids of the metrics of the rubric `character` whose definition it offends; the first one most plainly."""
