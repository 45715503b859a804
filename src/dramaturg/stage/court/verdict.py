"""The verdict, in two steps: a summary of the whole history, then a decision by a fresh chat with the rubric.

Source: RPA-Check, section 4.5, equations 9 and 10. The decision never sees the dialogue, so that it rests on what was
gathered and not on the tone of the last words. Its justification is what the judge says in court.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, create_model

from dramaturg.model import Message, Reply, Sampling
from dramaturg.prompts import quote_untrusted
from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.court.draw import CURED_FLAGS, Ask, Drawn, draw_as_it_is, draw_with_cures
from dramaturg.stage.court.names import People
from dramaturg.stage.court.procedure import UNDECIDED
from dramaturg.stage.court.record import exhibits, language_name, public_record, record_words
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.court.speech import one_line, read_speech
from dramaturg.stage.court.view import instructions, shared_messages
from dramaturg.stage.transcript import Outcome, Role

VERDICT_NAMES = frozenset({"name", "matter", "goal", "exhibits", "summary", "language", "outcomes", "tags"})
"""What the prompts of the decision may name."""

SUMMARY_NAMES = frozenset({"dialogue"})
"""What the prompt `summary` names."""

_NOBODY = People(())
"""A summary may begin its lines with names; nobody speaks in it."""


class Decision(BaseModel):
    """What is decided; the reasons come before the outcome. `decision_type` says which words the outcome may have."""

    announcement: str
    outcome: str


@functools.cache
def decision_type(words: tuple[tuple[str, str], ...]) -> type[Decision]:
    """Returns the answer's type for a procedure's outcomes, given as pairs of label and word; labels are read too."""
    by_label = dict(words)

    def word_of(value: object) -> object:
        plain = value.strip(" .*'\"").casefold() if isinstance(value, str) else value
        return by_label.get(plain, plain) if isinstance(plain, str) else value

    word: Any = Annotated[Literal[tuple(by_label.values())], BeforeValidator(word_of)]
    return create_model("Decision", __base__=Decision, outcome=(word, ...))


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
    case, limits, procedure = setting.case, setting.limits, setting.procedure
    summary = await _summary(setting, judge, seat, lines, step=step, labels=labels)
    if summary.fault:
        return Verdict(summary, Outcome(label=UNDECIDED), labelled=False)
    words = tuple(procedure.outcomes.values())
    values = {
        "name": one_line(judge.name),
        "matter": one_line(case.at_issue),
        "goal": one_line(case.goal),
        "exhibits": exhibits(case) or record_words(case.language).unknown,
        "summary": quote_untrusted(summary.text, "</summary>"),
        "language": language_name(case.language),
        "outcomes": ", ".join(words),
        "tags": ", ".join(f"<Verdict: {word.upper()}>" for word in words),
    }
    prompt = setting.fill(setting.prompt("verdict"), values)
    form = setting.fill(setting.prompt("tag-verdict" if setting.strict(judge) else "verdict-form"), values)
    ask = Ask(
        messages=(Message("user", f"{prompt}\n{form}"),),
        step=f"{step}/verdict",
        purpose="verdict",
        labels=labels,
        sampling=Sampling(temperature=limits.temperature, max_tokens=limits.verdict_tokens),
        speaker=judge,
        people=setting.people,
        instructions=f"{setting.prompt('verdict').text}\n{instructions(setting, judge)}",
    )
    if setting.strict(judge):
        drawn = await draw_as_it_is(setting.calls, seat, ask)
        label = procedure.outcome_named(drawn.tags.verdict)
    else:
        lines = setting.fill(setting.prompt("verdict-lines"), values)
        drawn, label = await _decide(setting, seat, ask, lines)
    outcome = Outcome(label=label or UNDECIDED, justification=drawn.text, summary=summary.text)
    drawn = replace(drawn, cures=(*summary.cures, *drawn.cures), flags=(*summary.flags, *drawn.flags))
    return Verdict(drawn, outcome, labelled=bool(label))


async def _summary(
    setting: Setting, judge: Role, seat: ModelSeat, lines: Sequence[str], *, step: str, labels: Mapping[str, str]
) -> Drawn:
    """Returns the summary; in parts where the dialogue is longer than one prompt may be.

    In `role-last` it is asked for behind the history that all chats share, where that is one part and fits. Where a
    part does not fit the context after all, a guarded trial halves it; nothing is left out.
    """
    limits = setting.limits
    done: list[Drawn] = []
    above = _above(setting, lines)
    waiting = parts(lines, limits.part_characters)
    index = 0
    while waiting:
        part = waiting.pop(0)
        prompt = setting.prompt("summary").fill(dialogue=quote_untrusted(part, "</trial>"))
        ask = Ask(
            messages=above or (Message("user", prompt),),
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
        index += 1
        if drawn.fault == "context_overflow" and above:
            above = ()
            waiting.insert(0, part)
            continue
        part_lines = part.split("\n")
        if drawn.fault == "context_overflow" and not setting.strict(judge) and len(part_lines) > 1:
            waiting[:0] = parts(part_lines, len(part) // 2)
            continue
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


def _above(setting: Setting, lines: Sequence[str]) -> tuple[Message, ...]:
    """Returns the chat that sums up what stands above, as every chat of `role-last` begins; empty where it is long.

    What the trial's turns had computed is thus not computed again.
    """
    limits = setting.limits
    if setting.staging.layout == "role-first" or len(parts(lines, limits.part_characters)) > 1:
        return ()
    prompt = setting.prompt("summary").fill(dialogue=setting.prompt("summary-above").fill())
    record = public_record(setting.case, variant=setting.variant)
    return shared_messages(record, setting.prompt("history").fill(), lines, prompt)


def parts(lines: Sequence[str], most: int) -> list[str]:
    """Returns the lines joined into texts of at most `most` characters; a longer line is a text of its own."""
    texts: list[str] = []
    for line in lines:
        if texts and len(texts[-1]) + 1 + len(line) <= most:
            texts[-1] += f"\n{line}"
        else:
            texts.append(line)
    return texts


async def _decide(setting: Setting, seat: ModelSeat, ask: Ask, lines: str) -> tuple[Drawn, str]:
    """Returns the announcement and the label of the outcome; no label where no decision can be read."""
    structured = await setting.calls.ask_structured(
        seat.model,
        ask.messages,
        decision_type(tuple(setting.procedure.outcomes.items())),
        step=ask.step,
        role=ask.speaker.kind,
        purpose=ask.purpose,
        sampling=ask.sampling,
        labels=ask.labels,
        lines=lines,
    )
    key = structured.keys[-1] if structured.keys else ""
    if structured.value is None:
        return _stated(setting, structured.text, key, "", structured.failure), ""
    value = structured.value
    label = setting.procedure.outcome_named(value.outcome)
    speech = read_speech(
        Reply("ok", text=value.announcement),
        value.announcement,
        speaker=ask.speaker,
        people=ask.people,
        addressable=(),
        earlier=(),
        told=ask.told,
    )
    if why := speech.fault or next((flag for flag in CURED_FLAGS if flag in speech.flags), ""):
        return _stated(setting, structured.text, key, label, why), label
    return Drawn(speech.text, structured.text, key, flags=speech.flags), label


def _stated(setting: Setting, raw: str, key: str, label: str, why: str) -> Drawn:
    """Returns the stated line for a decision whose announcement cannot be used."""
    text = setting.prompt(f"fallback-verdict-{label or UNDECIDED}").fill()
    return Drawn(text, raw, key, flags=(f"fallback:{why}",), cures=(("fallback", why),))
