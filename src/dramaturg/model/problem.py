"""What an error of a server means: a status and a body become a problem. Pure functions."""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from dataclasses import dataclass
from typing import Literal, cast

from dramaturg.model.reply import FailureKind

_CONTEXT = re.compile(
    r"maximum context length|context[ _](?:length|size|window)|exceeds? the (?:available )?context|"
    r"too many (?:input )?tokens|prompt is too long|input is too long|exceed_context_size",
    re.IGNORECASE,
)
_CONTEXT_TOKENS = re.compile(
    r"context[ _](?:length|size|window)\D{0,30}?(?P<is>\d[\d,]{2,})|> (?P<most>\d[\d,]{2,}) maximum", re.IGNORECASE
)
_QUOTA = re.compile(r"insufficient_quota|quota|billing|credit balance|daily limit", re.IGNORECASE)

Problem = Literal["overload", "quota", "auth", "context", "request", "server", "missing", "redirect"]


@dataclass(frozen=True, slots=True)
class HttpProblem:
    """What an HTTP error means.

    Attributes:
        problem: overload: wait and try again. server: try again. request: perhaps a parameter that is refused.
        message: The server's own words, shortened.
        retry_after_s: How long it asked to wait, or None.
        parameter: The parameter that the server names beside its text; empty when it names none.
    """

    problem: Problem
    message: str
    retry_after_s: float | None = None
    parameter: str = ""


def read_problem(status: int, text: str, *, retry_after: str | None = None, location: str = "") -> HttpProblem:
    """Returns what an HTTP error means.

    Args:
        status: HTTP status, 300 or more.
        text: Body.
        retry_after: The header, in seconds or as a date.
        location: The header: where a redirect leads.
    """
    if status < 400:
        where = f" to {shorten(location)}" if location else ""
        return HttpProblem("redirect", f"HTTP {status}: the server redirects{where}; name that address in the spec")
    message = error_message(text) or f"HTTP {status}"
    wait = read_retry_after(retry_after)
    parameter = _parameter(text)
    match status:
        case 401 | 403:
            return HttpProblem("auth", message)
        case 402:
            return HttpProblem("quota", message)
        case 404 | 405:
            return HttpProblem("missing", message)
        case 429:
            return HttpProblem("quota" if wait is None and _QUOTA.search(text) else "overload", message, wait)
        case 503:
            return HttpProblem("overload", message, wait)
        case 408 | 409 | 425:
            return HttpProblem("server", message, wait)
        case _:
            pass
    if is_context_overflow(message):
        return HttpProblem("context", message)
    return HttpProblem("server" if status >= 500 else "request", message, wait, parameter)


def is_context_overflow(message: str) -> bool:
    """Returns whether a server's words say that the prompt does not fit."""
    return _CONTEXT.search(message) is not None


def context_tokens_in(message: str) -> int | None:
    """Returns how many tokens a model holds, as a server says where a prompt does not fit; None where it does not say.

    Args:
        message: The server's words.
    """
    found = _CONTEXT_TOKENS.search(message)
    return int((found["is"] or found["most"]).replace(",", "")) if found is not None else None


def failure_of(problem: Problem) -> FailureKind:
    """Returns the kind of failure that a problem is once no attempt is left."""
    match problem:
        case "auth":
            return "auth"
        case "quota" | "overload":
            return "quota"
        case "context" | "request" | "server" | "missing" | "redirect":
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
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def error_message(text: str) -> str:
    """Returns the message of an error body in one short line, whatever its shape."""
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return shorten(
            re.sub(r"<(?:style|script)\b.*?</(?:style|script)>|<[^<>]*>", " ", text[:20_000], flags=re.DOTALL)
        )
    error = _get(body, "error") or _get(body, "detail") or _get(body, "message") or body
    message = _get(error, "message") or error
    return shorten(message if isinstance(message, str) else json.dumps(message, ensure_ascii=False))


def shorten(text: object, most: int = 300) -> str:
    """Returns the text as one line of limited length.

    Args:
        text: Anything.
        most: Most characters.
    """
    line = " ".join(str(text)[: 8 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _parameter(text: str) -> str:
    try:
        error = _get(json.loads(text), "error")
    except (ValueError, RecursionError):
        return ""
    parameter = _get(error, "param")
    return parameter if isinstance(parameter, str) else ""


def _get(fields: object, name: str) -> object:
    return cast("dict[str, object]", fields).get(name) if isinstance(fields, dict) else None
