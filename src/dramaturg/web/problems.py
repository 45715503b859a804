"""What a page says of a fault."""

from __future__ import annotations

from typing import Any

from dramaturg.web.elements import button, tag
from dramaturg.web.live import Live, Problem
from dramaturg.web.words import Words


def problem_words(say: Words, problem: Problem) -> str:
    """Returns what a fault is called, with its detail: never a trace."""
    key = "general.inner_fault" if problem.kind == "inner" else f"problem.{problem.kind}"
    return say(key, detail=problem.detail)


class ProblemNotice:
    """Why a performance has stopped, and how it goes on; nothing while it has not."""

    def __init__(self, say: Words, live: Live[Any]) -> None:
        """Shows nothing yet.

        Args:
            say: The interface.
            live: The performance.
        """
        self._say = say
        self._live = live
        with tag("div", classes="notice", role="alert") as self._box:
            self._words = tag("p")
            button(say("general.retry"), live.start, "primary")
            self._accept = button(say("problem.accept"), lambda: live.start(accept_changes=True))

    def refresh(self) -> None:
        """Shows what has stopped the performance."""
        problem = self._live.problem
        self._box.set_visibility(problem is not None)
        if problem is not None:
            self._words.text = f"{self._say('problem.stopped')} {problem_words(self._say, problem)}"
            self._accept.set_visibility(problem.kind == "changed")
