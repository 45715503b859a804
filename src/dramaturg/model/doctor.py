"""Proves on the live model what a study relies on: each check asks, measures, and says in one line what was seen.

A model may be too weak to follow the questions. Single calls without anything in flight are the control: where they
fail, a check that depends on obedience is skipped and says so, instead of blaming the server. What needs no obedience
(another call's word in an answer, the server's own count of tokens) is judged in any case.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict

from dramaturg.model.answer_type import answer_schema
from dramaturg.model.model import Model
from dramaturg.model.reply import Reply
from dramaturg.model.request import AnswerSchema, Message, Request, Sampling
from dramaturg.prompts import load_prompt
from dramaturg.text import Json

CheckStatus = Literal["ok", "warn", "fail", "skipped"]

_WORDS = (
    "maple harbor violin copper lantern meadow falcon granite orchid pepper saddle timber "
    "velvet walnut anchor basket candle dagger ember feather garlic hammer ivory jasmine"
).split()
_ANSWER_TOKENS = 48
_REASONING_TOKENS = 2048
_PROSE_TOKENS = 64
_SHORT_LINES = 20
_CACHED_LINES = 120
_FEWEST_TOKENS_PER_LINE = 5.0
_COUNT_MAY_FALL_SHORT = 0.9
_TOO_WEAK = "model too weak to tell: asked alone, it does not repeat a code word"


class _Harbour(BaseModel):
    """A shape that no prose has by chance."""

    model_config = ConfigDict(extra="forbid")
    weather: Literal["calm", "storm"]
    lamp_is_lit: bool
    tide: Literal["high", "low"]


@dataclass(frozen=True, slots=True)
class Check:
    """What one check saw.

    Attributes:
        id: Name of the check.
        status: ok, warn (a study runs, with less than it could have), fail (its results would be wrong), or skipped.
        line: One line for people.
        measured: What was measured, by name.
    """

    id: str
    status: CheckStatus
    line: str
    measured: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks, in the order in which they were made.

    Attributes:
        checks: One per check.
        calls: How many calls they took.
        seconds: How long they took.
    """

    checks: tuple[Check, ...]
    calls: int
    seconds: float


async def examine(model: Model, *, planned_tokens: int, concurrency: int) -> Diagnosis:
    """Returns what the checks saw; never raises for what the model or its server does.

    Takes about 20 calls, twice `concurrency` more, and one prompt as long as planned.

    Args:
        model: An open model.
        planned_tokens: Longest prompt that the study will send.
        concurrency: Calls that the study will have in flight.
    """
    started = time.perf_counter()
    patient = _Patient(model)
    checks = [await _answers(patient)]
    if checks[0].status != "fail":
        checks.append(await _system_prompt(patient))
        checks.append(await _in_flight("system_prompt_leak", patient, _WORDS[2:4], _WORDS[4:6], _WORDS[6:8]))
        crowd = _WORDS[: max(2, min(concurrency, len(_WORDS)))]
        checks.append(await _in_flight("concurrency_swap", patient, crowd))
        checks += await _context(patient, planned_tokens)
        checks += await _schema(patient)
        checks.append(await _logprobs(patient))
        checks += await _seeds_and_speed(patient, concurrency)
        checks.append(_usage(patient))
    return Diagnosis(tuple(checks), patient.calls, round(time.perf_counter() - started, 3))


