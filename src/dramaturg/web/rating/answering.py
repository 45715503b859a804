"""The page that shows a played role beside the scales, and what becomes of its form."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import assert_never

from starlette.requests import Request
from starlette.responses import Response

from dramaturg.judge.rating import HIGHEST, LOWEST
from dramaturg.web.rating.campaign import PlayedRole, RatingCampaign
from dramaturg.web.rating.sheet import (
    CANNOT_TELL,
    FIELDS_PER_METRIC,
    MOST_CHARACTERS,
    WHY_MISSING,
    Mark,
    Marks,
    marks_of,
    undecided,
    with_marks,
)
from dramaturg.web.rating.site import rating_words
from dramaturg.web.rating.store import Filled, RatingStore, RoleOffer, State
from dramaturg.web.survey.database import StoreAwayError
from dramaturg.web.survey.forms import MOST_FIELDS, read_form
from dramaturg.web.survey.people import not_yours, signed_out
from dramaturg.web.survey.raters import rater_named
from dramaturg.web.survey.rendering import Visit, visit_of
from dramaturg.web.survey.signing import Ticket, read_ticket
from dramaturg.web.survey.site import Site
from dramaturg.web.survey.threads import StoreThreads
from dramaturg.web.survey.visitor import Visitor, visitor_of

_HANDLE_CHARACTERS = 16
_POINTS = tuple(range(LOWEST, HIGHEST + 1))
_NOTES = ("already", "saved", "passed")
"""What a page may say of the form that led to it."""


class Answering:
    """Shows played roles and takes sheets."""

    def __init__(self, campaign: RatingCampaign, site: Site, store: RatingStore, threads: StoreThreads) -> None:
        self._campaign = campaign
        self._site = site
        self._store = store
        self._threads = threads
        self._handles = {self._handle(name): name for name in campaign.roles}
        metrics = max(len(rubric.metrics) for rubric in campaign.rubrics.values())
        self._most_fields = MOST_FIELDS + FIELDS_PER_METRIC * metrics

    def _handle(self, role: str) -> str:
        """Returns what stands for a role on a page: an id could be made of the transcript's, and tell its model."""
        return self._store.signer.mark("role", role)[:_HANDLE_CHARACTERS]

    async def show(self, request: Request) -> Response:
        """Shows the role that was begun, else the next one."""
        visit = visit_of(request, self._site)
        visitor = visitor_of(request, self._store.signer, self._site)
        if self._campaign.rules.raters_only and not visitor.named:
            return visit.to("/")
        offer = await self._threads.run(self._offer, visitor)
        if offer is None:
            return signed_out(visit)
        if isinstance(offer, str):
            return visit.to(offer)
        if offer.role is None:
            say = visit.say
            return visit.message(say("done.title"), say("done.text", count=offer.done), rater=visitor.shown)
        asked = request.query_params.get("note", "")
        note = visit.say(f"note.{asked}") if asked in _NOTES else ""
        ticket = Ticket(self._handle(offer.role), _now_ms())
        page = self._form(visit, visitor, ticket, offer.marks, note=note, done=offer.done, left=offer.left)
        if visitor.new:
            visit.give_cookie(page, visitor.cookie)
        return page

    def _offer(self, visitor: Visitor) -> RoleOffer | str | None:
        """Returns the next role; where to go instead; None for a rater who is one no more."""
        if visitor.named:
            rater = rater_named(self._store, visitor.rater)
            if rater is None:
                return None
            if not rater.began:
                return "/guideline"
        return self._store.offer(visitor.rater, self._campaign.rules)

    async def take(self, request: Request) -> Response:
        """Takes a form: to hand in, to go on later, or to pass over."""
        visit = visit_of(request, self._site)
        visitor = visitor_of(request, self._store.signer, self._site)
        fields = await read_form(request, self._most_fields)
        ticket = read_ticket(self._store.signer, fields.get("ticket", ""), visitor.rater)
        if ticket is None:
            return not_yours(visit, visitor.cookie if visitor.new else "")
        role = self._campaign.roles.get(self._handles.get(ticket.handle, ""))
        if role is None:
            say = visit.say
            return visit.message(say("problem.gone"), link="/item", link_text=say("general.next"), status=410)
        metrics = [metric.id for metric in self._campaign.rubrics[role.language].metrics]
        marks, wanted = marks_of(fields, metrics), fields.get("do", "save")
        try:
            known = await self._threads.run(self._store.sheet_of, visitor.rater, role.id)
            missing = undecided(with_marks(known, marks), metrics) if wanted == "done" else ()
            filled = Filled(
                visitor.rater,
                visitor.named,
                role.id,
                marks,
                _state(wanted, missing),
                ticket.shown_ms / 1000,
                request.client.host if request.client else "",
            )
            outcome = await self._threads.run(self._store.keep, filled, self._campaign.rules)
        except StoreAwayError:
            return self._form(visit, visitor, ticket, marks, problem=visit.say("note.not_saved"), status=503)
        match outcome:
            case "kept":
                if missing:
                    return self._incomplete(visit, visitor, ticket, with_marks(known, marks), missing)
                if wanted == "draft":
                    return Response(status_code=204)
                notes = {"pass": "passed", "save": "saved"}
                return visit.to(f"/item?note={notes[wanted]}" if wanted in notes else "/item")
            case "already":
                return visit.to("/item?note=already")
            case "too_many":
                page = self._form(visit, visitor, ticket, marks, problem=visit.say("note.slow_down"), status=429)
                page.headers["Retry-After"] = "60"
                return page
            case "removed":
                return signed_out(visit)
        assert_never(outcome)

    def _incomplete(
        self, visit: Visit, visitor: Visitor, ticket: Ticket, marks: Marks, missing: Sequence[str]
    ) -> Response:
        """Returns the page again for a sheet that has open scales; what was filled in is saved by then."""
        role = self._campaign.roles[self._handles[ticket.handle]]
        names = {metric.id: metric.name for metric in self._campaign.rubrics[role.language].metrics}
        problem = visit.say("note.incomplete", scales=", ".join(names[metric] for metric in missing))
        return self._form(visit, visitor, ticket, marks, problem=problem, missing=missing, status=422)

    def _form(
        self,
        visit: Visit,
        visitor: Visitor,
        ticket: Ticket,
        marks: Marks,
        *,
        problem: str = "",
        missing: Sequence[str] = (),
        note: str = "",
        done: int = 0,
        left: int = 0,
        status: int = 200,
    ) -> Response:
        """Returns a role's page; what had been filled in stands in it again."""
        role: PlayedRole = self._campaign.roles[self._handles[ticket.handle]]
        rubric = self._campaign.rubrics[role.language]
        shown: Mapping[str, Mark] = {metric.id: marks.get(metric.id, Mark()) for metric in rubric.metrics}
        return visit.page(
            "item",
            status=status,
            back="/item",
            rater=visitor.shown,
            note=note,
            problem=problem,
            missing=missing,
            ticket=ticket.signed(self._store.signer, visitor.rater),
            role=role,
            rubric=rubric,
            marks=shown,
            points=_POINTS,
            cannot_tell=CANNOT_TELL,
            reasons=WHY_MISSING,
            most=MOST_CHARACTERS,
            here=rating_words(rubric.language),
            done=done,
            left=left,
        )


def _state(wanted: str, missing: Sequence[str]) -> State:
    """Returns what a sheet becomes by what was asked for; whatever else is sent only saves it."""
    match wanted:
        case "done" if not missing:
            return "done"
        case "pass":
            return "passed"
        case _:
            return "open"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
