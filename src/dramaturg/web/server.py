"""The server: pages, pictures and files over one hall of games and stories, on one address."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from nicegui import app as pages
from nicegui import ui

from dramaturg.errors import UserError
from dramaturg.model.opening import Models
from dramaturg.report.page import write_page
from dramaturg.run.games import games_folder
from dramaturg.run.games.game import TRANSCRIPT
from dramaturg.web.case_shelf import CaseShelf
from dramaturg.web.choosing import cases_page, options_page
from dramaturg.web.courtroom import Courtroom
from dramaturg.web.elements import link, tag, when_gone
from dramaturg.web.frame import STATIC, Visit, frame, visit_of
from dramaturg.web.guard import Guard, is_loopback
from dramaturg.web.hall import MOST_OPEN, AnyLive, Hall, HallFullError, may_be_game
from dramaturg.web.home import home_page
from dramaturg.web.live import LiveGame
from dramaturg.web.offer import Offer
from dramaturg.web.portraits import portrait_at
from dramaturg.web.room import room_of_game
from dramaturg.web.world.live_story import LiveStory
from dramaturg.web.world.scenes import scene_options_page, scenes_page
from dramaturg.web.world.stage_page import StagePage
from dramaturg.web.world.troupe import troupe_of_story
from dramaturg.web.writing import writing_page

_UNIT = re.compile(r"[A-Za-z0-9_.-]{1,100}\Z")
_RECONNECT_S = 60.0
"""Seconds for which an open page is kept whose connection is lost; a processor taken by models may be that late."""

_PAGE_S = 60.0
"""Seconds that a page may take to be made, on a machine whose processor is taken by models."""

_KEPT_MESSAGES = 200
"""Messages that are kept for a page whose connection is lost; beyond them it is shown anew."""


class SharedModels(Models):
    """Models that many games ask: they stay open until the server ends."""

    def __init__(self) -> None:
        super().__init__()
        self._ending = False

    async def release(self, text: str) -> None:
        """Keeps the model, which other games may be asking; at the server's end it is let go."""
        if self._ending:
            await super().release(text)

    async def close(self) -> None:
        """Lets go of everything."""
        self._ending = True
        await super().close()


def serve(sock: socket.socket, *, root: Path | None, models: Sequence[str]) -> None:
    """Serves the pages until the process is interrupted.

    Args:
        sock: A bound socket; see `dramaturg.web.listening`.
        root: Folder of the games; the user's own by default.
        models: Spec strings that visitors may choose; the first is chosen at first. Where strangers can reach the
            address, no other one can be chosen.
    """
    host: str = sock.getsockname()[0]
    here = is_loopback(host)
    app = court_app(root=root, offer=Offer(models, any_model=here), only_here=here)
    config = uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[sock])


def court_app(*, root: Path | None, offer: Offer, only_here: bool) -> FastAPI:
    """Returns the server's application; a process has one.

    Args:
        root: Folder of the games; the user's own by default.
        offer: Which models visitors may choose.
        only_here: Whether requests are answered only under the names of this machine itself.
    """
    models = SharedModels()
    hall = Hall(models, write_page, root)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with models, hall:
            yield

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Guard, only_here=only_here)
    app.mount("/static", StaticFiles(directory=STATIC), name="dramaturg static")
    _add_files(app, root or games_folder())
    _add_pages(hall, CaseShelf.beside(root), offer)
    ui.run_with(  # pyright: ignore[reportUnknownMemberType]
        app,
        title="Dramaturg",
        favicon=STATIC / "mark.svg",
        language=None,
        binding_refresh_interval=None,
        reconnect_timeout=_RECONNECT_S,
        message_history_length=_KEPT_MESSAGES,
        tailwind=False,
        show_welcome_message=False,
    )
    return app


