"""An OpenAI-compatible server, spoken to over aiohttp. `Endpoint._post` is the one method that sends."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from dramaturg.model.attempts import Again, Attempts, Broken
from dramaturg.model.capabilities import Capabilities
from dramaturg.model.limiter import Limiter
from dramaturg.model.model import Identity, ModelFacts, OnText
from dramaturg.model.problem import (
    HttpProblem,
    context_tokens_in,
    failure_of,
    is_context_overflow,
    read_problem,
    shorten,
)
from dramaturg.model.reply import FailureKind, Reply
from dramaturg.model.request import Request
from dramaturg.model.spec import Options
from dramaturg.model.sse import StreamedAnswer
from dramaturg.model.wire import body_of, left_out, problem_in, read_reply, read_vectors
from dramaturg.text import redact

LEAST_KEY = 4
"""A shorter key is a placeholder that may stand in any text."""

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
class _Payload:
    """A parsed body of HTTP 200."""

    body: object


@dataclass(slots=True)
class _Watch:
    """Who watches a call. A second stream after a broken one is not shown, since the first stands there already."""

    on_text: OnText
    has_seen: bool = False


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
        proxy: str | None = None,
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
            proxy: Address of the proxy on the way, or None.
        """
        self.name = name
        self.identity = identity
        self.options = options or Options()
        self.facts = facts or ModelFacts(context_tokens=self.options.context_tokens)
        self.capabilities = Capabilities()
        self.attempts = Attempts(limiter, self.options)
        self._address = address
        self._session = session
        self._key = key
        self._proxy = proxy
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Returns the answer; endpoint and model cannot make it raise. See `dramaturg.model.Model.send`."""
        notes: list[str] = []
        watch = _Watch(on_text) if on_text is not None else None
        result, seconds = await self.attempts.run(partial(self._ask, request, watch, notes), notes, request.seed)
        reply = result.reply if isinstance(result, Broken) else result
        if self.capabilities.refused:
            notes += left_out(request, self.capabilities)
        return self._without_key(replace(reply, seconds=seconds, notes=tuple(notes)))

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Returns one vector per text from ``/embeddings``, or None where the server gives none."""
        body: dict[str, object] = {"model": self.name, "input": list(texts)}
        result, _ = await self.attempts.run(partial(self._post, "embeddings", body, None), [], 0)
        return read_vectors(result.body, len(texts)) if isinstance(result, _Payload) else None

    async def close(self) -> None:
        """Does nothing: the session belongs to who made it."""

    async def _ask(self, request: Request, watch: _Watch | None, notes: list[str], limit_s: float) -> Reply | Broken:
        """Returns what one attempt brought; a refused parameter is left out and the attempt made again.

        It ends because each refusal makes the next body shorter by what was refused.
        """
        if watch is not None and watch.has_seen:
            watch = None
        while True:
            body = body_of(request, self.name, self.capabilities, stream=watch is not None)
            result = await self._post("chat/completions", body, watch, limit_s)
            if isinstance(result, _Payload):
                return self._read(result.body, request, watch)
            if isinstance(result, Reply) or result.problem is None:
                return result
            problem = result.problem
            refused = None
            if problem.problem in {"request", "server"}:
                refused = self.capabilities.learn(
                    problem.message, body, parameter=problem.parameter, broke=problem.problem == "server"
                )
            if refused is None:
                return result
            notes.append(f"dropped {refused}: {result.reply.detail}")

    def _read(self, payload: object, request: Request, watch: _Watch | None) -> Reply | Broken:
        problem = problem_in(payload)
        if problem is not None:
            return self._broken_by(problem)
        reply = read_reply(payload, max_tokens=request.sampling.max_tokens)
        if reply.status == "malformed":
            return Broken(replace(reply, detail=self._redact(reply.detail)), again="once")
        if watch is not None and reply.text:
            watch.on_text(reply.text)
        return reply

    async def _post(
        self, path: str, body: dict[str, object], watch: _Watch | None, limit_s: float
    ) -> _Payload | Reply | Broken:
        """Returns the parsed body, a streamed reply, or what broke. Nothing else in the project sends."""
        options = self.options
        started = time.perf_counter()
        timeout = aiohttp.ClientTimeout(
            total=limit_s,
            sock_connect=options.connect_timeout_s,
            sock_read=None if watch is None else options.read_timeout_s,
        )
        try:
            base = await self._address()
            data = _encode(body).encode("utf-8", "replace")
            async with self._session.post(
                f"{base}/{path}",
                data=data,
                headers=self._headers,
                timeout=timeout,
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                if response.status >= 300:
                    return self._broken_by(await self._problem(response))
                if watch is not None and response.content_type == "text/event-stream":
                    return await self._stream(response, watch, body, started)
                raw = await response.read()
        except ServerUnavailable as error:
            return self._failed(error.kind, error.detail, again="yes" if error.kind == "crash" else "no")
        except aiohttp.ConnectionTimeoutError:
            detail = f"no connection within connect_timeout_s={options.connect_timeout_s:g}"
            return self._failed("connect", detail, again="yes")
        except aiohttp.SocketTimeoutError:
            detail = f"no byte of a streamed answer within read_timeout_s={options.read_timeout_s:g}"
            return self._failed("timeout", detail, again="once", overloaded=True)
        except TimeoutError:
            is_attempt = limit_s >= options.attempt_timeout_s
            limit = ("attempt_timeout_s", options.attempt_timeout_s) if is_attempt else ("what is left of it", limit_s)
            name = "" if is_attempt else f"total_timeout_s={options.total_timeout_s:g}, "
            detail = f"no answer within {name}{limit[0]}={limit[1]:g}"
            return self._failed("timeout", detail, again="once", overloaded=True)
        except aiohttp.ClientConnectorError as error:
            return self._failed("connect", f"cannot reach the server: {error}", again="yes")
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            return self._failed("connect", f"the connection broke: {error or type(error).__name__}", again="yes")
        text = raw.decode("utf-8", "replace")
        try:
            return _Payload(json.loads(text.removeprefix("\ufeff")))
        except (ValueError, RecursionError):
            start = shorten(self._redact(text), 80)
            return self._failed("protocol", f"the server answered 200 without JSON: {start!r}", again="once")

    async def _problem(self, response: aiohttp.ClientResponse) -> HttpProblem:
        text = self._redact((await response.read()).decode("utf-8", "replace"))
        location = self._redact(response.headers.get("Location", ""))
        return read_problem(response.status, text, retry_after=response.headers.get("Retry-After"), location=location)

    async def _stream(
        self, response: aiohttp.ClientResponse, watch: _Watch, body: dict[str, object], started: float
    ) -> Reply | Broken:
        answer = StreamedAnswer(watch.on_text, started=started)
        try:
            async for data in response.content.iter_any():
                answer.feed(data)
                if answer.error:
                    break
        finally:
            watch.has_seen = bool(answer.shown)
        answer.end()
        if answer.error:
            if is_context_overflow(answer.error):
                return self._broken_by(HttpProblem("context", answer.error))
            return self._failed("http", f"the stream broke: {answer.error}", again="yes")
        if not answer.finished:
            return self._failed("connect", "the stream ended before the answer did", again="yes")
        limit = body.get("max_tokens", body.get("max_completion_tokens"))
        return answer.reply(max_tokens=cast("int", limit))

    def _context_advice(self, message: str) -> str:
        """Returns what tells the length before anything is asked; empty where it was told."""
        holds, told = context_tokens_in(message), self.options.context_tokens
        if told is not None and (holds is None or told <= holds):
            return ""
        return f"; with ?context_tokens={holds or 'N'} in the model's spec this is known before it is asked"

    def _broken_by(self, problem: HttpProblem) -> Broken:
        message = self._redact(problem.message)
        if problem.problem == "context":
            return Broken(Reply("context_overflow", detail=f"{message}{self._context_advice(message)}"))
        return Broken(
            Reply("failed", failure=failure_of(problem.problem), detail=message),
            again="yes" if problem.problem in {"overload", "server"} else "no",
            overloaded=problem.problem == "overload",
            wait_s=problem.retry_after_s,
            problem=problem,
        )

    def _failed(self, kind: FailureKind, detail: str, *, again: Again, overloaded: bool = False) -> Broken:
        reply = Reply("failed", failure=kind, detail=shorten(self._redact(detail)))
        return Broken(reply, again=again, overloaded=overloaded)

    def _redact(self, text: str) -> str:
        if len(self._key) >= LEAST_KEY:
            text = text.replace(self._key, "…")
        return redact(text)

    def _without_key(self, reply: Reply) -> Reply:
        """Returns the reply without this endpoint's key, which a server can put into any of its words."""
        key = self._key
        if len(key) < LEAST_KEY or not any(
            key in text for text in (reply.text, reply.reasoning, reply.detail, reply.served_by, *reply.notes)
        ):
            return reply
        return replace(
            reply,
            text=reply.text.replace(key, "…"),
            reasoning=reply.reasoning.replace(key, "…"),
            detail=reply.detail.replace(key, "…"),
            served_by=reply.served_by.replace(key, "…"),
            notes=tuple(note.replace(key, "…") for note in reply.notes),
        )
