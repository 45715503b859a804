"""The OpenAI-compatible wire: a request becomes a body, a body becomes a reply. Pure functions."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, cast

from dramaturg.model.capabilities import Capabilities, Capability, alternates
from dramaturg.model.problem import HttpProblem, error_message, is_context_overflow, read_problem, shorten
from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.reply import Reply, ReplyStatus, TokenLogprob, Usage
from dramaturg.model.request import Message, Request

OPENING = "…"
"""What a user says where a server lets no assistant speak first."""

BLANKS_ARE_DEGENERATE = 200
"""So many blanks and nothing else are a grammar or model that runs on without end."""

LOOP_REPEATS = 8
LOOP_CHARACTERS = 64
"""A text that was cut and ends in a fragment said so often, over so many characters, would have gone on for ever."""

_LONGEST_FRAGMENT = 200
_REASONING_PARTS = ("thinking", "reasoning")
_MOST_TOKENS = 2**31 - 1


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


def left_out(request: Request, capabilities: Capabilities) -> list[str]:
    """Returns a note for each part of the request that this server does not take, or takes in another form."""
    return [f"without {name}" for name in capabilities.refused if _wanted(request, name)]


def _wanted(request: Request, capability: Capability) -> bool:
    sampling = request.sampling
    match capability:
        case "schema" | "json_mode":
            return request.schema is not None
        case "logprobs":
            return sampling.top_logprobs > 0
        case "top_p":
            return sampling.top_p is not None
        case "stop":
            return bool(sampling.stop)
        case "system":
            return any(message.role == "system" for message in request.messages)
        case "alternation":
            return not alternates([message.role for message in request.messages])
        case "temperature" | "seed":
            return True
        case "max_tokens" | "stream_usage":
            return False


def _messages(messages: Sequence[Message], capabilities: Capabilities) -> list[dict[str, str]]:
    listed = [{"role": message.role, "content": message.text} for message in messages]
    if not capabilities.has("system"):
        listed = _without_system(listed)
    if not capabilities.has("alternation"):
        listed = _alternating(listed)
    return listed


def _without_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Puts the system prompts at the chat's start into its first user message; the user says the later ones."""
    listed = [{**message, "role": "user"} if message["role"] == "system" else message for message in messages]
    opening = next((i for i, message in enumerate(messages) if message["role"] != "system"), len(messages))
    if opening < len(listed) and listed[opening]["role"] == "user":
        opening += 1
    head = "\n\n".join(message["content"] for message in listed[:opening])
    return [{"role": "user", "content": head}, *listed[opening:]] if head else listed


