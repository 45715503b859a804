"""What a model is asked for: scenarios in small forms, and the items that they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dramaturg.facts import Fact, Form
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview.item import Category, Item, Text

MOST_IN_A_FORM = 4
"""Scenarios that one answer holds; a small model loses the thread in longer lists."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class EmotionDraft(_Answer):
    """A message that moves the character."""

    reason: Text
    message: Text
    answer: Text


class ChoiceDraft(_Answer):
    """A message that the character answers with yes or no."""

    reason: Text
    message: Text
    answer: Literal["yes", "no"]


class Translation(_Answer):
    """How a fact is said in another language."""

    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")]
    form: Form


class FactDraft(_Answer):
    """A question about a fact.

    Attributes:
        reason: Why the character cannot, or must, know it.
        message: The question.
        fact: The answer in a sentence.
        forms: What gives it away in a reply: names, short names, other spellings.
        translations: The same in other languages.
        date: Where the answer is a date, the date.
        since: Year of our calendar since which anybody can know it; None where it is of an invented world.
    """

    reason: Text
    message: Text
    fact: Text
    forms: Annotated[tuple[Form, ...], Field(min_length=1, max_length=8)]
    translations: Annotated[tuple[Translation, ...], Field(max_length=6)] = ()
    date: str = ""
    since: int | None = None


Draft: TypeAlias = EmotionDraft | ChoiceDraft | FactDraft


class EmotionDrafts(_Answer):
    """An answer for ``emotion``."""

    scenarios: Annotated[tuple[EmotionDraft, ...], Field(min_length=1, max_length=MOST_IN_A_FORM)]


class ChoiceDrafts(_Answer):
    """An answer for ``decision`` and ``moral``."""

    scenarios: Annotated[tuple[ChoiceDraft, ...], Field(min_length=1, max_length=MOST_IN_A_FORM)]


class FactDrafts(_Answer):
    """An answer for ``in_character`` and ``knows``."""

    scenarios: Annotated[tuple[FactDraft, ...], Field(min_length=1, max_length=MOST_IN_A_FORM)]


Drafts: TypeAlias = EmotionDrafts | ChoiceDrafts | FactDrafts
DraftsT = TypeVar("DraftsT", EmotionDrafts, ChoiceDrafts, FactDrafts)

FORMS: Mapping[Category, type[Drafts]] = {
    "emotion": EmotionDrafts,
    "decision": ChoiceDrafts,
    "moral": ChoiceDrafts,
    "in_character": FactDrafts,
    "knows": FactDrafts,
}


def fact_of(draft: FactDraft, language: str) -> Fact:
    """Returns the fact of a draft; a date that is none is left out.

    Args:
        draft: The draft.
        language: Of the draft's own forms, ISO 639-1. Names are said alike elsewhere, so they count in any language.
    """
    forms: dict[str, tuple[str, ...]] = {"": tuple(dict.fromkeys(draft.forms))}
    for translation in draft.translations:
        if translation.language != language:
            known = forms.get(translation.language, ())
            forms[translation.language] = tuple(dict.fromkeys((*known, translation.form)))
    try:
        return Fact(text=draft.fact, forms=forms, date=draft.date.strip())
    except ValidationError:
        return Fact(text=draft.fact, forms=forms)


def item_of(draft: Draft, character: Character, category: Category, number: int, language: str) -> Item:
    """Returns the item of a draft.

    Args:
        draft: The draft.
        character: Who is asked.
        category: What is asked for.
        number: Position among the character's items of the category.
        language: Of the message.
    """
    facts = (fact_of(draft, language),) if isinstance(draft, FactDraft) else ()
    return Item(
        id=f"{character.id}-{category.replace('_', '-')}-{number}",
        character=character.id,
        category=category,
        message=draft.message,
        expected="" if isinstance(draft, FactDraft) else draft.answer.strip().casefold(),
        facts=facts,
        reason=draft.reason,
        language=language,
    )
