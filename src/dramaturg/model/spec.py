"""Model spec strings: ``provider:name?option=value``, or the address of a server."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, get_args
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from dramaturg.errors import SpecError, did_you_mean
from dramaturg.text import redact

Provider = Literal["embedded", "gguf", "hf", "openai", "openrouter", "ollama", "vllm", "llamacpp", "http", "script"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)

SERVERS: dict[str, tuple[str, str]] = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": ("http://127.0.0.1:11434/v1", "OLLAMA_API_KEY"),
    "vllm": ("http://127.0.0.1:8000/v1", "VLLM_API_KEY"),
    "llamacpp": ("http://127.0.0.1:8080/v1", "LLAMACPP_API_KEY"),
}
"""Provider → default address and the environment variable that holds its key."""

EXAMPLES = (
    "embedded:smollm2-135m, gguf:PATH, hf:OWNER/REPO/FILE.gguf, openai:gpt-5, ollama:llama3.1, "
    "vllm:NAME@http://host:port/v1, http://host:port/v1#name, script:FILE"
)


DEFAULT_CONCURRENCY = 16
"""Most calls in flight at an endpoint and key where no spec string says another number."""


@dataclass(frozen=True, slots=True)
class Options:
    """What may stand after ``?``. Sampling options are part of the logical request, the rest is not.

    Attributes:
        temperature: Overrides what the purpose would take.
        max_tokens: Overrides what the purpose would take.
        top_p: Nucleus sampling.
        context_tokens: What the server holds, where it does not say.
        concurrency: Most calls in flight at this endpoint and key; where specs differ, the least of them holds.
        max_retries: Attempts after the first, for failures of the endpoint.
        connect_timeout_s: To connect.
        read_timeout_s: Between two bytes of a streamed answer.
        attempt_timeout_s: One attempt.
        total_timeout_s: All attempts of a call, waits included.
        max_wait_s: Longest wait that a server may ask for; longer is a failure.
        key_env: Environment variable that holds the key.
        slots: Parallel sequences of an embedded model; 0 for the usual number.
        threads: Threads of an embedded model; 0 for the cores that are idle when it starts.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    context_tokens: int | None = None
    concurrency: int | None = None
    max_retries: int = 5
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 300.0
    attempt_timeout_s: float = 900.0
    total_timeout_s: float = 3600.0
    max_wait_s: float = 300.0
    key_env: str = ""
    slots: int = 0
    threads: int = 0


