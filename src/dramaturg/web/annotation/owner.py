"""The owner's pages: progress and export, behind a password of which only an argon2 hash is known."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dramaturg.errors import MissingExtraError, UserError
from dramaturg.files import read_text
from dramaturg.run.interview.vote_row import VoteRow
from dramaturg.web.annotation.forms import read_form
from dramaturg.web.annotation.progress import progress_of, votes_of
from dramaturg.web.annotation.rendering import Visit, visit_of
from dramaturg.web.annotation.store import Store
from dramaturg.web.annotation.threads import StoreThreads

COOKIE = "annotation-owner"
SESSION_S = 12 * 3600
TRIES_A_MINUTE = 10
THRESHOLDS = (1, 3, 5)
"""Numbers of answers for which the page says how many items have them."""

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


class OwnerPages:
    """Progress and export."""

    def __init__(self, title: str, store: Store, threads: StoreThreads, hashed: str) -> None:
        """Makes the owner's pages.

        Args:
            title: Of the item set.
            store: The campaign's.
            threads: Of its database.
            hashed: Hash of the password; empty where there is none, and nobody may enter.
        """
        self._title = title
        self._store = store
        self._threads = threads
        self._hashed = hashed
        self._checks = asyncio.Semaphore(_CHECKS_AT_ONCE)

    async def progress(self, request: Request) -> Response:
        """Shows how far the campaign is, or asks for the password."""
        visit = self._visit(request)
        if not self._hashed:
            return visit.message(visit.say("progress.title"), visit.say("progress.off"), status=403)
        if not self._entered(request):
            return visit.page("password", back="/progress")
        found = await self._threads.run(progress_of, self._store)
        return visit.page("progress", back="/progress", found=found, thresholds=THRESHOLDS)

    async def enter(self, request: Request) -> Response:
        """Takes the password."""
        visit, fields = self._visit(request), await read_form(request)
        address = request.client.host if request.client else ""
        if not self._hashed:
            return visit.to("/progress")
        if not await self._threads.run(self._store.may_try_password, address, TRIES_A_MINUTE):
            return visit.page("password", status=429, back="/progress", note=visit.say("progress.too_many"))
        async with self._checks:
            right = await asyncio.to_thread(is_password, fields.get("password", ""), self._hashed)
        if not right:
            return visit.page("password", status=403, back="/progress", note=visit.say("progress.wrong"))
        response = visit.to("/progress")
        self._give(visit, response, f"{int(time.time()) + SESSION_S}", SESSION_S)
        return response

    async def leave(self, request: Request) -> Response:
        """Ends the owner's session in this browser."""
        visit = self._visit(request)
        response = visit.to("/progress")
        self._give(visit, response, "0", 0)
        return response

    async def votes(self, request: Request) -> Response:
        """Sends every vote."""
        if not self._entered(request):
            return self._visit(request).to("/progress")
        rows = votes_of(self._store)
        first = await self._threads.run(lambda: list(islice(rows, 1)))
        headers = {"Content-Disposition": 'attachment; filename="votes.jsonl"', "Cache-Control": "no-store"}
        return StreamingResponse(_lines(chain(first, rows)), media_type="application/x-ndjson", headers=headers)

    def _visit(self, request: Request) -> Visit:
        return visit_of(request, self._title)

    def _give(self, visit: Visit, response: Response, until: str, age_s: int) -> None:
        value = f"{until}.{self._mark(until)}"
        secure = visit.request.url.scheme == "https"
        response.set_cookie(
            COOKIE, value, age_s, path=visit.at("/progress"), httponly=True, samesite="strict", secure=secure
        )

    def _entered(self, request: Request) -> bool:
        until, _, given = request.cookies.get(COOKIE, "").partition(".")
        if not self._hashed or not hmac.compare_digest(self._mark(until).encode(), given.encode()):
            return False
        return int(until) > time.time()

    def _mark(self, until: str) -> str:
        """Returns what proves a session; another password ends all of them."""
        return self._store.signer.mark("owner", self._hashed, until)


def _lines(rows: Iterator[VoteRow]) -> Iterator[str]:
    for row in rows:
        yield row.model_dump_json() + "\n"
