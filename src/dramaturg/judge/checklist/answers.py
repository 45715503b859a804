"""What a judge answers, as pydantic types, and how words become yes, no or not applicable.

The vocabulary is closed. A word outside it is no answer: it is never read as a no.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

REASONING_CHARACTERS = 240
"""Length to which a schema that is enforced holds the reasoning; a longer one is accepted."""

MOST_CITED = 4
"""Turns that an enforced schema lets an answer name; more are accepted."""

Answer = Literal["yes", "no", "not_applicable"]

_VOCABULARY: dict[Answer, tuple[str, ...]] = {
    "yes": ("yes", "y", "true", "sì", "si", "是", "对"),
    "no": ("no", "n", "false", "否", "不是", "不"),
    "not_applicable": ("not applicable", "n/a", "na", "non applicabile", "不适用"),
}
_WORDS: dict[str, Answer] = {word: answer for answer, words in _VOCABULARY.items() for word in words}
_LABEL = re.compile(r".*\b(?:final answer|answer|verdict|risposta)\b\s*[:=]|.*答案\s*[:=]", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(r"\s[-–—]+\s|[–—,;:.!?。，；：！？()\[\]{}\"“”|]+")
_LEADING = re.compile(r"^(?:(?:and|but|so|then|therefore|thus|hence|or|my answer is|the answer is)\s+)+")
_DECORATION = "*_`'\"“”‘’#>()[]{}<. \t"


def read_answer(text: str) -> Answer | None:
    """Returns what the words say, or None where they do not say one thing.

    A last line that is one word of the vocabulary decides. Else the parts of the last line between punctuation
    marks do, if the first or the last of them is such a word and no other part says the opposite. What stands
    behind a last label such as ``Verdict:`` decides alone: a word outside the vocabulary there is no answer.

    Args:
        text: What a judge wrote as its answer.
    """
    plain = "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf")
    plain = _LABEL.sub("", plain.casefold())
    lines = [line for line in plain.splitlines() if line.strip(_DECORATION)]
    if not lines:
        return None
    whole = _word(lines[-1])
    if whole is not None:
        return whole
    parts = [part for part in _BETWEEN.split(lines[-1]) if part.strip(_DECORATION)]
    said = [_word(part) for part in parts]
    at_an_end = said[-1] or said[0]
    agree = all(answer in (at_an_end, None) for answer in said)
    return at_an_end if agree else None


def _word(text: str) -> Answer | None:
    bare = _LEADING.sub("", text.replace("_", " ").strip(_DECORATION))
    return _WORDS.get(" ".join(bare.split()))


def _read(value: object) -> object:
    """Returns the vocabulary's word where the value means one; else the value, to be refused by its type."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (read_answer(value) or value) if isinstance(value, str) else value


def _cited(value: object) -> list[str]:
    """Returns cited turns as a list of texts: a single one, numbers and null are what judges write too."""
    if value is None or isinstance(value, bool):
        return []
    return [str(item) for item in _items(value) if item is not None]


def _sentences(value: object) -> object:
    """Returns the sentences of a list as one text, and nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else " ".join(str(item) for item in _items(value))


def _items(value: object) -> list[object]:
    match value:
        case dict():
            return list(cast("dict[object, object]", value).values())
        case list():
            return cast("list[object]", value)
        case _:
            return [value]


def _as_sent(schema: dict[str, Any]) -> None:
    """Makes the schema ask for every key, in order, though what is read is more tolerant.

    The docstring goes: the schema is part of a call's key, and a reworded docstring is no other call.
    """
    schema.pop("description", None)
    schema["required"] = list(schema["properties"])
    schema["additionalProperties"] = False


Reasoning = Annotated[
    str, BeforeValidator(_sentences), WithJsonSchema({"type": "string", "maxLength": REASONING_CHARACTERS})
]
Evidence = Annotated[
    list[str],
    BeforeValidator(_cited),
    WithJsonSchema({"type": "array", "maxItems": MOST_CITED, "items": {"type": "string", "pattern": "^T[0-9]{1,4}$"}}),
]


class Reasoned(BaseModel):
    """One answer to a question that may not apply: reasoning first, then the decision."""

    model_config = ConfigDict(extra="ignore", json_schema_extra=_as_sent)

    reasoning: Reasoning = ""
    answer: Annotated[Answer, BeforeValidator(_read)]
    evidence: Evidence = Field(default_factory=list)


class Decided(Reasoned):
    """One answer to a question that has one in any transcript; the schema leaves out the third word."""

    answer: Annotated[Answer, BeforeValidator(_read), WithJsonSchema({"type": "string", "enum": ["yes", "no"]})]
