r"""Scripted replies: rules in YAML, or a Python function. A pure function of the request.

A YAML script has a name, a description and rules that are tried in order; the first whose conditions all
hold gives the reply. All conditions are optional:

    rules:
      - role: witness            # labels of the request: role, purpose, phase; a text or a list of texts
        turn: ">=3"              # turn, attempt (redraw), restart: 3, "3-5", ">=3", "<=3"
        schema: false            # whether the request wants JSON
        match: 'ask (?P<who>\w+)'  # searched in what was said since the speaker's own last message
        anywhere: storm          # searched in all messages
        system: prosecutor       # searched in the system prompt
        chance: 0.5              # seeded by the request
        once: true               # skipped when a variant of its reply was already given
        reply: ["I saw {who}.", "{who} was there."]

Regular expressions ignore case. A reply is one text or a list of variants: one not yet said is preferred, the
request's seed picks. `json` gives an object instead, `fault` a planted failure, `delay_s` a wait.

A few names mean scripts that are built in, where no file of that name exists: see `BUILT_IN`.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self, assert_never, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from dramaturg.errors import ContentError
from dramaturg.files import find, parse_yaml, read_text
from dramaturg.model.model import Identity, ModelFacts, OnText
from dramaturg.model.reply import Reply, TokenLogprob, Usage
from dramaturg.model.request import Message, Request
from dramaturg.model.spec import ModelSpec, Options
from dramaturg.text import Json, canonical_json, sha256

CHARACTERS_PER_TOKEN = 4
"""Local estimate; a script has no tokenizer."""

Fault = Literal["empty", "refused", "truncated", "loop", "blanks", "context_overflow", "failed", "malformed", "crash"]

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
_RANGE = re.compile(r"\s*(?:(?P<bound><=|>=)\s*(?P<limit>\d+)|(?P<low>\d+)(?:\s*-\s*(?P<high>\d+))?)\s*")


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as problem:
        raise ValueError(f"is no regular expression: {problem}") from None
    return pattern


def _range_of(value: str | int) -> str:
    text = str(value)
    if _RANGE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no range; allowed: 3, 3-5, >=3, <=3")
    return text


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Pattern = Annotated[str, AfterValidator(_compiled)]
Range = Annotated[str | int, AfterValidator(_range_of)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class Rule(BaseModel):
    """One rule: conditions that must all hold, and what is then replied."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Texts = ()
    purpose: Texts = ()
    phase: Texts = ()
    turn: Range | None = None
    attempt: Range | None = None
    restart: Range | None = None
    wants_schema: bool | None = Field(default=None, alias="schema")
    match: Pattern | None = None
    anywhere: Pattern | None = None
    system: Pattern | None = None
    chance: Annotated[float, Field(ge=0, le=1)] = 1.0
    once: bool = False
    reply: Texts = ()
    answer: dict[str, object] | None = Field(default=None, alias="json")
    fault: Fault | None = None
    delay_s: Annotated[float, Field(ge=0)] = 0.0

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.reply and self.answer is None and self.fault is None:
            raise ValueError("a rule needs one of: reply, json, fault")
        if self.answer is not None and (self.reply or self.fault):
            raise ValueError("json stands alone: no reply and no fault beside it")
        groups = set(re.compile(self.match).groupindex) if self.match is not None else set[str]()
        used = {name for text in (*self.reply, str(self.answer or "")) for name in _PLACEHOLDER.findall(text)}
        if unknown := sorted(used - groups):
            raise ValueError(f"{{{unknown[0]}}} in the reply is no named group of match")
        return self


class Script(BaseModel):
    """The content of a YAML script."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str = ""
    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]


_NO_OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the conditions of a rule look at."""

    since: str
    everything: str
    system: str
    own: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScriptModel:
    """A model whose replies are scripted; equal requests get equal replies.

    Attributes:
        path: The file.
        digest: SHA-256 of its content.
        answer: Gives the reply and the seconds to wait before it.
        facts: What is known of it.
        options: What stood after ``?`` in its spec.
    """

    path: Path
    digest: str
    answer: Callable[[Request], tuple[Reply, float]]
    facts: ModelFacts = field(default_factory=lambda: ModelFacts(runtime="script"))
    options: Options = _NO_OPTIONS

    @property
    def identity(self) -> Identity:
        """Which script this is: its file's stem and the hash of its content."""
        return Identity("script", self.path.stem, self.digest)

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Returns the scripted reply; where no rule holds, a failure that names the request's labels."""
        reply, delay_s = self.answer(request)
        if delay_s:
            await asyncio.sleep(delay_s)
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    async def embed(self, texts: Sequence[str]) -> None:
        """Returns None: a script has no embeddings."""

    async def close(self) -> None:
        """Does nothing: a script holds no connection."""


