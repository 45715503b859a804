"""A rater made of rules: it sees what code can see in a performance, and nothing of how well a role is played.

Says something again or copies it, breaks off, speaks as an AI: the share of acts with such a fault takes points off,
and the critique names the turns. A teacher for nothing, for small models that play badly in ways that
anybody can see; whoever plays without these faults gets the highest ratings from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg.judge.audit.patterns import AS_AN_AI
from dramaturg.judge.rating.by_rule import SOURCE, answer_by_rule, shown_in
from dramaturg.judge.rating.rendering import CONTINUED, marks
from dramaturg.judge.rating.rubric import HIGHEST, LOWEST
from dramaturg.model import Reply, Request
from dramaturg.model.script import BuiltIn
from dramaturg.stage.world.sameness import is_copy, is_same

_LINE = re.compile(r"^(?P<mark>\w+) \[(?P<turn>T\d+)\][^:：\n]{0,160}[:：] (?P<text>.*)$", re.MULTILINE)
_ENDED = re.compile(r"[.!?…。！？](?:[\"'”’」』)）*]|\s)*$")

FAULTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "again": "{turn} says again what was said in {other}.",
        "unfinished": "{turn} breaks off.",
        "as_an_ai": "{turn} speaks as an AI.",
        "none": "No act repeats another, breaks off or leaves the role.",
    },
    "zh": {
        "again": "{turn} 重复了 {other} 已经说过的内容。",
        "unfinished": "{turn} 话没有说完。",
        "as_an_ai": "{turn} 以人工智能的身份说话。",
        "none": "没有重复、没有中断，也没有脱离角色。",
    },
}
"""Language → fault → what a critique says of it."""

WEIGHS: Mapping[str, frozenset[str]] = {
    "knowledge_accuracy": frozenset({"as_an_ai"}),
    "behavioral_accuracy": frozenset({"unfinished", "as_an_ai"}),
    "emotional_expression": frozenset({"unfinished"}),
    "personality_traits": frozenset({"again", "as_an_ai"}),
    "immersion": frozenset({"again", "unfinished", "as_an_ai"}),
    "adaptability": frozenset({"again"}),
    "behavioral_coherence": frozenset({"again", "unfinished"}),
}
"""Metric → the faults that take points off; any other metric is touched by all of them."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A fault that code sees.

    Attributes:
        kind: Of `FAULTS`.
        turn: Where.
        other: The turn that it repeats; empty for other kinds.
    """

    kind: str
    turn: str
    other: str = ""


def faults_in(shown: str) -> tuple[list[Seen], int]:
    """Returns the faults of a performance as a rater is shown it, and how many acts it has."""
    found: list[Seen] = []
    own_marks = {marks(language)["done"] for language in FAULTS}
    before: list[tuple[str, str, bool]] = []
    acts = 0
    for line in _LINE.finditer(shown.replace(f"\n{CONTINUED}", " ")):
        turn, text, done = line["turn"], line["text"].strip(), line["mark"] in own_marks
        if done:
            acts += 1
            same = (name for name, told, own in before if (is_same if own else is_copy)(text, told))
            if other := next(same, ""):
                found.append(Seen("again", turn, other))
            if not _ENDED.search(text):
                found.append(Seen("unfinished", turn))
            if AS_AN_AI.search(text):
                found.append(Seen("as_an_ai", turn))
        before.append((turn, text, done))
    return found, acts


def rating_of(metric: str, found: Sequence[Seen], acts: int) -> int:
    """Returns the rating of a metric: from the highest down to the lowest by the share of acts with a fault of its."""
    faulty = {one.turn for one in _touching(metric, found)}
    return HIGHEST - round((HIGHEST - LOWEST) * len(faulty) / max(1, acts))


def critique_of(found: Sequence[Seen], language: str) -> str:
    """Returns what is wrong, turn by turn."""
    words = FAULTS[language]
    return " ".join(words[one.kind].format(turn=one.turn, other=one.other) for one in found) or words["none"]


def _touching(metric: str, found: Sequence[Seen]) -> list[Seen]:
    """Returns the faults that take points off a metric."""
    counted = WEIGHS.get(metric)
    return [one for one in found if counted is None or one.kind in counted]


def _reply(request: Request) -> Reply:
    shown = shown_in(request)
    language = next((one for one in FAULTS if f"\n{marks(one)['done']} [" in shown), "en")
    found, acts = faults_in(shown)
    critique = critique_of(found, language)
    return answer_by_rule(
        request,
        lambda metric: rating_of(metric, found, acts),
        critique=critique,
        of_one=critique,
        reason=lambda metric: critique_of(_touching(metric, found)[:1], language),
    )


BUILT_IN: Mapping[str, BuiltIn] = {"rule-rater": BuiltIn(_reply, (Path(__file__), SOURCE))}
"""Name → script, for `script:NAME`."""
