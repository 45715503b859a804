"""Begins a game: checks its settings, and freezes the case and the procedure in its folder."""

from __future__ import annotations

import re
from pathlib import Path

from dramaturg.errors import StudyError, UserError
from dramaturg.files import dump_yaml, find, read_text, shipped
from dramaturg.judge.audit.binding import JUDGES_PROMPTS
from dramaturg.run.games.founding import founded, without_draft
from dramaturg.run.games.game import CASE, PROCEDURE, STUDY, Game, GameFile, GameSettings, facts_of
from dramaturg.run.games.shelf import cases_folder, games_folder, is_game_id
from dramaturg.run.material import Material, named_model, read_material
from dramaturg.run.snapshot import snapshot_of
from dramaturg.run.spool import writing
from dramaturg.stage.court import load_procedure
from dramaturg.stage.court.case import AnyCase, Case, read_case
from dramaturg.stage.court.cases.writing import case_yaml
from dramaturg.text import write_atomically

_NAME = re.compile(r"[^\W\d_](?:[^\W_]|[ .'’-]){0,39}\Z")
_FIXED_PLAYERS = ("human", "script")


def new_game(settings: GameSettings, *, root: Path | None = None) -> Game:
    """Returns a new game; everything is checked before it is listed, and no model is opened.

    Args:
        settings: What it is played with; relative paths start from the working folder.
        root: Folder of all games; the user's own by default.

    Raises:
        UserError: A setting is wrong, or the folder cannot be written; nothing is left behind.
    """
    root = root or games_folder()
    path = _case_path(settings.case, root)
    case = read_case(path)

    def write(draft: Path, created: str) -> GameFile:
        made = made_with(_write(draft, settings, case, path))
        return GameFile(title=case.title, language=case.language, created=created, settings=settings, made_with=made)

    return Game(settings=settings, **facts_of(*founded(root, case.id, write)))


def _write(draft: Path, settings: GameSettings, case: AnyCase, path: Path) -> Material:
    """Returns the study of a game, once its files stand in the draft.

    The case and a procedure of the user's own are copied, so that a change to them does not reach into the game.
    """
    name = settings.procedure or case.made_for
    procedure = load_procedure(name, beside=path.parent if name == case.made_for else None)
    player = settings.player
    if player not in _FIXED_PLAYERS:
        player = named_model(player, player, beside=Path()).spec.text
    study = {
        "study": "game",
        "subjects": [
            {
                "model": named_model(settings.model, settings.model, beside=Path()).spec.text,
                "name": settings.model,
            }
        ],
        "cases": [CASE],
        "procedures": [PROCEDURE],
        "seeds": [settings.seed],
        "protocol": settings.protocol,
        "cast": {procedure.player: player},
        "limits": {"questions": settings.questions, "tokens_per_turn": settings.tokens_per_turn},
    }
    text = read_text(path)
    if settings.player_name:
        renamed = _renamed(case, procedure.player, settings.player_name)
        text = case_yaml(renamed)
    with writing(draft):
        write_atomically(draft / CASE, text)
        write_atomically(draft / PROCEDURE, read_text(find("procedures", name, beside=path.parent)))
        write_atomically(draft / STUDY, dump_yaml(study))
    try:
        return read_material(draft / STUDY)
    except StudyError as error:
        raise without_draft(error, draft) from None


def _case_path(name: str, root: Path) -> Path:
    """Returns the file of a case: a shipped one, one that was saved beside the games, or a path.

    Raises:
        ContentError: There is none.
    """
    saved = cases_folder(root) / f"{name}.yaml"
    return saved if is_game_id(name) and name not in shipped("cases") and saved.is_file() else find("cases", name)


def _renamed(case: AnyCase, kind: str, name: str) -> AnyCase:
    """Returns the case with another name for the player's character.

    Raises:
        UserError: It is no name, or somebody else's.
    """
    others = {person.name.casefold() for person in case.everybody if person.role != kind}
    if not _NAME.match(name):
        raise UserError(f"{name[:60]!r} is no name for a player", allowed="letters, blanks, . ' and -, at most 40")
    if name.casefold() in others:
        raise UserError(f"somebody in the case is called {name!r} already", allowed="another name")
    if isinstance(case, Case):
        return case.model_copy(update={kind: getattr(case, kind).model_copy(update={"name": name})})
    people = (p.model_copy(update={"name": name}) if p.role == kind else p for p in case.people)
    return case.model_copy(update={"people": tuple(people)})


def made_with(material: Material) -> dict[str, str]:
    """Returns what can change an answer in a game, as a snapshot names it: judges are no part of it."""
    return {
        name: value
        for name, value in snapshot_of(material).entries.items()
        if not name.rpartition("/")[2].startswith(JUDGES_PROMPTS)
    }
