"""The owner's pages: progress and export."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dramaturg.run.interview.vote_row import VoteRow
from dramaturg.web.annotation.progress import progress_of, votes_of
from dramaturg.web.annotation.store import Store
from dramaturg.web.survey.door import OwnerDoor
from dramaturg.web.survey.rendering import visit_of
from dramaturg.web.survey.site import Site
from dramaturg.web.survey.threads import StoreThreads

THRESHOLDS = (1, 3, 5)
"""Numbers of answers for which the page says how many items have them."""


class OwnerPages:
    """Progress and export."""

    def __init__(self, site: Site, store: Store, threads: StoreThreads, door: OwnerDoor) -> None:
        self._site = site
        self._store = store
        self._threads = threads
        self._door = door

    async def progress(self, request: Request) -> Response:
        """Shows how far the campaign is, or asks for the password."""
        visit = visit_of(request, self._site)
        closed = self._door.closed(visit)
        if closed is not None:
            return closed
        found = await self._threads.run(progress_of, self._store)
        return visit.page("progress", back="/progress", found=found, thresholds=THRESHOLDS)

    async def votes(self, request: Request) -> Response:
        """Sends every vote."""
        if not self._door.is_open(request):
            return visit_of(request, self._site).to("/progress")
        rows = votes_of(self._store)
        first = await self._threads.run(lambda: list(islice(rows, 1)))
        headers = {"Content-Disposition": 'attachment; filename="votes.jsonl"', "Cache-Control": "no-store"}
        return StreamingResponse(_lines(chain(first, rows)), media_type="application/x-ndjson", headers=headers)


def _lines(rows: Iterator[VoteRow]) -> Iterator[str]:
    for row in rows:
        yield row.model_dump_json() + "\n"
