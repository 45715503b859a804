"""The courtroom: one page that shows a live game, and takes what its person says."""

from __future__ import annotations

from dataclasses import dataclass

from nicegui.elements.mixins.text_element import TextElement

from dramaturg.stage.court.limits import DEFAULT_LIMITS
from dramaturg.stage.transcript import Role
from dramaturg.web.choosing import people_list
from dramaturg.web.composing import composer_words
from dramaturg.web.elements import Composer, Feed, page_button, picture, tag
from dramaturg.web.ending import Ending
from dramaturg.web.frame import Visit
from dramaturg.web.live import MOST_CHARACTERS, LiveGame
from dramaturg.web.offer import Offer
from dramaturg.web.problems import ProblemNotice
from dramaturg.web.room import Room
from dramaturg.web.turns import Turns
from dramaturg.web.words import words


@dataclass(frozen=True, slots=True)
class _Seat:
    """The place of somebody on the bench."""

    role: Role
    box: TextElement
    doing: TextElement


class Courtroom:
    """One open page of a game. It shows what the live game says, and holds no state of the game."""

    def __init__(self, live: LiveGame, room: Room, visit: Visit, offer: Offer) -> None:
        """Shows the page; `refresh` shows what has changed since.

        Args:
            live: The game.
            room: Its public side.
            visit: Who looks.
            offer: Which models may judge.
        """
        self._live = live
        self._room = room
        self._visit = visit
        self._offer = offer
        self._say = visit.words
        self._foot_shown: object = None
        self._floor_shown: object = None
        self._build()
        self.refresh(fresh=False)

    def _build(self) -> None:
        say = self._say
        with tag("div", classes="court"):
            with tag("section", classes="bench", aria_label=say("court.bench")):
                tag("h2", say("court.bench"))
                with tag("ul"):
                    self._seats = [self._seat(role) for role in self._room.roles]
            with tag("section", classes="main", aria_label=say("court.turns")):
                with tag("div", classes="main-head"):
                    self._phases = tag("ol", classes="phases", aria_label=say("court.phase"))
                    self._budgets = tag("div", classes="budgets", role="status")
                    page_button(
                        say("court.record"),
                        "dramaturg.drawer(true)",
                        "record-button",
                        aria_expanded="false",
                        aria_controls="record",
                    )
                with Feed(say("court.turns")):
                    self._turns = Turns(self._room, self._visit)
                    with tag("p", classes="waiting feed-waiting", role="status") as self._waiting:
                        tag("i", aria_hidden="true")
                        self._waiting_words = tag("span")
                    self._ending = Ending(self._live, self._room, self._visit, self._offer)
                with tag("footer", classes="foot") as self._foot, tag("div", classes="foot-inner"):
                    self._build_foot()
            with tag("aside", classes="record", id="record", aria_label=say("court.record")):
                page_button(say("general.close"), "dramaturg.drawer(false)", "record-close")
                self._record()
        self._announced = tag("div", classes="unseen", aria_live="polite", aria_atomic="true")

    def _seat(self, role: Role) -> _Seat:
        kind = self._say.name("roles", role.kind)
        with tag("li", classes="seat") as box:
            picture(self._room.portrait(role).address)
            with tag("div"):
                tag("span", role.name, "who", dir="auto")
                own = role.id == self._room.player.id
                what = f"{kind} · {self._say('court.you')}" if own else self._room.occupation(role) or kind
                tag("span", what, "what", dir="auto")
                doing = tag("span", classes="doing")
        return _Seat(role, box, doing)

    def _build_foot(self) -> None:
        say, live = self._say, self._live
        self._problem = ProblemNotice(say, live)
        with tag("div", classes="note", role="status") as self._note:
            tag("b", say("court.your_turn"))
            self._note_words = tag("p", dir="auto")
        self._chips = tag("div", classes="chips")
        in_court = words(self._room.case.language)
        texts = composer_words(
            say,
            DEFAULT_LIMITS.heard_characters,
            say_hint=say("court.say_hint", name=self._room.player.name),
            objection_word=in_court("court.objection_word"),
            rest_word=in_court("court.rest_word"),
        )
        self._composer = Composer(
            self._answer,
            words=texts,
            heard=DEFAULT_LIMITS.heard_characters,
            most=MOST_CHARACTERS,
            language=self._room.case.language,
            dictation=self._visit.preferences.dictation,
            draft=live.game.id,
        )
        self._watching = tag("p", say("court.watching"), "small soft")

    def _record(self) -> None:
        say, case = self._say, self._room.case
        tag("h2", say("court.record"))
        with tag("details", open=True):
            tag("summary", say("record.goal"))
            with tag("div", classes="body"):
                tag("p", case.goal, dir="auto")
        with tag("details", open=True):
            tag("summary", say("record.evidence"))
            with tag("div", classes="body"):
                for exhibit in case.evidence:
                    with tag("div", classes="exhibit"):
                        tag("b", exhibit.id)
                        with tag("div"):
                            tag("strong", exhibit.name, dir="auto")
                            tag("p", exhibit.description, dir="auto")
                if not case.evidence:
                    tag("p", say("record.no_evidence"))
        with tag("details"):
            tag("summary", say("record.case"))
            with tag("div", classes="body"):
                for text in (case.at_issue, case.setting, case.summary):
                    tag("p", text, dir="auto")
        with tag("details"):
            tag("summary", say("record.people"))
            with tag("div", classes="body"):
                people_list(say, self._room)

    # Following the game

    def refresh(self, *, fresh: bool = True) -> None:
        """Shows what has changed since the last time.

        Args:
            fresh: Whether what is new was said just now; the history of a game is not.
        """
        turn = self._turns.follow(self._live, fresh=fresh)
        if turn is not None:
            self._announced.text = self._say("court.new_turn", name=turn.speaker, text=turn.text)
        self._show_floor()
        self._show_foot()
        self._ending.refresh()

    def _show_floor(self) -> None:
        live = self._live
        floor = live.floor if live.state in {"playing", "waiting"} else None
        now = (floor, live.state, bool(live.heard), bool(live.said))
        if now == self._floor_shown:
            return
        self._floor_shown = now
        say = self._say
        waiting = ""
        for seat in self._seats:
            has_floor = floor is not None and floor.role == seat.role.id
            seat.box.classes(add="has-floor" if has_floor else "", remove="" if has_floor else "has-floor")
            doing = ""
            if has_floor:
                doing = say(
                    "court.your_turn"
                    if live.state == "waiting"
                    else "court.speaking"
                    if live.heard
                    else "court.thinking"
                )
                if live.state == "playing" and not live.heard:
                    waiting = f"{seat.role.name} {doing}"
            seat.doing.text = doing
        if live.state == "playing" and floor is None:
            waiting = say("court.opening")
        self._waiting_words.text = waiting
        self._waiting.set_visibility(bool(waiting))
        self._show_phases(floor.phase if floor is not None else live.said[-1].turn.phase if live.said else "")
        self._show_budgets()

    def _show_phases(self, current: str) -> None:
        names = self._room.procedure.phases
        place = names.index(current) if current in names else -1
        over = self._live.state == "ended"
        self._phases.clear()
        with self._phases:
            for number, name in enumerate(names):
                past = "past" if number < place or over else ""
                here = "step" if number == place and not over else None
                tag("li", self._say.name("phases", name), past, aria_current=here)

    def _show_budgets(self) -> None:
        floor, say = self._live.floor, self._say
        if floor is None or floor.role != self._room.player.id:
            return
        self._budgets.clear()
        with self._budgets:
            for name, left in floor.left.items():
                events = self._room.spent_by(name)
                if "objected" in events:
                    label = say("court.objections_left")
                elif "addressed" in events:
                    label = say("court.questions_left")
                else:
                    label = say("court.counted_left", name=say.name("budgets", name))
                with tag("span", classes="budget"):
                    tag("span", f"{label} ")
                    tag("b", str(left))

    def _show_foot(self) -> None:
        live, say = self._live, self._say
        due, ended = live.due, live.state == "ended"
        now = (due, live.problem, ended)
        if now == self._foot_shown:
            return
        self._foot_shown = now
        plays = live.game.settings.player == "human"
        self._foot.set_visibility(not ended)
        self._problem.refresh()
        self._note.set_visibility(due is not None)
        self._note_words.text = due.note if due is not None else ""
        floor = live.floor if due is not None else None
        events = floor.events if floor is not None else ()
        self._chips.clear()
        if floor is not None and "addressed" in events:
            with self._chips:
                tag("span", say("court.address"))
                for role in (self._room.role(role_id) for role_id in floor.addressees):
                    if role is not None:
                        page_button(
                            role.name,
                            "dramaturg.insert(event.currentTarget.dataset.words)",
                            data_words=f"{role.name}, ",
                            aria_label=say("court.address_one", name=role.name),
                        ).classes(replace="chip")
        self._composer.set_visibility(plays)
        self._watching.set_visibility(not plays)
        self._composer.offer(
            open_=due is not None,
            turn=due.number if due is not None else -1,
            may_object="objected" in events,
            may_rest="rested" in events,
        )

    def _answer(self, turn: int, text: str) -> None:
        if self._live.answer(turn, text):
            self._composer.taken()
        else:
            self._composer.refused()
