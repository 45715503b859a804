"""The page on which a model writes a new case, to be saved or discarded."""

from __future__ import annotations

import asyncio

from nicegui import ui

from dramaturg.stage.court.case import Case
from dramaturg.stage.court.procedure import load_procedure
from dramaturg.web.case_shelf import CaseShelf, write_case
from dramaturg.web.choosing import preview
from dramaturg.web.elements import Field, button, link, tag, when_gone
from dramaturg.web.frame import Visit, frame
from dramaturg.web.hall import Hall
from dramaturg.web.live import problem_of
from dramaturg.web.offer import Offer
from dramaturg.web.problems import problem_words
from dramaturg.web.room import room_of
from dramaturg.web.words import LANGUAGES


def writing_page(visit: Visit, hall: Hall, shelf: CaseShelf, offer: Offer) -> None:
    """Shows the form; the draft is part of the open page and is gone with it, unless it is saved."""
    say = visit.words
    with frame(visit, say("cases.generate")), tag("div", classes="column narrow"):
        with tag("div", classes="lead"):
            tag("h1", say("cases.generate"))
        _Writing(visit, hall, shelf, offer)


class _Writing:
    """The form, and the draft that comes of it."""

    def __init__(self, visit: Visit, hall: Hall, shelf: CaseShelf, offer: Offer) -> None:
        say = self._say = visit.words
        self._hall, self._shelf, self._offer = hall, shelf, offer
        self._attempt = 0
        with tag("div", classes="form"):
            self._prior = Field(say("cases.prior"), hint=say("cases.prior_hint"))
            with tag("div", classes="pair"):
                self._language = Field(say("cases.language"), say.language, choices=LANGUAGES)
                self._model = offer.model_field(say("cases.written_by"))
            self._problem = tag("p", classes="notice", role="alert")
            self._busy = tag("p", say("cases.writing"), "soft", role="status")
            with tag("div"):
                self._write = button(say("cases.write"), self._start, "primary")
                link(say("general.back"), "/new", "button quiet")
        self._draft = tag("div", style="margin-top: 2rem")
        self._busy.set_visibility(False)
        self._task: asyncio.Task[Case] | None = None
        when_gone(self._leave)

    def _leave(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _start(self) -> None:
        if self._task is not None:
            return
        self._draft.clear()
        self._problem.text = ""
        self._busy.set_visibility(True)
        self._write.props["disabled"] = True
        self._attempt += 1
        self._task = asyncio.create_task(self._case(), name="case writing")
        try:
            case = await self._task
        except Exception as fault:  # whatever ends the writing is told on the page
            self._problem.text = self._say("cases.failed", problem=problem_words(self._say, problem_of(fault)))
        else:
            self._show(case)
        finally:
            self._task = None
            self._busy.set_visibility(False)
            self._write.props.pop("disabled", None)

    async def _case(self) -> Case:
        model = await self._hall.models.open(self._offer.allowed(self._model.value))
        return await write_case(model, prior=self._prior.value, language=self._language.value, attempt=self._attempt)

    def _show(self, case: Case) -> None:
        say = self._say

        def save() -> None:
            ui.navigate.to(f"/new?case={self._shelf.save(case)}")

        with self._draft, tag("article", classes="preview"):
            tag("p", say("cases.drafted"), "notice", role="status")
            preview(say, room_of(case, load_procedure(case.made_for)))
            with tag("div", classes="preview-buttons"):
                button(say("cases.save"), save, "primary")
                button(say("cases.discard"), self._draft.clear)
