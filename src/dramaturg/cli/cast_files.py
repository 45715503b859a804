"""The files of ``dramaturg cast``: sketches, characters, and the cards that characters were read from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dramaturg.errors import ContentError, UserError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dramaturg.stage.cast.cards import Card
    from dramaturg.stage.cast.character import Character
    from dramaturg.stage.cast.sketch import Sketch

ModelT = TypeVar("ModelT", bound="BaseModel")


def read_sketches(path: Path) -> list[Sketch]:
    """Returns the sketches of a file.

    Raises:
        ContentError: A line is no sketch, an id stands twice, or there is none.
    """
    from dramaturg.stage.cast.sketch import Sketch

    return _distinct(path, Sketch)


def read_characters(path: Path) -> list[Character]:
    """Returns the characters of a file.

    Raises:
        ContentError: A line is no character, an id stands twice, or there is none.
    """
    from dramaturg.stage.cast.character import Character

    return _distinct(path, Character)


def holds_sketches(path: Path) -> bool:
    """Returns whether the first line of a file is a sketch: it has a setting and no description.

    Raises:
        ContentError: The file cannot be read.
    """
    from dramaturg.files import read_lines

    for _, line in read_lines(path):
        try:
            first: object = json.loads(line)
        except (ValueError, RecursionError):
            return False
        return isinstance(first, dict) and "setting" in first and "description" not in first
    return False


def as_lines(records: Iterable[BaseModel]) -> str:
    """Returns records as JSON Lines; what a record leaves as it is by default is left out."""
    return "".join(
        json.dumps(record.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False) + "\n"
        for record in records
    )


def cards_folder(characters: Path) -> Path:
    """Returns the folder beside a file of characters that holds the cards which they were read from."""
    return characters.with_suffix(".cards")


def source_card(characters: Path, name: str) -> Card | None:
    """Returns the card that a character was read from; None where it was not read from one.

    Args:
        characters: The file of characters.
        name: The character's id.

    Raises:
        ContentError: The card that lies there is damaged.
    """
    from dramaturg.stage.cast.cards import read_card

    for suffix in (".png", ".json"):
        path = cards_folder(characters) / f"{name}{suffix}"
        if path.is_file():
            return read_card(path)
    return None


def refuse_overwriting(path: Path, *, overwrite: bool) -> None:
    """Refuses a file that lies there already, or a folder.

    Raises:
        UserError: It does, and is not to be replaced.
    """
    if path.is_dir():
        raise UserError("is a folder", where=str(path), allowed="a file")
    if path.exists() and not overwrite:
        raise UserError("lies there already", where=str(path), allowed="--overwrite, or another --out")


def _distinct(path: Path, model: type[ModelT]) -> list[ModelT]:
    from dramaturg.files import read_jsonl

    found: dict[str, ModelT] = {}
    for number, record in read_jsonl(path, model):
        name = str(getattr(record, "id"))  # noqa: B009 - both models have one, which their common type does not say
        if name in found:
            raise ContentError(f"id {name!r} stands twice", where=f"{path}:{number}", allowed="every id once")
        found[name] = record
    if not found:
        raise ContentError("is empty", where=str(path), allowed="one JSON object a line")
    return list(found.values())