def _add_files(app: FastAPI, root: Path) -> None:
    @app.get("/portraits/{file}")
    def portrait(file: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        drawn = portrait_at(file)
        if drawn is None:
            raise HTTPException(404)
        kept = {"Cache-Control": "public, max-age=86400"}
        return Response(drawn.svg(), media_type="image/svg+xml", headers=kept)

    @app.get("/games/{game_id}/report/{unit}")
    def report(game_id: str, unit: str) -> FileResponse:  # pyright: ignore[reportUnusedFunction]
        page = root / game_id / "judged" / unit / "report.html"
        if not may_be_game(game_id) or not _UNIT.match(unit) or not page.is_file():
            raise HTTPException(404)
        return FileResponse(page, media_type="text/html", headers={"Cache-Control": "no-store"})

    @app.get("/games/{game_id}/transcript")
    def transcript(game_id: str) -> FileResponse:  # pyright: ignore[reportUnusedFunction]
        file = root / game_id / TRANSCRIPT
        if not may_be_game(game_id) or not file.is_file():
            raise HTTPException(404)
        return FileResponse(file, media_type="application/jsonl", filename=f"{game_id}.jsonl")


def _add_pages(hall: Hall, shelf: CaseShelf, offer: Offer) -> None:
    @ui.page("/", response_timeout=_PAGE_S)
    async def home(request: Request) -> None:  # pyright: ignore[reportUnusedFunction]
        await home_page(visit_of(request), hall)

    @ui.page("/new", response_timeout=_PAGE_S)
    async def cases(request: Request, case: str = "") -> None:  # pyright: ignore[reportUnusedFunction]
        await cases_page(visit_of(request), shelf, case)

    @ui.page("/new/write", response_timeout=_PAGE_S)
    def writing(request: Request) -> None:  # pyright: ignore[reportUnusedFunction]
        writing_page(visit_of(request), hall, shelf, offer)

    @ui.page("/new/options", response_timeout=_PAGE_S)
    async def options(request: Request, case: str = "") -> None:  # pyright: ignore[reportUnusedFunction]
        await options_page(visit_of(request), hall, shelf, offer, case)

    @ui.page("/scenes", response_timeout=_PAGE_S)
    async def scenes(request: Request, scene: str = "") -> None:  # pyright: ignore[reportUnusedFunction]
        await scenes_page(visit_of(request), scene)

    @ui.page("/scenes/options", response_timeout=_PAGE_S)
    async def scene_options(request: Request, scene: str = "") -> None:  # pyright: ignore[reportUnusedFunction]
        await scene_options_page(visit_of(request), hall, offer, scene)

    @ui.page("/games/{game_id}", response_timeout=_PAGE_S)
    async def game(request: Request, game_id: str) -> None:  # pyright: ignore[reportUnusedFunction]
        await _game_page(request, hall, offer, game_id)

    @ui.page("/{path:path}", response_timeout=_PAGE_S)
    def elsewhere(request: Request, path: str) -> None:  # pyright: ignore[reportUnusedFunction]
        del path
        _say_only(request, "general.wrong_address")

    @pages.on_page_exception  # pyright: ignore[reportUnknownMemberType]
    def broken(_: Exception) -> None:  # pyright: ignore[reportUnusedFunction]
        _say_only(ui.context.client.request, "general.broken_page")


async def _game_page(request: Request, hall: Hall, offer: Offer, game_id: str) -> None:
    visit = visit_of(request)
    shown: list[Courtroom | StagePage] = []

    def refresh() -> None:
        for page in shown:
            page.refresh()

    try:
        live = await hall.enter(game_id)
        number = live.watch(refresh)
        when_gone(lambda: live.unwatch(number))
        build = await _page_of(live, visit, offer)
    except HallFullError:
        _say_only(request, "problem.full", count=MOST_OPEN)
        return
    except UserError:
        _say_only(request, "problem.gone")
        return
    with frame(visit, live.game.title):
        shown.append(build())


async def _page_of(live: AnyLive, visit: Visit, offer: Offer) -> Callable[[], Courtroom | StagePage]:
    """Returns what shows the page of a game, once its files were read."""
    match live:
        case LiveGame():
            room = await asyncio.to_thread(room_of_game, live.game)
            return lambda: Courtroom(live, room, visit, offer)
        case LiveStory():
            troupe = await asyncio.to_thread(troupe_of_story, live.game)
            return lambda: StagePage(live, troupe, visit)


def _say_only(request: Request, key: str, **values: int) -> None:
    visit = visit_of(request)
    with frame(visit), tag("div", classes="column narrow"):
        tag("p", visit.words(key, **values), "notice", role="alert")
        with tag("p", style="margin-top: 1rem"):
            link(visit.words("general.home"), "/", "button")