_POSITIVE = frozenset(
    {
        "max_tokens",
        "context_tokens",
        "concurrency",
        "connect_timeout_s",
        "read_timeout_s",
        "attempt_timeout_s",
        "total_timeout_s",
    }
)
_MOST = 2**31 - 1
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ADDRESS_AFTER_NAME = re.compile(r"(?P<name>.*?)@(?P<url>https?://.*)", re.IGNORECASE | re.DOTALL)
_ONE_ENDPOINT = "/chat/completions"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A parsed spec string.

    Attributes:
        text: As it was given.
        provider: Where the model is.
        name: Its name there; a path for ``gguf`` and ``script``.
        url: Address of the API, up to and with its version; empty where there is none.
        options: What stood after ``?``.
    """

    text: str
    provider: Provider
    name: str
    url: str = ""
    options: Options = Options()

    @property
    def local(self) -> bool:
        """Whether the model runs in a child process of ours."""
        return self.provider in {"embedded", "gguf", "hf"}


def parse_spec(text: str) -> ModelSpec:
    """Returns the parsed spec.

    Raises:
        SpecError: It is malformed, or names an unknown provider or option; the message lists what is allowed.
    """
    text = text.strip()
    if not text:
        raise SpecError("the model spec is empty", allowed=EXAMPLES)
    if text.partition(":")[0].lower() in {"http", "https"}:
        return _parse_url(text)
    head, _, query = text.partition("?")
    provider, colon, name = head.partition(":")
    if not colon:
        raise SpecError(f"model spec {_shown(text)!r} has no provider", allowed=EXAMPLES)
    if provider not in PROVIDERS:
        raise SpecError(
            f"unknown provider {_shown(provider)!r} in {_shown(text)!r}", allowed=did_you_mean(provider, PROVIDERS)
        )
    url = ""
    if provider in SERVERS:
        url = SERVERS[provider][0]
        if found := _ADDRESS_AFTER_NAME.fullmatch(name):
            name, url = found["name"], _address(found["url"], allowed="NAME@http://host:port/v1")
        elif "@" in name:
            raise SpecError(
                f"model spec {_shown(text)!r} has no address behind '@'", allowed="NAME@http://host:port/v1"
            )
    if not name:
        raise SpecError(f"model spec {_shown(text)!r} names no model", allowed=EXAMPLES)
    return ModelSpec(text, provider, name, url, _parse_options(query, text))


def _parse_url(text: str) -> ModelSpec:
    before, _, fragment = text.partition("#")
    address, _, query = before.partition("?")
    name, _, more_query = fragment.partition("?")
    url = _address(address, allowed="http://host:port/v1#name")
    if not name:
        raise SpecError(f"{_shown(text)!r} names no model", allowed="http://host:port/v1#name")
    queries = "&".join(part for part in (query, more_query) if part)
    return ModelSpec(text, "http", unquote(name), url, _parse_options(queries, text))


def _address(url: str, *, allowed: str) -> str:
    """Returns the address of an API without what a person copied along with it.

    Raises:
        SpecError: It is no address, or holds a password, which the message does not show.
    """
    try:
        parts = urlsplit(url)
        is_address = bool(parts.hostname) and parts.port != 0 and " " not in parts.netloc
    except ValueError:
        raise SpecError(f"{_shown(url)!r} is no address", allowed=allowed) from None
    if parts.username is not None or parts.password is not None:
        raise SpecError(
            f"the address of {parts.hostname!r} holds a password",
            allowed="put the key into an environment variable and name it with ?key_env=NAME",
        )
    if not is_address:
        raise SpecError(f"{_shown(url)!r} is no address", allowed=allowed)
    path = parts.path.rstrip("/").removesuffix(_ONE_ENDPOINT)
    return urlunsplit((parts.scheme.lower(), parts.netloc, path, "", ""))


def _shown(text: str) -> str:
    """Returns a spec as an error may show it: options may hold a key that was put in the wrong place."""
    return redact(text.partition("?")[0])


def _parse_options(query: str, text: str) -> Options:
    if not query:
        return Options()
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        raise SpecError(
            f"options of {_shown(text)!r} are not key=value pairs", allowed="?temperature=0&max_tokens=200"
        ) from None
    values: dict[str, str | int | float] = {}
    for key, value in pairs:
        if key not in Options.__dataclass_fields__:
            raise SpecError(
                f"unknown option {_shown(key)!r} in {_shown(text)!r}",
                allowed=did_you_mean(key, Options.__dataclass_fields__),
            )
        if key in values:
            raise SpecError(f"option {key!r} of {_shown(text)!r} stands twice")
        values[key] = _option_value(key, value, text)
    return replace(Options(), **values)


def _option_value(key: str, value: str, text: str) -> str | int | float:
    kind = str(Options.__dataclass_fields__[key].type).partition(" ")[0]
    if kind == "str":
        if not _VARIABLE_NAME.fullmatch(value):
            raise SpecError(
                f"option {key!r} of {_shown(text)!r} names no environment variable",
                allowed=f"the variable's name, not the key itself: {key}=MY_API_KEY",
            )
        return value
    try:
        number = int(value) if kind == "int" else float(value)
    except ValueError:
        raise SpecError(f"option {key!r} of {_shown(text)!r} is no number", allowed=f"{key}=<{kind}>") from None
    most = 1 if key == "top_p" else _MOST
    if not 0 <= number <= most or (number == 0 and key in _POSITIVE):
        least = "more than 0" if key in _POSITIVE else "at least 0"
        raise SpecError(
            f"option {key}={value} of {_shown(text)!r} is out of range", allowed=f"{least} and at most {most}"
        )
    return number
