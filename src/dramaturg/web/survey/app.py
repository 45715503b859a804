"""The application of a campaign: the addresses that all of them have, and what stands around every page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from dramaturg.web.guard import Guard
from dramaturg.web.survey.database import StoreAwayError
from dramaturg.web.survey.door import OwnerDoor
from dramaturg.web.survey.people import PeoplePages
from dramaturg.web.survey.rendering import SHARED, STATIC, visit_of
from dramaturg.web.survey.site import Site
from dramaturg.web.survey.store import MINUTE_S, SurveyStore
from dramaturg.web.survey.threads import StoreThreads

if TYPE_CHECKING:
    from starlette.types import ASGIApp

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; {more}"
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page may load and where it may send: this server alone, and no script but the one for keys."""


def survey_app(
    site: Site,
    store: SurveyStore,
    threads: StoreThreads,
    *,
    people: PeoplePages,
    door: OwnerDoor,
    routes: Sequence[BaseRoute],
    only_here: bool,
    policy: str = "",
) -> ASGIApp:
    """Returns the application of a campaign.

    Args:
        site: Its pages, words and cookies.
        store: Its database.
        threads: Of the database; closed with the application.
        people: The pages around what is asked.
        door: Of the owner's pages.
        routes: What this kind of campaign has beside them.
        only_here: Whether requests are answered only under the names of this machine itself.
        policy: What its pages may do beside loading style, pictures and a script; a directive that ends in ``; ``.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        forgetting = asyncio.create_task(_forget_pace(store, threads))
        try:
            yield
        finally:
            forgetting.cancel()
            threads.close()

    async def away(request: Request, _: Exception) -> Response:
        return visit_of(request, site).away()

    async def refused(request: Request, problem: Exception) -> Response:
        status = problem.status_code if isinstance(problem, HTTPException) else 500
        visit = visit_of(request, site)
        key = {404: "wrong_address", 405: "wrong_address", 500: "broken"}.get(status, "form")
        return visit.message(visit.say(f"problem.{key}"), status=status, link="/", link_text=visit.say("general.home"))

    return Starlette(
        routes=[
            Route("/", people.welcome),
            Route("/guideline", people.guideline),
            Route("/guideline", people.begin, methods=["POST"]),
            Route("/rater/{key}", people.sign_in),
            Route("/leave", people.sign_out, methods=["POST"]),
            Route("/look", people.look, methods=["POST"]),
            Route("/progress", door.enter, methods=["POST"]),
            Route("/progress/leave", door.leave, methods=["POST"]),
            *routes,
            Mount("/static/shared", StaticFiles(directory=SHARED)),
            Mount("/static/survey", StaticFiles(directory=STATIC)),
            Mount("/static", StaticFiles(directory=site.folder / "static")),
        ],
        middleware=[Middleware(Guard, only_here=only_here, policy=POLICY.format(more=policy), referrer="same-origin")],
        exception_handlers={StoreAwayError: away, HTTPException: refused, Exception: refused},
        lifespan=lifespan,
    )


async def _forget_pace(store: SurveyStore, threads: StoreThreads) -> None:
    while True:
        with suppress(StoreAwayError):
            await threads.run(store.forget_pace)
        await asyncio.sleep(MINUTE_S)
