"""What tables call scores and baselines."""

from __future__ import annotations

from collections.abc import Mapping

from dramaturg.judge.matching.baselines import Baseline
from dramaturg.judge.matching.measures import Measure

MEASURES: Mapping[Measure, str] = {
    "macro": "Macro",
    "published_macro": "Macro as published",
    "micro": "Micro",
    "published_micro": "Micro of the published three",
    "emotion": "Emotion",
    "decision": "Decision",
    "moral": "Moral",
    "decision_moral": "Decision and moral",
    "in_character": "In character",
    "knows": "Knows",
}

BASELINES: Mapping[Baseline, str] = {
    "always_yes": "always yes",
    "always_no": "always no",
    "most_frequent": "most frequent answer",
    "empty": "empty reply",
    "refuse_all": "refuse all",
    "echo": "echo of the message",
}

JOINT = "In character × knows"
