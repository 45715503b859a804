"""Raters made of rules: one that knows what was planted, one that always gives 5, one that draws lots.

They read what any rater reads and answer in whatever form is asked for. They show what an audit says of a rater that
sees everything, of one that never looks, and of chance.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import get_args

from dramaturg.judge.audit.mutation import Severity
from dramaturg.judge.audit.world.faults import DETECTED_BY
from dramaturg.judge.audit.world.plan import planted_text
from dramaturg.judge.audit.world.scenes import shipped_rater_bases
from dramaturg.judge.rating import HIGHEST, LOWEST
from dramaturg.judge.rating.by_rule import SOURCE, answer_by_rule, shown_in
from dramaturg.judge.rating.rendering import CONTINUED
from dramaturg.model import Reply, Request
from dramaturg.model.script import BuiltIn

FALL: Mapping[Severity, int] = {"mild": 2, "severe": 4}
"""Points that the rater who knows takes off."""

Rating = Callable[[str, str, Request], int]
"""Returns the rating of a metric, by its id, and the material that is shown."""


def oracle(metric: str, shown: str, request: Request) -> int:
    """Returns the highest rating, less what the planted fault takes that stands in the material."""
    falls = [FALL[severity] for text, severity, metrics in _planted() if metric in metrics and text in shown]
    return max(LOWEST, HIGHEST - max(falls, default=0))


def always_five(metric: str, shown: str, request: Request) -> int:
    """Returns the highest rating: all is well."""
    return HIGHEST


def random_rater(metric: str, shown: str, request: Request) -> int:
    """Returns any rating, by the request's seed and what is shown."""
    return Random(f"{request.seed}/{metric}/{shown}").randint(LOWEST, HIGHEST)


def _reply(rating: Rating, request: Request) -> Reply:
    shown = _plain(shown_in(request))
    return answer_by_rule(request, lambda metric: rating(metric, shown, request))


@functools.cache
def _planted() -> tuple[tuple[str, Severity, tuple[str, ...]], ...]:
    """Returns each text that an audit plants, how plain the fault is, and which metrics it offends."""
    return tuple(
        (
            _plain(planted_text(base, hook.turn, hook.mild if severity == "mild" else hook.severe)),
            severity,
            DETECTED_BY[kind],
        )
        for base in shipped_rater_bases()
        for kind, hooks in base.hooks.items()
        for hook in hooks
        for severity in get_args(Severity)
    )


def _plain(text: str) -> str:
    return " ".join(text.replace(CONTINUED, "").split())


def _built_in(rating: Rating) -> BuiltIn:
    folder = Path(__file__).parent
    sources = tuple(folder / f"{name}.py" for name in ("scripted", "scenes", "plan", "faults"))
    return BuiltIn(functools.partial(_reply, rating), (*sources, SOURCE))


BUILT_IN: Mapping[str, BuiltIn] = {
    "rating-oracle": _built_in(oracle),
    "always-five": _built_in(always_five),
    "random-rater": _built_in(random_rater),
}
"""Name → script, for `script:NAME`."""
