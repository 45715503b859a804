"""`ledger verify`: every hash is derived again from what it stands for."""

from __future__ import annotations

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
    message_rows, call_rows = ledger.rows()
    parents: dict[str, str] = {}
    for row in message_rows:
        parents[row.hash] = row.parent
        if message_hash(row.parent, Message(row.role, row.text)) != row.hash:
            problems.append(f"message {row.hash[:12]}: its text or role was changed")
    problems += [
        f"message {node[:12]}: the message before it, {parent[:12]}, is missing"
        for node, parent in parents.items()
        if parent and parent not in parents
    ]
    models = ledger.identities()
    for of, row in models.items():
        if model_hash(Identity(row.provider, row.name, row.digest)) != of:
            problems.append(f"model {row.name}: its identity was changed")
    schemas = ledger.schemas()
    problems += [f"schema {of[:12]}: it was changed" for of, text in schemas.items() if sha256(text) != of]
    calls = 0
    for row in call_rows:
        calls += 1
        name = f"call {row.key[:12]} (unit {row.unit[:12]}, step {row.step})"
        if row.last_message and row.last_message not in parents:
            problems.append(f"{name}: its messages are missing")
        if row.model not in models:
            problems.append(f"{name}: its model is missing")
        if row.answer_schema and row.answer_schema not in schemas:
            problems.append(f"{name}: its schema is missing")
        if not _key_agrees(row, human=models.get(row.model) is not None and models[row.model].provider == "human"):
            problems.append(f"{name}: key or seed does not derive from what was asked")
        if reply_hash(asked_from(row).reply) != row.reply_hash:
            problems.append(f"{name}: its reply was changed")
        if len(problems) >= MOST_PROBLEMS:
            break
    return Verification(len(parents), calls, tuple(problems[:MOST_PROBLEMS]))


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
