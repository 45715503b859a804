"""Which shipped checklist fits a performance: the one that asks about its roles, in its language."""

from __future__ import annotations

from collections.abc import Collection

from dramaturg.files import load_yaml, shipped
from dramaturg.judge.checklist import Checklist

GENERAL = "court"
"""Taken where none asks about any of the roles."""


def fitting_checklist(kinds: Collection[str], language: str) -> str:
    """Returns the name of the shipped checklist that asks about most of the roles, and about no others.

    Args:
        kinds: Kinds of the roles in the performance.
        language: ISO 639-1; an English checklist is taken where the language has none.
    """
    best: dict[str, tuple[int, bool]] = {}
    for name, path in shipped("checklists").items():
        checklist = load_yaml(path, Checklist)
        asked = {kind for indicator in checklist.indicators for kind in indicator.roles}
        if asked <= set(kinds) and checklist.language in {language, "en"}:
            best[name] = (len(asked), checklist.language == language)
    return max(best, key=lambda name: best[name], default=GENERAL)
