"""A scene as the YAML file that `read_scenes` reads."""

from __future__ import annotations

from pydantic import JsonValue

from dramaturg.files import dump_yaml
from dramaturg.stage.world.scene import Scene

_WIDTH = 110


def scene_yaml(scene: Scene) -> str:
    """Returns the scene as YAML; what stands at its default is left out, the language never is."""
    data: dict[str, JsonValue] = {"id": scene.id, "title": scene.title, "language": scene.language}
    data |= scene.model_dump(mode="json", exclude_defaults=True)
    return dump_yaml(data, width=_WIDTH)
