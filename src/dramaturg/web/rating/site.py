"""The rating pages: their languages and words."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from dramaturg.web.survey.site import Site, survey_words
from dramaturg.web.words import Words

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
"""Languages of the rating pages with their own names: those of the shipped scales."""


def rating_site(title: str) -> Site:
    """Returns the pages over some transcripts.

    Args:
        title: Of the scales.
    """
    return Site("rating", title, Path(__file__).parent, LANGUAGES, rating_words)


@functools.cache
def rating_words(language: str) -> Words:
    """Returns the words of one of `LANGUAGES`; the English ones for another language.

    Raises:
        ContentError: A file is wrong.
    """
    return survey_words("rating", language if language in LANGUAGES else "en")
