"""The server of a campaign."""

from __future__ import annotations

import socket

from dramaturg.web.annotation.app import annotation_app
from dramaturg.web.annotation.campaign import Campaign
from dramaturg.web.annotation.store import Store
from dramaturg.web.survey.serving import is_only_here
from dramaturg.web.survey.serving import serve as serve_app


def serve(sock: socket.socket, campaign: Campaign, store: Store, *, owner: str = "", proxy: bool = False) -> None:
    """Serves a campaign until the process is interrupted.

    Args:
        sock: A bound socket.
        campaign: What is asked.
        store: Where votes go.
        owner: Hash of the owner's password; empty for none.
        proxy: Whether a proxy on this machine stands in front, which says who asks and under which name.
    """
    app = annotation_app(campaign, store, owner=owner, only_here=is_only_here(sock, proxy=proxy))
    serve_app(sock, app, proxy=proxy)
