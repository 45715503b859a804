"""What stands below the last turn: the decision, and the judging of the performance."""

from __future__ import annotations

from typing import get_args

from dramaturg.files import shipped
from dramaturg.judge.checklist import Mode
from dramaturg.run.fitting import fitting_checklist
from dramaturg.web.elements import Field, button, link, tag
from dramaturg.web.frame import Visit
from dramaturg.web.home import outcome_class, outcome_words
from dramaturg.web.live import LiveGame
from dramaturg.web.offer import Offer
from dramaturg.web.problems import problem_words
from dramaturg.web.room import Room

_MODES: tuple[Mode, ...] = get_args(Mode)


class Ending:
    """The end of a game's page; empty until the game has ended."""

    def __init__(self, live: LiveGame, room: Room, visit: Visit, offer: Offer) -> None:
        """Shows nothing yet.

        Args:
            live: The game.
            room: Its public side.
            visit: Who looks.
            offer: Which models may judge.
        """
        self._live = live
        self._room = room
        self._say = visit.words
        self._offer = offer
        self._shown: object = None
        self._box = tag("div", classes="feed-turns", style="margin-top: 1.5rem")

    def refresh(self) -> None:
        """Shows the decision once there is one, and how the judging stands."""
        live = self._live
        now = (live.transcript is not None and live.state == "ended", live.judging)
        if now == self._shown:
            return
        self._shown = now
        self._box.clear()
        if now[0]:
            with self._box:
                self._decision()

    def _decision(self) -> None:
        transcript, say = self._live.transcript, self._say
        outcome = transcript.outcome if transcript is not None else None
        label = outcome.label if outcome is not None else ""
        with tag("section", classes=f"verdict {outcome_class(label)}", aria_label=say("verdict.title")):
            tag("p", say("verdict.title"), "small soft")
            tag("h2", outcome_words(say, label) if label else say("verdict.broken"))
            if outcome is not None and outcome.justification:
                with tag("div"):
                    tag("h3", say("verdict.why"))
                    tag("p", outcome.justification, "why", dir="auto")
            with tag("div", classes="inner"):
                self._judging()

    def _judging(self) -> None:
        say, judging = self._say, self._live.judging
        tag("h3", say("verdict.judge"))
        if judging.task is not None:
            with tag("p", classes="waiting", style="padding-left: 0", role="status"):
                tag("i", aria_hidden="true")
                tag("span", say("verdict.judging"))
            return
        if judging.problem is not None:
            tag("p", problem_words(say, judging.problem), "notice", role="alert")
        if judging.report is not None:
            address = f"/games/{self._live.game.id}/report/{judging.report.parent.name}"
            with tag("p"):
                link(say("verdict.report"), address, "button primary", target="_blank")
        tag("p", say("verdict.judge_about"), "small soft")
        with tag("div", classes="pair"):
            checklists = {name: name for name in shipped("checklists")}
            checklist = Field(
                say("verdict.checklist"),
                fitting_checklist(self._room.procedure.roles, self._room.case.language),
                choices=checklists,
            )
            mode = Field(say("verdict.mode"), "single", choices={name: name for name in _MODES})
        judge = self._offer.model_field(say("verdict.judge_model"), self._live.game.settings.model)

        def start() -> None:
            self._live.judge(checklist=checklist.value, judge=self._offer.allowed(judge.value), mode=_mode(mode.value))

        again = judging.report is not None
        with tag("div"):
            button(say("verdict.judge_again" if again else "verdict.judge_start"), start, "" if again else "primary")


def _mode(text: str) -> Mode:
    for mode in _MODES:
        if mode == text:
            return mode
    return "single"
