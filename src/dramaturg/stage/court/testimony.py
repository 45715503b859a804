"""A witness's answer, held to what the witness may know: checked, drawn anew where it invents, never left out.

Source: RPA-Check, section 4.3.3, equation 8: an answer is drawn on condition that it is consistent with the case file,
and uncertainty is allowed. A witness's part of the case file is its own knowledge, the public record and the question.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from dramaturg.model import Message, Sampling
from dramaturg.model.vocabulary import YesNo, read_yes_no
from dramaturg.prompts import quote_untrusted
from dramaturg.stage.court.draw import Ask, Draw, Drawn
from dramaturg.stage.court.inventions import inventions
from dramaturg.stage.court.record import private_values, public_record
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Turn

CHECK_NAMES = frozenset({"record", "known", "name", "asker", "question", "answer"})
"""What the prompt `witness-check` names, all of it."""

_CHECK = Sampling(temperature=0.0, max_tokens=120)
_LONGEST_DETAIL = 160


class Check(BaseModel):
    """Whether an answer invents something, and what."""

    statement: str
    invented: Annotated[YesNo, BeforeValidator(lambda value: _as_yes_no(value))]


def _as_yes_no(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (read_yes_no(value) or value) if isinstance(value, str) else value


async def draw_consistent(setting: Setting, ask: Ask, draw: Draw, question: Turn | None) -> Drawn:
    """Returns an answer that invents nothing; after the last redraw the one that invents least, flagged.

    Args:
        setting: The trial.
        ask: What the answer is drawn with.
        draw: Draws one answer.
        question: What the witness was asked, where anybody spoke before.
    """
    known = _known(setting, ask, question)
    cures: list[tuple[str, str]] = []
    faulty: list[tuple[Drawn, tuple[str, ...]]] = []
    for number in range(setting.staging.witness_redraws + 1):
        step = f"{ask.step}/witness/{number}" if number else ask.step
        drawn = await draw(replace(ask, step=step))
        if drawn.fault:
            return drawn
        found, unread = await _found(setting, replace(ask, step=step), drawn, known, question)
        if not found:
            return _with(drawn, cures, ("check:unread",) if unread else ())
        faulty.append((drawn, found))
        if number < setting.staging.witness_redraws:
            cures.append(("redraw", _detail(found)))
    drawn, found = min(faulty, key=lambda one: len(one[1]))
    return _with(drawn, [*cures, ("inconsistent", _detail(found))], ("inconsistent",))


def _with(drawn: Drawn, cures: list[tuple[str, str]], flags: tuple[str, ...]) -> Drawn:
    again = ("redraw:invention",) if any(kind == "redraw" for kind, _ in cures) else ()
    return replace(drawn, cures=(*cures, *drawn.cures), flags=(*again, *drawn.flags, *flags))


def _detail(found: tuple[str, ...]) -> str:
    return f"invention: {', '.join(found)}"[:_LONGEST_DETAIL]


def _known(setting: Setting, ask: Ask, question: Turn | None) -> str:
    """Returns all that a witness may name."""
    parts = [*private_values(setting.case, ask.speaker).values(), public_record(setting.case, variant=setting.variant)]
    parts += [part for role in setting.people.roles for part in (role.name, setting.title(role.kind))]
    parts.append(question.text if question is not None else "")
    return "\n".join(parts)


async def _found(
    setting: Setting, ask: Ask, drawn: Drawn, known: str, question: Turn | None
) -> tuple[tuple[str, ...], bool]:
    """Returns what the answer invents, and whether a check could not be read. A stated line invents nothing."""
    if drawn.is_stated:
        return (), False
    found = inventions(drawn.text, known, setting.case.language)
    analyst = setting.cast.analyst
    if found or setting.staging.witness_check != "model" or analyst is None:
        return found, False
    own = private_values(setting.case, ask.speaker)
    values = {
        "record": public_record(setting.case, variant=setting.variant),
        "known": f"{own['knowledge']}\n{own['secrets']}",
        "name": own["name"],
        "asker": one_line(question.speaker) if question is not None else "",
        "question": quote_untrusted(question.text if question is not None else "", "</turn>"),
        "answer": quote_untrusted(drawn.text, "</turn>"),
    }
    structured = await setting.calls.ask_structured(
        analyst,
        (Message("user", setting.prompt("witness-check").fill(**values)),),
        Check,
        step=f"{ask.step}/check",
        role="analyst",
        purpose="witness-check",
        sampling=_CHECK,
        labels=ask.labels,
        lines=setting.prompt("witness-check-lines").fill(),
    )
    if structured.value is None:
        return (), True
    value = structured.value
    return ((one_line(value.statement) or "unnamed",) if value.invented == "yes" else ()), False
