"""The panel beside a story: what surrounds everybody, where each character is and how it is, and who plays it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from dramaturg.errors import UserError
from dramaturg.stage.transcript import Role
from dramaturg.stage.world.character import ENVIRONMENT_BELIEF, SELF_BELIEF
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.setting import ENVIRONMENT
from dramaturg.stage.world.shared import PERSON, PLAYED_BY
from dramaturg.web.elements import button, picture, tag
from dramaturg.web.frame import Visit
from dramaturg.web.world.live_story import LiveStory
from dramaturg.web.world.story_turns import round_of
from dramaturg.web.world.troupe import Troupe

_SURROUNDINGS = ("time", "place", "description")
_STANDING = ("position", "state")
_BELIEFS = (SELF_BELIEF, ENVIRONMENT_BELIEF)


@dataclass(slots=True)
class _Shown:
    """A state on the page."""

    owner: str
    name: str
    line: TextElement
    value: TextElement


@dataclass(slots=True)
class _Card:
    """A character on the page."""

    character: SceneCharacter
    role: Role
    box: TextElement
    player: TextElement
    hands: TextElement
    beliefs: TextElement
    counted: int = field(default=-1)


class Panel:
    """The panel of one page."""

    def __init__(self, live: LiveStory, troupe: Troupe, visit: Visit) -> None:
        """Shows the panel.

        Args:
            live: The story.
            troupe: Who takes part.
            visit: Who looks.
        """
        self._live = live
        self._troupe = troupe
        self._say = visit.words
        self._states: list[_Shown] = []
        with tag("section", classes="surroundings"):
            tag("h2", self._say("stage.surroundings"))
            with tag("dl"):
                for name in _SURROUNDINGS:
                    self._state(ENVIRONMENT, name)
        tag("h2", self._say("stage.characters"))
        with tag("ul", classes="characters"):
            self._cards = [self._card(character, role) for character, role in self._people()]

    def _people(self) -> list[tuple[SceneCharacter, Role]]:
        return list(zip(self._troupe.scene.characters, self._troupe.roles, strict=False))

    def _state(self, owner: str, name: str) -> None:
        with tag("div", classes=f"state {name}") as line:
            line.set_visibility(False)
            tag("dt", self._say(f"stage.{name}"))
            value = tag("dd", dir="auto", tabindex="0" if name == "description" else None)
        self._states.append(_Shown(owner, name, line, value))

    def _card(self, character: SceneCharacter, role: Role) -> _Card:
        say = self._say
        with tag("li", classes="character") as box:
            with tag("div", classes="character-head"):
                picture(self._troupe.portrait(role).address)
                with tag("div"):
                    tag("strong", character.name, dir="auto")
                    player = tag("span", classes="player", role="status")
                hands = button("", self._hands(character.id), "small-button")
            with tag("dl"):
                for name in _STANDING:
                    self._state(role.id, name)
            with tag("details"):
                tag("summary", say("stage.beliefs"))
                beliefs = tag("div", classes="body")
            if character.profile.strip():
                with tag("details"):
                    tag("summary", say("stage.profile"))
                    with tag("div", classes="body"):
                        tag("p", character.profile, dir="auto")
        return _Card(character, role, box, player, hands, beliefs)

    def _hands(self, character: str) -> Callable[[], None]:
        def change() -> None:
            live = self._live
            try:
                if character in live.control.by_person:
                    live.hand_back(character)
                else:
                    live.take_over(character)
            except UserError as problem:
                ui.notify(str(problem), type="warning")

        return change

    def refresh(self) -> None:
        """Shows what has changed; what has changed since the last act stands out."""
        since = self._live.last_act
        standings = self._live.standings
        for shown in self._states:
            value = standings.now(shown.owner, shown.name)
            if shown.value.text != value:
                shown.value.text = value
                shown.line.set_visibility(bool(value))
            _mark(shown.line, "changed", on=standings.is_new(shown.owner, shown.name, since))
        for card in self._cards:
            self._show_card(card)

    def _show_card(self, card: _Card) -> None:
        live, say, name = self._live, self._say, card.character.name
        mine = card.character.id in live.control.by_person
        now_mine = live.standings.now(card.role.id, PLAYED_BY) == PERSON
        is_next = live.state in {"playing", "waiting", "paused"} and live.acting == card.character.id
        over = live.state == "ended"
        if over:
            player = say("stage.was_yours" if live.standings.history(card.role.id, PLAYED_BY) else "stage.by_model")
        elif mine:
            player = say("stage.by_you" if now_mine or (live.due is not None and is_next) else "stage.by_you_soon")
        else:
            player = say("stage.by_model_soon" if now_mine else "stage.by_model")
        _say_in(card.player, player)
        _mark(card.box, "has-floor", on=is_next)
        _mark(card.player, "mine", on=mine and not over)
        label = say("stage.hand_back" if mine else "stage.take_over")
        if card.hands.text != label:
            card.hands.text = label
            card.hands.props["aria-label"] = f"{label}: {name}"
        card.hands.set_visibility(not over)
        self._show_beliefs(card)

    def _show_beliefs(self, card: _Card) -> None:
        standings = self._live.standings
        counted = sum(len(standings.history(card.role.id, name)) for name in _BELIEFS)
        if counted == card.counted:
            return
        card.counted = counted
        card.beliefs.clear()
        with card.beliefs:
            if not counted:
                tag("p", self._say("stage.no_beliefs"), "soft")
            for name in _BELIEFS:
                history = standings.history(card.role.id, name)
                if history:
                    tag("h3", self._say(f"stage.{name}"))
                for stood in reversed(history):
                    with tag("p", dir="auto"):
                        tag("b", f"{self._when(stood.phase)} ")
                        tag("span", stood.value)

    def _when(self, phase: str) -> str:
        """Returns in which round a belief came: those of a round are renewed before its first turn."""
        return self._say("stage.round", number=round_of(phase) + 1)


def _say_in(element: TextElement, text: str) -> None:
    if element.text != text:
        element.text = text


def _mark(element: TextElement, name: str, *, on: bool) -> None:
    if (name in element.classes) != on:
        element.classes(add=name if on else "", remove="" if on else name)
