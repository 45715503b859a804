"""An OpenAI-compatible server, spoken to over aiohttp. `Endpoint._post` is the one method that sends."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import aiohttp

from dramaturg.model.capabilities import Capabilities
from dramaturg.model.limiter import Limiter
from dramaturg.model.model import Identity, ModelFacts, OnText
from dramaturg.model.reply import FailureKind, Reply
from dramaturg.model.request import Request
from dramaturg.model.spec import Options
from dramaturg.model.sse import StreamedAnswer
from dramaturg.model.wire import HttpProblem, body_of, failure_of, read_problem, read_reply

BACKOFF_S = 0.5
"""First wait after a failure that names none; doubled each time."""

MALFORMED_TRIES = 2
"""A body without an answer, or no answer in time, is worth so many tries and no more."""

_SECRET = re.compile(r"\b(?:sk|pk|rk|key|hf|gsk|xai)[-_][A-Za-z0-9_\-]{6,}|(?<=[Bb]earer )[^\s\"']{6,}")

_encode = json.JSONEncoder(ensure_ascii=False).encode

AddressOf = Callable[[], Awaitable[str]]


class ServerUnavailable(Exception):
    """The process behind an address cannot be had; carries what a reply will say.

    Attributes:
        kind: ``memory`` or ``crash``.
        detail: One line for people.
    """

    def __init__(self, kind: FailureKind, detail: str) -> None:
        self.kind: FailureKind = kind
        self.detail = detail
        super().__init__(detail)


@dataclass(frozen=True, slots=True)
class _Broken:
    """An attempt that brought no answer."""

    reply: Reply
    again: bool
    wait_s: float | None = None
    overloaded: bool = False


@dataclass(frozen=True, slots=True)
class _Payload:
    """A parsed body of HTTP 200."""

    body: object


class Endpoint:
    """One model at one server."""

    def __init__(
        self,
        *,
        name: str,
        identity: Identity,
        session: aiohttp.ClientSession,
        limiter: Limiter,
        address: AddressOf,
        facts: ModelFacts | None = None,
        options: Options | None = None,
        key: str = "",
    ) -> None:
        """Makes the endpoint; nothing is sent yet.

        Args:
            name: The model's name at the server.
            identity: Which model this is, in records.
            session: Shared by all endpoints of the process.
            limiter: Shared by all who use the same server and key.
            address: Gives the API's address, up to and with its version; may start a process.
            facts: What is known of the model.
            options: Timeouts, retries and sampling of the spec string.
            key: The API key; it never leaves this object but in a header.
        """
        self.name = name
        self.identity = identity
        self.facts = facts or ModelFacts()
        self.options = options or Options()
        self.capabilities = Capabilities()
        self.limiter = limiter
        self.open_since: dict[int, float] = {}
        self._address = address
        self._session = session
        self._key = key
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._whole_timeout = aiohttp.ClientTimeout(
            total=self.options.attempt_timeout_s, sock_connect=self.options.connect_timeout_s
        )
        self._stream_timeout = aiohttp.ClientTimeout(
            total=self.options.attempt_timeout_s,
            sock_connect=self.options.connect_timeout_s,
            sock_read=self.options.read_timeout_s,
        )

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Returns the answer; endpoint and model cannot make it raise. See `dramaturg.model.Model.send`."""
        started = time.perf_counter()
        call = id(request)
        self.open_since[call] = time.monotonic()
        notes: list[str] = []
        try:
            await self.limiter.enter()
            succeeded = False
            try:
                reply = await self._attempts(request, on_text, notes, started)
                succeeded = reply.final and not any(note.startswith("wait") for note in notes)
            finally:
                self.limiter.leave(succeeded=succeeded)
        finally:
            del self.open_since[call]
        return replace(reply, seconds=time.perf_counter() - started, notes=tuple(notes))

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Returns one vector per text from ``/embeddings``, or None where the server has none."""
        body: dict[str, object] = {"model": self.name, "input": list(texts)}
        result = await self._post("embeddings", body, None, time.perf_counter())
        if not isinstance(result, _Payload):
            return None
        try:
            rows = sorted(cast("dict[str, Any]", result.body)["data"], key=lambda row: row["index"])
            vectors = [[float(number) for number in row["embedding"]] for row in rows]
        except (KeyError, TypeError, ValueError):
            return None
        return vectors if len(vectors) == len(texts) else None

    async def close(self) -> None:
        """Does nothing: the session belongs to who made it."""

    async def _attempts(self, request: Request, on_text: OnText | None, notes: list[str], started: float) -> Reply:
        options = self.options
        retries = 0
        jitter = random.Random(request.seed)
        while True:
            result = await self._attempt(request, on_text, notes)
            if isinstance(result, Reply):
                return result
            reply = result.reply
            if not result.again or retries >= options.max_retries:
                return reply
            if reply.status == "malformed" or reply.failure in {"timeout", "protocol"}:
                if retries + 1 >= MALFORMED_TRIES:
                    return reply
            wait_s = result.wait_s
            if wait_s is None:
                wait_s = BACKOFF_S * 2**retries * (0.75 + jitter.random() / 2)
            if wait_s > options.max_wait_s:
                asked = f"the server asks to wait {wait_s:.0f} s, more than max_wait_s={options.max_wait_s:g}"
                return replace(reply, status="failed", failure="quota", detail=f"{reply.detail}; {asked}")
            if time.perf_counter() - started + wait_s > options.total_timeout_s:
                return replace(reply, detail=f"{reply.detail}; total_timeout_s={options.total_timeout_s:g} is used up")
            if result.overloaded:
                self.limiter.too_much(result.wait_s)
                notes.append(f"wait {wait_s:.1f} s: {reply.detail}")
            else:
                notes.append(f"retry: {reply.failure or reply.status}: {reply.detail}")
            retries += 1
            await self._step_aside(wait_s)

    async def _step_aside(self, wait_s: float) -> None:
        """Waits without holding a place that others could use."""
        self.limiter.leave(succeeded=False)
        try:
            await asyncio.sleep(wait_s)
        finally:
            await self.limiter.enter()

    async def _attempt(self, request: Request, on_text: OnText | None, notes: list[str]) -> Reply | _Broken:
        """Returns what one attempt brought; a refused parameter is dropped and the attempt made again.

        It ends because each capability is learned once and there are few of them.
        """
        while True:
            body = body_of(request, self.name, self.capabilities, stream=on_text is not None)
            result = await self._post("chat/completions", body, on_text, time.perf_counter())
            if isinstance(result, Reply):
                return result
            if isinstance(result, _Payload):
                return self._checked(read_reply(result.body, max_tokens=request.sampling.max_tokens))
            refused = None
            if result.reply.failure == "http" and not result.overloaded:
                refused = self.capabilities.learn(result.reply.detail, body)
            if refused is None:
                return result
            notes.append(f"dropped {refused}: {result.reply.detail}")

    def _checked(self, reply: Reply) -> Reply | _Broken:
        if reply.status == "malformed":
            return _Broken(replace(reply, detail=self._redact(reply.detail)), again=True)
        return reply

    async def _post(
        self, path: str, body: dict[str, object], on_text: OnText | None, started: float
    ) -> _Payload | Reply | _Broken:
        """Returns the parsed body, a streamed reply, or what broke. Nothing else in the project sends."""
        try:
            base = await self._address()
            data = _encode(body).encode("utf-8", "replace")
            timeout = self._whole_timeout if on_text is None else self._stream_timeout
            async with self._session.post(
                f"{base}/{path}", data=data, headers=self._headers, timeout=timeout, allow_redirects=False
            ) as response:
                if response.status >= 300:
                    text = (await response.read()).decode("utf-8", "replace")
                    problem = read_problem(response.status, text, response.headers.get("Retry-After"))
                    return self._broken_by(problem)
                if on_text is not None and response.content_type == "text/event-stream":
                    return await self._stream(response, on_text, body, started)
                raw = await response.read()
        except ServerUnavailable as error:
            return self._failed(error.kind, error.detail, again=error.kind == "crash")
        except TimeoutError:
            return self._failed("timeout", self._timeout_text(), again=True)
        except (aiohttp.ClientConnectorError, ConnectionRefusedError) as error:
            return self._failed("connect", f"cannot reach the server: {error}", again=True)
        except (aiohttp.ClientError, OSError) as error:
            return self._failed("connect", f"the connection broke: {error or type(error).__name__}", again=True)
        except ValueError as error:
            return self._failed("protocol", f"the request cannot be sent: {error}", again=False)
        try:
            return _Payload(json.loads(raw))
        except (ValueError, RecursionError):
            start = raw[:80].decode("utf-8", "replace")
            return self._failed("protocol", f"the server answered 200 without JSON: {start!r}", again=True)

    async def _stream(
        self, response: aiohttp.ClientResponse, on_text: OnText, body: dict[str, object], started: float
    ) -> Reply | _Broken:
        answer = StreamedAnswer(on_text, started=started)
        async for line in response.content:
            answer.feed(line)
        if answer.error:
            return self._failed("http", f"the stream broke: {answer.error}", again=True)
        if not answer.finished:
            return self._failed("connect", "the stream ended before the answer did", again=True)
        limit = body.get("max_tokens", body.get("max_completion_tokens"))
        return answer.reply(max_tokens=cast("int", limit))

    def _broken_by(self, problem: HttpProblem) -> _Broken:
        message = self._redact(problem.message)
        if problem.problem == "context":
            return _Broken(Reply("context_overflow", detail=message), again=False)
        return _Broken(
            Reply("failed", failure=failure_of(problem.problem), detail=message),
            again=problem.problem in {"overload", "server"},
            wait_s=problem.retry_after_s,
            overloaded=problem.problem == "overload",
        )

    def _failed(self, kind: FailureKind, detail: str, *, again: bool) -> _Broken:
        return _Broken(Reply("failed", failure=kind, detail=self._redact(detail)), again=again)

    def _timeout_text(self) -> str:
        options = self.options
        return (
            f"no answer within attempt_timeout_s={options.attempt_timeout_s:g}, "
            f"or no byte of a streamed one within read_timeout_s={options.read_timeout_s:g}"
        )

    def _redact(self, text: str) -> str:
        if self._key:
            text = text.replace(self._key, "…")
        return _SECRET.sub("…", text)
