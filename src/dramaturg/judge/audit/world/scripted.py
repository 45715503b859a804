"""Raters made of rules: one that knows what was planted, one that always gives 5, one that draws lots.

They read what any rater reads and answer in whatever form is asked for. They show what an audit says of a rater that
sees everything, of one that never looks, and of chance.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import get_args

from dramaturg.files import shipped
from dramaturg.judge.audit.mutation import Severity
from dramaturg.judge.audit.world.faults import DETECTED_BY
from dramaturg.judge.audit.world.plan import planted_text
from dramaturg.judge.audit.world.scenes import shipped_rater_bases
from dramaturg.judge.rating import HIGHEST, LOWEST
from dramaturg.judge.rating.asking import CRITIQUE
from dramaturg.judge.rating.rubric import load_rubric
from dramaturg.model import Reply, Request
from dramaturg.model.script import BuiltIn, scripted_reply
from dramaturg.text import Json, canonical_json

FALL: Mapping[Severity, int] = {"mild": 2, "severe": 4}
"""Points that the rater who knows takes off."""

Rating = Callable[[str, str, Request], int]
"""Returns the rating of a metric, by its id, and the material that is shown."""

_NAMED = re.compile(r"^(?P<name>[^\n:：]{1,60})[:：]", re.MULTILINE)


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
    shown = _plain("\n".join(message.text for message in request.messages[:2]))
    if request.labels.get("purpose") == CRITIQUE:
        return scripted_reply(request, "By rule.")
    if (metric := request.labels.get("metric")) is not None:
        answer: dict[str, Json] = {"critique": "by rule", "rating": rating(metric, shown, request)}
        return scripted_reply(request, canonical_json(answer))
    names = _names()
    asked = [found["name"] for found in _NAMED.finditer(request.messages[-1].text) if found["name"] in names]
    entries: list[Json] = [
        {"id": name, "reason": "by rule", "rating": rating(names[name], shown, request)} for name in asked
    ]
    return scripted_reply(request, canonical_json({"answers": entries}))


@functools.cache
def _names() -> Mapping[str, str]:
    """Returns the id of every metric that ships, by its name in any language."""
    return {metric.name: metric.id for path in shipped("rubrics").values() for metric in load_rubric(path).metrics}


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
    return " ".join(text.replace("    | ", "").split())


def _built_in(rating: Rating) -> BuiltIn:
    folder = Path(__file__).parent
    sources = tuple(folder / f"{name}.py" for name in ("scripted", "scenes", "plan", "faults"))
    return BuiltIn(functools.partial(_reply, rating), sources)


BUILT_IN: Mapping[str, BuiltIn] = {
    "rating-oracle": _built_in(oracle),
    "always-five": _built_in(always_five),
    "random-rater": _built_in(random_rater),
}
"""Name → script, for `script:NAME`."""