class _Patient:
    """The model, with what is known of it so far.

    Attributes:
        calls: How many calls were made.
        budget: Tokens that a short answer gets; more where the model reasons first.
        reasons: Whether it reasons.
        obeys_user: Whether it repeats a code word from a user message, alone.
        obeys_system: Whether it repeats one from a system prompt, alone.
        replies: All replies.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.calls = 0
        self.budget = _ANSWER_TOKENS
        self.reasons = False
        self.obeys_user = False
        self.obeys_system = False
        self.replies: list[Reply] = []

    async def ask(
        self,
        *messages: Message,
        seed: int = 1,
        temperature: float = 0.0,
        tokens: int = 0,
        schema: AnswerSchema | None = None,
        top_logprobs: int = 0,
    ) -> Reply:
        self.calls += 1
        limit = max(tokens, self.budget)
        sampling = Sampling(temperature=temperature, max_tokens=limit, top_logprobs=top_logprobs)
        reply = await self.model.send(Request(messages, sampling, seed, schema))
        self.replies.append(reply)
        return reply

    async def ask_word(self, word: str, *, lines: int = 0) -> Reply:
        """Asks for a code word that stands in the system prompt, behind so many lines without meaning."""
        question = load_prompt("doctor-question").fill()
        filler = "\n".join(load_prompt("doctor-filler").fill(number=str(number)) for number in range(1, lines + 1))
        return await self.ask(
            Message("system", load_prompt("doctor-persona").fill(word=word)),
            Message("user", f"{filler}\n\n{question}" if filler else question),
        )


def _says(reply: Reply, word: str) -> bool:
    return re.search(rf"\b{word}\b", reply.text, re.IGNORECASE) is not None


def _broken(reply: Reply) -> bool:
    return reply.status in {"failed", "malformed"}


async def _answers(patient: _Patient) -> Check:
    word = _WORDS[0]
    told = Message("user", load_prompt("doctor-told").fill(word=word))
    reply = await patient.ask(told)
    if reply.reasoning and not _broken(reply):
        patient.reasons, patient.budget = True, _REASONING_TOKENS
        reply = await patient.ask(told)
    measured: dict[str, Json] = {"status": reply.status, "seconds": round(reply.seconds, 3), "reasons": patient.reasons}
    if _broken(reply):
        return Check("answers", "fail", f"no answer: {reply.failure or reply.status}: {reply.detail}", measured)
    patient.obeys_user = _says(reply, word)
    if reply.status not in {"ok", "truncated"}:
        return Check("answers", "fail", f"the answer is {reply.status}: {reply.detail}", measured)
    return Check("answers", "ok", f"answers in {reply.seconds:.2f} s", measured)


async def _system_prompt(patient: _Patient) -> Check:
    word = _WORDS[1]
    reply = await patient.ask_word(word)
    patient.obeys_system = _says(reply, word)
    measured: dict[str, Json] = {"alone": patient.obeys_system, "as_user": patient.obeys_user}
    if patient.obeys_system:
        return Check("system_prompt", "ok", "a code word that only the system prompt has is known", measured)
    if not patient.obeys_user:
        return Check("system_prompt", "skipped", _TOO_WEAK, measured)
    line = "a code word is repeated from a user message, and not from the system prompt: it is not honoured"
    return Check("system_prompt", "fail", line, measured)


async def _in_flight(name: str, patient: _Patient, *batches: Sequence[str]) -> Check:
    """Returns whether calls in flight keep to their own word: another's word is a proof, a lost one is not."""
    own = foreign = unanswered = calls = 0
    for words in batches:
        for reply, word in zip(await asyncio.gather(*map(patient.ask_word, words)), words, strict=True):
            calls += 1
            unanswered += _broken(reply)
            own += _says(reply, word)
            foreign += any(_says(reply, other) for other in words if other != word)
    what = f"{calls} calls, {max(map(len, batches))} in flight"
    measured: dict[str, Json] = {"calls": calls, "own": own, "foreign": foreign, "unanswered": unanswered}
    if foreign:
        return Check(name, "fail", f"{what}: {foreign} answers hold the code word of another call", measured)
    if unanswered:
        return Check(name, "fail", f"{what}: {unanswered} were not answered", measured)
    if own == calls:
        return Check(name, "ok", f"{what}: every answer holds its own code word", measured)
    if not patient.obeys_system:
        return Check(name, "skipped", _TOO_WEAK, measured)
    return Check(name, "warn", f"{what}: {own} answers hold their own code word, none that of another", measured)


async def _context(patient: _Patient, planned_tokens: int) -> list[Check]:
    """Returns whether the planned length is held, and whether a repeated prompt is cached."""
    line_tokens, head_tokens, cached = await _line_size(patient, planned_tokens)
    lines = max(1, math.floor((planned_tokens - head_tokens) / line_tokens))
    expected = round(head_tokens + lines * line_tokens)
    word = _WORDS[8]
    reply = await patient.ask_word(word, lines=lines)
    counted = reply.usage.input_tokens
    recalled = _says(reply, word)
    measured: dict[str, Json] = {
        "planned_tokens": planned_tokens,
        "expected_tokens": expected,
        "counted_tokens": counted,
        "recalled": recalled,
        "seconds": round(reply.seconds, 3),
    }
    status, line = _context_verdict(patient, reply, expected, recalled=recalled)
    if status == "warn":
        reach = await _reach(patient, lines)
        measured["recalled_tokens"] = round(head_tokens + reach * line_tokens) if reach else None
        line += f"; it is recalled at about {measured['recalled_tokens']}" if reach else "; nor is it at a quarter"
        status = "fail" if counted is None and reach else status
    return [Check("context", status, line, measured), cached]


