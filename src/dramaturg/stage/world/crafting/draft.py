"""What a screenwriter and a director answer: a scene in one form, and the scene that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from dramaturg.stage.slug import slug
from dramaturg.stage.world.answers import is_blank
from dramaturg.stage.world.crafting.premise import FEWEST_PEOPLE, MOST_PEOPLE
from dramaturg.stage.world.importing import ActionRow, Told
from dramaturg.stage.world.scene import Environment, Opening, Scene, SceneCharacter, SceneSource, Text

MOST_EVENTS = 3
"""Events that a screenwriter may list of one piece of a text."""


_BY_POSITION = tuple(f"c{at}" for at in range(1, MOST_PEOPLE + 1))
"""Ids of those whose names make none of their own."""


Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: () if value is None else value)]
"""What people are called; null is nobody."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Event(_Answer):
    """Something in a text that can be staged."""

    event: Text
    people: Names = ()


class Events(_Answer):
    """What can be staged of a piece of a text; nothing is an answer too."""

    events: Annotated[tuple[Event, ...], Field(max_length=MOST_EVENTS)]


class CharacterDraft(_Answer):
    """Somebody in a drafted scene."""

    name: Text
    aliases: Names = ()
    gender: Told = ""
    profile: Text
    position: Told = ""
    state: Told = ""
    action: Told = ""
    speech: Told = ""


class SceneDraft(_Answer):
    """A drafted scene."""

    title: Text
    event: Text
    time: Told = ""
    place: Text
    description: Told = ""
    characters: Annotated[tuple[CharacterDraft, ...], Field(min_length=FEWEST_PEOPLE, max_length=MOST_PEOPLE)]
    plot: Told = ""

    @model_validator(mode="after")
    def _names_are_distinct(self) -> Self:
        names = [character.name.casefold() for character in self.characters]
        if twice := next((name for at, name in enumerate(names) if name in names[:at]), ""):
            raise ValueError(f"two characters are called {twice!r}; every one has its own name")
        return self


def scene_of(
    draft: SceneDraft, *, unit: str, language: str, source: SceneSource, work: str, tags: Sequence[str]
) -> Scene:
    """Returns the scene of a draft; aliases that two characters share are left out, for they name nobody.

    Args:
        draft: The draft.
        unit: Id of the unit that made it; its beginning tells scenes of one title apart.
        language: In which it is written.
        source: Where it comes from.
        work: Title of the work; empty where there is none.
        tags: Its tags.
    """
    return Scene(
        id=f"{slug(draft.title) or 'scene'}-{unit[:6]}",
        title=draft.title,
        language=language,
        event=draft.event,
        environment=Environment(time=draft.time.strip(), place=draft.place, description=draft.description.strip()),
        characters=tuple(_character(draft.characters, at) for at in range(len(draft.characters))),
        plot=draft.plot.strip(),
        source=source,
        work=work,
        tags=tuple(tags),
    )


def _character(drafts: Sequence[CharacterDraft], at: int) -> SceneCharacter:
    draft = drafts[at]
    ids = [slug(one.name) for one in drafts]
    of_others = {name.strip().casefold() for one in drafts if one is not draft for name in (one.name, *one.aliases)}
    own = {alias.strip().casefold(): alias.strip() for alias in draft.aliases if not is_blank(alias)}
    own.pop(draft.name.casefold(), None)
    speech = "" if ActionRow(dialogue=draft.speech).is_silence else draft.speech.strip()
    opening = Opening(action=draft.action.strip(), speech=speech)
    return SceneCharacter(
        id=ids[at] if ids[at] and ids.count(ids[at]) == 1 and ids[at] not in _BY_POSITION else _BY_POSITION[at],
        name=draft.name,
        aliases=tuple(alias for folded, alias in own.items() if folded not in of_others),
        gender=draft.gender.strip(),
        profile=draft.profile,
        position=draft.position.strip(),
        state=draft.state.strip(),
        opening=opening if opening != Opening() else None,
    )
