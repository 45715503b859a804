"""The annotation pages: their languages and words."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from dramaturg.web.survey.site import Site, survey_words
from dramaturg.web.words import Words

LANGUAGES: Mapping[str, str] = {"en": "English", "fr": "Français", "it": "Italiano", "zh": "中文"}
"""Languages of the annotation pages with their own names."""


def annotation_site(title: str) -> Site:
    """Returns the pages over an item set.

    Args:
        title: Of the item set.
    """
    return Site("annotation", title, Path(__file__).parent, LANGUAGES, annotation_words)


@functools.cache
def annotation_words(language: str) -> Words:
    """Returns the words of one of `LANGUAGES`.

    Raises:
        ContentError: A file is wrong.
    """
    return survey_words("annotation", language)
