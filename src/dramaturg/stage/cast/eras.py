"""Settings and the timeline: where and when a character may live, and so what it can know."""

from __future__ import annotations

import functools
import re
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.files import load_yaml
from dramaturg.stage.cast.character import Origin
from dramaturg.stage.cast.names import Gender

Words = Annotated[tuple[str, ...], Field(min_length=1)]
HUMAN = "human being"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Occupation(_Frozen):
    """What somebody does in a setting.

    Attributes:
        is_: What it is called.
        ages: Least and most years of whoever does it, of a human life.
        genders: Who does it there and then; empty means everybody.
        knows: What it teaches.
    """

    is_: Annotated[str, Field(alias="is")]
    ages: tuple[int, int]
    genders: tuple[Gender, ...] = ()
    knows: Words


class Setting(_Frozen):
    """A time and a place, and who lives there.

    Attributes:
        id: Its name.
        origin: Past, today, an invented world, or no human beings.
        culture: Whose names are borne there.
        years: First and last year that is drawn; None where our calendar says nothing.
        era: How the time is called; ``{year}`` stands for the year drawn.
        places: Where in it.
        races: Who lives there.
        machine: Whether these are machines.
        lifespan: By how much a life there is longer than a human one.
        occupations: What people do there.
    """

    id: str
    origin: Origin
    culture: str
    years: tuple[int, int] | None = None
    era: str
    places: Words
    races: Words = (HUMAN,)
    machine: bool = False
    lifespan: Annotated[int, Field(ge=1)] = 1
    occupations: Annotated[tuple[Occupation, ...], Field(min_length=1)]


class Novelty(_Frozen):
    """Something that came into the world in a year.

    Attributes:
        year: The year.
        what: What it is, for people.
        words: How a text names it.
    """

    year: int
    what: str
    words: Words

    def named_in(self, text: str) -> str:
        """Returns the word by which a text names it; empty where it does not."""
        found = _pattern(self.words).search(text)
        return found[0] if found is not None else ""


class Event(_Frozen):
    """Something that happens in a life.

    Attributes:
        from_: Least share of a life that has passed by then.
        text: How it is told; ``{age}`` stands for the age at which it happened.
    """

    from_: Annotated[float, Field(alias="from", gt=0, lt=1)]
    text: str


class Looks(_Frozen):
    """How a body may be."""

    build: Words
    marks: Words


class Traits(_Frozen):
    """What a character may be like, whatever its time, and what came into the world when."""

    personality: Words
    opposed: tuple[tuple[str, str], ...]
    values: Words
    likes: Words
    dislikes: Words
    physical: Looks
    machine_physical: Looks
    history: tuple[Event, ...]
    machine_history: tuple[Event, ...]
    timeline: tuple[Novelty, ...]


class _Settings(_Frozen):
    settings: tuple[Setting, ...]


def _folder() -> Path:
    return Path(str(resources.files("dramaturg"))) / "content" / "cast"


@functools.cache
def settings() -> dict[str, Setting]:
    """Returns the shipped settings by their id."""
    return {setting.id: setting for setting in load_yaml(_folder() / "eras.yaml", _Settings).settings}


@functools.cache
def traits() -> Traits:
    """Returns the shipped traits and the timeline."""
    return load_yaml(_folder() / "traits.yaml", Traits)


@functools.cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Returns a pattern of whole words; a word in capitals matches as it stands, others in any case, and in plural."""
    parts = [re.escape(word) if word[:1].isupper() else f"(?i:{re.escape(word)}s?)" for word in words]
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")


def unknown_in(year: int) -> tuple[Novelty, ...]:
    """Returns what came into the world after a year, the earliest first: nobody who lives then can know it."""
    return tuple(novelty for novelty in traits().timeline if novelty.year > year)


def anachronisms(text: str, year: int) -> list[tuple[str, Novelty]]:
    """Returns what a text names that nobody could know in a year, each with the word that names it."""
    return [(word, novelty) for novelty in unknown_in(year) if (word := novelty.named_in(text))]


def dated(text: str) -> list[tuple[str, Novelty]]:
    """Returns what a text names of the timeline, each with the word that names it."""
    return [(word, novelty) for novelty in traits().timeline if (word := novelty.named_in(text))]
