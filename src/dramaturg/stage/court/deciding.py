"""The judge's policy as a decision: what is decided stands in a field, and the words for the court beside it.

Source: RPA-Check, section 4.3.1, equation 6: the judge grants, overrules, sustains or decides. Asking for the theses
decides nothing, and the verdict has a form of its own (`dramaturg.stage.court.verdict`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from dramaturg.model import Reply
from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.court.analyst import Ruling, count_by_rule, ruling_by_rule
from dramaturg.stage.court.draw import Ask, Drawn
from dramaturg.stage.court.procedure import State
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.court.speech import read_speech
from dramaturg.stage.transcript import Role


class Spoken(BaseModel):
    """What a decision and its words have in common: the words come first, so that the reason is written first."""

    words: str


class RulingDecision(Spoken):
    """How an objection is decided."""

    ruling: Ruling


class GrantDecision(Spoken):
    """How many questions each side may put."""

    questions: int


def is_decision(state: State) -> bool:
    """Returns whether a turn grants questions or rules on an objection."""
    return bool(state.grants) or _rules(state)


def is_structured(setting: Setting, state: State, role: Role) -> bool:
    """Returns whether this turn of a model is asked for as a decision with words."""
    return setting.staging.judge == "structured" and is_decision(state) and isinstance(setting.seat(role), ModelSeat)


def form_stem(state: State, *, lines: bool = False) -> str:
    """Returns the prompt that says how to answer, as JSON or in labelled lines."""
    return f"{'ruling' if _rules(state) else 'grant'}-form{'-lines' if lines else ''}"


async def draw_decision(
    setting: Setting, seat: ModelSeat, state: State, ask: Ask, *, counts: Sequence[int], fallback: str
) -> Drawn:
    """Returns the decision with its words; the stated line and no decision where neither could be read.

    Args:
        setting: The trial.
        seat: Who plays the judge.
        state: The state of the turn.
        ask: What the decision is drawn with.
        counts: Fewest and most questions that may be granted; empty for a ruling.
        fallback: The stated line.
    """
    structured = await setting.calls.ask_structured(
        seat.model,
        ask.messages,
        RulingDecision if _rules(state) else _grant_type(*counts),
        step=ask.step,
        role=ask.speaker.kind,
        purpose=ask.purpose,
        sampling=ask.sampling,
        labels=ask.labels,
        lines=setting.prompt(form_stem(state, lines=True)).fill(),
    )
    key = structured.keys[-1] if structured.keys else ""
    if structured.failure == "context_overflow":
        return Drawn("", structured.text, key, fault="context_overflow")
    if structured.value is None:
        return _stated(fallback, structured.text, key, structured.failure)
    value = structured.value
    decision = value.ruling if isinstance(value, RulingDecision) else str(getattr(value, "questions", ""))
    speech = read_speech(
        Reply("ok", text=value.words),
        value.words,
        speaker=ask.speaker,
        people=ask.people,
        addressable=ask.addressable,
        earlier=ask.earlier,
        heard=ask.heard,
        told=ask.told,
    )
    if speech.fault:
        # The stated line says how the matter is decided: what the form said beside unusable words does not stand.
        return _stated(fallback, structured.text, key, speech.fault)
    heard = ruling_by_rule(speech.text) if _rules(state) else count_by_rule(speech.text)
    unlike = ("decision:unlike_words",) if heard is not None and str(heard) != decision else ()
    return Drawn(speech.text, structured.text, key, flags=(*speech.flags, *unlike), decision=decision)


def _rules(state: State) -> bool:
    return any(transition.event == "ruled" for transition in state.then)


def _grant_type(least: int, most: int) -> type[GrantDecision]:
    """Returns the answer's type: a count that cannot be granted is no answer, and is asked for again."""
    count: Any = Annotated[int, Field(ge=least, le=most)]
    return create_model("GrantDecision", __base__=GrantDecision, questions=(count, ...))


def _stated(fallback: str, raw: str, key: str, why: str) -> Drawn:
    return Drawn(fallback, raw, key, flags=(f"fallback:{why}",), cures=(("fallback", why),))
