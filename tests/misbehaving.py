"""A local OpenAI-compatible server that behaves as well or as badly as a test says.

`async with MisbehavingServer(acts_or_handler) as server` serves on loopback at `server.url`. Each chat request takes
the next `Act` of the queue; once it is empty, the handler decides (by default `well_behaved`). Everything that was
asked is in `server.requests`.

As a process of its own, for tests that kill or restart: `python tests/misbehaving.py --behaviour NAME --log FILE`.
It writes its address as the first line of its output, and one JSON line per request to the log before it answers.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import json
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from aiohttp import web

Body = dict[str, Any]
UNSET: Any = object()
"""Marks what an act leaves to the well-behaved answer."""


@dataclass(frozen=True, slots=True)
class Act:
    """What one request gets.

    Attributes:
        content: Content of the message: text, a list of parts, a dict, None; or a function, called after the delay.
        finish_reason: As the server says.
        reasoning: Sent as `reasoning_content`.
        message: The whole message, instead of content and reasoning.
        body: The whole JSON body.
        raw: The whole body as bytes, sent as it is.
        status: HTTP status.
        content_type: Of the body.
        headers: More headers.
        delay_s: Slept before the answer.
        fault: hang: never answers. cut: closes in the middle of the body. chunks: sends no valid chunk.
        stream_end: done: as it should. cut: closes before [DONE]. error: an error event in the middle.
        usage: The usage object; None leaves it out.
        prompt_tokens: Reported instead of the count.
        cached_tokens: Reported as part of the prompt.
        logprobs: Tokens with log-probabilities, instead of made-up ones.
    """

    content: Any = UNSET
    finish_reason: str | None = "stop"
    reasoning: str | None = None
    message: Any = UNSET
    body: Any = UNSET
    raw: bytes | None = None
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    fault: Literal["", "hang", "cut", "chunks"] = ""
    stream_end: Literal["done", "cut", "error"] = "done"
    usage: Any = UNSET
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    logprobs: Sequence[Mapping[str, Any]] | None = None


Handler = Callable[[Body, int], Act]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it came in; `in_flight` counts itself."""

    path: str
    body: Body
    headers: Mapping[str, str]
    arrived: float
    in_flight: int


# Acts


def say(content: Any, **more: Any) -> Act:
    """An answer with this content."""
    return Act(content=content, **more)


def error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Act:
    """An error in the form that OpenAI's API uses."""
    return Act(status=status, body={"error": {"message": message, **fields}}, headers=headers or {})


def html(status: int = 502) -> Act:
    """A proxy's page instead of JSON."""
    page = b"<!DOCTYPE html><html><body><h1>Bad gateway</h1></body></html>"
    return Act(status=status, raw=page, content_type="text/html")


def empty_body(status: int = 200) -> Act:
    return Act(status=status, raw=b"")


def no_choices() -> Act:
    return Act(body={"id": "x", "object": "chat.completion", "choices": []})


def null_message() -> Act:
    return Act(message=None)


def rate_limited(retry_after: str | None = None) -> Act:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return error(429, "Rate limit reached for requests", type="requests", code="rate_limit_exceeded", headers=headers)


def out_of_quota(retry_after: str = "86400") -> Act:
    return error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        type="insufficient_quota",
        code="insufficient_quota",
        headers={"Retry-After": retry_after},
    )


def too_long(limit: int = 2048) -> Act:
    return error(
        400,
        f"This model's maximum context length is {limit} tokens. However, your messages have {limit * 3} tokens.",
        type="invalid_request_error",
        code="context_length_exceeded",
        param="messages",
    )


def hang() -> Act:
    return Act(fault="hang")


def cut_body() -> Act:
    return Act(fault="cut")


def garbage_chunks() -> Act:
    return Act(fault="chunks")


def invalid_utf8() -> Act:
    return Act(raw=b'{"choices":[{"message":{"role":"assistant","content":"caf\xe9 \xff"},"finish_reason":"stop"}]}')


def blanks(count: int = 5000) -> Act:
    return say(" " * count, finish_reason="length")


def only_reasoning(tokens: int = 500) -> Act:
    """A model that spends its whole budget on reasoning."""
    return say("", reasoning="hmm " * tokens, finish_reason="length")