BUILT_IN = {
    **dict.fromkeys(("oracle", "always-yes", "coin"), "dramaturg.judge.audit.scripted"),
    **dict.fromkeys(("rating-oracle", "always-five", "random-rater"), "dramaturg.judge.audit.world.scripted"),
    "rule-rater": "dramaturg.train.rule_rater",
}
"""Name → the module whose `BUILT_IN` holds the script. It is loaded by name and late: scripts know of models, and
models of no script."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A script that is part of the package.

    Attributes:
        reply: Gives the reply; a pure function of the request.
        sources: The files that make it, for its digest.
        extra: What else is known of it.
    """

    reply: Callable[[Request], Reply]
    sources: tuple[Path, ...]
    extra: dict[str, Json] = field(default_factory=dict[str, Json])


def open_script(spec: ModelSpec) -> ScriptModel:
    """Returns the script that a spec names: a shipped one, a path to a ``.yaml`` or ``.py`` file, or a built-in one.

    Raises:
        ContentError: There is no such file, or it is wrong; the message names the line.
    """
    if spec.name in BUILT_IN and not Path(spec.name).is_file():
        return _open_built_in(spec)
    path = find("scripts", spec.name, where=spec.text)
    source = read_text(path)
    if path.suffix == ".py":
        return ScriptModel(path, sha256(source), _python_answers(path), options=spec.options)
    script = parse_yaml(source, Script, where=str(path))
    return ScriptModel(path, sha256(source), lambda request: _rule_answer(script, request), options=spec.options)


def _open_built_in(spec: ModelSpec) -> ScriptModel:
    module = importlib.import_module(BUILT_IN[spec.name])
    built_in = cast("Mapping[str, BuiltIn]", module.BUILT_IN)[spec.name]
    return ScriptModel(
        Path(spec.name),
        sha256("\n".join([spec.name, *(read_text(path) for path in built_in.sources)])),
        lambda request: (built_in.reply(request), 0.0),
        facts=ModelFacts(runtime="script", extra=built_in.extra),
        options=spec.options,
    )


