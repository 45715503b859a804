"""A new game: choose a case, look at it, choose the options, begin."""

from __future__ import annotations

import asyncio

from nicegui import events, ui

from dramaturg.errors import UserError
from dramaturg.files import shipped
from dramaturg.run.games import GameSettings, new_game
from dramaturg.stage.court.procedure import load_procedure
from dramaturg.web.case_shelf import CaseShelf
from dramaturg.web.elements import Field, button, link, picture, tag
from dramaturg.web.frame import Visit, frame
from dramaturg.web.hall import Hall
from dramaturg.web.offer import Offer
from dramaturg.web.portraits import AVATARS, avatar, portrait_of
from dramaturg.web.room import Room, room_of
from dramaturg.web.words import Words

MOST_NUMBER = 2**31


async def cases_page(visit: Visit, shelf: CaseShelf, chosen: str) -> None:
    """Shows the cases, and the one that was chosen."""
    say = visit.words
    own, ready = await asyncio.to_thread(shelf.readable)
    case = own.get(chosen) or ready.get(chosen)
    with frame(visit, say("cases.title")), tag("div", classes="column"):
        with tag("div", classes="lead"):
            tag("h1", say("cases.title"))
            link(say("cases.generate"), "/new/write", "button")
        with tag("div", classes=f"cases {'chosen' if case else ''}"):
            with tag("nav", classes="case-list", aria_label=say("cases.title")):
                for heading, cases in (("cases.own", own), ("cases.shipped", ready)):
                    if cases and own:
                        tag("p", say(heading), "legend")
                    for name, one in cases.items():
                        current = "true" if name == chosen else None
                        with link("", f"/new?case={name}", "case-link", aria_current=current):
                            tag("span", one.title, dir="auto")
                            tag("span", one.setting, "small", dir="auto")
            if case is None:
                with tag("div", classes="empty"):
                    tag("p", say("cases.choose"))
            else:
                with tag("article", classes="preview"):
                    preview(say, room_of(case, load_procedure(case.made_for)))
                    with tag("div", classes="preview-buttons"):
                        link(say("cases.play"), f"/new/options?case={chosen}", "button primary")
                        link(say("general.back"), "/new", "button quiet")


def preview(say: Words, room: Room) -> None:
    """Shows what is public of a case."""
    case = room.case
    tag("h1", case.title, dir="auto")
    for key, text in (("charge", case.at_issue), ("setting", case.setting), ("summary", case.summary)):
        with tag("section", classes="block"):
            tag("h2", say(f"cases.{key}"))
            tag("p", text, dir="auto")
    with tag("section", classes="block goal"):
        tag("h2", say("cases.goal"))
        tag("p", case.goal, dir="auto")
    with tag("section", classes="block"):
        tag("h2", say("cases.people"))
        people_list(say, room)


def people_list(say: Words, room: Room) -> None:
    """Shows who takes part: name, role, and what everybody may know of them."""
    with tag("ul", classes="people"):
        for role in room.roles:
            with tag("li", classes="person"):
                picture(room.portrait(role).address)
                with tag("div"):
                    tag("strong", role.name, dir="auto")
                    kind = say.name("roles", role.kind)
                    occupation = room.occupation(role)
                    tag("span", f"{kind}, {occupation}" if occupation else kind, dir="auto")


async def options_page(visit: Visit, hall: Hall, shelf: CaseShelf, offer: Offer, chosen: str) -> None:
    """Shows the options of a new game of a case, and begins it."""
    say = visit.words
    path = shelf.path(chosen)
    case = await asyncio.to_thread(shelf.read, chosen)
    if path is None or case is None:
        ui.navigate.to("/new")
        return
    own = load_procedure(case.made_for)
    room = room_of(case, own)
    with frame(visit, case.title), tag("div", classes="column narrow"):
        with tag("div", classes="lead"), tag("div"):
            tag("h1", say("options.title"))
            tag("p", case.title, dir="auto")
        with tag("div", classes="form"):
            _Options(say, hall, offer, str(path) if chosen in shelf.saved() else chosen, room)


