"""Opens models from spec strings: one session for the process, one limiter for each server and key."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import time
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from dramaturg.errors import SpecError
from dramaturg.model.endpoint import Endpoint
from dramaturg.model.limiter import Limiter
from dramaturg.model.model import Identity, Model, ModelFacts
from dramaturg.model.spec import DEFAULT_CONCURRENCY, SERVERS, ModelSpec, parse_spec


class _Process(Protocol):
    """The supervised process behind a local model."""

    def peak_memory_bytes(self) -> int | None: ...

    async def close(self) -> None: ...


class Models:
    """The models of one process, opened late and closed together.

    Use it as ``async with Models() as models: model = await models.open("embedded:smollm2-135m")``.

    Attributes:
        seen: Spec string → identity and facts of every model that was opened, released ones included.
        peak_memory: Spec string → most bytes that the process of a local model held, once it is released.
    """

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._limiters: dict[tuple[str, str], Limiter] = {}
        self._limits: dict[tuple[str, str], set[int]] = {}
        self._open: dict[str, Model] = {}
        self._endpoints: dict[str, Endpoint] = {}
        self._processes: dict[str, _Process] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self.seen: dict[str, tuple[Identity, ModelFacts]] = {}
        self.peak_memory: dict[str, int] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self, text: str) -> Model:
        """Returns the model of a spec string; the same spec gives the same model.

        Args:
            text: The spec string.

        Raises:
            SpecError: The spec is wrong, or names a key's variable that is not set.
            UserError: The model's file is not there, or needs an extra.
        """
        async with self._opening.setdefault(text, asyncio.Lock()):
            if text not in self._open:
                model = self._open[text] = await self._make(parse_spec(text))
                self.seen[text] = (model.identity, model.facts)
            return self._open[text]

    async def release(self, text: str) -> None:
        """Lets go of a model and its process; it is opened again when it is asked for."""
        model = self._open.pop(text, None)
        self._endpoints.pop(text, None)
        if model is not None:
            await model.close()
        process = self._processes.pop(text, None)
        if process is not None:
            peak = process.peak_memory_bytes()
            if peak is not None:
                self.peak_memory[text] = max(peak, self.peak_memory.get(text, 0))
            await process.close()

    async def close(self) -> None:
        """Lets go of everything."""
        for text in [*self._open]:
            await self.release(text)
        if self._session is not None:
            await self._session.close()
            self._session = None

    def open_calls(self) -> list[tuple[str, float]]:
        """Returns spec and age in seconds of every call in flight, the oldest first."""
        now = time.monotonic()
        ages = [
            (text, now - since)
            for text, endpoint in self._endpoints.items()
            for since in endpoint.attempts.open_since.values()
        ]
        return sorted(ages, key=lambda entry: -entry[1])

    async def _make(self, spec: ModelSpec) -> Model:
        if spec.provider == "script":
            from dramaturg.model.script import open_script

            return open_script(spec)
        if spec.local:
            return await self._make_local(spec)
        key = _key_of(spec)

        async def address() -> str:
            return spec.url

        endpoint = self._endpoints[spec.text] = Endpoint(
            name=spec.name,
            identity=Identity(spec.provider, spec.name),
            session=self._the_session(),
            limiter=self._limiter(spec.url, key, spec.options.concurrency),
            address=address,
            options=spec.options,
            key=key,
            proxy=_proxy_to(spec.url),
        )
        return endpoint

    async def _make_local(self, spec: ModelSpec) -> Model:
        from dramaturg.model.embedded import open_local
        from dramaturg.model.local_files import composed_of

        server = await open_local(spec)
        self._processes[spec.text] = server

        async def address() -> str:
            return f"{await server.address()}/v1"

        endpoint = self._endpoints[spec.text] = Endpoint(
            name=spec.name,
            identity=server.identity,
            session=self._the_session(),
            limiter=self._limiter(spec.text, "", spec.options.concurrency),
            address=address,
            facts=server.facts,
            options=spec.options,
        )
        composed = composed_of(spec)
        return endpoint if composed is None else composed.before(endpoint, server.identity.digest)

    def _the_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=300)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _limiter(self, server: str, key: str, most: int | None) -> Limiter:
        """Returns the limiter of a server and key; of the limits that specs state, the least holds."""
        limits = self._limits.setdefault((server, key), set())
        if most is not None:
            limits.add(most)
        limiter = self._limiters.setdefault((server, key), Limiter(DEFAULT_CONCURRENCY))
        limiter.resize(min(limits, default=DEFAULT_CONCURRENCY))
        return limiter


def _proxy_to(url: str) -> str | None:
    """Returns the proxy that the environment names for an address; none leads to this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or _is_loopback(host) or proxy_bypass(parts.netloc):
        return None
    proxy = getproxies().get(parts.scheme, "")
    return proxy if proxy.startswith(("http://", "https://")) else None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _key_of(spec: ModelSpec) -> str:
    """Returns the API key from the environment, or none where the server may do without.

    Raises:
        SpecError: The variable that the spec names, or that a paid server needs, is not set or holds no key.
    """
    named = spec.options.key_env
    variable = named or SERVERS.get(spec.provider, ("", "DRAMATURG_API_KEY"))[1]
    key = os.environ.get(variable, "").strip()
    default_server = spec.url == SERVERS.get(spec.provider, ("", ""))[0]
    if not key and (named or (spec.provider in {"openai", "openrouter"} and default_server)):
        raise SpecError(f"{spec.text!r} needs a key", allowed=f"set the environment variable {variable}")
    if not (key.isascii() and key.isprintable()):
        raise SpecError(f"the key of {spec.text!r} holds what no key holds", allowed=f"one line of ASCII in {variable}")
    return key
