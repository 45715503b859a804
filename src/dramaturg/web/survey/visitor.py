"""Who asks: a browser that nobody knows, or a named rater. The browser's cookie says so, and its mark proves it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from starlette.requests import Request

from dramaturg.web.survey.raters import BROWSER
from dramaturg.web.survey.signing import Signer
from dramaturg.web.survey.site import Site

COOKIE_S = 400 * 24 * 3600
"""The longest time for which browsers keep a cookie: an item must not come back to the same browser."""

_CROWD, _NAMED = "c", "r"
_PSEUDONYM_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks.

    Attributes:
        rater: What the votes are stored under: a rater's name, or a pseudonym that does not lead back to the cookie.
        named: Whether it is a named rater.
        cookie: The cookie's value, signed.
        new: Whether the browser does not have it yet.
    """

    rater: str
    named: bool
    cookie: str
    new: bool = False

    @property
    def shown(self) -> str:
        """The name of a named rater; empty for the crowd, whose pseudonyms say nothing to anybody."""
        return self.rater if self.named else ""


def visitor_of(request: Request, signer: Signer, site: Site) -> Visitor:
    """Returns who asks; a browser without a cookie, or with a forged one, is a new one."""
    cookie = request.cookies.get(site.visitor_cookie, "")
    kind, _, who = (signer.read("visitor", cookie) or "").partition(":")
    if kind == _NAMED:
        return Visitor(who, True, cookie)
    if kind == _CROWD:
        return Visitor(_pseudonym(who, signer), False, cookie)
    who = secrets.token_hex(16)
    return Visitor(_pseudonym(who, signer), False, signer.sign("visitor", f"{_CROWD}:{who}"), new=True)


def named_cookie(name: str, signer: Signer) -> str:
    """Returns the cookie of a named rater."""
    return signer.sign("visitor", f"{_NAMED}:{name}")


def _pseudonym(who: str, signer: Signer) -> str:
    return BROWSER + signer.mark("pseudonym", who)[:_PSEUDONYM_CHARACTERS]
