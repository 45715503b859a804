"""What a play has from its beginning to its end: scene, cast, protocol, limits, and the words of its language."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from dramaturg import __version__
from dramaturg.errors import UserError
from dramaturg.ledger.calls import Calls
from dramaturg.model.embeddings import Embedder
from dramaturg.prompts import Prompt, hashes, load_prompt, prompt_names
from dramaturg.stage.audience import Audience
from dramaturg.stage.cast import Cast, ModelSeat
from dramaturg.stage.court.record import language_name
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Player, Role, Scenario, Turn
from dramaturg.stage.world.chain import OnCall
from dramaturg.stage.world.limits import WorldLimits
from dramaturg.stage.world.memory import HALF_LIFE_ROUNDS, MemoryRules, shortened
from dramaturg.stage.world.naming import Names
from dramaturg.stage.world.scene import Environment, Scene, SceneCharacter
from dramaturg.text import canonical_json, sha256

WorldProtocol = Literal["paper", "released", "fast"]
"""The exact variant of a round."""

CHARACTER = "character"
NARRATOR = "narrator"
DIRECTOR = "director"
ENVIRONMENT = "environment"
"""Owner of the states of what surrounds everybody."""

PROMPTS = "world-"
"""How the names of a play's prompts begin."""


def character_role(character: str) -> str:
    """Returns the id of the role of a character."""
    return f"{CHARACTER}:{character}"


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of one play.

    Attributes:
        scene: What is played.
        protocol: The variant.
        limits: What may be used.
        cast: Who plays.
        calls: The unit's calls.
        embedder: What compares memories with a situation.
        memory: How characters remember.
        names: Finds whom a text names.
        director: Who plans the rounds; None where nobody does.
        audience: Who watches.
        on_call: Is told of every call.
        prompts: Folder of prompts that replace shipped ones; None where all are as shipped.
    """

    scene: Scene
    protocol: WorldProtocol
    limits: WorldLimits
    cast: Cast
    calls: Calls
    embedder: Embedder
    memory: MemoryRules
    names: Names
    director: ModelSeat | None = None
    audience: Audience | None = None
    on_call: OnCall | None = None
    prompts: Path | None = None

    @property
    def language(self) -> str:
        """Of the scene, ISO 639-1."""
        return self.scene.language

    @property
    def roles(self) -> tuple[Role, ...]:
        """Everybody on the stage: the characters, the narrator, and the director where there is one."""
        played = [self.role_of(character) for character in self.scene.characters]
        beside = [Role(id=NARRATOR, kind=NARRATOR, name=self.word("narrator"))]
        if self.director is not None:
            beside.append(Role(id=DIRECTOR, kind=DIRECTOR, name=self.word("director")))
        return (*played, *beside)

    def role_of(self, character: SceneCharacter) -> Role:
        """Returns the role of a character, with what a judge may know of it."""
        return Role(id=character_role(character.id), kind=CHARACTER, name=character.name, description=character.profile)

    def player(self, role: Role) -> Player:
        """Returns who plays a role, as the transcript names it."""
        if role.kind == DIRECTOR and self.director is not None:
            return self.director.player
        return self.cast.seat(role).player

    def narrator(self) -> ModelSeat:
        """Returns who narrates.

        Raises:
            UserError: Nobody does, or a person does.
        """
        seat = self.cast.seat(Role(id=NARRATOR, kind=NARRATOR, name=NARRATOR))
        if not isinstance(seat, ModelSeat):
            raise UserError("the narrator must be played by a model or a script", allowed="a model spec")
        return seat

    def prompt(self, name: str) -> Prompt:
        """Returns a prompt of the play in the scene's language."""
        return load_prompt(f"{PROMPTS}{name}", self.language, self.prompts)

    def word(self, key: str) -> str:
        """Returns one of the short words that stand in lines of a chat."""
        return words(self.language, self.prompts)[key]

    @property
    def language_words(self) -> str:
        """The name of the scene's language."""
        return language_name(self.language)

    def line(self, turn: Turn) -> str:
        """Returns a turn as a line of a chat: on one line, so that no text can be taken for a line of another."""
        return self.told(turn.kind, turn.speaker, turn.text)

    def told(self, kind: str, speaker: str, text: str) -> str:
        """Returns what somebody does or says, or what the narrator tells, as a line of a chat."""
        match kind:
            case "action":
                return f"- {one_line(speaker)} ({self.word('acts')}): {one_line(text)}"
            case "speech":
                return f"- {one_line(speaker)} ({self.word('says')}): “{one_line(text)}”"
            case _:
                return f"- {one_line(text)}"

    def profile(self, character: SceneCharacter) -> str:
        """Returns what the player of a character is told of it; its middle is left out where it is too long."""
        return shortened(character.profile.strip(), self.limits.profile_tokens) or self.word("no_profile")

    def scenario(self) -> Scenario:
        """Returns what was staged, with all that a judge may check against."""
        return Scenario(
            id=self.scene.id,
            title=self.scene.title,
            language=self.language,
            digest=scene_digest(self.scene),
            reference=_reference(self.scene),
        )

    def versions(self) -> dict[str, JsonValue]:
        """Returns what this play depends on beside scene, cast and seed."""
        names = tuple(name for name in prompt_names() if name.startswith(PROMPTS))
        memory: dict[str, JsonValue] = {
            "compared_by": self.embedder.name,
            "half_life_rounds": HALF_LIFE_ROUNDS,
            "recency": self.memory.weights.recency,
            "relevance": self.memory.weights.relevance,
            "importance": self.memory.weights.importance,
            "importance_by": self.memory.importance_by,
        }
        return {
            "package": __version__,
            "prompts": dict(hashes(names, self.language, self.prompts)),
            "limits": {name: getattr(self.limits, name) for name in WorldLimits.__dataclass_fields__},
            "memory": memory,
        }


@functools.cache
def words(language: str, prompts: Path | None = None) -> Mapping[str, str]:
    """Returns the short words of a language that stand in lines of a chat, by key."""
    lines = load_prompt(f"{PROMPTS}words", language, prompts).fill().splitlines()
    return {key.strip(): text.strip() for key, _, text in (line.partition(":") for line in lines if line.strip())}


def scene_digest(scene: Scene) -> str:
    """Returns the hash of a scene: of all that is played, so without the row that it was imported from."""
    return sha256(canonical_json(scene.model_dump(mode="json", exclude={"origin"})))


def surroundings(environment: Environment) -> str:
    """Returns an environment on one line."""
    head = ", ".join(part for part in (environment.time, environment.place) if part)
    return one_line(f"{head}. {environment.description}" if environment.description else head)


def _reference(scene: Scene) -> str:
    parts = [scene.event, surroundings(scene.environment)]
    for character in scene.characters:
        where = "; ".join(part for part in (character.position, character.state) if part)
        parts.append(f"{character.name}: {character.profile}" + (f" [{where}]" if where else ""))
    return "\n\n".join(parts)
