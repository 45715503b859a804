"""The application: addresses, and what answers them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from dramaturg.web.annotation.answering import Answering
from dramaturg.web.annotation.campaign import Campaign
from dramaturg.web.annotation.database import StoreAwayError
from dramaturg.web.annotation.forms import read_form
from dramaturg.web.annotation.guideline import read_guideline
from dramaturg.web.annotation.look import COOKIE as LOOK_COOKIE
from dramaturg.web.annotation.owner import OwnerPages
from dramaturg.web.annotation.raters import begin_rating, rater_of_key
from dramaturg.web.annotation.rendering import SHARED, STATIC, visit_of
from dramaturg.web.annotation.store import MINUTE_S, Store
from dramaturg.web.annotation.threads import StoreThreads
from dramaturg.web.annotation.visitor import COOKIE_S, named_cookie, visitor_of
from dramaturg.web.guard import Guard

if TYPE_CHECKING:
    from starlette.types import ASGIApp

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page may load and where it may send: this server alone, and no script but the one for keys."""

_BACK = ("/", "/item", "/guideline", "/progress")


def annotation_app(campaign: Campaign, store: Store, *, owner: str = "", only_here: bool = False) -> ASGIApp:
    """Returns the application of a campaign.

    Args:
        campaign: What is asked.
        store: Where votes go; the campaign is taken in already.
        owner: Hash of the owner's password; without it nobody sees the progress.
        only_here: Whether requests are answered only under the names of this machine itself.
    """
    threads = StoreThreads(store.database.threads)
    answering = Answering(campaign, store, threads)
    people = _People(campaign, store, threads)
    owners = OwnerPages(campaign.title, store, threads, owner)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        forgetting = asyncio.create_task(_forget_pace(store, threads))
        try:
            yield
        finally:
            forgetting.cancel()
            threads.close()

    async def away(request: Request, _: Exception) -> Response:
        return visit_of(request, campaign.title).away()

    async def refused(request: Request, problem: Exception) -> Response:
        status = problem.status_code if isinstance(problem, HTTPException) else 500
        visit = visit_of(request, campaign.title)
        key = {404: "wrong_address", 405: "wrong_address", 500: "broken"}.get(status, "form")
        return visit.message(visit.say(f"problem.{key}"), status=status, link="/", link_text=visit.say("general.home"))

    return Starlette(
        routes=[
            Route("/", people.welcome),
            Route("/item", answering.show),
            Route("/item", answering.take, methods=["POST"]),
            Route("/guideline", people.guideline),
            Route("/guideline", people.begin, methods=["POST"]),
            Route("/rater/{key}", people.sign_in),
            Route("/leave", people.sign_out, methods=["POST"]),
            Route("/look", people.look, methods=["POST"]),
            Route("/progress", owners.progress),
            Route("/progress", owners.enter, methods=["POST"]),
            Route("/progress/leave", owners.leave, methods=["POST"]),
            Route("/progress/votes.jsonl", owners.votes),
            Mount("/static/shared", StaticFiles(directory=SHARED)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, only_here=only_here, policy=POLICY, referrer="same-origin")],
        exception_handlers={StoreAwayError: away, HTTPException: refused, Exception: refused},
        lifespan=lifespan,
    )


async def _forget_pace(store: Store, threads: StoreThreads) -> None:
    while True:
        with suppress(StoreAwayError):
            await threads.run(store.forget_pace)
        await asyncio.sleep(MINUTE_S)


class _People:
    """The pages around the items."""

    def __init__(self, campaign: Campaign, store: Store, threads: StoreThreads) -> None:
        self._campaign = campaign
        self._store = store
        self._threads = threads

    async def welcome(self, request: Request) -> Response:
        visit = visit_of(request, self._campaign.title)
        visitor = visitor_of(request, self._store.signer)
        rater = visitor.rater if visitor.named else ""
        return visit.page("welcome", rater=rater, may_begin=self._may_begin(visitor.named))

    async def guideline(self, request: Request) -> Response:
        visit = visit_of(request, self._campaign.title)
        visitor = visitor_of(request, self._store.signer)
        return visit.page(
            "guideline",
            back="/guideline",
            rater=visitor.rater if visitor.named else "",
            token=self._store.signer.mark("guideline", visitor.rater),
            blocks=read_guideline(self._campaign.guideline or visit.say("guideline.text")),
            may_begin=self._may_begin(visitor.named),
        )

    async def begin(self, request: Request) -> Response:
        visit = visit_of(request, self._campaign.title)
        visitor = visitor_of(request, self._store.signer)
        fields = await read_form(request)
        if not visitor.named or fields.get("token") != self._store.signer.mark("guideline", visitor.rater):
            return visit.to("/guideline")
        await self._threads.run(begin_rating, self._store, visitor.rater)
        return visit.to("/item")

    async def sign_in(self, request: Request) -> Response:
        visit = visit_of(request, self._campaign.title)
        rater = await self._threads.run(rater_of_key, self._store, request.path_params["key"])
        if rater is None:
            return visit.message(visit.say("problem.key_title"), visit.say("problem.key"), status=403)
        response = visit.to("/item" if rater.began else "/guideline")
        visit.give_cookie(response, named_cookie(rater.name, self._store.signer))
        return response

    async def sign_out(self, request: Request) -> Response:
        visit = visit_of(request, self._campaign.title)
        response = visit.to("/")
        if visitor_of(request, self._store.signer).named:
            visit.give_cookie(response, "")
        return response

    async def look(self, request: Request) -> Response:
        visit = visit_of(request, self._campaign.title)
        fields = await read_form(request)
        back = fields.get("back", "")
        look = visit.look.with_choices(fields.get("language", ""), fields.get("theme", ""))
        response = visit.to(back if back in _BACK else "/")
        response.set_cookie(LOOK_COOKIE, look.cookie, COOKIE_S, path=visit.at("/"), httponly=True, samesite="lax")
        return response

    def _may_begin(self, named: bool) -> bool:
        return named or not self._campaign.rules.raters_only
