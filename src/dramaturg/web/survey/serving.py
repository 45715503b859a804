"""The server of a campaign."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

from dramaturg.web.guard import is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def is_only_here(sock: socket.socket, *, proxy: bool) -> bool:
    """Returns whether nobody but this machine can ask."""
    return is_loopback(sock.getsockname()[0]) and not proxy


def serve(sock: socket.socket, app: ASGIApp, *, proxy: bool = False) -> None:
    """Serves a campaign until the process is interrupted. No address of a visitor is logged.

    Args:
        sock: A bound socket.
        app: The campaign's.
        proxy: Whether a proxy on this machine stands in front, which says who asks and under which name.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        proxy_headers=proxy,
        forwarded_allow_ips="127.0.0.1,::1",
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run(sockets=[sock])
