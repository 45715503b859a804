"""The one way in which a unit asks: replay what was answered, else send, commit, and only then return."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from pydantic import BaseModel

from dramaturg.errors import UnitStopped
from dramaturg.ledger.budget import Budget
from dramaturg.ledger.keys import call_key, derive_seed, human_key, model_hash, schema_json
from dramaturg.ledger.rows import call_row, message_rows, model_row
from dramaturg.ledger.writer import Entry
from dramaturg.model import AnswerSchema, Asked, Identity, Message, Model, OnText, Reply, Request, Sampling
from dramaturg.model.request import chain_hashes, sampling_json
from dramaturg.model.spec import Options
from dramaturg.model.structured import Ask, Structured
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

        Raises:
            UnitStopped: The endpoint failed, or the run is replay-only and this call is new.
            LimitReached: A budget is used up.
            LedgerError: The answer cannot be committed.
        """
        sampling = _with_options(sampling, model.options)
        messages = _storable_messages(messages)
        seed = derive_seed(self.study_seed, self.unit, step, attempt)
        hashes = chain_hashes(messages)
        schema_text = schema_json(schema) if schema is not None else ""
        schema_hash = sha256(schema_text) if schema_text else ""
        asked_model = model_hash(model.identity)
        key = call_key(
            model=asked_model,
            last_message=hashes[-1] if hashes else "",
            sampling=sampling_json(sampling),
            schema=schema_hash,
            seed=seed,
        )
        known = self._answered.get(key)
        if known is not None:
            return self._replay(known, on_text)
        self._refuse_new(step)
        request = Request(
            messages,
            sampling,
            seed,
            schema,
            {**(labels or {}), "role": role, "purpose": purpose, "step": step, "attempt": str(attempt)},
        )
        reply = await self._send(model, request, on_text)
        row = call_row(
            key=key,
            unit=self.unit,
            study_seed=self.study_seed,
            step=step,
            attempt=attempt,
            role=role,
            purpose=purpose,
            model=asked_model,
            last_message=hashes[-1] if hashes else "",
            sampling=sampling_json(sampling),
            answer_schema=schema_hash,
            seed=seed,
            reply=reply,
        )
        schema_row = {"hash": schema_hash, "json": schema_text} if schema_text else None
        await self._commit(
            Entry(row, message_rows(messages, hashes), model_row(model.identity, asked_model), schema_row)
        )
        if not reply.final:
            raise UnitStopped(reply.failure or reply.status, reply.detail)
        self._answered[key] = Asked(reply, key, replayed=True)
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

        async def ask(
            messages: Sequence[Message], *, schema: AnswerSchema | None, attempt: int, more_tokens: bool = False
        ) -> Asked:
            return await self.ask(
                model,
                messages,
                step=f"{step}/reask/{attempt}" if attempt else step,
                role=role,
                purpose=purpose,
                attempt=base_attempt,
                sampling=replace(sampling, max_tokens=sampling.max_tokens * 2) if more_tokens else sampling,
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
        """
        from dramaturg.model.structured import ask_structured

        ask = self.asker(
            model, step=step, role=role, purpose=purpose, attempt=attempt, sampling=sampling, labels=labels
        )
        return await ask_structured(ask, messages, answer, name=purpose, lines=lines)

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
        known = self._answered.get(key)
        if known is not None:
            return self._replay(known, None)
        self._refuse_new(step)
        reply = Reply("ok", text=storable(await read()))
        row = call_row(
            key=key,
            unit=self.unit,
            study_seed=self.study_seed,
            step=step,
            attempt=attempt,
            role=role,
            purpose=purpose,
            model=model_hash(HUMAN),
            last_message="",
            sampling="",
            answer_schema="",
            seed=0,
            reply=reply,
        )
        await self._commit(Entry(row, model=model_row(HUMAN, model_hash(HUMAN))))
        self._answered[key] = Asked(reply, key, replayed=True)
        return Asked(reply, key)

    def _replay(self, known: Asked, on_text: OnText | None) -> Asked:
        self._budget.replayed += 1
        if on_text is not None and known.reply.text:
            on_text(known.reply.text)
        return known

    def _refuse_new(self, step: str) -> None:
        if self._replay_only:
            raise UnitStopped("not_recorded", f"step {step!r} is not in the ledger, and the run is replay-only")

    async def _send(self, model: Model, request: Request, on_text: OnText | None) -> Reply:
        reservation = self._budget.admit(request, model.identity)
        try:
            reply = await model.send(request, on_text)
        except BaseException:
            self._budget.release(reservation)
            raise
        self._budget.settle(reservation, reply.usage)
        return _storable(reply)


def _storable(reply: Reply) -> Reply:
    """Returns the reply as the ledger will give it back, so that a run and its replay are the same."""
    text, reasoning, detail = storable(reply.text), storable(reply.reasoning), storable(reply.detail)
    if (text, reasoning, detail) == (reply.text, reply.reasoning, reply.detail):
        return reply
    return replace(reply, text=text, reasoning=reasoning, detail=detail)


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