def huge(size: int) -> Act:
    return say("word " * (size // 5))


# Handlers


def well_behaved(body: Body, n: int) -> Act:
    """Answers from model, messages, schema and seed alone: the same request gets the same text, whenever it comes."""
    digest = _digest(body)
    schema = _schema(body)
    if schema is not None:
        return say(json.dumps(_instance(schema, digest), ensure_ascii=False))
    if (body.get("response_format") or {}).get("type") == "json_object":
        return say(json.dumps({"text": digest[:8]}))
    return say(" ".join(_WORDS[int(digest[i : i + 2], 16) % len(_WORDS)] for i in range(0, 24, 2)) + f" {digest[:8]}.")


def obedient(body: Body, n: int) -> Act:
    """Does what the doctor asks: repeats the first code word it was told; follows a schema; otherwise well behaved."""
    return _obey(body["messages"], body, n)


def weak(body: Body, n: int) -> Act:
    """A model too small to follow any instruction; it writes the same kind of prose whatever it is asked."""
    return well_behaved({**body, "response_format": None}, n)


def refusing(*parameters: str) -> Handler:
    """Refuses what is listed, one at a time, as long as it is sent.

    Args:
        parameters: `temperature`, `max_tokens`, `seed`, `logprobs`, `top_p`, `response_format`, `json_schema`,
            `system`, `alternation`.
    """

    def handle(body: Body, n: int) -> Act:
        for parameter in parameters:
            if _carries(body, parameter):
                return error(
                    400,
                    _REFUSALS[parameter],
                    type="invalid_request_error",
                    param=parameter,
                    code="unsupported_parameter",
                )
        return well_behaved(body, n)

    return handle


def schema_500(body: Body, n: int) -> Act:
    """Breaks on every request with a schema."""
    if _schema(body) is not None:
        return error(500, "The model produced output that does not match the expected format", type="server_error")
    return well_behaved(body, n)


def ignoring_schema(body: Body, n: int) -> Act:
    """Accepts a schema and answers in prose."""
    return obedient({**body, "response_format": None}, n)


def keeping_last(tokens: int) -> Handler:
    """Silently drops the start of the prompt, as a small default context does."""

    def handle(body: Body, n: int) -> Act:
        left = tokens
        kept: list[dict[str, Any]] = []
        for message in reversed(body["messages"]):
            words = tokenize(str(message["content"]))[-left:] if left > 0 else []
            left -= len(words)
            kept.insert(0, {**message, "content": " ".join(words)})
        return replace(_obey(kept, body, n), prompt_tokens=min(tokens, count_tokens(body)))

    return handle


def varying_with_load(server: MisbehavingServer, delay_s: float = 0.02) -> Handler:
    """Answers differently when other calls are in flight, as batched inference does."""

    def handle(body: Body, n: int) -> Act:
        def text() -> str:
            return f"{well_behaved(body, n).content} load {server.in_flight}"

        return say(text, delay_s=delay_s)

    return handle


def leaking_system_prompts(server: MisbehavingServer, delay_s: float = 0.05) -> Handler:
    """Answers every call under the system prompt of the call that came last."""

    def handle(body: Body, n: int) -> Act:
        def text() -> Any:
            last = server.requests[-1].body["messages"]
            system = [message for message in last if message["role"] == "system"]
            own = [message for message in body["messages"] if message["role"] != "system"]
            return _obey(system + own, body, n).content

        return say(text, delay_s=delay_s)

    return handle


def swapping_answers(server: MisbehavingServer, delay_s: float = 0.05) -> Handler:
    """Gives every call the answer of the call that came last."""

    def handle(body: Body, n: int) -> Act:
        return say(lambda: _obey(server.requests[-1].body["messages"], body, n).content, delay_s=delay_s)

    return handle


def unseeded(body: Body, n: int) -> Act:
    """Takes a seed and does not use it."""
    act = obedient(body, n)
    return replace(act, content=f"{act.content} {n}")


BEHAVIOURS: dict[str, Handler] = {
    "blanks": lambda body, n: blanks(),
    "ignoring_schema": ignoring_schema,
    "keeping_last_512": keeping_last(512),
    "obedient": obedient,
    "refusing_all": refusing("temperature", "max_tokens", "seed", "system", "response_format"),
    "schema_500": schema_500,
    "unseeded": unseeded,
    "weak": weak,
    "well_behaved": well_behaved,
}
"""Handlers by name, for the command line."""


# The server


class MisbehavingServer:
    """Serves acts from a queue, then from a handler.

    Attributes:
        acts: Queue of acts for the next chat requests.
        handler: Decides once the queue is empty.
        requests: Every chat request, oldest first.
        embedding_requests: Every request for embeddings.
        in_flight: Requests that wait for their answer now.
        peak: Most requests in flight at once.
        context_tokens: Shown by `/v1/models`, where set.
    """

    def __init__(
        self, behaviour: Handler | Iterable[Act] = (), *, port: int = 0, log: Path | None = None, delay_s: float = 0.0
    ) -> None:
        self.handler: Handler = behaviour if callable(behaviour) else well_behaved
        self.acts: deque[Act] = deque(() if callable(behaviour) else behaviour)
        self.requests: list[Seen] = []
        self.embedding_requests: list[Seen] = []
        self.in_flight = 0
        self.peak = 0
        self.context_tokens: int | None = None
        self._port, self._log, self._delay_s = port, log, delay_s
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embed)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.05, access_log=None)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Address of the API, up to and with its version."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        number = len(self.requests)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            self._record(request, body, self.requests)
            act = self.acts.popleft() if self.acts else self.handler(body, number)
            if delay := act.delay_s or self._delay_s:
                await asyncio.sleep(delay)
            if act.content is UNSET:
                act = replace(act, content=well_behaved(body, number).content)
            elif callable(act.content):
                act = replace(act, content=act.content())
            return await self._perform(request, body, act)
        finally:
            self.in_flight -= 1

    def _record(self, request: web.Request, body: Body, kept: list[Seen]) -> None:
        now = asyncio.get_running_loop().time()
        kept.append(Seen(request.path, body, dict(request.headers), now, self.in_flight))
        if self._log is not None:
            line = {"path": request.path, "digest": _digest(body), "seed": body.get("seed")}
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    async def _perform(self, request: web.Request, body: Body, act: Act) -> web.StreamResponse:
        match act.fault:
            case "hang":
                await asyncio.Event().wait()
            case "chunks":
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                return _drop(request, head + b"zzz\r\nno chunk at all\r\n")
            case "cut":
                data = json.dumps(_completion(body, act)).encode()
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
                return _drop(request, head.encode() + data[: len(data) // 2])
            case _:
                pass
        if act.raw is not None:
            return web.Response(body=act.raw, status=act.status, content_type=act.content_type, headers=act.headers)
        if act.body is UNSET and body.get("stream"):
            return await self._stream(request, body, act)
        whole = _completion(body, act) if act.body is UNSET else act.body
        return web.json_response(whole, status=act.status, headers=act.headers)

    async def _stream(self, request: web.Request, body: Body, act: Act) -> web.StreamResponse:
        response = web.StreamResponse(status=act.status, headers={"Content-Type": "text/event-stream", **act.headers})
        await response.prepare(request)
        whole = _completion(body, act)
        base = {"id": whole["id"], "object": "chat.completion.chunk", "model": whole["model"]}

        async def send(event: Any) -> None:
            data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
            await response.write(f"data: {data}\n\n".encode())

        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": piece} for piece in _pieces(act.reasoning or "")]
        deltas += [{"content": piece} for piece in _pieces(str(act.content or ""))]
        ends_at = len(deltas) if act.stream_end == "done" else max(2, len(deltas) // 2 + 1)
        for delta in deltas[:ends_at]:
            await send({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if act.stream_end == "error":
            await send({"error": {"message": "the model stopped", "type": "server_error", "code": 500}})
        elif act.stream_end == "done":
            await send({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": act.finish_reason}]})
            if (body.get("stream_options") or {}).get("include_usage") and "usage" in whole:
                await send({**base, "choices": [], "usage": whole["usage"]})
            await send("[DONE]")
        elif request.transport is not None:
            request.transport.close()
            return response
        await response.write_eof()
        return response

    async def _embed(self, request: web.Request) -> web.Response:
        body = await request.json()
        self._record(request, body, self.embedding_requests)
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        data = [{"object": "embedding", "index": i, "embedding": _vector(text)} for i, text in enumerate(texts)]
        return web.json_response({"object": "list", "model": body.get("model"), "data": data})

    async def _models(self, request: web.Request) -> web.Response:
        more = {} if self.context_tokens is None else {"max_model_len": self.context_tokens}
        return web.json_response({"object": "list", "data": [{"id": "test", "object": "model", **more}]})


# What the answers are made of

_WORDS = (
    "the court hears that a witness saw no light in the yard and heard two voices by the gate before dawn as rain fell"
).split()

_REFUSALS = {
    "temperature": "Unsupported value: 'temperature' does not support this value with this model.",
    "max_tokens": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    ),
    "seed": "Unrecognized request argument supplied: seed",
    "logprobs": "This model does not support the 'logprobs' parameter.",
    "top_p": "Unsupported parameter: 'top_p' is not supported with this model.",
    "response_format": "Unsupported parameter: 'response_format' is not supported with this model.",
    "json_schema": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "system": "System role not supported",
    "alternation": "Conversation roles must alternate user/assistant/user/assistant/...",
}


def _carries(body: Body, parameter: str) -> bool:
    roles = [message["role"] for message in body["messages"]]
    match parameter:
        case "system":
            return "system" in roles
        case "alternation":
            spoken = [role for role in roles if role != "system"]
            return spoken[:1] != ["user"] or any(a == b for a, b in itertools.pairwise(spoken))
        case "json_schema":
            return (body.get("response_format") or {}).get("type") == "json_schema"
        case _:
            return body.get(parameter) is not None


def tokenize(text: str) -> list[str]:
    """The words and marks of a text: what this server counts as tokens."""
    return re.findall(r"\w+|[^\w\s]", text)


def count_tokens(body: Body) -> int:
    """Tokens of the prompt, as this server counts them."""
    return sum(len(tokenize(str(message["content"]))) for message in body["messages"])


def _digest(body: Body) -> str:
    asked = [body.get("model"), body.get("messages"), body.get("input"), body.get("seed"), _schema(body)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _schema(body: Body) -> dict[str, Any] | None:
    wanted = body.get("response_format") or {}
    return wanted["json_schema"]["schema"] if wanted.get("type") == "json_schema" else None


def _instance(schema: Mapping[str, Any], digest: str) -> Any:
    """Returns a value that the schema allows, chosen by the digest."""
    digest = hashlib.sha256(digest.encode()).hexdigest()
    number = int(digest[:8], 16)
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    if "const" in schema:
        return schema["const"]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _instance(schema[union][number % len(schema[union])], digest)
    match schema.get("type"):
        case "object":
            return {name: _instance(part, digest + name) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [_instance(schema["items"], f"{digest}{i}") for i in range(max(1, schema.get("minItems", 1)))]
        case "integer" | "number":
            low = schema.get("minimum", 0)
            return low + number % (schema.get("maximum", low + 9) - low + 1)
        case "boolean":
            return number % 2 == 0
        case "null":
            return None
        case _:
            return f"text {digest[:8]}"


def _obey(messages: Sequence[Mapping[str, Any]], body: Body, n: int) -> Act:
    """Answers by the messages that the server really reads: the first code word in them, else well behaved."""
    prompt = "\n".join(str(message["content"]) for message in messages)
    found = re.search(r"code word is *:? *\"?(\w+)", prompt)
    if found is None:
        return well_behaved({**body, "messages": list(messages)}, n)
    if _schema(body) is not None:
        return well_behaved(body, n)
    return say(found[1])


def _completion(body: Body, act: Act) -> Body:
    message = act.message
    if message is UNSET:
        message = {"role": "assistant", "content": act.content}
        if act.reasoning is not None:
            message["reasoning_content"] = act.reasoning
    choice: Body = {"index": 0, "message": message, "finish_reason": act.finish_reason}
    text = act.content if isinstance(act.content, str) else json.dumps(act.content)
    if act.logprobs is not None or body.get("logprobs"):
        choice["logprobs"] = {"content": list(act.logprobs or _logprobs(text, body.get("top_logprobs") or 0))}
    whole: Body = {
        "id": f"chatcmpl-{_digest(body)[:12]}",
        "object": "chat.completion",
        "model": body.get("model", "test"),
        "system_fingerprint": "fp_test",
        "choices": [choice],
    }
    usage = _usage(body, act, text) if act.usage is UNSET else act.usage
    return whole if usage is None else {**whole, "usage": usage}


def _usage(body: Body, act: Act, text: str) -> Body:
    read = act.prompt_tokens if act.prompt_tokens is not None else count_tokens(body)
    reasoned = len(tokenize(act.reasoning or ""))
    written = len(tokenize(text)) + reasoned
    usage: Body = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    if act.cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": act.cached_tokens}
    if reasoned:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoned}
    return usage


def _logprobs(text: str, rivals: int) -> list[Body]:
    others = [{"token": word, "logprob": -2.0 - i} for i, word in enumerate(_WORDS[: max(0, rivals - 1)])]
    return [
        {"token": token, "logprob": -0.1, "top_logprobs": [{"token": token, "logprob": -0.1}, *others][:rivals]}
        for token in tokenize(text)
    ]


def _vector(text: str) -> list[float]:
    """Returns a bag of hashed words: texts that share words are near each other."""
    vector = [0.0] * 64
    for word in tokenize(text.lower()):
        vector[int(hashlib.sha256(word.encode()).hexdigest()[:4], 16) % 64] += 1.0
    norm = sum(value * value for value in vector) ** 0.5 or 1.0
    return [value / norm for value in vector]


def _pieces(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def _drop(request: web.Request, data: bytes) -> web.StreamResponse:
    """Sends bytes past the HTTP layer and closes the connection."""
    if request.transport is not None:
        request.transport.write(data)
        request.transport.close()
    raise asyncio.CancelledError


# As a process


async def _serve(behaviour: str, port: int, log: Path | None, delay_s: float) -> None:
    async with MisbehavingServer(BEHAVIOURS[behaviour], port=port, log=log, delay_s=delay_s) as server:
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--behaviour", choices=sorted(BEHAVIOURS), default="well_behaved")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args()
    asyncio.run(_serve(options.behaviour, options.port, options.log, options.delay))


if __name__ == "__main__":
    main()
