"""The owner's door: a password of which only an argon2 hash is known, and the session behind it."""

from __future__ import annotations

import asyncio
import hmac
import time
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from dramaturg.errors import MissingExtraError, UserError
from dramaturg.files import read_text
from dramaturg.web.survey.forms import read_form
from dramaturg.web.survey.rendering import Visit, visit_of
from dramaturg.web.survey.site import Site
from dramaturg.web.survey.store import SurveyStore
from dramaturg.web.survey.threads import StoreThreads

SESSION_S = 12 * 3600
TRIES_A_MINUTE = 10

_CHECKS_AT_ONCE = 2
"""A check takes 64 MiB and a tenth of a second on purpose."""


def password_hash(password: str) -> str:
    """Returns the argon2id hash of a password.

    Raises:
        MissingExtraError: argon2-cffi is not installed.
    """
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise MissingExtraError("a password for the owner's page", "web") from None
    return PasswordHasher().hash(password)


def is_password(password: str, hashed: str) -> bool:
    """Returns whether a password is the one that was hashed."""
    from argon2 import PasswordHasher
    from argon2.exceptions import VerificationError

    try:
        return PasswordHasher().verify(hashed, password)
    except VerificationError:
        return False


def read_password(path: Path) -> str:
    """Returns the hash of the password in a file; the file may hold the hash itself.

    Raises:
        UserError: The file cannot be read, is empty, or holds a hash that is none.
    """
    text = read_text(path).strip()
    if not text:
        raise UserError("is empty", where=str(path), allowed="a password, or its hash by `annotate password`")
    if not text.startswith("$argon2"):
        return password_hash(text)
    from argon2 import extract_parameters
    from argon2.exceptions import InvalidHashError

    try:
        extract_parameters(text)
    except InvalidHashError:
        raise UserError("is no argon2 hash", where=str(path), allowed="a line by `annotate password`") from None
    return text


class OwnerDoor:
    """Lets the owner in, and nobody else."""

    def __init__(self, site: Site, store: SurveyStore, threads: StoreThreads, hashed: str) -> None:
        """Makes the door.

        Args:
            site: The campaign's.
            store: The campaign's.
            threads: Of its database.
            hashed: Hash of the password; empty where there is none, and nobody may enter.
        """
        self._site = site
        self._store = store
        self._threads = threads
        self._hashed = hashed
        self._checks = asyncio.Semaphore(_CHECKS_AT_ONCE)

    def closed(self, visit: Visit) -> Response | None:
        """Returns the page for who is not in: it asks for the password. None for the owner."""
        if not self._hashed:
            return visit.message(visit.say("progress.title"), visit.say("owner.off"), status=403)
        if not self.is_open(visit.request):
            return visit.page("password", back="/progress")
        return None

    def is_open(self, request: Request) -> bool:
        """Returns whether the owner asks."""
        until, _, given = request.cookies.get(self._site.owner_cookie, "").partition(".")
        if not self._hashed or not hmac.compare_digest(self._mark(until).encode(), given.encode()):
            return False
        return int(until) > time.time()

    async def enter(self, request: Request) -> Response:
        """Takes the password."""
        visit, fields = visit_of(request, self._site), await read_form(request)
        address = request.client.host if request.client else ""
        if not self._hashed:
            return visit.to("/progress")
        if not await self._threads.run(self._store.may_try_password, address, TRIES_A_MINUTE):
            return visit.page("password", status=429, back="/progress", note=visit.say("owner.too_many"))
        async with self._checks:
            right = await asyncio.to_thread(is_password, fields.get("password", ""), self._hashed)
        if not right:
            return visit.page("password", status=403, back="/progress", note=visit.say("owner.wrong"))
        response = visit.to("/progress")
        self._give(visit, response, f"{int(time.time()) + SESSION_S}", SESSION_S)
        return response

    async def leave(self, request: Request) -> Response:
        """Ends the owner's session in this browser."""
        visit = visit_of(request, self._site)
        response = visit.to("/progress")
        self._give(visit, response, "0", 0)
        return response

    def _give(self, visit: Visit, response: Response, until: str, age_s: int) -> None:
        value = f"{until}.{self._mark(until)}"
        secure = visit.request.url.scheme == "https"
        cookie, path = self._site.owner_cookie, visit.at("/progress")
        response.set_cookie(cookie, value, age_s, path=path, httponly=True, samesite="strict", secure=secure)

    def _mark(self, until: str) -> str:
        """Returns what proves a session; another password ends all of them."""
        return self._store.signer.mark("owner", self._hashed, until)
