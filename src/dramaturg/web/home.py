"""The first page: the saved games."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from dramaturg.errors import UserError
from dramaturg.run.games import SUITES, GameSummary, delete_game, games_folder, list_games, open_any_game
from dramaturg.web.elements import button, link, page_button, picture, tag
from dramaturg.web.frame import Visit, frame
from dramaturg.web.hall import Hall
from dramaturg.web.words import Words
from dramaturg.web.world.story_turns import round_of

_OWN_WORDS = frozenset({"win", "loss", "undecided"})
"""Outcomes whose words stand alone."""

MOST_SHOWN = 200
"""Games that the page lists; older ones are in the folder."""


async def home_page(visit: Visit, hall: Hall) -> None:
    """Shows the saved games, the newest first."""
    say = visit.words
    games = await asyncio.to_thread(list_games, hall.root, suites=SUITES)
    with frame(visit), tag("div", classes="column"):
        with tag("div", classes="lead"):
            with tag("div"):
                tag("h1", say("home.title"))
                tag("p", say("general.tagline"))
            with tag("div", classes="lead-buttons"):
                link(say("home.watch"), "/scenes", "button")
                link(say("home.new"), "/new", "button primary")
        if not games:
            with tag("div", classes="empty"):
                picture("/portraits/judge-021034.svg")
                tag("p", say("home.none"))
        with tag("ul", classes="cards"):
            for game in games[:MOST_SHOWN]:
                _card(say, hall, game)
        tag("p", say("home.folder", folder=str(hall.root or games_folder())), "small soft", style="margin-top: 1.5rem")


def _card(say: Words, hall: Hall, game: GameSummary) -> None:
    with tag("li", classes="card") as card:
        if game.status == "unreadable":
            tag("p", say("home.broken", problem=game.problem))
            return
        tag("h2", game.title, dir="auto")
        with tag("p"):
            tag("span", _state(say, game), f"tag {outcome_class(game.outcome)}")
            tag("span", f" · {say('home.turns', count=game.turns)} · {game.created[:16].replace('T', ' ')} UTC")
        with tag("div", classes="card-buttons"):
            label = say("home.look" if game.status == "ended" else "home.open")
            link(label, f"/games/{game.id}", "button", aria_label=f"{label}: {game.title}")
            dialog = f"delete-{card.id}"
            page_button(
                say("home.delete"), f"dramaturg.show('{dialog}')", "quiet",
                aria_label=f"{say('home.delete')}: {game.title}",
            )  # fmt: skip
        _confirm(say, dialog, game.title, partial(_delete, hall, game.id))


def _state(say: Words, game: GameSummary) -> str:
    if game.suite == "world":
        number = round_of(game.phase)
        if game.status == "ended":
            return say("home.told")
        return say("stage.round", number=number) if number else say("home.playing")
    if game.status == "ended":
        return outcome_words(say, game.outcome)
    return say.name("phases", game.phase) if game.phase else say("home.playing")


def outcome_words(say: Words, label: str) -> str:
    """Returns what an outcome is called."""
    if not label:
        return say("home.ended")
    own = say.name("outcomes", label)
    return own if label in _OWN_WORDS else say("verdict.other", label=own)


def outcome_class(label: str) -> str:
    """Returns how an outcome is coloured: as good or bad for the player, or not at all."""
    return {"win": "win", "granted": "win", "loss": "loss", "refused": "loss"}.get(label, "")


def _confirm(say: Words, dialog: str, title: str, confirmed: Callable[[], Awaitable[None]]) -> None:
    with tag("dialog", id=dialog):
        tag("p", say("home.delete_question", title=title))
        with tag("div", classes="dialog-row"):
            page_button(say("home.delete_no"), f"dramaturg.hide('{dialog}')")
            button(say("home.delete_yes"), confirmed, "primary")


async def _delete(hall: Hall, game_id: str) -> None:
    await hall.close(game_id)
    try:
        game = await asyncio.to_thread(open_any_game, game_id, hall.root)
        await asyncio.to_thread(delete_game, game)
    except UserError as problem:
        ui.notify(str(problem), type="warning")
        return
    ui.navigate.to("/")