def _context_verdict(patient: _Patient, reply: Reply, expected: int, *, recalled: bool) -> tuple[CheckStatus, str]:
    counted = reply.usage.input_tokens
    if reply.status == "context_overflow":
        return "fail", f"about {expected} tokens do not fit: {reply.detail}"
    if _broken(reply):
        return "fail", f"no answer to about {expected} tokens: {reply.failure or reply.status}: {reply.detail}"
    if counted is not None and counted < expected * _COUNT_MAY_FALL_SHORT:
        return "fail", f"only {counted} of about {expected} tokens were read: the rest is dropped silently"
    told = f"{counted} tokens" if counted is not None else f"about {expected} tokens"
    if recalled:
        return "ok", f"a word at the start of {told} is recalled"
    if not patient.obeys_system:
        seen = (
            f"the server counted {counted} of about {expected} tokens" if counted is not None else "nothing is counted"
        )
        return "skipped", f"{_TOO_WEAK}; {seen}"
    return "warn", f"a word at the start of {told} is not recalled"


async def _line_size(patient: _Patient, planned_tokens: int) -> tuple[float, float, Check]:
    """Returns tokens per line of filler and of all else, by the server's count or estimated, and the cache's check."""
    long = max(2 * _SHORT_LINES, min(_CACHED_LINES, planned_tokens // 12))
    short_reply = await patient.ask_word(_WORDS[9], lines=_SHORT_LINES)
    long_reply = await patient.ask_word(_WORDS[9], lines=long)
    again = await patient.ask_word(_WORDS[9], lines=long)
    few, many = short_reply.usage.input_tokens, long_reply.usage.input_tokens
    line_tokens = (many - few) / (long - _SHORT_LINES) if few is not None and many is not None else 0.0
    if few is None or line_tokens < _FEWEST_TOKENS_PER_LINE:
        line_tokens = len(load_prompt("doctor-filler").fill(number="100")) / 4
        head_tokens = len(load_prompt("doctor-persona").text + load_prompt("doctor-question").text) / 4
    else:
        head_tokens = few - _SHORT_LINES * line_tokens
    return line_tokens, head_tokens, _cached(again)


def _cached(reply: Reply) -> Check:
    cached, read = reply.usage.cached_tokens, reply.usage.input_tokens
    measured: dict[str, Json] = {"cached_tokens": cached, "input_tokens": read}
    if cached is None:
        return Check(
            "cached_tokens", "warn", "the server does not say how much of a repeated prompt it reused", measured
        )
    if cached == 0:
        return Check("cached_tokens", "warn", f"a repeated prompt of {read} tokens was computed anew", measured)
    return Check("cached_tokens", "ok", f"{cached} of {read} tokens of a repeated prompt were reused", measured)


async def _reach(patient: _Patient, lines: int) -> int:
    """Returns at how many lines the word is recalled: half or a quarter, or 0."""
    for part in (lines // 2, lines // 4):
        if part and _says(await patient.ask_word(_WORDS[8], lines=part), _WORDS[8]):
            return part
    return 0


async def _schema(patient: _Patient) -> list[Check]:
    """Returns whether a schema that the prompt does not mention is enforced, and whether reasoning survives it."""
    prose = Message("user", load_prompt("doctor-prose").fill())
    reply = await patient.ask(prose, tokens=2 * _PROSE_TOKENS, schema=answer_schema(_Harbour, "harbour"))
    enforced = _is_harbour(reply.text)
    refused = any("schema" in note for note in reply.notes)
    measured: dict[str, Json] = {"enforced": enforced, "refused": refused, "reasoned": bool(reply.reasoning)}
    if _broken(reply):
        return [Check("schema", "fail", f"no answer under a schema: {reply.failure}: {reply.detail}", measured)]
    if enforced:
        first = Check("schema", "ok", "an answer follows a schema that the prompt does not mention", measured)
    elif refused:
        first = Check("schema", "warn", "the server takes no schema; answers are read tolerantly", measured)
    else:
        first = Check("schema", "warn", "the server takes a schema and does not enforce it", measured)
    return [first, _schema_after_reasoning(patient, enforced=enforced, reasoned=bool(reply.reasoning))]


def _schema_after_reasoning(patient: _Patient, *, enforced: bool, reasoned: bool) -> Check:
    name = "schema_after_reasoning"
    measured: dict[str, Json] = {"reasons_without_schema": patient.reasons, "reasons_with_schema": reasoned}
    if not patient.reasons:
        return Check(name, "skipped", "the model does not reason before it answers", measured)
    if reasoned and enforced:
        return Check(name, "ok", "the model reasons first, then follows the schema", measured)
    if not reasoned:
        return Check(name, "warn", "a schema suppresses the model's reasoning", measured)
    return Check(name, "warn", "after its reasoning the model does not follow the schema", measured)


def _is_harbour(text: str) -> bool:
    try:
        _Harbour.model_validate(json.loads(text), strict=True)
    except ValueError:
        return False
    return True


async def _logprobs(patient: _Patient) -> Check:
    reply = await patient.ask(Message("user", load_prompt("doctor-question").fill()), top_logprobs=5)
    rivals = max((len(token.top) for token in reply.logprobs), default=0)
    measured: dict[str, Json] = {"tokens": len(reply.logprobs), "alternatives": rivals}
    if rivals > 1:
        return Check("logprobs", "ok", f"log-probabilities with {rivals} alternatives per token", measured)
    if reply.logprobs:
        return Check("logprobs", "warn", "log-probabilities without alternatives", measured)
    return Check("logprobs", "warn", "no log-probabilities", measured)


async def _seeds_and_speed(patient: _Patient, concurrency: int) -> list[Check]:
    """Returns whether equal requests get equal answers, alone and among others, and how fast answers come."""
    prose = Message("user", load_prompt("doctor-prose").fill())

    def write(seed: int) -> Awaitable[Reply]:
        return patient.ask(prose, seed=seed, temperature=1.0, tokens=_PROSE_TOKENS)

    first, second, other = await write(7), await write(7), await write(8)
    started = time.perf_counter()
    crowd = await asyncio.gather(*(write(7) for _ in range(max(2, concurrency))))
    wall = time.perf_counter() - started
    repeats, differs = first.text == second.text, first.text != other.text
    alike = sum(reply.text == first.text for reply in crowd)
    measured: dict[str, Json] = {
        "repeats_alone": repeats,
        "other_seed_differs": differs,
        "alike_in_flight": alike,
        "in_flight": len(crowd),
    }
    if any(map(_broken, (first, second, other, *crowd))):
        status, line = "fail", "some of the calls were not answered"
    elif any("without seed" in note for note in first.notes):
        status, line = "warn", "the server takes no seed"
    elif not repeats:
        status, line = "warn", "the same request with the same seed gives another answer, even alone"
    elif not differs:
        status, line = "warn", "another seed gives the same answer: seeds may have no effect"
    elif alike < len(crowd):
        status, line = "warn", f"seeds repeat alone; among {len(crowd)} in flight, {alike} answers are alike"
    else:
        status, line = "ok", f"the same seed repeats, alone and {len(crowd)} in flight; another differs"
    return [Check("seeds", status, line, measured), _speed(second, crowd, wall)]


def _speed(alone: Reply, crowd: Sequence[Reply], wall_s: float) -> Check:
    written = [reply.usage.output_tokens for reply in crowd if reply.usage.output_tokens is not None]
    tokens = alone.usage.output_tokens
    if tokens is None or not written or alone.seconds <= 0:
        return Check("speed", "skipped", "the server does not count tokens")
    one, many = tokens / alone.seconds, sum(written) / max(wall_s, 1e-9)
    measured: dict[str, Json] = {
        "tokens_per_s_alone": round(one, 1),
        "tokens_per_s_in_flight": round(many, 1),
        "in_flight": len(crowd),
    }
    return Check("speed", "ok", f"{one:.1f} tokens/s alone, {many:.1f} with {len(crowd)} in flight", measured)


def _usage(patient: _Patient) -> Check:
    answered = [reply for reply in patient.replies if reply.status in {"ok", "truncated"}]
    counted = sum(reply.usage.input_tokens is not None and reply.usage.output_tokens is not None for reply in answered)
    measured: dict[str, Json] = {"answers": len(answered), "counted": counted}
    if counted == len(answered):
        return Check("usage", "ok", "the server counts the tokens of every answer", measured)
    return Check("usage", "warn", f"the server counts tokens in {counted} of {len(answered)} answers", measured)
