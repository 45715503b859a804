"""The scene: where a story begins, frozen before anybody acts.

Source: CharacterBox, section 3.1: a scene is its environment and its characters. Aliases, the conflict and the
opening acts are named here, so that a narrator's answer can be matched to a person and a judge knows what is at stake.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank."""

Called = Annotated[Text, AfterValidator(lambda name: " ".join(name.split()))]
"""What somebody is called: text on one line."""

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=80)]
"""Lower-case letters, digits and hyphens."""

SceneSource = Literal["original", "extracted", "generated", "crafted"]
"""Where a scene comes from: written by hand, taken from a work, invented after a work, or made by `world craft`."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Environment(_Frozen):
    """What surrounds the characters; the narrator changes it.

    Attributes:
        time: When.
        place: Where.
        description: What can be seen, heard and felt.
    """

    time: str = ""
    place: Text
    description: str = ""


class Opening(_Frozen):
    """What a character does before the first round.

    Attributes:
        action: What it does.
        speech: What it says.
    """

    action: str = ""
    speech: str = ""


class SceneCharacter(_Frozen):
    """Somebody in a scene.

    Attributes:
        id: Unique in the scene.
        name: As the story calls it.
        aliases: Other names, short names and titles by which it may be called, in any language.
        gender: As the story has it; empty where it is not told.
        profile: Who the character is: temper, history, wishes, ties to the others. Told to its player alone.
        position: Where it stands at the beginning.
        state: How it is, in body and mind, at the beginning.
        opening: What it does before the first round.
    """

    id: Slug
    name: Called
    aliases: tuple[Called, ...] = ()
    gender: str = ""
    profile: str = ""
    position: str = ""
    state: str = ""
    opening: Opening | None = None


class Scene(_Frozen):
    """A scene.

    Attributes:
        id: Unique among the scenes of a study.
        title: For people.
        language: ISO 639-1; what is said and told is in it.
        event: What is going on, and why nobody can stay out of it; everybody knows it.
        environment: Time, place and surroundings at the beginning.
        characters: Who is there, in the order in which they act.
        plot: How its author expects it to go on; for people, shown to no player.
        source: Where it comes from.
        work: The work that it was taken from or written after.
        tags: Free words to filter by.
        origin: The row that it was imported from, in its own form; no part of what is played.
    """

    id: Slug
    title: Text
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")] = "en"
    event: Text
    environment: Environment
    characters: Annotated[tuple[SceneCharacter, ...], Field(min_length=1)]
    plot: str = ""
    source: SceneSource = "original"
    work: str = ""
    tags: tuple[str, ...] = ()
    origin: dict[str, JsonValue] | None = None

    @model_validator(mode="after")
    def _characters_are_distinct(self) -> Self:
        for what in ("id", "name"):
            seen: set[str] = set()
            for character in self.characters:
                value = str(getattr(character, what)).casefold()
                if value in seen:
                    raise ValueError(f"two characters have the {what} {value!r}; every one has its own")
                seen.add(value)
        return self
