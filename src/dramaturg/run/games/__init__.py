"""Games: performances in which somebody plays along, kept so that they can be left and gone on with at any time.

In: a case, a model, a player. Out: a folder for each game, which is that of a study of one performance; at the end its
transcript, and the report on it.
"""

from dramaturg.run.games.game import Game, GameSettings, Standing
from dramaturg.run.games.making import new_game
from dramaturg.run.games.playing import PageWriter, judge_game, play
from dramaturg.run.games.shelf import (
    GameSummary,
    cases_folder,
    delete_game,
    delete_torn_game,
    games_folder,
    is_game_id,
    list_games,
    open_game,
)

__all__ = [
    "Game",
    "GameSettings",
    "GameSummary",
    "PageWriter",
    "Standing",
    "cases_folder",
    "delete_game",
    "delete_torn_game",
    "games_folder",
    "is_game_id",
    "judge_game",
    "list_games",
    "new_game",
    "open_game",
    "play",
]
