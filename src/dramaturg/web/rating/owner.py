"""The owner's pages: progress, agreement and export."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response

from dramaturg.judge.rating import Rubric
from dramaturg.judge.rating.table import RowKey
from dramaturg.report.exports import heading
from dramaturg.report.layouts import Layout
from dramaturg.report.rating.reliability import NamedTable
from dramaturg.web.rating.agreement import agreement_layouts, agreement_of
from dramaturg.web.rating.campaign import RatingCampaign
from dramaturg.web.rating.export import ratings_csv, ratings_jsonl
from dramaturg.web.rating.progress import Sheet, progress_of, sheets_of, values_by_person
from dramaturg.web.rating.store import RatingStore
from dramaturg.web.survey.door import OwnerDoor
from dramaturg.web.survey.rendering import visit_of
from dramaturg.web.survey.site import Site
from dramaturg.web.survey.threads import StoreThreads

THRESHOLDS = (1, 2, 3)
"""Numbers of people for which the page says how many roles they rated."""


class OwnerPages:
    """Progress, agreement and export."""

    def __init__(
        self,
        campaign: RatingCampaign,
        site: Site,
        store: RatingStore,
        threads: StoreThreads,
        door: OwnerDoor,
        judges: Sequence[NamedTable],
    ) -> None:
        self._scenes: Mapping[RowKey, str] = {role.key: role.scene for role in campaign.roles.values()}
        self._rubric: Rubric = next(iter(campaign.rubrics.values()))
        self._site = site
        self._store = store
        self._threads = threads
        self._door = door
        self._judges = judges
        self._computing = asyncio.Lock()
        self._computed: tuple[int, tuple[Layout, ...]] = (-1, ())

    async def progress(self, request: Request) -> Response:
        """Shows how far the campaign is and how far people agree, or asks for the password."""
        visit = visit_of(request, self._site)
        closed = self._door.closed(visit)
        if closed is not None:
            return closed
        found = await self._threads.run(progress_of, self._store)
        sheets = await self._threads.run(sheets_of, self._store)
        return visit.page(
            "progress",
            back="/progress",
            found=found,
            thresholds=THRESHOLDS,
            tables=await self._agreement(sheets),
            heading=heading,
            judges=bool(self._judges),
        )

    async def _agreement(self, sheets: list[Sheet]) -> tuple[Layout, ...]:
        """Returns the tables of agreement, none before two people rated; computed anew when a sheet was handed in."""
        people = values_by_person(sheets)
        handed_in = sum(sheet.state == "done" for sheet in sheets)
        if not people or (len(people) < 2 and not self._judges):
            return ()
        async with self._computing:
            if self._computed[0] != handed_in:
                self._computed = handed_in, await asyncio.to_thread(self._compute, people)
            return self._computed[1]

    def _compute(self, people: Mapping[str, Mapping[tuple[RowKey, str], float]]) -> tuple[Layout, ...]:
        metrics = [metric.id for metric in self._rubric.metrics]
        found = agreement_of(people, metrics=metrics, scenes=self._scenes, judges=self._judges)
        return agreement_layouts(found, self._rubric)

    async def as_csv(self, request: Request) -> Response:
        """Sends every rating as CSV."""
        return await self._export(request, "csv")

    async def as_jsonl(self, request: Request) -> Response:
        """Sends every rating as JSON Lines."""
        return await self._export(request, "jsonl")

    async def _export(self, request: Request, form: str) -> Response:
        if not self._door.is_open(request):
            return visit_of(request, self._site).to("/progress")
        sheets = await self._threads.run(sheets_of, self._store)
        text = ratings_csv(sheets) if form == "csv" else ratings_jsonl(sheets)
        headers = {"Content-Disposition": f'attachment; filename="people.{form}"', "Cache-Control": "no-store"}
        kind = "text/csv" if form == "csv" else "application/x-ndjson"
        return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)
