"""What a folder already holds, before more is made in it: the same work may go on, other work may not mix with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, JsonValue, ValidationError

from dramaturg.errors import UserError
from dramaturg.files import read_text
from dramaturg.text import Json


class _Before(BaseModel):
    """What a rerun reads of the record that lies there."""

    settings: dict[str, JsonValue]
    figures: dict[str, int]


def figures_before(path: Path, settings: Mapping[str, Json], *, kind: str) -> dict[str, int] | None:
    """Returns the figures of the record that lies there; None where there is none.

    Args:
        path: The record, JSON with the keys ``settings`` and ``figures``.
        settings: What must not differ from the record's.
        kind: What the folder holds, for errors, for example ``corpus``.

    Raises:
        UserError: The file is no such record, or was made with other settings.
    """
    if not path.is_file():
        return None
    try:
        before = _Before.model_validate_json(read_text(path))
    except ValidationError:
        raise UserError(f"is no {kind}", where=str(path), allowed="another --out") from None
    differs = [name for name, value in settings.items() if before.settings.get(name) != value]
    if differs:
        raise UserError(f"holds a {kind} with another {differs[0]}", where=str(path.parent), allowed="another --out")
    return before.figures
