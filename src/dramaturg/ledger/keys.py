"""Keys, seeds and hashes of calls: pure functions, so that `ledger verify` can derive each of them again."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence

from dramaturg.model import AnswerSchema, Identity, Reply, TokenLogprob
from dramaturg.text import sha256, storable


def derive_seed(study_seed: int, unit: str, step: str, attempt: int) -> int:
    """Returns the seed of one call: 31 bits, the same on every machine, apart for every repeat.

    Args:
        study_seed: The study's seed.
        unit: Id of the unit, which covers what is staged, the subject and the repeat.
        step: Path of the call in its unit.
        attempt: 0, then 1 … for redraws.
    """
    return int(sha256(f"{study_seed}\n{unit}\n{step}\n{attempt}")[:8], 16) & 0x7FFFFFFF


@functools.lru_cache(maxsize=256)
def model_hash(identity: Identity) -> str:
    """Returns the hash of a model's identity."""
    return sha256(identity.key)


def schema_json(schema: AnswerSchema) -> str:
    """Returns the JSON of an answer's schema with its name.

    The order of properties is kept: a model writes one after the other, so it is part of the call.
    """
    listed = {"name": schema.name, "schema": schema.schema}
    return storable(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))


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
    """Returns the hash of what was answered and what it cost; the circumstances (seconds, notes) are not part of it."""
    usage = reply.usage
    counts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens)
    head = f"{reply.status}\n{reply.failure}\n{counts}\n{len(reply.text)}\n{len(reply.reasoning)}"
    return sha256(f"{head}\n{reply.text}\n{reply.reasoning}\n{reply.served_by}\n{logprobs_json(reply.logprobs)}")


def logprobs_json(logprobs: Sequence[TokenLogprob]) -> str:
    """Returns log-probabilities as the ledger keeps them; empty where there are none."""
    if not logprobs:
        return ""
    listed = [[entry.token, entry.logprob, [list(rival) for rival in entry.top]] for entry in logprobs]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
