"""Who takes part in a story, as a page shows them."""

from __future__ import annotations

from dataclasses import dataclass

from dramaturg.run.games import Story
from dramaturg.run.games.game import SCENE
from dramaturg.stage.transcript import Role
from dramaturg.stage.world.reading import read_scene
from dramaturg.stage.world.scene import Scene, SceneCharacter
from dramaturg.stage.world.setting import CHARACTER, NARRATOR, character_role, words
from dramaturg.web.portraits import Portrait, portrait_of


@dataclass(frozen=True, slots=True)
class Troupe:
    """The people of a story.

    Attributes:
        scene: Where it begins.
        roles: Characters in their order, then the narrator.
    """

    scene: Scene
    roles: tuple[Role, ...]

    @property
    def language(self) -> str:
        """Of the story, ISO 639-1."""
        return self.scene.language

    def role(self, role_id: str) -> Role | None:
        """Returns a role by its id, or None."""
        return next((role for role in self.roles if role.id == role_id), None)

    def portrait(self, role: Role) -> Portrait:
        """Returns the portrait of a role."""
        return portrait_of(role.name, role.kind)

    def character(self, character_id: str) -> SceneCharacter | None:
        """Returns a character by its id, or None."""
        return next((one for one in self.scene.characters if one.id == character_id), None)


def troupe_of(scene: Scene) -> Troupe:
    """Returns who takes part in a scene."""
    played = (Role(id=character_role(one.id), kind=CHARACTER, name=one.name) for one in scene.characters)
    narrator = Role(id=NARRATOR, kind=NARRATOR, name=words(scene.language)["narrator"])
    return Troupe(scene, (*played, narrator))


def troupe_of_story(story: Story) -> Troupe:
    """Returns who takes part in a story: from its own copy of the scene.

    Raises:
        UserError: The scene cannot be read.
    """
    return troupe_of(read_scene(SCENE, beside=story.folder))
