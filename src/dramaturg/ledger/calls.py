"""The one way in which a unit asks: replay what was answered, else send, commit, and only then return."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from pydantic import BaseModel

from dramaturg.errors import DramaturgError, UnitStopped
from dramaturg.ledger.budget import Budget
from dramaturg.ledger.keys import call_key, derive_seed, human_key, model_hash, schema_json
from dramaturg.ledger.rows import call_row, model_row
from dramaturg.ledger.writer import Entry, Row
from dramaturg.model import (
    AnswerSchema,
    Asked,
    Identity,
    Message,
    Model,
    OnText,
    Reply,
    Request,
    Sampling,
    TokenLogprob,
)
from dramaturg.model.request import chain_hashes, sampling_json
from dramaturg.model.spec import Options
from dramaturg.model.structured import Ask, Structured, ask_structured
from dramaturg.text import sha256, storable

AnswerT = TypeVar("AnswerT", bound=BaseModel)

DEFAULT_SAMPLING = Sampling()
HUMAN = Identity("human", "human")


class Commit(Protocol):
    """Returns when an entry is on disk."""

    async def __call__(self, entry: Entry) -> None:
        """Commits; raises `LedgerError` when that fails."""
        ...


class Calls:
    """Calls of one unit. `dramaturg.ledger.Ledger.calls` makes it."""

    def __init__(
        self,
        *,
        unit: str,
        study_seed: int,
        answered: dict[str, Asked],
        commit: Commit,
        budget: Budget,
        replay_only: bool = False,
    ) -> None:
        """Makes the calls of a unit.

        Args:
            unit: The unit's id, which comes from its content.
            study_seed: The study's seed.
            answered: Key → what the ledger already holds for this unit.
            commit: Writes an entry.
            budget: Shared by all units of the run.
            replay_only: Whether new calls are refused.
        """
        self.unit = unit
        self.study_seed = study_seed
        self._answered = answered
        self._in_flight: dict[str, asyncio.Future[DramaturgError | None]] = {}
        self._commit = commit
        self._budget = budget
        self._replay_only = replay_only

    async def ask(
        self,
        model: Model,
        messages: Sequence[Message],
        *,
        step: str,
        role: str,
        purpose: str,
        attempt: int = 0,
        sampling: Sampling = DEFAULT_SAMPLING,
        schema: AnswerSchema | None = None,
        labels: Mapping[str, str] | None = None,
        on_text: OnText | None = None,
        timeout_is_final: bool = False,
    ) -> Asked:
        """Returns the committed answer to one logical request.

        Args:
            model: Who is asked.
            messages: The chat.
            step: Path of this call inside its unit, for example ``turn/12``; with `attempt` it makes the seed.
            role: Who speaks (judge, prosecutor …), for costs and scripts.
            purpose: What for (speech, route, verdict, indicator …), for costs and scripts.
            attempt: 0, then 1, 2 … for a redraw of the same step.
            sampling: Parameters of the answer; options of the model's spec string override them.
            schema: Shape of the answer.
            labels: More labels for scripts (phase, turn …).
            on_text: Receives streamed text; of a replayed answer all at once.
            timeout_is_final: Whether a call that nobody answered in time is kept as an empty answer, of which the
                caller makes something, and is replayed; otherwise it stops the unit and is asked again.

        Raises:
            UnitStopped: The endpoint failed, or the run is replay-only and this call is new.
            LimitReached: A budget is used up.
            LedgerError: The answer cannot be committed.
        """
        return await self._ask(
            model,
            _storable_messages(messages),
            step=step,
            role=role,
            purpose=purpose,
            attempt=attempt,
            sampling=_with_options(sampling, model.options),
            schema=schema,
            labels=labels,
            on_text=on_text,
            timeout_is_final=timeout_is_final,
        )

    async def _ask(
        self,
        model: Model,
        messages: Sequence[Message],
        *,
        step: str,
        role: str,
        purpose: str,
        attempt: int,
        sampling: Sampling,
        schema: AnswerSchema | None,
        labels: Mapping[str, str] | None,
        on_text: OnText | None = None,
        timeout_is_final: bool = False,
    ) -> Asked:
        seed = derive_seed(self.study_seed, self.unit, step, attempt)
        hashes = chain_hashes(messages)
        last_message = hashes[-1] if hashes else ""
        schema_text = schema_json(schema) if schema is not None else ""
        schema_hash = sha256(schema_text) if schema_text else ""
        asked_model = model_hash(model.identity)
        parameters = sampling_json(sampling)
        key = call_key(model=asked_model, last_message=last_message, sampling=parameters, schema=schema_hash, seed=seed)

        async def answer() -> Asked:
            own_labels = {"role": role, "purpose": purpose, "step": step, "attempt": str(attempt)}
            request = Request(messages, sampling, seed, schema, {**(labels or {}), **own_labels})
            reply = await self._send(model, request, on_text)
            if timeout_is_final and reply.failure == "timeout":
                reply = replace(reply, status="empty")
            row = call_row(
                key=key,
                unit=self.unit,
                study_seed=self.study_seed,
                step=step,
                attempt=attempt,
                role=role,
                purpose=purpose,
                model=asked_model,
                last_message=last_message,
                sampling=parameters,
                answer_schema=schema_hash,
                seed=seed,
                reply=reply,
            )
            return await self._commit_reply(
                key,
                reply,
                row,
                messages=messages,
                hashes=hashes,
                model=model_row(model.identity, asked_model),
                answer_schema={"hash": schema_hash, "json": schema_text} if schema_text else None,
            )

        return await self._once(key, step, answer, on_text)

    async def _once(self, key: str, step: str, answer: Callable[[], Awaitable[Asked]], on_text: OnText | None) -> Asked:
        """Returns the ledger's answer to a key, that of the call in flight with the same key, or a new one.

        When the call in flight fails, all who wait for it fail with it; when it is cancelled, the next one asks.
        """
        while True:
            known = self._answered.get(key)
            if known is not None:
                return self._replay(known, on_text)
            in_flight = self._in_flight.get(key)
            if in_flight is None:
                break
            await asyncio.wait([in_flight])
            problem = in_flight.result()
            if problem is not None:
                raise problem
        if self._replay_only:
            raise UnitStopped("not_recorded", f"step {step!r} is not in the ledger, and the run is replay-only")
        ended: asyncio.Future[DramaturgError | None] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = ended
        problem = None
        try:
            return await answer()
        except DramaturgError as error:
            problem = error
            raise
        finally:
            del self._in_flight[key]
            ended.set_result(problem)

    async def _commit_reply(
        self,
        key: str,
        reply: Reply,
        row: Row,
        *,
        messages: Sequence[Message] = (),
        hashes: Sequence[str] = (),
        model: Row,
        answer_schema: Row | None = None,
    ) -> Asked:
        def committed() -> None:
            if reply.final:
                self._answered[key] = Asked(reply, key, replayed=True)

        await self._commit(Entry(row, committed, messages, hashes, model, answer_schema))
        if not reply.final:
            raise UnitStopped(reply.failure or reply.status, reply.detail)
        return Asked(reply, key)

    def asker(
        self,
        model: Model,
        *,
        step: str,
        role: str,
        purpose: str,
        attempt: int = 0,
        sampling: Sampling = DEFAULT_SAMPLING,
        labels: Mapping[str, str] | None = None,
    ) -> Ask:
        """Returns `ask` bound to a model and a step, for the ladder of structured answers.

        A re-ask is a step of its own below the given one; see `ask` for the arguments.
        """
        base_attempt = attempt
        sampling = _with_options(sampling, model.options)
        more = replace(sampling, max_tokens=sampling.max_tokens * 2)

        async def ask(
            messages: Sequence[Message], *, schema: AnswerSchema | None, attempt: int, more_tokens: bool = False
        ) -> Asked:
            return await self._ask(
                model,
                _storable_messages(messages),
                step=f"{step}/reask/{attempt}" if attempt else step,
                role=role,
                purpose=purpose,
                attempt=base_attempt,
                sampling=more if more_tokens else sampling,
                schema=schema,
                labels=labels,
            )

        return ask

    async def ask_structured(
        self,
        model: Model,
        messages: Sequence[Message],
        answer: type[AnswerT],
        *,
        step: str,
        role: str,
        purpose: str,
        attempt: int = 0,
        sampling: Sampling = DEFAULT_SAMPLING,
        labels: Mapping[str, str] | None = None,
        lines: str = "",
        language: str = "en",
    ) -> Structured[AnswerT]:
        """Returns a validated value or a typed failure, never a default.

        Args:
            model: Who is asked.
            messages: The chat.
            answer: What the answer must be.
            step: See `ask`, as for the other arguments.
            role: See `ask`.
            purpose: See `ask`; it names the schema too.
            attempt: See `ask`.
            sampling: See `ask`.
            labels: See `ask`.
            lines: Text that asks for labelled lines, shown in the re-ask.
            language: Of the re-ask, ISO 639-1.
        """
        ask = self.asker(
            model, step=step, role=role, purpose=purpose, attempt=attempt, sampling=sampling, labels=labels
        )
        return await ask_structured(ask, messages, answer, name=purpose, lines=lines, language=language)

    async def human(
        self, read: Callable[[], Awaitable[str]], *, step: str, role: str, purpose: str, attempt: int = 0
    ) -> Asked:
        """Returns what a person said at this step, committed before it is used; a replay does not read again.

        Args:
            read: Waits for the person.
            step: See `ask`.
            role: See `ask`.
            purpose: See `ask`.
            attempt: See `ask`.

        Raises:
            UnitStopped: The run is replay-only and this turn is new.
            LedgerError: The turn cannot be committed.
        """
        key = human_key(unit=self.unit, study_seed=self.study_seed, step=step, attempt=attempt)

        async def answer() -> Asked:
            reply = Reply("ok", text=storable(await read()))
            of_human = model_hash(HUMAN)
            row = call_row(
                key=key,
                unit=self.unit,
                study_seed=self.study_seed,
                step=step,
                attempt=attempt,
                role=role,
                purpose=purpose,
                model=of_human,
                last_message="",
                sampling="",
                answer_schema="",
                seed=0,
                reply=reply,
            )
            return await self._commit_reply(key, reply, row, model=model_row(HUMAN, of_human))

        return await self._once(key, step, answer, None)

    def _replay(self, known: Asked, on_text: OnText | None) -> Asked:
        self._budget.replayed += 1
        if on_text is not None and known.reply.text:
            on_text(known.reply.text)
        return known

    async def _send(self, model: Model, request: Request, on_text: OnText | None) -> Reply:
        reservation = self._budget.admit(request, model.identity)
        try:
            reply = await model.send(request, on_text)
        except BaseException:
            self._budget.release(reservation)
            raise
        if reply.final or reply.failure == "timeout":
            self._budget.settle(reservation, reply.usage)
        else:
            self._budget.release(reservation)
        return _storable(reply)


def _storable(reply: Reply) -> Reply:
    """Returns the reply as the ledger will give it back, so that a run and its replay are the same."""
    texts = (reply.text, reply.reasoning, reply.detail, reply.served_by, *reply.notes)
    if all(storable(text) is text for text in texts) and not reply.logprobs:
        return reply
    return replace(
        reply,
        text=storable(reply.text),
        reasoning=storable(reply.reasoning),
        detail=storable(reply.detail),
        served_by=storable(reply.served_by),
        notes=tuple(map(storable, reply.notes)),
        logprobs=tuple(_storable_logprob(entry) for entry in reply.logprobs),
    )


def _storable_logprob(entry: TokenLogprob) -> TokenLogprob:
    return TokenLogprob(
        storable(entry.token), entry.logprob, tuple((storable(token), value) for token, value in entry.top)
    )


def _storable_messages(messages: Sequence[Message]) -> Sequence[Message]:
    if all(storable(message.text) is message.text for message in messages):
        return messages
    return [Message(message.role, storable(message.text)) for message in messages]


def _with_options(sampling: Sampling, options: Options) -> Sampling:
    if options.temperature is None and options.max_tokens is None and options.top_p is None:
        return sampling
    return replace(
        sampling,
        temperature=sampling.temperature if options.temperature is None else options.temperature,
        max_tokens=sampling.max_tokens if options.max_tokens is None else options.max_tokens,
        top_p=sampling.top_p if options.top_p is None else options.top_p,
    )
