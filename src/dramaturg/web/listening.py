"""The address that pages are served on."""

from __future__ import annotations

import socket

from dramaturg.errors import UserError


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that is bound to an address; port 0 takes a free one.

    Raises:
        UserError: The address is none of this machine's, or it is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as problem:
        what = getattr(problem, "strerror", None) or str(problem)
        raise UserError(f"cannot listen there: {what}", where=f"{host}:{port}", allowed="another --port") from None


def address_of(sock: socket.socket) -> str:
    """Returns the address of the pages that a bound socket serves, with a slash at its end."""
    host, port = sock.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"
