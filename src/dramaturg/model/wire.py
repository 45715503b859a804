"""The OpenAI-compatible wire: a request becomes a body, a body becomes a reply. Pure functions."""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from dramaturg.model.capabilities import Capabilities
from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.reply import FailureKind, Reply, ReplyStatus, TokenLogprob, Usage
from dramaturg.model.request import Message, Request

BLANKS_ARE_DEGENERATE = 200
"""So many blanks and nothing else are a grammar or model that runs on without end."""

_LOOP = re.compile(r"(?P<unit>.{1,80}?)(?P=unit){7,}.{0,80}\Z", re.DOTALL)
_CONTEXT = re.compile(
    r"maximum context length|context[ _](?:length|size|window)|exceeds? the (?:available )?context|"
    r"too many (?:input )?tokens|prompt is too long|input is too long|context_length_exceeded|exceed_context_size",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|quota|billing|credit balance|daily limit", re.IGNORECASE)

Problem = Literal["overload", "quota", "auth", "context", "request", "server", "missing"]


@dataclass(frozen=True, slots=True)
class HttpProblem:
    """What an HTTP error means.

    Attributes:
        problem: overload: wait and try again. server: try again. request: perhaps a parameter that is refused.
        message: The server's own words, shortened.
        retry_after_s: How long it asked to wait, or None.
    """

    problem: Problem
    message: str
    retry_after_s: float | None = None


def body_of(request: Request, name: str, capabilities: Capabilities, *, stream: bool) -> dict[str, object]:
    """Returns the body to post.

    Args:
        request: The logical request.
        name: The model's name at the server.
        capabilities: What the server refused so far; it is left out or put in another form.
        stream: Whether the answer is streamed.
    """
    sampling = request.sampling
    has = capabilities.has
    body: dict[str, object] = {"model": name, "messages": _messages(request.messages, capabilities)}
    body["max_tokens" if has("max_tokens") else "max_completion_tokens"] = sampling.max_tokens
    if has("temperature"):
        body["temperature"] = sampling.temperature
    if has("seed"):
        body["seed"] = request.seed
    if sampling.top_p is not None and has("top_p"):
        body["top_p"] = sampling.top_p
    if sampling.stop and has("stop"):
        body["stop"] = list(sampling.stop)
    if sampling.top_logprobs and has("logprobs"):
        body["logprobs"] = True
        body["top_logprobs"] = sampling.top_logprobs
    if request.schema is not None:
        if has("schema"):
            json_schema = {"name": request.schema.name, "schema": request.schema.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        elif has("json_mode"):
            body["response_format"] = {"type": "json_object"}
    if stream:
        body["stream"] = True
        if has("stream_usage"):
            body["stream_options"] = {"include_usage": True}
    return body


def _messages(messages: Sequence[Message], capabilities: Capabilities) -> list[dict[str, str]]:
    listed = [{"role": message.role, "content": message.text} for message in messages]
    if not capabilities.has("system"):
        listed = _without_system(listed)
    if not capabilities.has("alternation"):
        listed = _alternating(listed)
    return listed


def _without_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Puts the system prompts at the head of the first user message."""
    head = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    rest = [message for message in messages if message["role"] != "system"]
    if not head:
        return rest
    if rest and rest[0]["role"] == "user":
        return [{"role": "user", "content": f"{head}\n\n{rest[0]['content']}"}, *rest[1:]]
    return [{"role": "user", "content": head}, *rest]


def _alternating(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Joins neighbours of one role, so that user and assistant take turns."""
    joined: list[dict[str, str]] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1] = {"role": message["role"], "content": f"{joined[-1]['content']}\n\n{message['content']}"}
        else:
            joined.append(message)
    return joined


def read_reply(payload: object, *, max_tokens: int) -> Reply:
    """Returns the reply in a parsed body of HTTP 200.

    Args:
        payload: The parsed body.
        max_tokens: The limit that was asked for, named when the answer was cut.
    """
    if not isinstance(payload, dict):
        return Reply("malformed", detail=f"the body is no object but {type(payload).__name__}")
    body = cast("dict[str, Any]", payload)
    error = body.get("error")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        what = f"no choices; error: {_shorten(error)}" if error else "no choices in the answer"
        return Reply("malformed", detail=what)
    choice = cast("list[object]", choices)[0]
    message = _get(choice, "message")
    if not isinstance(message, dict):
        return Reply("malformed", detail="the choice holds no message")
    fields = cast("dict[str, Any]", message)
    return finish_reply(
        content=content_text(fields.get("content")),
        reasoning=content_text(fields.get("reasoning_content") or fields.get("reasoning")),
        refusal=content_text(fields.get("refusal")),
        finish_reason=str(_get(choice, "finish_reason") or ""),
        max_tokens=max_tokens,
        usage=read_usage(body.get("usage")),
        logprobs=_logprobs(_get(choice, "logprobs")),
        served_by=_served_by(body),
        first_token_s=_prompt_seconds(body.get("timings")),
    )


def finish_reply(
    *,
    content: str,
    reasoning: str,
    refusal: str,
    finish_reason: str,
    max_tokens: int,
    usage: Usage,
    logprobs: tuple[TokenLogprob, ...] = (),
    served_by: str = "",
    first_token_s: float | None = None,
) -> Reply:
    """Returns the reply with its status; the one place where a status is decided from text."""
    visible, inline, unclosed = split_reasoning(content)
    reasoning = "\n".join(part for part in (reasoning, inline) if part)
    status, detail = _status(content, visible, reasoning, refusal, finish_reason, max_tokens, unclosed)
    return Reply(
        status,
        text=visible if status in {"ok", "truncated"} else "",
        reasoning=reasoning if status in {"ok", "truncated"} else "\n".join(p for p in (reasoning, visible) if p),
        detail=detail,
        usage=usage,
        logprobs=logprobs,
        served_by=served_by,
        first_token_s=first_token_s,
    )


def _status(
    content: str, visible: str, reasoning: str, refusal: str, finish_reason: str, max_tokens: int, unclosed: bool
) -> tuple[ReplyStatus, str]:
    if refusal or finish_reason == "content_filter":
        return "refused", _shorten(refusal) if refusal else "the provider's filter declined"
    cut = finish_reason in {"length", "max_tokens", "model_length"}
    limit = f"max_tokens={max_tokens}"
    if not visible.strip():
        if len(content) - len(content.strip()) >= BLANKS_ARE_DEGENERATE:
            return "degenerate", f"{len(content)} blanks and no text"
        if reasoning and (cut or unclosed):
            return "truncated", f"budget_spent_on_reasoning: {limit} went into reasoning, nothing visible is left"
        return "empty", "no visible text"
    if cut and (len(visible) - len(visible.strip()) >= BLANKS_ARE_DEGENERATE or _LOOP.search(visible[-2000:])):
        return "degenerate", f"one fragment without end, cut at {limit}"
    if cut:
        return "truncated", f"cut at {limit}"
    if unclosed:
        return "truncated", "the reasoning was never closed"
    return "ok", ""


def content_text(content: object) -> str:
    """Returns the one canonical text of a message's content.

    Parts without text become an explicit placeholder, an object becomes canonical JSON.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_part_text(part) for part in cast("list[object]", content))
    return json.dumps(content, ensure_ascii=False, sort_keys=True)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        fields = cast("dict[str, object]", part)
        text = fields.get("text")
        if isinstance(text, str):
            return text
        return f"[{fields.get('type') or 'part without text'}]"
    return json.dumps(part, ensure_ascii=False)


def read_usage(usage: object) -> Usage:
    """Returns the tokens in a body's ``usage``; None for what it does not say."""
    if not isinstance(usage, dict):
        return Usage()
    fields = cast("dict[str, Any]", usage)
    prompt_details = fields.get("prompt_tokens_details")
    output_details = fields.get("completion_tokens_details")
    return Usage(
        input_tokens=_count(fields.get("prompt_tokens")),
        cached_tokens=_count(_get(prompt_details, "cached_tokens")),
        output_tokens=_count(fields.get("completion_tokens")),
        reasoning_tokens=_count(_get(output_details, "reasoning_tokens")),
    )


def _get(fields: object, name: str) -> object:
    return cast("dict[str, object]", fields).get(name) if isinstance(fields, dict) else None


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return int(value)


def _prompt_seconds(timings: object) -> float | None:
    """Returns how long llama.cpp took for the prompt: the first token follows at once."""
    milliseconds = _get(timings, "prompt_ms")
    return milliseconds / 1000 if isinstance(milliseconds, int | float) else None


def _logprobs(logprobs: object) -> tuple[TokenLogprob, ...]:
    content = _get(logprobs, "content")
    if not isinstance(content, list):
        return ()
    tokens: list[TokenLogprob] = []
    for entry in cast("list[dict[str, Any]]", content):
        try:
            top = tuple((str(rival["token"]), float(rival["logprob"])) for rival in entry.get("top_logprobs") or ())
            tokens.append(TokenLogprob(str(entry["token"]), float(entry["logprob"]), top))
        except (KeyError, TypeError, ValueError, AttributeError):
            return ()
    return tuple(tokens)


def _served_by(body: dict[str, Any]) -> str:
    model = body.get("model")
    fingerprint = body.get("system_fingerprint")
    return " ".join(part for part in (model, fingerprint) if isinstance(part, str) and part)


def read_problem(status: int, text: str, retry_after: str | None) -> HttpProblem:
    """Returns what an HTTP error means.

    Args:
        status: HTTP status, 400 or more.
        text: Body.
        retry_after: The header, in seconds or as a date.
    """
    message = error_message(text) or f"HTTP {status}"
    wait = read_retry_after(retry_after)
    if status in {401, 403}:
        return HttpProblem("auth", message)
    if status == 429:
        return HttpProblem("quota" if _QUOTA.search(text) and wait is None else "overload", message, wait)
    if status == 503:
        return HttpProblem("overload", message, wait)
    if status in {400, 413, 422} and _CONTEXT.search(message):
        return HttpProblem("context", message)
    if status in {404, 405}:
        return HttpProblem("missing", message)
    if status == 402:
        return HttpProblem("quota", message)
    if status >= 500 or status in {408, 409, 425}:
        return HttpProblem("context" if _CONTEXT.search(message) else "server", message, wait)
    return HttpProblem("request", message)


def failure_of(problem: Problem) -> FailureKind:
    """Returns the kind of failure that a problem is once no attempt is left."""
    match problem:
        case "auth":
            return "auth"
        case "quota" | "overload":
            return "quota"
        case "context" | "request" | "server" | "missing":
            return "http"


def read_retry_after(value: str | None) -> float | None:
    """Returns the seconds that a Retry-After header asks for; None when there is none or it cannot be read."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def error_message(text: str) -> str:
    """Returns the message of an error body in one short line, whatever its shape."""
    try:
        body: object = json.loads(text)
    except ValueError:
        return _shorten(re.sub(r"<[^>]*>", " ", text))
    error = _get(body, "error") or _get(body, "detail") or _get(body, "message") or body
    message = _get(error, "message") or error
    return _shorten(message if isinstance(message, str) else json.dumps(message, ensure_ascii=False))


def _shorten(text: object, most: int = 300) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
