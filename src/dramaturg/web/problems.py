"""What a page says of a fault."""

from __future__ import annotations

from dramaturg.web.live import Problem
from dramaturg.web.words import Words


def problem_words(say: Words, problem: Problem) -> str:
    """Returns what a fault is called, with its detail: never a trace."""
    key = "general.inner_fault" if problem.kind == "inner" else f"problem.{problem.kind}"
    return say(key, detail=problem.detail)
