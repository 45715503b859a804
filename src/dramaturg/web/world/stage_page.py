"""The stage: one page that shows a live story, holds it and lets it go on, and takes what its people play."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from dramaturg.errors import UserError
from dramaturg.stage.world.limits import DEFAULT_LIMITS
from dramaturg.web.composing import composer_words
from dramaturg.web.elements import Composer, Feed, button, page_button, tag
from dramaturg.web.frame import Visit
from dramaturg.web.live import MOST_CHARACTERS
from dramaturg.web.problems import ProblemNotice
from dramaturg.web.world.curtain import Curtain
from dramaturg.web.world.live_story import LiveStory
from dramaturg.web.world.panel import Panel
from dramaturg.web.world.story_turns import StoryTurns, round_of
from dramaturg.web.world.troupe import Troupe


class StagePage:
    """One open page of a story. It shows what the live story says, and holds no state of the story."""

    def __init__(self, live: LiveStory, troupe: Troupe, visit: Visit) -> None:
        """Shows the page; `refresh` shows what has changed since.

        Args:
            live: The story.
            troupe: Who takes part.
            visit: Who looks.
        """
        self._live = live
        self._troupe = troupe
        self._visit = visit
        self._say = visit.words
        self._round_shown = -1
        self._foot_shown: object = None
        self._build()
        self.refresh(fresh=False)

    def _build(self) -> None:
        say = self._say
        with tag("div", classes="court story"):
            with tag("section", classes="main", aria_label=say("stage.story")):
                with tag("div", classes="main-head"):
                    self._rounds = tag("ol", classes="phases", aria_label=say("stage.rounds"))
                    page_button(
                        say("stage.panel"),
                        "dramaturg.drawer(true)",
                        "record-button",
                        aria_expanded="false",
                        aria_controls="record",
                    )
                with Feed(say("stage.story")):
                    self._turns = StoryTurns(self._troupe, self._visit)
                    self._curtain = Curtain(self._live, self._visit)
                with tag("footer", classes="foot") as self._foot, tag("div", classes="foot-inner"):
                    self._build_foot()
            with tag("aside", classes="record", id="record", aria_label=say("stage.panel")):
                page_button(say("general.close"), "dramaturg.drawer(false)", "record-close")
                self._panel = Panel(self._live, self._troupe, self._visit)
        self._announced = tag("div", classes="unseen", aria_live="polite", aria_atomic="true")

    def _build_foot(self) -> None:
        say, live = self._say, self._live
        self._problem = ProblemNotice(say, live)
        with tag("div", classes="controls") as self._controls:
            with tag("p", classes="waiting", role="status"):
                self._dots = tag("i", aria_hidden="true")
                self._doing = tag("span", dir="auto")
            self._pause = button(say("stage.pause"), self._done(live.pause), title=say("stage.pause_hint"))
            self._step = button(say("stage.step"), live.step, title=say("stage.step_hint"))
            self._go_on = button(say("stage.go_on"), self._done(live.go_on), "primary")
        with tag("div", classes="note", role="status") as self._note:
            tag("b", say("court.your_turn"))
            self._note_words = tag("p", dir="auto")
        most = DEFAULT_LIMITS.heard_characters
        own = {"empty": say("stage.empty"), "say_hint": say("stage.say_hint"), "objection_word": "", "rest_word": ""}
        self._composer = Composer(
            self._answer,
            words=composer_words(say, most, **own),
            heard=most,
            most=MOST_CHARACTERS,
            language=self._troupe.language,
            dictation=self._visit.preferences.dictation,
            draft=live.game.id,
        )

    def _done(self, act: Callable[[], None]) -> Callable[[], None]:
        def try_it() -> None:
            try:
                act()
            except UserError as problem:
                ui.notify(str(problem), type="warning")

        return try_it

    # Following the story

    def refresh(self, *, fresh: bool = True) -> None:
        """Shows what has changed since the last time.

        Args:
            fresh: Whether what is new happened just now; the history of a story did not.
        """
        turn = self._turns.follow(self._live, fresh=fresh)
        if turn is not None and turn.text:
            self._announced.text = self._say("court.new_turn", name=turn.speaker, text=turn.text)
        self._panel.refresh()
        self._show_rounds()
        self._show_foot()
        self._curtain.refresh()

    def _show_rounds(self) -> None:
        live = self._live
        current = round_of(
            live.floor.phase if live.floor is not None else live.said[-1].turn.phase if live.said else ""
        )
        over = live.state == "ended"
        shown = -2 if over else current
        if shown == self._round_shown:
            return
        self._round_shown = shown
        self._rounds.clear()
        with self._rounds:
            for number in range(1, live.game.settings.rounds + 1):
                here = "step" if number == current and not over else None
                past = "past" if number < current or (over and number <= current) else ""
                tag("li", self._say("stage.round", number=number), past, aria_current=here)

    def _show_foot(self) -> None:
        live = self._live
        paused = live.control.paused
        now = (live.due, live.problem, live.state, paused, live.control.by_person, live.acting, bool(live.heard))
        if now == self._foot_shown:
            return
        self._foot_shown = now
        self._foot.set_visibility(live.state != "ended")
        self._problem.refresh()
        self._controls.set_visibility(live.problem is None)
        self._doing.text = self._doing_words()
        self._dots.set_visibility(live.state == "playing")
        self._pause.set_visibility(not paused)
        self._go_on.set_visibility(paused)
        self._step.set_visibility(paused)
        if live.state == "paused":
            self._step.props.pop("disabled", None)
        else:
            self._step.props["disabled"] = True
        due = live.due
        self._note.set_visibility(due is not None)
        self._note_words.text = due.note if due is not None else ""
        self._composer.set_visibility(due is not None or bool(live.control.by_person))
        self._composer.offer(
            open_=due is not None, turn=due.number if due is not None else -1, may_object=False, may_rest=False
        )

    def _doing_words(self) -> str:
        live, say = self._live, self._say
        character = self._troupe.character(live.acting)
        name = character.name if character is not None else ""
        match live.state:
            case "paused":
                return say("stage.paused_before", name=name)
            case "waiting":
                return say("stage.waits_for_you", name=name)
            case "playing" if live.control.paused:
                return say("stage.pausing")
            case "playing" if name:
                return say("stage.is_acting", name=name)
            case "playing" if live.said:
                return say("stage.follows")
            case "playing":
                return say("stage.opening")
            case _:
                return ""

    def _answer(self, turn: int, text: str) -> None:
        if self._live.answer(turn, text):
            self._composer.taken()
        else:
            self._composer.refused()
