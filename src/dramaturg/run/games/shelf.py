"""The shelf: the folder in which all games are kept."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from dramaturg.errors import UserError, did_you_mean
from dramaturg.run.games.game import CASE, KEPT, STUDY, AnyGame, Game, KeptGame, Suite, read_game

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")

SUITES: tuple[Suite, ...] = get_args(Suite)

_LEFT = (CASE, STUDY, "game.lock")
"""Files by which a folder is known to have been a game."""


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A line of a list of games.

    Attributes:
        id: Of the game; the folder's name.
        folder: Where.
        status: ``unreadable`` is a folder that is no game, or a torn one; `problem` says why.
        suite: What is staged; of a folder that cannot be read it means nothing.
        title: Of the case or the scene.
        created: ISO 8601, UTC.
        turns: Turns that were spoken.
        phase: Phase of the last one.
        outcome: Label of the outcome.
        problem: Why it cannot be read.
    """

    id: str
    folder: Path
    status: Literal["open", "ended", "unreadable"]
    suite: Suite = "court"
    title: str = ""
    created: str = ""
    turns: int = 0
    phase: str = ""
    outcome: str = ""
    problem: str = ""


def games_folder() -> Path:
    """Returns the folder of all games: ``$DRAMATURG_HOME/games``, or ``dramaturg/games`` in the user's data folder."""
    if chosen := os.environ.get("DRAMATURG_HOME"):
        return Path(chosen).expanduser() / "games"
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "dramaturg" / "games"


def cases_folder(root: Path | None = None) -> Path:
    """Returns the folder of the saved cases, which is beside that of the games.

    Args:
        root: Folder of all games; the user's own by default.
    """
    return (root or games_folder()).parent / "cases"


def is_game_id(text: str) -> bool:
    """Returns whether the text has the form of a game's id: such a text leads nowhere but into the folder of games."""
    return _ID.match(text) is not None


def open_game(id_or_path: str | Path, root: Path | None = None) -> Game:
    """Returns a game in court by its id or folder; see `open_any_game`.

    Raises:
        UserError: There is no such game, its file is torn, or it is a story.
    """
    game = open_any_game(id_or_path, root)
    if not isinstance(game, Game):
        raise UserError(f"{game.id!r} is a story, which goes on in the browser", allowed="dramaturg serve")
    return game


def open_any_game(id_or_path: str | Path, root: Path | None = None) -> AnyGame:
    """Returns a game or a story by its id or folder.

    Args:
        id_or_path: An id wins over a path; whoever takes it from a stranger asks `is_game_id` first.
        root: Folder of all games; the user's own by default.

    Raises:
        UserError: There is no such game, or its file is torn.
    """
    root = root or games_folder()
    text = str(id_or_path)
    folder = root / text if is_game_id(text) and (root / text / KEPT).is_file() else Path(text)
    if not (folder / KEPT).is_file():
        known = [summary.id for summary in list_games(root, suites=SUITES) if summary.status != "unreadable"]
        raise UserError(f"there is no game {text!r}", allowed=did_you_mean(text, known) if known else "none is saved")
    return read_game(folder)


def list_games(root: Path | None = None, *, suites: Container[Suite] = ("court",)) -> list[GameSummary]:
    """Returns all games, the newest first; folders that cannot be read come last, each with its problem.

    Args:
        root: Folder of all games; the user's own by default.
        suites: Which games; those in court alone by default.

    Raises:
        UserError: The folder of all games cannot be read.
    """
    root = root or games_folder()
    try:
        folders = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror or error}", where=str(root)) from None
    read = (_summary(folder) for folder in folders)
    wanted = (summary for summary in read if summary.suite in suites or summary.status == "unreadable")
    found = sorted(wanted, key=lambda summary: summary.id)
    return sorted(found, key=lambda summary: (summary.status != "unreadable", summary.created), reverse=True)


def _summary(folder: Path) -> GameSummary:
    try:
        game = read_game(folder)
        game.check()
        standing = game.standing()
    except UserError as error:
        return GameSummary(folder.name, folder, "unreadable", problem=str(error))
    return GameSummary(
        game.id,
        folder,
        "ended" if game.has_ended else "open",
        suite=game.suite,
        title=game.title,
        created=game.created,
        turns=standing.turns,
        phase=standing.phase,
        outcome=standing.outcome,
    )


def delete_game(game: KeptGame) -> None:
    """Deletes a game and all that was said in it.

    Raises:
        UserError: It is open somewhere, or cannot be deleted.
    """
    with game.held():  # and let go of it before its lock is deleted, which not every system allows otherwise
        pass
    _remove(game.folder)


def delete_torn_game(game_id: str, root: Path | None = None) -> bool:
    """Deletes what is left of a game whose own file is gone or torn; such a game cannot be open anywhere.

    Args:
        game_id: As the list of games has it.
        root: Folder of all games; the user's own by default.

    Returns:
        Whether there was such a game. A folder that never was one stays.

    Raises:
        UserError: It cannot be deleted.
    """
    torn = (one.folder for one in list_games(root) if one.id == game_id and one.status == "unreadable")
    folder = next(torn, None)
    if folder is None or not any((folder / name).is_file() for name in (KEPT, *_LEFT)):
        return False
    _remove(folder)
    return True


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise UserError(f"cannot be deleted: {error.strerror or error}", where=str(folder)) from None
