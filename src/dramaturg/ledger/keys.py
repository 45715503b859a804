"""Keys, seeds and hashes of calls: pure functions, so that `ledger verify` can derive each of them again."""

from __future__ import annotations

import functools
import json

from dramaturg.model import AnswerSchema, Identity, Reply
from dramaturg.text import sha256


def derive_seed(study_seed: int, unit: str, step: str, attempt: int) -> int:
    """Returns the seed of one call: 31 bits, the same on every machine, apart for every repeat.

    Args:
        study_seed: The study's seed.
        unit: Id of the unit, which covers what is staged, the subject and the repeat.
        step: Path of the call in its unit.
        attempt: 0, then 1 … for redraws.
    """
    return int(sha256(f"{study_seed}\n{unit}\n{step}\n{attempt}")[:8], 16) & 0x7FFFFFFF


def model_hash(identity: Identity) -> str:
    """Returns the hash of a model's identity."""
    return _hash_text(identity.key)


@functools.lru_cache(maxsize=256)
def _hash_text(text: str) -> str:
    return sha256(text)


def schema_json(schema: AnswerSchema) -> str:
    """Returns the JSON of an answer's schema with its name.

    The order of properties is kept: a model writes one after the other, so it is part of the call.
    """
    return json.dumps({"name": schema.name, "schema": schema.schema}, ensure_ascii=False, separators=(",", ":"))


def call_key(*, model: str, last_message: str, sampling: str, schema: str, seed: int) -> str:
    """Returns the key of a logical request, whatever the wire needed.

    Args:
        model: Hash of the model's identity.
        last_message: Hash of the chat's last message as a node.
        sampling: Canonical JSON of the parameters.
        schema: Hash of the answer's schema; empty for free text.
        seed: The derived seed.
    """
    return sha256(f"{model}\n{last_message}\n{sampling}\n{schema}\n{seed}")


def human_key(*, unit: str, study_seed: int, step: str, attempt: int) -> str:
    """Returns the key of what a person says at one step of a unit."""
    return sha256(f"human\n{study_seed}\n{unit}\n{step}\n{attempt}")


def reply_hash(reply: Reply) -> str:
    """Returns the hash of what was answered."""
    return sha256(f"{reply.status}\n{len(reply.text)}\n{reply.text}\n{reply.reasoning}")
