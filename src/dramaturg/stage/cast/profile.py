"""The profile: what a character is made of, before anybody describes it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Words = tuple[Annotated[str, Field(min_length=1)], ...]


class Profile(BaseModel):
    """A character's traits, from which a description is written.

    Source: RPEval, section 3 (name, age, gender, race, preferences, personality, physical characteristics); values,
    history, era, place, occupation and the boundary of knowledge are added, so that an item can need them.

    Attributes:
        name: As others call the character.
        age: Years.
        gender: One word.
        race: Human being, elf, robot …
        likes: What it is fond of.
        dislikes: What it cannot stand.
        personality: Traits, the strongest first.
        values: What it holds to be right.
        physical: How it looks, and what its body can do.
        history: What happened to it, the earliest first.
        era: When it lives.
        place: Where it lives.
        occupation: What it does all day.
        knows: Fields that it knows well.
        cannot_know: What lies beyond its time, place and learning.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    age: Annotated[int, Field(ge=0, le=100_000)]
    gender: Annotated[str, Field(min_length=1)]
    race: Annotated[str, Field(min_length=1)]
    likes: _Words
    dislikes: _Words
    personality: _Words
    values: _Words
    physical: _Words
    history: _Words
    era: Annotated[str, Field(min_length=1)]
    place: Annotated[str, Field(min_length=1)]
    occupation: Annotated[str, Field(min_length=1)]
    knows: _Words = ()
    cannot_know: _Words = ()
