"""Mode `windowed`: what one turn can show is asked of each turn with its neighbours, and the worst answer counts.

A small judge that reads a whole trial sees little of one sentence in it. Here it reads the turn, up to two turns
before it and one behind it, and of the reference what the question needs: all of it where it is short, else the
passages whose words are nearest. All questions about one window share the window as their first messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from dramaturg.judge.checklist.answers import Brief, BriefDecided
from dramaturg.judge.checklist.asking import Questioning, definition_of
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.rendering import FENCES, framed, render_roles, render_turn
from dramaturg.judge.checklist.turnwise import ask_each_turn, beyond_context
from dramaturg.judge.checklist.votes import Vote
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model import Message
from dramaturg.model.lexical import lexical_similarities
from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.transcript import Turn

TOKENS = 300
"""Most tokens of one answer."""

BEFORE = 2
"""Turns before the judged one that a window shows."""

AFTER = 1
"""Turns behind it."""

REFERENCE_TOKENS = 400
"""Up to so many tokens a reference is shown whole; of a longer one, the nearest passages up to so many."""

LONG_PASSAGE = 400
"""Characters from which a line of the reference is taken apart into its sentences."""

LEFT_OUT = "…"

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")


@dataclass(frozen=True, slots=True)
class Window:
    """One turn that is judged, with what a judge reads of its surroundings.

    Attributes:
        turn: The turn.
        opened: The messages that all questions about it share.
        facts: The reference, as far as it is near, as a text that stands before a question that needs it.
    """

    turn: Turn
    opened: tuple[Message, ...]
    facts: str


async def ask_windowed(questioning: Questioning, indicators: Sequence[Indicator]) -> dict[str, list[Vote]]:
    """Returns the votes on each indicator, by its id; each vote is the worst answer over all its turns.

    Args:
        questioning: Whom to ask about what; its transcript is not cut.
        indicators: What is asked of turns; a model plays at least one turn of each one's roles.
    """
    by_reference = sorted(indicators, key=lambda indicator: indicator.uses_reference)
    found = await ask_each_turn(questioning, by_reference, partial(_window, questioning), _ask)
    return {
        indicator.id: [worst(indicator, found[indicator.id, number]) for number in range(questioning.votes)]
        for indicator in indicators
    }


def worst(indicator: Indicator, answers: Sequence[tuple[Turn, Vote]]) -> Vote:
    """Returns what answers about single turns say of the whole.

    One bad answer makes it bad, with its turns as evidence. Without one, an answer that is missing leaves it open;
    where the question applies to no turn, it does not apply.

    Args:
        indicator: What was asked.
        answers: Each turn with its answer; at least one.
    """
    bad = "no" if indicator.sign == "positive" else "yes"
    calls = tuple(key for _, vote in answers for key in vote.calls)
    repaired = any(vote.repaired for _, vote in answers)
    faulty = [(turn, vote) for turn, vote in answers if vote.answer == bad]
    if faulty:
        first = faulty[0][1]
        named = tuple(turn.id for turn, _ in faulty)
        return replace(first, evidence=named, calls=calls, repaired=repaired)
    missing = [(turn, vote) for turn, vote in answers if vote.answer == "missing"]
    if missing:
        turn, first = missing[0]
        detail = f"{len(missing)} of {len(answers)} turns have no answer; {turn.id}: {first.detail}"
        return replace(first, reasoning="", calls=calls, repaired=repaired, detail=detail)
    applies = [(turn, vote) for turn, vote in answers if vote.answer != "not_applicable"]
    if not applies:
        return Vote("not_applicable", calls=calls, repaired=repaired)
    rests_on = tuple(turn.id for turn, _ in applies) if indicator.evidence == "required" else ()
    return replace(applies[0][1], reasoning="", evidence=rests_on, calls=calls, repaired=repaired)


def near_facts(reference: str, said: str, most: int = REFERENCE_TOKENS) -> str:
    """Returns a reference, or of a long one the passages whose words are nearest to what was said, in their order.

    Args:
        reference: The whole reference text.
        said: What it is to be checked against.
        most: Tokens up to which it is shown whole, and that its passages may have together.
    """
    if estimated_tokens(reference) <= most:
        return reference
    lines = [line.strip() for line in reference.splitlines() if line.strip()]
    passages = [part for line in lines for part in (_SENTENCE.split(line) if len(line) > LONG_PASSAGE else [line])]
    likeness = lexical_similarities(said, passages)
    kept: set[int] = set()
    room = most
    for place in sorted(range(len(passages)), key=lambda place: -likeness[place]):
        size = estimated_tokens(passages[place])
        if likeness[place] > 0 and size <= room:
            kept.add(place)
            room -= size
    shown = [passages[place] if place in kept else LEFT_OUT for place in range(len(passages))]
    return "\n".join(text for place, text in enumerate(shown) if text != LEFT_OUT or shown[place - 1 : place] != [text])


def _window(questioning: Questioning, place: int) -> Window:
    """Returns the window around the turn at a place of the transcript."""
    transcript, language = questioning.transcript, questioning.language
    shown = transcript.turns[max(0, place - BEFORE) : place + 1 + AFTER]
    speaking = {one.role for one in shown}
    roles = [role for role in transcript.roles if role.id in speaking]
    material = load_prompt("judge-window", language).fill(
        roles=quote_untrusted(render_roles(transcript, roles, language), *FENCES),
        transcript=quote_untrusted("\n".join(render_turn(one, transcript, language) for one in shown), *FENCES),
    )
    opened = (
        Message("system", load_prompt("judge-system", language).fill()),
        Message("user", material),
        Message("assistant", load_prompt("judge-window-ready", language).fill()),
    )
    said = " ".join(one.text for one in transcript.turns[max(0, place - 1) : place + 1])
    reference = framed(near_facts(transcript.scenario.reference, said), language)
    return Window(
        transcript.turns[place], opened, load_prompt("judge-window-facts", language).fill(reference=reference)
    )


async def _ask(questioning: Questioning, window: Window, indicator: Indicator, number: int) -> Vote:
    messages = [*window.opened, _question(questioning, window, indicator)]
    if (overflow := beyond_context(questioning, messages, TOKENS)) is not None:
        return overflow
    return await questioning.ask_one(
        indicator,
        messages,
        Brief if indicator.not_applicable_when else BriefDecided,
        step=f"window/{window.turn.id}/{indicator.id}",
        number=number,
        max_tokens=TOKENS,
        lines=load_prompt("judge-window-lines", questioning.language).fill(turn=window.turn.id),
        labels={"turn": window.turn.id.removeprefix("T")},
        evidence=False,
    )


def _question(questioning: Questioning, window: Window, indicator: Indicator) -> Message:
    language = questioning.language
    text = load_prompt("judge-window-question", language).fill(
        turn=window.turn.id,
        question=questioning.question(indicator),
        definition=definition_of(indicator, questioning.checklist),
        not_applicable=indicator.not_applicable_when or load_prompt("judge-always", language).fill(),
    )
    return Message("user", f"{window.facts}\n\n{text}" if indicator.uses_reference else text)
