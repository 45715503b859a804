"""Keeps other web sites out: a request must name this server and come from its own pages, which load nothing else."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocketClose

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page may load and where it may send: this server alone. The page library itself needs inline scripts."""


class Guard:
    """Middleware in front of every request."""

    def __init__(self, app: ASGIApp, *, only_here: bool, policy: str = _POLICY, referrer: str = "no-referrer") -> None:
        """Guards an application.

        Args:
            app: What is guarded.
            only_here: Whether the request must name this machine itself, so that no name of somebody else's that leads
                here (DNS rebinding) can make its pages speak for this server.
            policy: The content security policy of its pages.
            referrer: Their referrer policy. Under ``no-referrer`` a browser hides the origin of a form that it sends,
                so that pages with forms need ``same-origin``.
        """
        self._app = app
        self._only_here = only_here
        self._policy = policy
        self._referrer = referrer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        if not self._welcome(Headers(scope=scope)):
            refusal = PlainTextResponse("not from here", 403) if scope["type"] == "http" else WebSocketClose(1008)
            await refusal(scope, receive, send)
            return

        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self._policy
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = self._referrer
            await send(message)

        await self._app(scope, receive, send_with_policy)

    def _welcome(self, headers: Headers) -> bool:
        host = headers.get("host", "")
        origin = headers.get("origin", "")
        if origin and urlsplit(origin).netloc != host:
            return False
        return not self._only_here or is_loopback(urlsplit(f"//{host}").hostname or "")


def is_loopback(host: str) -> bool:
    """Returns whether a name or an address means this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
