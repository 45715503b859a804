"""The pages around what is asked: welcome, guideline, signing in and out, language and appearance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from dramaturg.web.survey.forms import read_form
from dramaturg.web.survey.guideline import Block
from dramaturg.web.survey.raters import begin_rating, rater_of_key
from dramaturg.web.survey.rendering import Visit, visit_of
from dramaturg.web.survey.site import Site
from dramaturg.web.survey.store import SurveyStore
from dramaturg.web.survey.threads import StoreThreads
from dramaturg.web.survey.visitor import COOKIE_S, named_cookie, visitor_of

_BACK = ("/", "/item", "/guideline", "/progress")


@dataclass(frozen=True, slots=True)
class Guideline:
    """What people read before they answer, in one language.

    Attributes:
        language: ISO 639-1; empty where nobody knows.
        blocks: Its parts.
    """

    language: str
    blocks: Sequence[Block]


class PeoplePages:
    """The pages around what is asked."""

    def __init__(
        self,
        site: Site,
        store: SurveyStore,
        threads: StoreThreads,
        *,
        raters_only: bool,
        first: str = "/item",
        guidelines: Callable[[Visit], Sequence[Guideline]],
    ) -> None:
        """Makes the pages.

        Args:
            site: The campaign's.
            store: The campaign's.
            threads: Of its database.
            raters_only: Whether only named raters may answer.
            first: Page that the welcome leads to.
            guidelines: What a visitor reads before answering.
        """
        self._site = site
        self._store = store
        self._threads = threads
        self._raters_only = raters_only
        self._first = first
        self._guidelines = guidelines

    async def welcome(self, request: Request) -> Response:
        """Shows what this is, and where to begin."""
        visit = visit_of(request, self._site)
        visitor = visitor_of(request, self._store.signer, self._site)
        return visit.page("welcome", rater=visitor.shown, first=self._first, may_begin=self._may_begin(visitor.named))

    async def guideline(self, request: Request) -> Response:
        """Shows how to answer."""
        visit = visit_of(request, self._site)
        visitor = visitor_of(request, self._store.signer, self._site)
        return visit.page(
            "guideline",
            back="/guideline",
            rater=visitor.shown,
            token=self._store.signer.mark("guideline", visitor.rater),
            guidelines=self._guidelines(visit),
            may_begin=self._may_begin(visitor.named),
        )

    async def begin(self, request: Request) -> Response:
        """Keeps that a named rater has read the guideline."""
        visit = visit_of(request, self._site)
        visitor = visitor_of(request, self._store.signer, self._site)
        fields = await read_form(request)
        if not visitor.named or fields.get("token") != self._store.signer.mark("guideline", visitor.rater):
            return visit.to("/guideline")
        await self._threads.run(begin_rating, self._store, visitor.rater)
        return visit.to("/item")

    async def sign_in(self, request: Request) -> Response:
        """Takes a personal link."""
        visit = visit_of(request, self._site)
        rater = await self._threads.run(rater_of_key, self._store, request.path_params["key"])
        if rater is None:
            return visit.message(visit.say("problem.key_title"), visit.say("problem.key"), status=403)
        response = visit.to("/item" if rater.began else "/guideline")
        visit.give_cookie(response, named_cookie(rater.name, self._store.signer))
        return response

    async def sign_out(self, request: Request) -> Response:
        """Makes the browser forget a named rater."""
        visit = visit_of(request, self._site)
        response = visit.to("/")
        if visitor_of(request, self._store.signer, self._site).named:
            visit.give_cookie(response, "")
        return response

    async def look(self, request: Request) -> Response:
        """Keeps how a visitor wants the pages."""
        visit = visit_of(request, self._site)
        fields = await read_form(request)
        back, language, theme = (fields.get(name, "") for name in ("back", "language", "theme"))
        look = visit.look.with_choices(language, theme, self._site.languages)
        response = visit.to(back if back in _BACK else "/")
        response.set_cookie(
            self._site.look_cookie, look.cookie, COOKIE_S, path=visit.at("/"), httponly=True, samesite="lax"
        )
        return response

    def _may_begin(self, named: bool) -> bool:
        return named or not self._raters_only


def signed_out(visit: Visit) -> Response:
    """Returns the page for a rater whose key is good no more; the browser forgets it."""
    page = visit.message(visit.say("problem.key_title"), visit.say("problem.key"), status=403)
    visit.give_cookie(page, "")
    return page


def not_yours(visit: Visit, cookie: str) -> Response:
    """Returns the page for a form that was not made for this browser.

    Args:
        visit: The visitor's.
        cookie: What the browser is to keep; empty where it keeps it already.
    """
    say = visit.say
    title, text = say("problem.not_yours_title"), say("problem.not_yours")
    page = visit.message(title, text, status=403, link="/item", link_text=say("general.next"))
    if cookie:
        visit.give_cookie(page, cookie)
    return page
