"""Forms: how a model is told to give its answer, and the JSON schema where there is one."""

from __future__ import annotations

import functools
from typing import Literal, TypeAlias, get_args

from dramaturg.model.request import AnswerSchema
from dramaturg.prompts import Prompt, load_prompt
from dramaturg.stage.interview.item import Category

Form: TypeAlias = Literal["tag", "json", "free"]
"""How an answer is given.

tag: ``[fear] What is said``, ``[yes] What is said``. json: an object with ``emotion`` or ``decision``, and ``text``,
by schema. free: nothing is said of a form. What a character says of facts has no form in any of them.
"""

FORMS: tuple[Form, ...] = get_args(Form)


def form_prompt(form: Form, category: Category, language: str = "en") -> Prompt | None:
    """Returns the prompt that asks for a form; None where nothing is said of it."""
    answer = _answer_key(category)
    return None if form == "free" or not answer else load_prompt(f"interview-form-{answer}-{form}", language)


def form_text(form: Form, category: Category, labels: tuple[str, ...], language: str = "en") -> str:
    """Returns what is said of the form; empty where nothing is.

    Args:
        form: Which.
        category: Of the item.
        labels: What an emotion may be.
        language: Of the item, ISO 639-1.
    """
    prompt = form_prompt(form, category, language)
    if prompt is None:
        return ""
    return prompt.fill(labels=", ".join(labels)) if prompt.variables else prompt.fill()


@functools.lru_cache(maxsize=64)
def form_schema(form: Form, category: Category, labels: tuple[str, ...]) -> AnswerSchema | None:
    """Returns the schema that an answer must follow; None where there is none. See `form_text` for the arguments."""
    answer = _answer_key(category)
    if form != "json" or not answer:
        return None
    allowed = list(labels) if answer == "emotion" else ["yes", "no"]
    return AnswerSchema(
        answer,
        {
            "type": "object",
            "properties": {answer: {"type": "string", "enum": allowed}, "text": {"type": "string"}},
            "required": [answer, "text"],
            "additionalProperties": False,
        },
    )


def _answer_key(category: Category) -> str:
    """Returns what an answer of this category is called; empty where only the text counts."""
    match category:
        case "emotion":
            return "emotion"
        case "decision" | "moral":
            return "decision"
        case "in_character" | "knows":
            return ""
