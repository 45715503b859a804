"""Founds the folder of a new game: its files are written aside, and listed only once all of them stand."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from dramaturg.errors import StudyError, UserError
from dramaturg.run.games.game import KEPT, GameFile
from dramaturg.run.spool import writing
from dramaturg.text import write_atomically


def founded(root: Path, name: str, write: Callable[[Path, str], GameFile]) -> tuple[Path, GameFile]:
    """Returns the folder of a new game, and the file that makes it one.

    Args:
        root: Folder of all games; it is made where it is missing.
        name: How the folder's name begins.
        write: Writes the other files into a draft folder, and returns this one; it is told when the game was created.

    Raises:
        UserError: The folder cannot be written, or `write` raises it; nothing is left behind.
    """
    created = datetime.now(UTC)
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=root))
    try:
        kept = write(draft, created.isoformat(timespec="seconds"))
        with writing(draft):
            write_atomically(draft / KEPT, kept.model_dump_json(indent=1) + "\n")
            folder = _settle(draft, root, f"{name}-{created:%Y%m%d-%H%M%S}")
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return folder, kept


def without_draft(error: StudyError, draft: Path) -> UserError:
    """Returns an error of a draft's study without the draft's path, which means nothing to who gave the settings."""
    return UserError(re.sub(rf"{re.escape(str(draft))}/\S+ ", "", str(error)))


def _settle(draft: Path, root: Path, name: str) -> Path:
    """Returns the folder of a new game: its files under the first name that is free, the one that lists it last."""
    for number in range(1, 10_000):
        folder = root / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        for file in sorted(draft.iterdir(), key=lambda file: file.name == KEPT):
            file.replace(folder / file.name)
        draft.rmdir()
        return folder
    raise UserError(f"there are too many games {name!r}", where=str(root))
