"""The page that shows an item, and what becomes of its form."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from starlette.requests import Request
from starlette.responses import Response

from dramaturg.web.annotation.allocation import Offer
from dramaturg.web.annotation.campaign import AskedItem, Campaign
from dramaturg.web.annotation.store import Given, Store
from dramaturg.web.survey.database import StoreAwayError
from dramaturg.web.survey.forms import read_form
from dramaturg.web.survey.people import not_yours, signed_out
from dramaturg.web.survey.raters import rater_named
from dramaturg.web.survey.rendering import Visit, visit_of
from dramaturg.web.survey.signing import Ticket, read_ticket
from dramaturg.web.survey.site import Site
from dramaturg.web.survey.threads import StoreThreads
from dramaturg.web.survey.visitor import Visitor, visitor_of
from dramaturg.web.words import Words

MOST_CHARACTERS = 2000
"""Of a justification or a complaint."""

_HANDLE_CHARACTERS = 16
_KEYS = "123456789abcdefghijklmnopqtuvwxyz"
"""Keys of the answers in their order; S and R are taken."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer that can be chosen.

    Attributes:
        value: As it is stored.
        text: As it is shown.
        key: That chooses it; empty where there are more answers than keys.
    """

    value: str
    text: str
    key: str


class Answering:
    """Shows items and takes answers."""

    def __init__(self, campaign: Campaign, site: Site, store: Store, threads: StoreThreads) -> None:
        self._campaign = campaign
        self._site = site
        self._store = store
        self._threads = threads
        self._handles = {self._handle(name): name for name in campaign.items}

    def _handle(self, item: str) -> str:
        """Returns what stands for an item on a page: an id might tell a honeypot."""
        return self._store.signer.mark("item", item)[:_HANDLE_CHARACTERS]

    async def show(self, request: Request) -> Response:
        """Shows the next item."""
        visit = visit_of(request, self._site)
        visitor = visitor_of(request, self._store.signer, self._site)
        if self._campaign.rules.raters_only and not visitor.named:
            return visit.to("/")
        offer = await self._threads.run(self._offer, visitor)
        if offer is None:
            return signed_out(visit)
        if isinstance(offer, str):
            return visit.to(offer)
        say = visit.say
        if offer.item is None:
            return visit.message(say("done.title"), say("done.text"), rater=visitor.shown)
        note = say("note.already") if request.query_params.get("note") == "already" else ""
        ticket = Ticket(self._handle(offer.item), _now_ms())
        page = self._form(visit, visitor, ticket, note=note, answered=offer.answered)
        if visitor.new:
            visit.give_cookie(page, visitor.cookie)
        return page

    def _offer(self, visitor: Visitor) -> Offer | str | None:
        """Returns the next item; where to go instead; None for a rater who is one no more."""
        if visitor.named:
            rater = rater_named(self._store, visitor.rater)
            if rater is None:
                return None
            if not rater.began:
                return "/guideline"
        return self._store.offer(visitor.rater, self._campaign.rules)

    async def take(self, request: Request) -> Response:
        """Takes a form: an answer, a skip, or a report."""
        visit = visit_of(request, self._site)
        visitor = visitor_of(request, self._store.signer, self._site)
        fields = await read_form(request)
        ticket = read_ticket(self._store.signer, fields.get("ticket", ""), visitor.rater)
        say = visit.say
        if ticket is None:
            return not_yours(visit, visitor.cookie if visitor.new else "")
        item = self._campaign.items.get(self._handles.get(ticket.handle, ""))
        if item is None:
            return visit.message(say("problem.gone"), link="/item", link_text=say("general.next"), status=410)
        seconds = max(0.0, (_now_ms() - ticket.shown_ms) / 1000)
        if seconds > self._campaign.rules.ticket_h * 3600:
            again = Ticket(ticket.handle, _now_ms())
            return self._form(visit, visitor, again, fields, problem=say("note.expired"), status=409)
        given = _given(item, visitor, fields, seconds, request.client.host if request.client else "")
        if isinstance(given, str):
            text = say(given, most=MOST_CHARACTERS)
            return self._form(visit, visitor, ticket, fields, problem=text, status=422)
        return await self._keep(visit, visitor, ticket, fields, item, given)

    async def _keep(
        self,
        visit: Visit,
        visitor: Visitor,
        ticket: Ticket,
        fields: Mapping[str, str],
        item: AskedItem,
        given: Given,
    ) -> Response:
        try:
            outcome = await self._threads.run(self._store.keep, given, item, self._campaign.rules)
        except StoreAwayError:
            return self._form(visit, visitor, ticket, fields, problem=visit.say("note.not_saved"), status=503)
        match outcome:
            case "kept":
                return visit.to("/item")
            case "already":
                return visit.to("/item?note=already")
            case "too_many":
                page = self._form(visit, visitor, ticket, fields, problem=visit.say("note.slow_down"), status=429)
                page.headers["Retry-After"] = "60"
                return page
            case "removed":
                return signed_out(visit)
        assert_never(outcome)

    def _form(
        self,
        visit: Visit,
        visitor: Visitor,
        ticket: Ticket,
        fields: Mapping[str, str] | None = None,
        *,
        problem: str = "",
        note: str = "",
        answered: int = 0,
        status: int = 200,
    ) -> Response:
        """Returns an item's page; what had been filled in stands in it again."""
        fields = fields or {}
        item = self._campaign.items[self._handles[ticket.handle]]
        question = visit.say("item.emotion" if item.category == "emotion" else "item.decision", name=item.name)
        return visit.page(
            "item",
            status=status,
            back="/item",
            rater=visitor.shown,
            note=note,
            problem=problem,
            ticket=ticket.signed(self._store.signer, visitor.rater),
            item=item,
            question=question,
            choices=self._choices(item, visitor, visit.say),
            chosen=fields.get("answer", ""),
            justification=fields.get("justification", ""),
            complaint=fields.get("complaint", ""),
            most=MOST_CHARACTERS,
            answered=answered,
        )

    def _choices(self, item: AskedItem, visitor: Visitor, say: Words) -> list[Choice]:
        """Returns what can be chosen: emotions in an order of the person's own, so that no place draws all people."""
        if item.category != "emotion":
            return [Choice(answer, say(f"item.{answer}"), answer[0]) for answer in item.answers]
        answers = list(item.answers)
        random.Random(self._store.signer.mark("order", visitor.rater)).shuffle(answers)
        keys = [*_KEYS[: len(answers)], *[""] * (len(answers) - len(_KEYS))]
        return [Choice(answer, say.name("labels", answer), key) for answer, key in zip(answers, keys, strict=True)]


def _given(item: AskedItem, visitor: Visitor, fields: Mapping[str, str], seconds: float, address: str) -> Given | str:
    """Returns what a person sent, or the key of what is wrong with it."""
    action, answer = fields.get("do", "answer"), fields.get("answer", "")
    reported, skipped = action == "report", action == "skip"
    justification = fields.get("complaint" if reported else "justification", "").strip()
    if len(justification) > MOST_CHARACTERS:
        return "note.long"
    if reported or skipped:
        answer = ""
    elif answer not in item.answers:
        return "note.choose"
    return Given(visitor.rater, visitor.named, answer, justification, skipped, reported, round(seconds, 3), address)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