class _Options:
    """The form of a new game."""

    def __init__(self, say: Words, hall: Hall, offer: Offer, case: str, room: Room) -> None:
        self._say = say
        self._hall = hall
        self._case = case
        self._avatar = ""
        self._portraits(room)
        self._name = Field(say("options.name"), room.player.name, hint=say("options.name_hint"))
        self._own_name = room.player.name
        self._offer = offer
        self._model = offer.model_field(say("options.model"), hint=say("options.model_hint"))
        procedures = {"": say("options.procedure_own", title=room.procedure.title)} | _fitting(room)
        with tag("div", classes="pair"):
            self._procedure = Field(say("options.procedure"), "", choices=procedures)
            protocols = {"guarded": say("options.guarded"), "paper": say("options.paper")}
            self._protocol = Field(say("options.protocol"), "guarded", choices=protocols)
        with tag("div", classes="pair"):
            self._questions = Field(say("options.questions"), "3", choices={str(n): str(n) for n in range(1, 7)})
            self._seed = Field(say("options.seed"), "1")
        self._problem = tag("p", "", "notice", role="alert")
        self._begin = button(say("options.begin"), self._start, "primary")

    def _portraits(self, room: Room) -> None:
        kind = room.player.kind
        faces = {"": portrait_of(room.player.name, kind)} | {name: avatar(name, kind) for name in AVATARS}
        with tag("fieldset", style="border: 0; margin: 0; padding: 0"):
            tag("legend", self._say("options.avatar"), "legend", style="padding: 0 0 0.5rem")
            with tag("div", classes="portraits"):
                for number, (name, portrait) in enumerate(faces.items(), start=1):
                    with tag("span", classes="portrait-choice"):
                        label = self._say("options.avatar_number", number=number)
                        tag(
                            "input",
                            type="radio",
                            name="avatar",
                            value=name,
                            aria_label=label,
                            checked=None if name else True,
                        ).on("change", self._take_avatar, js_handler="(event) => emit(event.target.value)")
                        picture(portrait.address)

    def _take_avatar(self, event: events.GenericEventArguments) -> None:
        if event.args in AVATARS or event.args == "":
            self._avatar = event.args

    async def _start(self) -> None:
        self._begin.props["disabled"] = True
        try:
            game = await asyncio.to_thread(new_game, self._settings(), root=self._hall.root)
        except UserError as problem:
            self._problem.text = str(problem)
            del self._begin.props["disabled"]
            return
        ui.navigate.to(f"/games/{game.id}")

    def _settings(self) -> GameSettings:
        name = self._name.value.strip()
        return GameSettings(
            case=self._case,
            model=self._offer.allowed(self._model.value),
            procedure=self._procedure.value,
            protocol="paper" if self._protocol.value == "paper" else "guarded",
            player_name="" if name == self._own_name else name,
            avatar=self._avatar,
            seed=seed_in(self._say, self._seed),
            questions=int(self._questions.value),
        )


def seed_in(say: Words, field: Field) -> int:
    """Returns the seed that stands in a field.

    Raises:
        UserError: It is no whole number, or too large a one.
    """
    seed = field.value.strip()
    if not seed.isdecimal() or len(seed) > len(str(MOST_NUMBER)) or int(seed) > MOST_NUMBER:
        raise UserError(f"{say('options.seed')}: {seed[:20]!r}", allowed=f"0 – {MOST_NUMBER}")
    return int(seed)


def _fitting(room: Room) -> dict[str, str]:
    """Returns the titles of other procedures under which the case can be held, by name."""
    fitting: dict[str, str] = {}
    kinds = {person.role for person in room.case.everybody}
    for name in shipped("procedures"):
        procedure = load_procedure(name)
        if procedure.id != room.procedure.id and kinds >= set(procedure.roles):
            fitting[name] = procedure.title
    return fitting
