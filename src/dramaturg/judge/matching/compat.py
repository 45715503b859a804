"""The published rule (RPEval's runner, reference HEAD 6526cb9), bit by bit; see `compat`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel

from dramaturg.facts import Fact
from dramaturg.judge.matching.question import Question, Verdict

Label: TypeAlias = Literal[
    "determination",
    "anger",
    "anticipation",
    "excitement",
    "sadness",
    "disgust",
    "fear",
    "surprise",
    "joy",
    "hope",
    "love",
    "guilt",
    "pride",
]
"""The labels that the published rule knows, whatever the item set's own are."""

_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


@dataclass(frozen=True, slots=True)
class Crash:
    """The published runner would have ended with an error; it scores 0 here.

    Attributes:
        why: What it stumbles over.
    """

    why: str

    @property
    def credit(self) -> float:
        """Always 0."""
        return 0.0


def compat(question: Question, reply: str | None) -> Verdict | Crash:
    """Returns what the published rule makes of a reply: right, wrong or a crash, and nothing else.

    Emotion: the reply must be JSON with a text and a label that is one of the 13, and be the expected one. Decision and
    moral: JSON whose `decision` is exactly ``yes`` or ``no``, and the expected one. In character: wrong if any form of
    any fact is a substring once both are in lower case and curly quotes are straight; anything else, an empty
    reply too, is right. Knows is no category of the published set: every fact must be found so.

    Args:
        question: The item.
        reply: The model's text as it came, reasoning and all; None where the provider gave none.
    """
    match question.kind:
        case "emotion":
            answer = _emotion(reply)
        case "decision" | "moral":
            answer = _decision(reply)
        case "in_character":
            if reply is None:
                return Crash("there is no text in which keywords could be sought")
            return Verdict("wrong" if _says_any(reply, _keywords(question)) else "right")
        case "knows":
            if reply is None:
                return Crash("there is no text in which keywords could be sought")
            known = all(_says_any(reply, _forms(fact, question)) for fact in question.facts)
            return Verdict("right" if known else "wrong")
    return Verdict("right" if answer and answer == question.expected else "wrong", answer)


class _Emotion(BaseModel):
    emotion: Label
    text: str


class _Decision(BaseModel):
    decision: Literal["yes", "no"]


def _emotion(reply: str | None) -> str:
    try:
        return _Emotion.model_validate_json(reply or "").emotion
    except ValueError:
        return ""


def _decision(reply: str | None) -> str:
    try:
        return _Decision.model_validate_json(reply or "").decision
    except ValueError:
        return ""


def _keywords(question: Question) -> Iterable[str]:
    return (form for fact in question.facts for form in _forms(fact, question))


def _forms(fact: Fact, question: Question) -> tuple[str, ...]:
    """Returns the forms that the published set could hold: keywords, in no language or in the item's."""
    return (*fact.forms.get("", ()), *fact.forms.get(question.language, ()))


def _says_any(reply: str, forms: Iterable[str]) -> bool:
    said = _folded(reply)
    return any(_folded(form) in said for form in forms)


def _folded(text: str) -> str:
    return text.lower().strip().translate(_QUOTES)
