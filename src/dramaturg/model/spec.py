"""Model spec strings: ``provider:name?option=value``, or the address of a server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from dramaturg.errors import SpecError, did_you_mean

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


@dataclass(frozen=True, slots=True)
class Options:
    """What may stand after ``?``. Sampling options are part of the logical request, the rest is not.

    Attributes:
        temperature: Overrides what the purpose would take.
        max_tokens: Overrides what the purpose would take.
        top_p: Nucleus sampling.
        context_tokens: What the server holds, where it does not say.
        concurrency: Most calls in flight at this endpoint and key.
        max_retries: Attempts after the first, for failures of the endpoint.
        connect_timeout_s: To connect.
        read_timeout_s: Between two bytes of a streamed answer.
        attempt_timeout_s: One attempt.
        total_timeout_s: All attempts of a call, waits included.
        max_wait_s: Longest wait that a server may ask for; longer is a failure.
        key_env: Environment variable that holds the key.
        slots: Parallel sequences of an embedded model.
        threads: Threads of an embedded model; 0 for all cores.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    context_tokens: int | None = None
    concurrency: int = 16
    max_retries: int = 5
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 300.0
    attempt_timeout_s: float = 900.0
    total_timeout_s: float = 3600.0
    max_wait_s: float = 300.0
    key_env: str = ""
    slots: int = 0
    threads: int = 0


_POSITIVE = frozenset({"max_tokens", "context_tokens", "concurrency"})


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
    if text.split(":", 1)[0].lower() in {"http", "https"}:
        return _parse_url(text)
    head, _, query = text.partition("?")
    provider, colon, name = head.partition(":")
    if not colon:
        raise SpecError(f"model spec {text!r} has no provider", allowed=EXAMPLES)
    if provider not in PROVIDERS:
        raise SpecError(f"unknown provider {provider!r} in {text!r}", allowed=did_you_mean(provider, PROVIDERS))
    if not name:
        raise SpecError(f"model spec {text!r} names no model", allowed=EXAMPLES)
    url = SERVERS[provider][0] if provider in SERVERS else ""
    if provider in SERVERS and "@" in name:
        name, _, url = name.rpartition("@")
        if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).netloc or not name:
            raise SpecError(f"model spec {text!r} has no address behind '@'", allowed="NAME@http://host:port/v1")
    return ModelSpec(text, provider, name, url.rstrip("/"), _parse_options(query, text))


def _parse_url(text: str) -> ModelSpec:
    parts = urlsplit(text)
    fragment, _, fragment_query = parts.fragment.partition("?")
    try:
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        port_is_valid = False
    if not parts.hostname or not port_is_valid:
        raise SpecError(f"{text!r} is no address", allowed="http://host:port/v1#name")
    if parts.username or parts.password:
        raise SpecError(
            f"the address of {parts.hostname!r} holds a password",
            allowed="put the key into an environment variable and name it with ?key_env=NAME",
        )
    if not fragment:
        raise SpecError(f"{text!r} names no model", allowed="http://host:port/v1#name")
    url = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
    query = "&".join(part for part in (parts.query, fragment_query) if part)
    return ModelSpec(text, "http", unquote(fragment), url, _parse_options(query, text))


def _parse_options(query: str, text: str) -> Options:
    options = Options()
    if not query:
        return options
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        raise SpecError(
            f"options of {text!r} are not key=value pairs", allowed="?temperature=0&max_tokens=200"
        ) from None
    for key, value in pairs:
        if key not in Options.__dataclass_fields__:
            raise SpecError(
                f"unknown option {key!r} in {text!r}", allowed=did_you_mean(key, Options.__dataclass_fields__)
            )
        options = replace(options, **{key: _option_value(key, value, text)})
    return options


def _option_value(key: str, value: str, text: str) -> str | int | float:
    kind = str(Options.__dataclass_fields__[key].type)
    if kind == "str":
        return value
    try:
        number = int(value) if kind.startswith("int") else float(value)
    except ValueError:
        raise SpecError(f"option {key!r} of {text!r} is no number", allowed=f"{key}=<{kind.split(' ')[0]}>") from None
    least = 1 if key in _POSITIVE else 0
    if not number >= least or number == float("inf"):
        raise SpecError(f"option {key}={value} of {text!r} is out of range", allowed=f"at least {least}")
    return number
