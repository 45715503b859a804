"""Reads the answer to one question: a JSON object, labelled lines, or one word. Pure functions.

Of whole objects the last counts, and so does the last of two lines with one label. One word is an answer as the whole
last line, behind a label such as ``Answer:`` there, or at the head of the first line; where both lines answer, they
must agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, cast

from pydantic import BaseModel

from dramaturg.model.answer_type import Checked, field_labels, validated, yes_no_field
from dramaturg.model.corrections import is_taken_back
from dramaturg.model.labelled import lines_behind, read_lines
from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.relaxed import joined
from dramaturg.model.tolerant import Broken, Found, json_line, plain_key, read_json
from dramaturg.model.vocabulary import plain_text, read_yes_no, yes_no_synonyms
from dramaturg.text import Json

AnswerT = TypeVar("AnswerT", bound=BaseModel)

_LABELLED = re.compile(
    r"\W*(?:(?:so|therefore|thus|hence|and|in|my|the|overall|final)\W+){0,3}"
    r"(?:answer|verdict|result|conclusion|judge?ment|decision|risposta|verdetto|réponse|答案|结论|判断|回答)",
    re.IGNORECASE,
)
_WHOLE = frozenset(map(plain_text, yes_no_synonyms("en", "it", "fr", "zh")))


@dataclass(frozen=True, slots=True)
class Reading(Generic[AnswerT]):
    """What one text gives.

    Attributes:
        value: The answer, or None.
        failure: Why there is none; empty otherwise.
        detail: One line for people.
        repaired: Whether it needed a tolerant reading.
    """

    value: AnswerT | None
    failure: Literal["", "unparsed", "contradictory"] = ""
    detail: str = ""
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What a text writes down as its answer, not yet checked.

    Attributes:
        value: The answer's fields.
        behind: What stands behind them and may take them back.
        repaired: Whether the text was more than JSON.
    """

    value: Json
    behind: str = ""
    repaired: bool = True


def read_one(text: str, answer: type[AnswerT], *, cut: bool = False) -> Reading[AnswerT]:
    """Returns the answer that a text gives, or why it gives none.

    Args:
        text: What a model wrote.
        answer: What is wanted.
        cut: Whether the text was cut at a limit; then it must be JSON as a whole.
    """
    labels = field_labels(answer)
    match find_answer(text, labels, yes_no_field(answer), cut=cut):
        case Written(value, behind, repaired):
            return settled(validated(value, answer), behind, repaired=repaired)
        case Broken():
            return Reading(None, "unparsed", "the JSON object is broken")
        case None:
            return Reading(None, "unparsed", "no JSON object with the keys " + ", ".join(labels))


def find_answer(text: str, labels: Sequence[str], decisive: str | None, *, cut: bool) -> Written | Broken | None:
    """Returns what a text writes down as its answer, or None where it does not.

    Args:
        text: What a model wrote.
        labels: Keys of the answer.
        decisive: The key that holds yes or no; None where there is none.
        cut: Whether the text was cut at a limit.
    """
    match read_json(text, keys=labels, cut=cut):
        case Found(value, repaired, behind):
            return Written(_unwrapped(value, labels), behind, repaired)
        case Broken() as broken:
            return broken
        case None:
            return None if cut else _in_text(text, labels, decisive)


def settled(checked: Checked[AnswerT], behind: str, *, repaired: bool) -> Reading[AnswerT]:
    """Returns a checked value as what was read, unless the text behind it takes its answer back."""
    if checked.value is None:
        return Reading(None, "contradictory" if checked.contradictory else "unparsed", checked.problem)
    decisive = yes_no_field(type(checked.value))
    if decisive is not None and is_taken_back(getattr(checked.value, decisive), behind):
        return Reading(None, "contradictory", "the text behind the answer says something else")
    return Reading(checked.value, repaired=repaired or checked.fitted)


def _in_text(text: str, labels: Sequence[str], decisive: str | None) -> Written | None:
    fields = cast("dict[str, Json]", read_lines(text, labels) or {})
    if decisive is None or decisive in fields:
        behind = lines_behind(text, decisive, labels) if decisive is not None else ""
        return Written(fields, behind) if fields else None
    word = _one_word(split_reasoning(text)[0], labels)
    if word is not None:
        return Written({**fields, decisive: word.value}, word.behind)
    return Written(fields) if fields else None


def _one_word(visible: str, labels: Sequence[str]) -> Written | None:
    """Returns the line that answers in one word; where the first and the last one differ, both, as one text."""
    lines = [line for line in visible.splitlines() if line.strip()]
    if not lines or json_line(visible) is not None:
        return None
    first, last = lines[0], lines[-1]
    closes = plain_text(last) in _WHOLE or _LABELLED.match(last) is not None
    closing = read_yes_no(last) if closes and read_lines(last, labels) is None else None
    opening = read_yes_no(first) if plain_text(first) in _WHOLE or _opens(first) else None
    if closing is not None:
        return Written(last if opening in {None, closing} else f"{first}\n{last}")
    return Written(first, "\n".join(lines[1:])) if opening is not None or _opens(first) else None


def _opens(line: str) -> bool:
    """Returns whether a line begins with a word for an answer and a mark, or with a label for one."""
    word = re.match(r"[^\w]*([^\W_]+)\s*[.,;:!)。，；！*—–-]", line)
    return _LABELLED.match(line) is not None or (word is not None and plain_text(word[1]) in _WHOLE)


def _unwrapped(value: dict[str, Json] | list[Json], labels: Sequence[str]) -> Json:
    """Returns the object with the answer, where another object holds nothing but it; of several, all in one."""
    wanted = frozenset(map(plain_key, labels))
    if not isinstance(value, dict) or _has_one(value, wanted):
        return value
    inner = [part for part in value.values() if isinstance(part, dict) and _has_one(part, wanted)]
    return joined([pair for part in inner for pair in part.items()]) if inner else value


def _has_one(value: dict[str, Json], wanted: frozenset[str]) -> bool:
    return any(plain_key(key) in wanted for key in value)
