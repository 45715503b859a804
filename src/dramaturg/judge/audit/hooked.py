"""Faults of content, made true by hand: a hook of the transcript says which words to put where."""

from __future__ import annotations

from random import Random

from dramaturg.judge.audit.draft import Draft
from dramaturg.judge.audit.mutation import Severity

_Planted = tuple[Draft, tuple[str, ...], str, str]


def plant(kind: str, draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a hook's fault; None where no hook fits what stands there now."""
    fitting = [
        (turn, edit, hook)
        for hook in draft.hooks.get(kind, ())
        for edit in (hook.mild if severity == "mild" else hook.severe,)
        if hook.turn not in draft.touched
        and (turn := draft.turn(hook.turn)) is not None
        and draft.transcript.is_judged(turn)
        and draft.is_open(hook.role or draft.kind_of(turn))
        and edit.find in turn.text
    ]
    if not fitting:
        return None
    turn, edit, hook = rng.choice(fitting)
    done = f"{turn.id} says instead of {edit.find!r}: {edit.put!r}" if edit.find else f"{turn.id} says: {edit.say!r}"
    note = f" ({hook.note})" if hook.note else ""
    return draft.with_texts({turn.id: edit.of(turn.text)}), (turn.id,), hook.role or draft.kind_of(turn), done + note
