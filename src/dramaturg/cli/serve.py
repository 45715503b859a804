"""``dramaturg serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dramaturg.cli.console import complain, say

DEFAULT_MODEL = "embedded:qwen2.5-coder-1.5b"
DEFAULT_PORT = 8642


def serve(
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = DEFAULT_PORT,
    games: Annotated[
        Path | None, typer.Option("--games", metavar="FOLDER", help="Where games are kept; your own folder by default.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="SPEC", help="Model that is offered; may be given several times."),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> None:
    """Play trials and watch stories in the browser: serve the pages on this machine until Ctrl-C."""
    import importlib.util

    from dramaturg.errors import MissingExtraError
    from dramaturg.model import parse_spec

    if importlib.util.find_spec("nicegui") is None:
        raise MissingExtraError("dramaturg serve", "web")
    models = model or [DEFAULT_MODEL]
    for spec in models:
        parse_spec(spec)
    from dramaturg.web.guard import is_loopback
    from dramaturg.web.listening import address_of, listen
    from dramaturg.web.server import serve as serve_on

    with listen(host, port) as sock:
        address = address_of(sock)
        if is_loopback(sock.getsockname()[0]):
            say(f"{address}  (this machine alone can open it; Ctrl-C ends)")
        else:
            complain("warning: whoever reaches this address can play, read and delete all games, and use your models")
            say(f"{address}  (Ctrl-C ends)")
        if not no_open:
            _open_browser(address)
        serve_on(sock, root=games, models=models)


def _open_browser(address: str) -> None:
    """Opens the address a moment later, once the server answers."""
    import threading
    import webbrowser

    opening = threading.Timer(1.0, webbrowser.open, [address])
    opening.daemon = True
    opening.start()
