"""A study's names and paths as they mean the same from every folder: what a study that is written elsewhere holds."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dramaturg.files import Shelf, shipped
from dramaturg.run.material import Variant, named_model
from dramaturg.stage.world.reading import read_scenes

BY_WORD = frozenset({"human", "script"})
"""Who plays without a model that is named: a person, or the case's own script."""


def whole_path(shelf: Shelf, name: str, path: Path) -> str:
    """Returns a shipped file's name as it is, and any other as its whole path."""
    return name if name in shipped(shelf) else str(path.resolve())


def whole_scenes(names: Sequence[str], *, beside: Path) -> dict[str, str]:
    """Returns id of a scene → its name, or the whole path of its file, with the id behind it where the file holds more.

    Args:
        names: As a study has them.
        beside: Folder that relative paths start from.

    Raises:
        ContentError: One of them means no scene.
    """
    found: dict[str, str] = {}
    for name in names:
        scenes = read_scenes(name, beside=beside)
        before, _, _ = name.rpartition("#")
        is_one_of_several = bool(before) and not (beside / name).exists()
        source = before if is_one_of_several else name
        is_shipped = bool(fnmatch.filter(shipped("scenes"), source))
        whole = str((beside / source).resolve())
        for scene in scenes:
            alone = len(scenes) == 1 and not is_one_of_several
            found[scene.id] = scene.id if is_shipped else whole if alone else f"{whole}#{scene.id}"
    return found


def whole_cast(cast: Mapping[str, str], *, beside: Path) -> dict[str, str]:
    """Returns who plays whom, scripts and models by their whole paths.

    Args:
        cast: Role → as a study has it.
        beside: Folder that relative paths start from.

    Raises:
        UserError: A spec is wrong.
    """
    return {
        role: player if player in BY_WORD else named_model(player, player, beside=beside).spec.text
        for role, player in cast.items()
    }


def whole_variants(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """Returns variants of the prompts under the whole paths of their folders."""
    return tuple(one if one.folder is None else replace(one, name=str(one.folder.resolve())) for one in variants)