def _alternating(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Joins neighbours of one role, so that user and assistant take turns, the user first."""
    joined: list[dict[str, str]] = []
    for message in messages:
        role, content = message["role"], message["content"]
        if role == "system" and any(before["role"] != "system" for before in joined):
            role = "user"
        if joined and joined[-1]["role"] == role:
            joined[-1] = {"role": role, "content": f"{joined[-1]['content']}\n\n{content}"}
        elif role == "assistant" and (not joined or joined[-1]["role"] == "system"):
            joined += [{"role": "user", "content": OPENING}, message]
        else:
            joined.append({"role": role, "content": content})
    return joined


def problem_in(payload: object) -> HttpProblem | None:
    """Returns the problem that a body of HTTP 200 reports in the place of an answer; None where it reports none.

    Args:
        payload: The parsed body.
    """
    error = _get(payload, "error")
    if not error or _get(payload, "choices"):
        return None
    text = json.dumps(payload, ensure_ascii=False)
    code = str(_get(error, "code"))
    if code.isdecimal() and 400 <= int(code) < 600:
        return read_problem(int(code), text)
    return HttpProblem("context", error_message(text)) if is_context_overflow(text) else None


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
        what = f"no choices; error: {shorten(error)}" if error else "no choices in the answer"
        return Reply("malformed", detail=what)
    choice = cast("list[object]", choices)[0]
    message = _get(choice, "message")
    if not isinstance(message, dict):
        return Reply("malformed", detail="the choice holds no message")
    finish_reason = str(_get(choice, "finish_reason") or "")
    if finish_reason == "error":
        return Reply("malformed", detail=f"the server broke off: {shorten(_get(choice, 'error') or 'no reason given')}")
    content, reasoning, refusal = message_texts(cast("dict[str, Any]", message))
    return finish_reply(
        content=content,
        reasoning=reasoning,
        refusal=refusal,
        finish_reason=finish_reason,
        max_tokens=max_tokens,
        usage=read_usage(body.get("usage")),
        logprobs=read_logprobs(_get(choice, "logprobs")),
        served_by=server_name(body),
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
    reasoned = bool(usage.reasoning_tokens)
    status, detail = _status(
        content, visible, reasoning, refusal, finish_reason, max_tokens, unclosed=unclosed, reasoned=reasoned
    )
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
    content: str,
    visible: str,
    reasoning: str,
    refusal: str,
    finish_reason: str,
    max_tokens: int,
    *,
    unclosed: bool,
    reasoned: bool,
) -> tuple[ReplyStatus, str]:
    if refusal or finish_reason == "content_filter":
        return "refused", shorten(refusal) if refusal else "the provider's filter declined"
    cut = finish_reason in {"length", "max_tokens", "model_length"}
    limit = f"max_tokens={max_tokens}"
    if not visible.strip():
        if len(content) - len(content.strip()) >= BLANKS_ARE_DEGENERATE:
            return "degenerate", f"{len(content)} blanks and no text"
        if (reasoning or reasoned) and (cut or unclosed):
            return "truncated", f"budget_spent_on_reasoning: {limit} went into reasoning, nothing visible is left"
        return ("truncated", f"cut at {limit} before any visible text") if cut else ("empty", "no visible text")
    if cut and (len(visible) - len(visible.strip()) >= BLANKS_ARE_DEGENERATE or _ends_in_loop(visible)):
        return "degenerate", f"one fragment without end, cut at {limit}"
    if cut:
        return "truncated", f"cut at {limit}"
    if unclosed:
        return "truncated", "the reasoning was never closed"
    return "ok", ""


def _ends_in_loop(text: str) -> bool:
    """Returns whether the end of a text is one fragment, said again and again."""
    for length in range(1, _LONGEST_FRAGMENT + 1):
        tail = text[-max(LOOP_REPEATS * length, LOOP_CHARACTERS) :]
        if len(tail) >= LOOP_REPEATS * length and tail[length:] == tail[:-length]:
            return len(tail) >= LOOP_CHARACTERS
    return False


def message_texts(fields: dict[str, Any]) -> tuple[str, str, str]:
    """Returns content, reasoning and refusal of a message, or of a piece of a streamed one.

    Each is one canonical text. Content parts without text become an explicit placeholder, an object becomes
    canonical JSON; parts that are marked as reasoning never become content.
    """
    content = fields.get("content")
    reasoning = _content_text(fields.get("reasoning_content") or fields.get("reasoning"))
    if isinstance(content, list):
        parts = cast("list[object]", content)
        thoughts = [_thought_text(part) for part in parts if _is_thought(part)]
        reasoning = "\n".join(text for text in (reasoning, *thoughts) if text)
        content = [part for part in parts if not _is_thought(part)]
    return _content_text(content), reasoning, _content_text(fields.get("refusal"))


def _is_thought(part: object) -> bool:
    return any(_get(part, "type") == kind for kind in _REASONING_PARTS)


def _thought_text(part: object) -> str:
    return next((_content_text(text) for name in (*_REASONING_PARTS, "text") if (text := _get(part, name))), "")


def _content_text(content: object) -> str:
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            return "".join(_part_text(part) for part in cast("list[object]", content))
        case _:
            text = _get(content, "text")
            return text if isinstance(text, str) else json.dumps(content, ensure_ascii=False, sort_keys=True)


def _part_text(part: object) -> str:
    has_text = isinstance(part, str) or isinstance(_get(part, "text"), str)
    return _content_text(part) if has_text else f"[{_get(part, 'type') or 'part without text'}]"


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
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        return None
    return int(value)


def _prompt_seconds(timings: object) -> float | None:
    """Returns how long llama.cpp took for the prompt: the first token follows at once."""
    milliseconds = _get(timings, "prompt_ms")
    return milliseconds / 1000 if isinstance(milliseconds, int | float) and math.isfinite(milliseconds) else None


def read_logprobs(logprobs: object) -> tuple[TokenLogprob, ...]:
    """Returns the tokens in a choice's ``logprobs``; none where they are not as they should be."""
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


def server_name(body: dict[str, Any]) -> str:
    """Returns under which model name and fingerprint a server answered."""
    model = body.get("model")
    fingerprint = body.get("system_fingerprint")
    return " ".join(part for part in (model, fingerprint) if isinstance(part, str) and part)


def read_vectors(payload: object, count: int) -> list[list[float]] | None:
    """Returns the vectors in a body of ``/embeddings`` in the order of the texts, or None where there are others.

    Args:
        payload: The parsed body.
        count: How many texts were sent.
    """
    rows = _get(payload, "data")
    if not isinstance(rows, list) or len(cast("list[object]", rows)) != count:
        return None
    vectors: dict[int, list[float]] = {}
    try:
        for position, row in enumerate(cast("list[dict[str, Any]]", rows)):
            vectors[int(row.get("index", position))] = [float(number) for number in row["embedding"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return [vectors[index] for index in range(count)] if vectors.keys() == set(range(count)) else None