def _python_answers(path: Path) -> Callable[[Request], tuple[Reply, float]]:
    spec = importlib.util.spec_from_file_location(f"dramaturg_script_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ContentError("is no Python file", where=str(path))
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise ContentError(f"cannot be run: {type(problem).__name__}: {problem}", where=str(path)) from problem
    function = cast("Callable[[Request], object] | None", getattr(module, "reply", None))
    if not callable(function):
        raise ContentError("has no function reply(request)", where=str(path))

    def answer(request: Request) -> tuple[Reply, float]:
        try:
            said = function(request)
        except Exception as problem:  # a script is user code: what it raises is a failure of this call
            detail = f"script {path.stem}: {type(problem).__name__}: {problem}"
            return Reply("failed", failure="crash", detail=detail), 0.0
        if isinstance(said, Reply):
            return said, 0.0
        return scripted_reply(request, str(said)), 0.0

    return answer


def _rule_answer(script: Script, request: Request) -> tuple[Reply, float]:
    heard = _hear(request.messages)
    for index, rule in enumerate(script.rules):
        found = re.search(rule.match, heard.since, re.IGNORECASE) if rule.match is not None else None
        if rule.match is not None and found is None:
            continue
        if not (_labels_hold(rule, request) and _context_holds(rule, index, request, heard)):
            continue
        groups = {name: value or "" for name, value in found.groupdict().items()} if found is not None else {}
        return _reply(rule, index, request, heard, groups), rule.delay_s
    labels = ", ".join(f"{name}={value}" for name, value in sorted(request.labels.items())) or "no labels"
    detail = f"no rule of script {script.name!r} holds for {labels}, schema={request.schema is not None}"
    return Reply("failed", failure="protocol", detail=detail), 0.0


def _hear(messages: Sequence[Message]) -> _Heard:
    since: list[str] = []
    for message in messages:
        if message.role == "assistant":
            since.clear()
        elif message.role == "user":
            since.append(message.text)
    return _Heard(
        since="\n".join(since),
        everything="\n".join(message.text for message in messages),
        system="\n".join(message.text for message in messages if message.role == "system"),
        own=tuple(_plain(message.text) for message in messages if message.role == "assistant"),
    )


def _labels_hold(rule: Rule, request: Request) -> bool:
    labels = request.labels
    return (
        (not rule.role or _any_kind(labels.get("role", ""), rule.role))
        and (not rule.purpose or labels.get("purpose", "") in rule.purpose)
        and (not rule.phase or labels.get("phase", "") in rule.phase)
        and (rule.turn is None or _in_range(labels.get("turn", ""), rule.turn))
        and (rule.attempt is None or _in_range(labels.get("attempt", ""), rule.attempt))
        and (rule.restart is None or _in_range(labels.get("restart", ""), rule.restart))
        and (rule.wants_schema is None or rule.wants_schema == (request.schema is not None))
    )


def _any_kind(role: str, wanted: Sequence[str]) -> bool:
    """Returns whether a role's id, or its kind before the colon, is among those wanted."""
    return role in wanted or role.partition(":")[0] in wanted


def _in_range(label: str, wanted: str | int) -> bool:
    parts = _RANGE.fullmatch(str(wanted))
    if parts is None or not label.isdecimal():
        return False
    number = int(label)
    match parts["bound"]:
        case ">=":
            return number >= int(parts["limit"])
        case "<=":
            return number <= int(parts["limit"])
        case _:
            return int(parts["low"]) <= number <= int(parts["high"] or parts["low"])


def _context_holds(rule: Rule, index: int, request: Request, heard: _Heard) -> bool:
    if rule.anywhere is not None and re.search(rule.anywhere, heard.everything, re.IGNORECASE) is None:
        return False
    if rule.system is not None and re.search(rule.system, heard.system, re.IGNORECASE) is None:
        return False
    if rule.once and any(_was_said(variant, heard.own) for variant in rule.reply):
        return False
    return rule.chance >= 1 or random.Random(f"{request.seed}/{index}/chance").random() < rule.chance


def _was_said(variant: str, own: Sequence[str]) -> bool:
    parts = _PLACEHOLDER.split(_plain(variant))
    pattern = re.compile(".*?".join(re.escape(text) for text in parts[::2]))
    return any(pattern.search(text) for text in own)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _fill(text: str, groups: Mapping[str, str]) -> str:
    """Returns the text with every named group put in; one pass, so that what was said cannot name another group."""
    return _PLACEHOLDER.sub(lambda found: groups.get(found[1], found[0]), text)


def _fill_json(value: object, groups: Mapping[str, str]) -> Json:
    match value:
        case str():
            return _fill(value, groups)
        case bool() | int() | float() | None:
            return value
        case dict():
            items = cast("dict[object, object]", value)
            return {str(key): _fill_json(item, groups) for key, item in items.items()}
        case list():
            return [_fill_json(item, groups) for item in cast("list[object]", value)]
        case _:
            return str(value)


def _reply(rule: Rule, index: int, request: Request, heard: _Heard, groups: Mapping[str, str]) -> Reply:
    if rule.answer is not None:
        return scripted_reply(request, canonical_json(_fill_json(rule.answer, groups)))
    fresh = [variant for variant in rule.reply if not _was_said(variant, heard.own)]
    variants = fresh or rule.reply or ("",)
    text = _fill(random.Random(f"{request.seed}/{index}").choice(variants), groups)
    return scripted_reply(request, text) if rule.fault is None else _faulty(request, rule.fault, text)


def scripted_reply(request: Request, text: str, *, logprobs: tuple[TokenLogprob, ...] = ()) -> Reply:
    """Returns the reply with a text, as a model gives it.

    Args:
        request: What was asked.
        text: What is replied.
        logprobs: Of its tokens.
    """
    status = "ok" if text.strip() else "empty"
    return Reply(status, text=text, usage=_usage(request, text), logprobs=logprobs)


def _faulty(request: Request, fault: Fault, text: str) -> Reply:
    """Returns what the model layer would make of a model or server with this fault."""
    usage = _usage(request, text)
    match fault:
        case "empty":
            return Reply("empty", usage=usage)
        case "refused":
            return Reply("refused", text=text, detail="declined by the script", usage=usage)
        case "truncated":
            return Reply("truncated", text=text, detail=f"cut at {request.sampling.max_tokens} tokens", usage=usage)
        case "loop":
            return Reply("degenerate", text=(text or "and so on ") * 40, detail="one fragment repeated", usage=usage)
        case "blanks":
            return Reply("degenerate", text=" " * 4000, detail="blanks only", usage=usage)
        case "context_overflow":
            return Reply("context_overflow", detail="the script says that the prompt does not fit")
        case "failed":
            return Reply("failed", failure="http", detail=text or "the script fails here")
        case "malformed":
            return Reply("malformed", failure="protocol", detail=text or "the script answers without an answer")
        case "crash":
            return Reply("failed", failure="crash", detail=text or "the script crashes here")
        case _:
            assert_never(fault)


def _usage(request: Request, text: str) -> Usage:
    given = sum(len(message.text) for message in request.messages)
    return Usage(input_tokens=-(-given // CHARACTERS_PER_TOKEN), output_tokens=-(-len(text) // CHARACTERS_PER_TOKEN))
