"""What people read before they rate: the guideline in the language of the scenes, and the scales with their anchors.

Source: CharacterBox, appendix G, which tells what annotators read. The words are our own.
"""

from __future__ import annotations

from collections.abc import Iterator

from dramaturg.judge.rating import Metric
from dramaturg.web.rating.campaign import RatingCampaign
from dramaturg.web.rating.site import LANGUAGES, rating_words
from dramaturg.web.survey.guideline import Block, read_guideline
from dramaturg.web.survey.people import Guideline


def guidelines_of(campaign: RatingCampaign, language: str) -> list[Guideline]:
    """Returns a guideline for each language of the scenes, the visitor's own first.

    Args:
        campaign: What is rated.
        language: Of the visitor's pages.
    """
    found: dict[str, Guideline] = {}
    for rubric in campaign.rubrics.values():
        spoken = rubric.language if rubric.language in LANGUAGES else "en"
        say = rating_words(spoken)
        blocks = [*read_guideline(say("guideline.text")), Block("head", (say("guideline.scales"),))]
        for metric in rubric.metrics:
            blocks += _scale(metric)
        found[rubric.language] = Guideline(rubric.language, blocks)
    return sorted(found.values(), key=lambda one: one.language != language)


def _scale(metric: Metric) -> Iterator[Block]:
    yield Block("paragraph", (f"{metric.name}: {metric.definition}",))
    yield Block("list", tuple(f"{point}: {text}" for point, text in sorted(metric.anchors.items())))
