"""Finds and reads scenes: one in a YAML file, many in JSON Lines, and CharacterBox's own files."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from pathlib import Path

from dramaturg.errors import ContentError, did_you_mean
from dramaturg.files import find, load_yaml, read_jsonl, read_lines, shipped
from dramaturg.stage.world.importing import is_characterbox, read_characterbox
from dramaturg.stage.world.scene import Scene

_YAML = (".yaml", ".yml")
_JSON = (".jsonl", ".json")
_MOST_LISTED = 20


def shipped_scenes() -> tuple[Scene, ...]:
    """Returns the scenes that ship, by the order of their names."""
    return tuple(load_yaml(path, Scene) for path in shipped("scenes").values())


def read_scenes(name_or_path: str, *, where: str = "", beside: Path | None = None) -> tuple[Scene, ...]:
    """Returns the scenes that a name or a path means.

    Args:
        name_or_path: A shipped scene's name, or a pattern of such names (``safety-*``); a file (YAML: one scene; JSONL:
            one a line; JSON: CharacterBox's form), or a folder with such files. With ``#ID`` behind it, one scene of
            several.
        where: Place of the name, for the error.
        beside: Folder that relative paths start from; the working folder by default.

    Raises:
        ContentError: There is no such file, it holds no scene, or an id stands twice; the message names file and line.
    """
    files = shipped("scenes")
    path_text, _, wanted = name_or_path.rpartition("#")
    if path_text and (fnmatch.filter(files, path_text) or _exists((beside or Path()) / path_text)):
        scenes = read_scenes(path_text, where=where, beside=beside)
        found = tuple(scene for scene in scenes if scene.id == wanted)
        if not found:
            hint = did_you_mean(wanted, (scene.id for scene in scenes))
            raise ContentError(f"no scene {wanted!r}", where=where or path_text, allowed=hint)
        return found
    if names := fnmatch.filter(files, name_or_path):
        return tuple(load_yaml(files[name], Scene) for name in names)
    folder = (beside or Path()) / name_or_path
    if _is_folder(folder):
        paths = scene_files(folder)
        if not paths:
            raise ContentError("holds no scenes", where=str(folder), allowed="YAML, JSONL or CharacterBox JSON files")
        return _distinct((str(path), scene) for path in paths for scene in _read_file(path))
    return _read_file(find("scenes", name_or_path, where=where, beside=beside))


def read_scene(name_or_path: str, *, where: str = "", beside: Path | None = None) -> Scene:
    """Returns the one scene that a name or a path means; see `read_scenes`.

    Raises:
        ContentError: There is none, or there are several; the message lists their ids.
    """
    scenes = read_scenes(name_or_path, where=where, beside=beside)
    match scenes:
        case (scene,):
            return scene
        case _:
            listed = ", ".join(scene.id for scene in scenes[:_MOST_LISTED]) + (
                ", …" if len(scenes) > _MOST_LISTED else ""
            )
            raise ContentError(
                f"{name_or_path} holds {len(scenes)} scenes",
                where=where,
                allowed=f"one of them: {name_or_path}#ID ({listed})",
            )


def scene_files(folder: Path) -> tuple[Path, ...]:
    """Returns the files of a folder and its subfolders that hold scenes; JSON and JSONL of other kinds are passed over.

    Every YAML file counts, so that a broken one is not passed over.
    """
    return tuple(
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (path.suffix in _YAML or (path.suffix in _JSON and _looks_right(path)))
    )


def _read_file(path: Path) -> tuple[Scene, ...]:
    match path.suffix:
        case ".jsonl":
            scenes = _distinct((f"{path}:{line}", scene) for line, scene in read_jsonl(path, Scene))
            if not scenes:
                raise ContentError("holds no scenes", where=str(path))
            return scenes
        case ".json":
            return read_characterbox(path)
        case _:
            return (load_yaml(path, Scene),)


def _distinct(scenes: Iterable[tuple[str, Scene]]) -> tuple[Scene, ...]:
    """Returns the scenes.

    Raises:
        ContentError: Two have one id.
    """
    found: dict[str, tuple[str, Scene]] = {}
    for place, scene in scenes:
        first, _ = found.setdefault(scene.id, (place, scene))
        if first != place:
            raise ContentError(
                f"id {scene.id!r} stands twice", where=place, allowed=f"every id once; the first is in {first}"
            )
    return tuple(scene for _, scene in found.values())


def _looks_right(path: Path) -> bool:
    if path.suffix == ".json":
        return is_characterbox(path)
    return any(b'"environment"' in line and b'"characters"' in line for _, line in read_lines(path))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
