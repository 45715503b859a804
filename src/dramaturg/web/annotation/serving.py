"""The server of a campaign."""

from __future__ import annotations

import socket

import uvicorn

from dramaturg.web.annotation.app import annotation_app
from dramaturg.web.annotation.campaign import Campaign
from dramaturg.web.annotation.store import Store
from dramaturg.web.guard import is_loopback


def serve(sock: socket.socket, campaign: Campaign, store: Store, *, owner: str = "", proxy: bool = False) -> None:
    """Serves a campaign until the process is interrupted. No address of a visitor is logged.

    Args:
        sock: A bound socket.
        campaign: What is asked.
        store: Where votes go.
        owner: Hash of the owner's password; empty for none.
        proxy: Whether a proxy on this machine stands in front, which says who asks and under which name.
    """
    only_here = is_loopback(sock.getsockname()[0]) and not proxy
    app = annotation_app(campaign, store, owner=owner, only_here=only_here)
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
