"""Rows of the ledger: replies and chats as plain values, and back."""

from __future__ import annotations

import functools
import json
import time
from typing import Any, cast

from sqlalchemy import Row

from dramaturg.ledger.keys import logprobs_json, reply_hash
from dramaturg.model import Asked, Identity, Message, Reply, TokenLogprob, Usage
from dramaturg.model.reply import FailureKind, ReplyStatus


def call_row(
    *,
    key: str,
    unit: str,
    study_seed: int,
    step: str,
    attempt: int,
    role: str,
    purpose: str,
    model: str,
    last_message: str,
    sampling: str,
    answer_schema: str,
    seed: int,
    reply: Reply,
) -> dict[str, object]:
    """Returns the row of one call; its names are the columns of `schema.call`."""
    usage = reply.usage
    return {
        "key": key,
        "final": reply.final,
        "unit": unit,
        "study_seed": study_seed,
        "step": step,
        "attempt": attempt,
        "role": role,
        "purpose": purpose,
        "model": model,
        "last_message": last_message,
        "sampling": sampling,
        "answer_schema": answer_schema,
        "seed": seed,
        "status": reply.status,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "reply_hash": reply_hash(reply),
        "failure": reply.failure,
        "detail": reply.detail,
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "at": time.time(),
        "seconds": reply.seconds,
        "first_token_s": reply.first_token_s,
        "logprobs": logprobs_json(reply.logprobs),
        "served_by": reply.served_by,
        "notes": json.dumps(reply.notes, ensure_ascii=False) if reply.notes else "",
    }


def asked_from(row: Row[Any]) -> Asked:
    """Returns the committed reply of a row."""
    reply = Reply(
        cast("ReplyStatus", row.status),
        text=row.text,
        reasoning=row.reasoning,
        failure=cast("FailureKind", row.failure),
        detail=row.detail,
        usage=Usage(row.input_tokens, row.cached_tokens, row.output_tokens, row.reasoning_tokens),
        seconds=row.seconds,
        first_token_s=row.first_token_s,
        logprobs=_logprobs_from(row.logprobs),
        served_by=row.served_by,
        notes=tuple(json.loads(row.notes)) if row.notes else (),
    )
    return Asked(reply, row.key, replayed=True)


def message_row(message: Message, node: str, parent: str) -> dict[str, object]:
    """Returns the row of a message as a node.

    Args:
        message: The message.
        node: Its hash.
        parent: Hash of the message before it; empty for the first.
    """
    return {"hash": node, "parent": parent, "role": message.role, "text": message.text}


@functools.lru_cache(maxsize=256)
def model_row(identity: Identity, model: str) -> dict[str, object]:
    """Returns the row of a model's identity under its hash."""
    return {"hash": model, "provider": identity.provider, "name": identity.name, "digest": identity.digest}


def _logprobs_from(text: str) -> tuple[TokenLogprob, ...]:
    if not text:
        return ()
    return tuple(
        TokenLogprob(token, logprob, tuple((str(rival), float(value)) for rival, value in top))
        for token, logprob, top in json.loads(text)
    )
