"""How a rater made of rules answers, in whatever form it is asked: a critique, one metric, or all of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from dramaturg.files import shipped
from dramaturg.judge.rating.asking import CRITIQUE
from dramaturg.judge.rating.rubric import load_rubric
from dramaturg.model import Reply, Request
from dramaturg.model.script import scripted_reply
from dramaturg.text import Json, canonical_json

SOURCE = Path(__file__)
"""This file, for the digests of the scripts that answer by it."""

_NAMED = re.compile(r"^(?P<name>[^\n:：]{1,60})[:：]", re.MULTILINE)


def shown_in(request: Request) -> str:
    """Returns the material that a rater is shown."""
    return "\n".join(message.text for message in request.messages[:2])


def answer_by_rule(
    request: Request,
    rating: Callable[[str], int],
    *,
    critique: str = "By rule.",
    of_one: str = "by rule",
    reason: Callable[[str], str] = lambda _: "by rule",
) -> Reply:
    """Returns the answer to a rating's call.

    Args:
        request: The call.
        rating: Returns the rating of a metric, by its id.
        critique: What is said where a critique is asked for.
        of_one: What is said beside a metric that is asked alone.
        reason: Returns what is said beside a metric among others, by its id.
    """
    if request.labels.get("purpose") == CRITIQUE:
        return scripted_reply(request, critique)
    if (metric := request.labels.get("metric")) is not None:
        answer: dict[str, Json] = {"critique": of_one, "rating": rating(metric)}
        return scripted_reply(request, canonical_json(answer))
    names = _names()
    asked = [found["name"] for found in _NAMED.finditer(request.messages[-1].text) if found["name"] in names]
    entries: list[Json] = [{"id": name, "reason": reason(names[name]), "rating": rating(names[name])} for name in asked]
    return scripted_reply(request, canonical_json({"answers": entries}))


@functools.cache
def _names() -> Mapping[str, str]:
    """Returns the id of every metric that ships, by its name in any language."""
    return {metric.name: metric.id for path in shipped("rubrics").values() for metric in load_rubric(path).metrics}
