"""A new story: choose a scene, look at it, choose who plays and how, begin."""

from __future__ import annotations

import asyncio
import functools
from typing import get_args

from nicegui import ui

from dramaturg.errors import UserError
from dramaturg.files import shipped
from dramaturg.run.games import StorySettings, new_story
from dramaturg.stage.world.limits import DEFAULT_LIMITS
from dramaturg.stage.world.reading import read_scene
from dramaturg.stage.world.scene import Scene
from dramaturg.stage.world.setting import WorldProtocol, surroundings
from dramaturg.web.choosing import seed_in
from dramaturg.web.elements import Field, button, link, picture, tag
from dramaturg.web.frame import Visit, frame
from dramaturg.web.hall import Hall
from dramaturg.web.offer import Offer
from dramaturg.web.words import LANGUAGES, Words
from dramaturg.web.world.troupe import Troupe, troupe_of

MOST_ROUNDS = 10
"""Most rounds of a story that is begun on a page."""

_MODEL, _ME = "model", "me"
_PROTOCOLS: tuple[WorldProtocol, ...] = get_args(WorldProtocol)


@functools.cache
def _scenes() -> dict[str, Scene]:
    return {name: read_scene(name) for name in shipped("scenes")}


async def scenes_page(visit: Visit, chosen: str) -> None:
    """Shows the scenes, and the one that was chosen."""
    say = visit.words
    scenes = await asyncio.to_thread(_scenes)
    scene = scenes.get(chosen)
    with frame(visit, say("scenes.title")), tag("div", classes="column"):
        with tag("div", classes="lead"), tag("div"):
            tag("h1", say("scenes.title"))
            tag("p", say("scenes.about"))
        with tag("div", classes=f"cases {'chosen' if scene else ''}"):
            with tag("nav", classes="case-list", aria_label=say("scenes.title")):
                for language in _languages(visit, scenes):
                    tag("p", LANGUAGES.get(language, language), "legend")
                    for name, one in scenes.items():
                        if one.language == language:
                            _link(name, one, current=name == chosen)
            if scene is None:
                with tag("div", classes="empty"):
                    tag("p", say("scenes.choose"))
            else:
                with tag("article", classes="preview"):
                    _preview(say, troupe_of(scene))
                    with tag("div", classes="preview-buttons"):
                        link(say("scenes.stage"), f"/scenes/options?scene={chosen}", "button primary")
                        link(say("general.back"), "/scenes", "button quiet")


def _languages(visit: Visit, scenes: dict[str, Scene]) -> list[str]:
    """Returns the languages of the scenes, that of the visitor first."""
    there = dict.fromkeys(scene.language for scene in scenes.values())
    return sorted(there, key=lambda language: language != visit.words.language)


def _link(name: str, scene: Scene, *, current: bool) -> None:
    with link("", f"/scenes?scene={name}", "case-link", aria_current="true" if current else None):
        tag("span", scene.title, dir="auto")
        tag("span", ", ".join(one.name for one in scene.characters), "small", dir="auto")


def _preview(say: Words, troupe: Troupe) -> None:
    scene = troupe.scene
    tag("h1", scene.title, dir="auto")
    with tag("section", classes="block goal"):
        tag("h2", say("scenes.conflict"))
        tag("p", scene.event, dir="auto")
    with tag("section", classes="block"):
        tag("h2", say("scenes.surroundings"))
        tag("p", surroundings(scene.environment), dir="auto")
    with tag("section", classes="block"):
        tag("h2", say("scenes.characters"))
        with tag("ul", classes="people"):
            for character, role in zip(scene.characters, troupe.roles, strict=False):
                with tag("li", classes="person"):
                    picture(troupe.portrait(role).address)
                    with tag("div"):
                        tag("strong", character.name, dir="auto")
                        tag("span", " · ".join(filter(None, (character.position, character.state))), dir="auto")


async def scene_options_page(visit: Visit, hall: Hall, offer: Offer, chosen: str) -> None:
    """Shows the options of a new story of a scene, and begins it."""
    say = visit.words
    scene = (await asyncio.to_thread(_scenes)).get(chosen)
    if scene is None:
        ui.navigate.to("/scenes")
        return
    with frame(visit, scene.title), tag("div", classes="column narrow"):
        with tag("div", classes="lead"), tag("div"):
            tag("h1", say("scenes.options"))
            tag("p", scene.title, dir="auto")
        with tag("div", classes="form"):
            _Options(say, hall, offer, chosen, scene)


class _Options:
    """The form of a new story."""

    def __init__(self, say: Words, hall: Hall, offer: Offer, name: str, scene: Scene) -> None:
        self._say, self._hall, self._offer, self._name = say, hall, offer, name
        players = {_MODEL: say("scenes.by_model"), _ME: say("scenes.by_me")}
        with tag("fieldset", classes="players"):
            tag("legend", say("scenes.who_plays"), "legend")
            with tag("div", classes="pair"):
                self._players = {one.id: Field(one.name, _MODEL, choices=players) for one in scene.characters}
            tag("p", say("scenes.who_plays_hint"), "small soft")
        self._model = offer.model_field(say("scenes.model"), hint=say("options.model_hint"))
        self._narrator = offer.model_field(
            say("scenes.narrator"), hint=say("scenes.narrator_hint"), same=say("scenes.narrator_same")
        )
        protocols = {name: say(f"scenes.protocol_{name}") for name in _PROTOCOLS}
        self._protocol = Field(say("scenes.protocol"), _PROTOCOLS[0], choices=protocols)
        with tag("div", classes="pair"):
            rounds = {str(number): str(number) for number in range(1, MOST_ROUNDS + 1)}
            self._rounds = Field(say("scenes.rounds"), str(DEFAULT_LIMITS.rounds), choices=rounds)
            self._seed = Field(say("options.seed"), "1")
        self._problem = tag("p", "", "notice", role="alert")
        self._begin = button(say("scenes.begin"), self._start, "primary")

    async def _start(self) -> None:
        self._begin.props["disabled"] = True
        try:
            story = await asyncio.to_thread(new_story, self._settings(), root=self._hall.root)
        except UserError as problem:
            self._problem.text = str(problem)
            del self._begin.props["disabled"]
            return
        ui.navigate.to(f"/games/{story.id}")

    def _settings(self) -> StorySettings:
        narrator = self._narrator.value.strip()
        return StorySettings(
            scene=self._name,
            model=self._offer.allowed(self._model.value),
            narrator=self._offer.allowed(narrator) if narrator else "",
            protocol=next(name for name in _PROTOCOLS if name == self._protocol.value),
            rounds=int(self._rounds.value),
            seed=seed_in(self._say, self._seed),
            by_person=tuple(name for name, field in self._players.items() if field.value == _ME),
        )
