"""`ledger verify`: every hash is derived again from what it stands for."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from dramaturg.ledger.keys import call_key, derive_seed, human_key, model_hash, reply_hash
from dramaturg.ledger.ledger import Ledger
from dramaturg.ledger.rows import asked_from
from dramaturg.model import Identity, Message
from dramaturg.model.request import message_hash
from dramaturg.text import sha256


@dataclass(frozen=True, slots=True)
class Verification:
    """What was derived again, and what did not agree.

    Attributes:
        messages: Messages read.
        calls: Calls read, failures included.
        problems: One line for each thing that does not agree, at most `MOST_PROBLEMS`.
    """

    messages: int
    calls: int
    problems: tuple[str, ...]


MOST_PROBLEMS = 100


def verify(ledger: Ledger) -> Verification:
    """Returns what does not agree in a ledger: torn chains, changed texts, keys and seeds that do not derive.

    Args:
        ledger: An open ledger; it is only read.
    """
    problems: list[str] = []
    messages = calls = 0
    for row in ledger.message_rows():
        messages += 1
        _add(problems, _of_message(row))
    models = ledger.identities()
    for of, row in models.items():
        if model_hash(Identity(row.provider, row.name, row.digest)) != of:
            _add(problems, [f"model {row.name}: its identity was changed"])
    schemas = ledger.schemas()
    _add(problems, [f"schema {of[:12]}: it was changed" for of, text in schemas.items() if sha256(text) != of])
    for row in ledger.call_rows():
        calls += 1
        name = f"call {row.key[:12]} (unit {row.unit[:12]}, step {row.step})"
        _add(problems, [f"{name}: {problem}" for problem in _of_call(row, models, schemas)])
    return Verification(messages, calls, tuple(problems))


def _add(problems: list[str], more: Iterable[str]) -> None:
    problems += itertools.islice(more, MOST_PROBLEMS - len(problems))


def _of_message(row: Row[Any]) -> Iterator[str]:
    if message_hash(row.parent, Message(row.role, row.text)) != row.hash:
        yield f"message {row.hash[:12]}: its text, its role or the message before it was changed"
    if row.parent and row.found is None:
        yield f"message {row.hash[:12]}: the message before it, {row.parent[:12]}, is missing"


def _of_call(row: Row[Any], models: Mapping[str, Row[Any]], schemas: Mapping[str, str]) -> Iterator[str]:
    if row.last_message and row.found is None:
        yield "its messages are missing"
    if row.model not in models:
        yield "its model is missing"
    if row.answer_schema and row.answer_schema not in schemas:
        yield "its schema is missing"
    if not _key_agrees(row, human=row.model in models and models[row.model].provider == "human"):
        yield "key or seed does not derive from what was asked"
    if not _reply_agrees(row):
        yield "its reply was changed"


def _reply_agrees(row: Row[Any]) -> bool:
    try:
        reply = asked_from(row).reply
    except (ValueError, TypeError):
        return False
    return reply.final == row.final and reply_hash(reply) == row.reply_hash


def _key_agrees(row: Row[Any], *, human: bool) -> bool:
    if human:
        return row.key == human_key(unit=row.unit, study_seed=row.study_seed, step=row.step, attempt=row.attempt)
    if derive_seed(row.study_seed, row.unit, row.step, row.attempt) != row.seed:
        return False
    key = call_key(
        model=row.model,
        last_message=row.last_message,
        sampling=row.sampling,
        schema=row.answer_schema,
        seed=row.seed,
    )
    return key == row.key
