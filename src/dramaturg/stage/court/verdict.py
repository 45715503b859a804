"""The verdict, in two steps: a summary of the whole history, then a decision by a fresh chat with the rubric.

Source: RPA-Check, section 4.5, equations 9 and 10. The decision never sees the dialogue, so that it rests on what was
gathered and not on the tone of the last words. Its justification is what the judge says in court.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

from dramaturg.model import Message, Reply, Sampling
from dramaturg.prompts import quote_untrusted
from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.court.draw import Ask, Drawn, draw_as_it_is, draw_with_cures
from dramaturg.stage.court.names import People
from dramaturg.stage.court.record import exhibits, language_name
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.court.speech import one_line, read_speech
from dramaturg.stage.court.tags import VerdictLabel
from dramaturg.stage.transcript import Outcome, Role

_NOBODY = People(())
"""A summary may begin its lines with names; nobody speaks in it."""


class Decision(BaseModel):
    """What the judge decides; the reasons come before the outcome."""

    announcement: str
    outcome: VerdictLabel


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict.

    Attributes:
        drawn: The announcement, or the fault that stopped it.
        outcome: The decision.
        labelled: Whether the judge really gave a label.
    """

    drawn: Drawn
    outcome: Outcome
    labelled: bool


async def reach_verdict(
    setting: Setting, judge: Role, seat: ModelSeat, lines: Sequence[str], *, step: str, labels: Mapping[str, str]
) -> Verdict:
    """Returns the verdict on a dialogue.

    Args:
        setting: The trial.
        judge: Who decides.
        seat: Who plays the judge.
        lines: What was said in court, one line a turn.
        step: Path of the turn in its unit.
        labels: Phase, turn and restart.
    """
    case, limits = setting.case, setting.limits
    summary = await _summary(setting, judge, seat, lines, step=step, labels=labels)
    if summary.fault:
        return Verdict(summary, Outcome(label="undecided"), labelled=False)
    prompt = setting.prompt("court-verdict").fill(
        name=one_line(judge.name),
        charge=one_line(case.charge),
        goal=one_line(case.goal),
        exhibits=exhibits(case),
        summary=quote_untrusted(summary.text, "</summary>"),
        language=language_name(case.language),
    )
    form = setting.prompt("court-tag-verdict" if setting.strict(judge) else "court-verdict-form").fill()
    ask = Ask(
        messages=(Message("user", f"{prompt}\n{form}"),),
        step=f"{step}/verdict",
        purpose="verdict",
        labels=labels,
        sampling=Sampling(temperature=limits.temperature, max_tokens=limits.verdict_tokens),
        speaker=judge,
        people=setting.people,
    )
    if setting.strict(judge):
        drawn = await draw_as_it_is(setting.calls, seat, ask)
        label = drawn.tags.verdict
    else:
        drawn, label = await _decide(setting, seat, ask)
    outcome = Outcome(label=label or "undecided", justification=drawn.text, summary=summary.text)
    drawn = replace(drawn, cures=(*summary.cures, *drawn.cures), flags=(*summary.flags, *drawn.flags))
    return Verdict(drawn, outcome, labelled=label is not None)


async def _summary(
    setting: Setting, judge: Role, seat: ModelSeat, lines: Sequence[str], *, step: str, labels: Mapping[str, str]
) -> Drawn:
    """Returns the summary; in parts where the dialogue is longer than one prompt may be."""
    limits = setting.limits
    done: list[Drawn] = []
    for index, part in enumerate(parts(lines, limits.part_characters)):
        prompt = setting.prompt("court-summary").fill(dialogue=quote_untrusted(part, "</trial>"))
        ask = Ask(
            messages=(Message("user", prompt),),
            step=f"{step}/summary/{index}",
            purpose="summary",
            labels=labels,
            sampling=Sampling(temperature=limits.temperature, max_tokens=limits.summary_tokens),
            speaker=judge,
            people=_NOBODY,
        )
        if setting.strict(judge):
            drawn = await draw_as_it_is(setting.calls, seat, ask)
        else:
            drawn = await draw_with_cures(
                setting.calls,
                seat,
                ask,
                redraws=limits.redraws,
                most=limits.heard_characters,
                fallback=part[: limits.heard_characters],
            )
        if drawn.fault:
            return drawn
        done.append(drawn)
    return Drawn(
        text="\n".join(drawn.text for drawn in done),
        raw="",
        key="",
        flags=tuple(f"summary:{flag}" for drawn in done for flag in drawn.flags),
        cures=tuple(cure for drawn in done for cure in drawn.cures),
    )


def parts(lines: Sequence[str], most: int) -> list[str]:
    """Returns the lines joined into texts of at most `most` characters; a longer line is a text of its own."""
    texts: list[str] = []
    for line in lines:
        if texts and len(texts[-1]) + 1 + len(line) <= most:
            texts[-1] += f"\n{line}"
        else:
            texts.append(line)
    return texts


async def _decide(setting: Setting, seat: ModelSeat, ask: Ask) -> tuple[Drawn, VerdictLabel | None]:
    structured = await setting.calls.ask_structured(
        seat.model,
        ask.messages,
        Decision,
        step=ask.step,
        role=ask.speaker.kind,
        purpose=ask.purpose,
        sampling=ask.sampling,
        labels=ask.labels,
        lines=setting.prompt("court-verdict-lines").fill(),
    )
    key = structured.keys[-1] if structured.keys else ""
    if structured.value is None:
        return _stated(setting, structured.text, key, None, structured.failure), None
    value = structured.value
    speech = read_speech(
        Reply("ok", text=value.announcement),
        value.announcement,
        speaker=ask.speaker,
        people=ask.people,
        addressable=(),
        earlier=(),
    )
    if speech.fault:
        return _stated(setting, structured.text, key, value.outcome, speech.fault), value.outcome
    return Drawn(speech.text, structured.text, key, flags=speech.flags), value.outcome


def _stated(setting: Setting, raw: str, key: str, label: VerdictLabel | None, why: str) -> Drawn:
    """Returns the stated line for a decision whose announcement cannot be used."""
    text = setting.prompt(f"court-fallback-verdict-{label or 'undecided'}").fill()
    return Drawn(text, raw, key, flags=(f"fallback:{why}",), cures=(("fallback", why),))
