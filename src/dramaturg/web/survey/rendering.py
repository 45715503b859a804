"""Pages as text: templates, into which every value goes escaped."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from dramaturg.text import sha256
from dramaturg.web.survey.look import THEMES, Look
from dramaturg.web.survey.site import Site
from dramaturg.web.survey.visitor import COOKIE_S
from dramaturg.web.words import Words

HERE = Path(__file__).parent
STATIC = HERE / "static"
SHARED = HERE.parent / "static"
RETRY_S = 10
"""Seconds after which a page that could not be shown tries again."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request, as a page must know it.

    Attributes:
        request: The request.
        look: How the visitor wants the page.
        site: The campaign's.
    """

    request: Request
    look: Look
    site: Site

    @property
    def say(self) -> Words:
        """The interface's words."""
        return self.site.words(self.look.language)

    def at(self, path: str) -> str:
        """Returns an address of ours, wherever the pages are mounted."""
        return f"{self.request.scope.get('root_path', '')}{path}"

    def page(
        self,
        template: str,
        *,
        status: int = 200,
        back: str = "/",
        rater: str = "",
        note: str = "",
        retry_s: int = 0,
        **values: object,
    ) -> Response:
        """Returns a page.

        Args:
            template: Name of its template.
            status: Of HTTP.
            back: Which page is shown after a change of language.
            rater: Name of the rater who is signed in.
            note: What is said above all else.
            retry_s: Seconds after which the page is asked for anew; 0 for never.
            values: What the template names.
        """
        text = (
            _templates(self.site.folder)
            .get_template(f"{template}.html")
            .render(
                at=self.at,
                say=self.say,
                look=self.look,
                languages=self.site.languages,
                themes=THEMES,
                site=self.site,
                stamp=_stamp(self.site.folder),
                back=back,
                rater=rater,
                note=note,
                retry_s=retry_s,
                **values,
            )
        )
        return HTMLResponse(text, status, headers={"Cache-Control": "no-store", "Content-Language": self.look.language})

    def message(
        self, title: str, text: str = "", *, status: int = 200, link: str = "", link_text: str = "", rater: str = ""
    ) -> Response:
        """Returns a page that says one thing."""
        return self.page("message", status=status, title=title, text=text, link=link, link_text=link_text, rater=rater)

    def away(self) -> Response:
        """Returns the page for a database that cannot be reached; it tries again by itself."""
        say = self.say
        page = self.page(
            "message",
            status=503,
            title=say("problem.away_title"),
            text=say("problem.away"),
            link=self.request.url.path.removeprefix(self.request.scope.get("root_path", "")),
            link_text=say("general.retry"),
            retry_s=RETRY_S if self.request.method == "GET" else 0,
        )
        page.headers["Retry-After"] = str(RETRY_S)
        return page

    def to(self, path: str) -> Response:
        """Returns what leads the browser to another page of ours."""
        return RedirectResponse(self.at(path), 303)

    def give_cookie(self, response: Response, value: str) -> None:
        """Lets the browser keep who it is; an empty value makes it forget."""
        secure = self.request.url.scheme == "https"
        age = COOKIE_S if value else 0
        cookie, path = self.site.visitor_cookie, self.at("/")
        response.set_cookie(cookie, value, age, path=path, httponly=True, samesite="lax", secure=secure)


def visit_of(request: Request, site: Site) -> Visit:
    """Returns a request as a page must know it."""
    return Visit(request, site.look_of(request), site)


@functools.cache
def _templates(folder: Path) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder / "pages", HERE / "pages"], encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
    )


@functools.cache
def _stamp(folder: Path) -> str:
    """Returns a mark of the styles and scripts, so that a browser loads them anew when they change."""
    files = [SHARED / "style.css", *sorted(STATIC.iterdir()), *sorted((folder / "static").iterdir())]
    return sha256("".join(file.read_text(encoding="utf-8") for file in files))[:12]
