"""Rules for every test: no socket leaves this machine, no key of the person who runs them is seen, caches are fresh."""

from __future__ import annotations

import ipaddress
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from dramaturg.ledger import Ledger
from dramaturg.model.opening import Models

_CACHE = tempfile.TemporaryDirectory(prefix="dramaturg-test-cache-")


class SocketRefusedError(RuntimeError):
    """A test tried to reach beyond this machine."""


def _is_here(host: object) -> bool:
    if host in {None, "", "localhost", b"localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _refuse_the_network(event: str, arguments: tuple[Any, ...]) -> None:
    if event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not _is_here(host):
        raise SocketRefusedError(f"{event} to {host!r}: tests speak to this machine alone")


sys.addaudithook(_refuse_the_network)
for _name in [name for name in os.environ if name.upper().endswith(("API_KEY", "_PROXY", "_TOKEN"))]:
    del os.environ[_name]
os.environ["DRAMATURG_CACHE"] = _CACHE.name


def pytest_unconfigure() -> None:
    _CACHE.cleanup()


@pytest.fixture
async def models() -> AsyncIterator[Models]:
    """Opens models and closes them after the test."""
    async with Models() as opened:
        yield opened


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A fresh ledger."""
    with Ledger.open(tmp_path / "ledger.db") as opened:
        yield opened
