"""Games: performances in which somebody plays along, kept so that they can be left and gone on with at any time.

In: a case or a scene, a model, a player. Out: a folder for each game, which is that of a study of one performance; at
the end its transcript, and the report on it.
"""

from dramaturg.run.games.game import AnyGame, Control, Game, GameSettings, KeptGame, Standing, Story, StorySettings
from dramaturg.run.games.making import new_game
from dramaturg.run.games.playing import PageWriter, judge_game, play
from dramaturg.run.games.shelf import (
    SUITES,
    GameSummary,
    cases_folder,
    delete_game,
    delete_torn_game,
    games_folder,
    is_game_id,
    list_games,
    open_any_game,
    open_game,
)
from dramaturg.run.games.telling import new_story, play_story

__all__ = [
    "SUITES",
    "AnyGame",
    "Control",
    "Game",
    "GameSettings",
    "GameSummary",
    "KeptGame",
    "PageWriter",
    "Standing",
    "Story",
    "StorySettings",
    "cases_folder",
    "delete_game",
    "delete_torn_game",
    "games_folder",
    "is_game_id",
    "judge_game",
    "list_games",
    "new_game",
    "new_story",
    "open_any_game",
    "open_game",
    "play",
    "play_story",
]
