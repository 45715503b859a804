"""Mode `glance`: every question is put to every turn that it is about, and answered with one word.

For very small judges. They read the turn with the one before it, never the whole transcript, and no answer has to be
written: the probability of yes against no is read, as in mode `probability`. Each question has beside it what it needs
and no more: the facts that the turn's words are nearest to, where it uses the reference; the earlier turn of the same
speaker that is most like it, where it is about the transcript. What a question does not need, such a judge trips over.
A question of presence finds a fault where one turn shows it. Of an indicator without such a question, one about turns
needs a yes of every turn, and one about the transcript needs a single turn that shows it. How likely it is that one of
them does is computed from all of them, see `odds_of_one`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from dramaturg.judge.checklist.asking import PURPOSE, ROLE, Questioning
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.probability import TOKENS, probable_vote
from dramaturg.judge.checklist.rendering import FENCES, framed, render_roles, render_turn
from dramaturg.judge.checklist.turnwise import Answers, ask_each_turn, beyond_context
from dramaturg.judge.checklist.votes import Vote
from dramaturg.judge.checklist.windowed import LEFT_OUT, near_facts
from dramaturg.model import Message
from dramaturg.model.answer_masses import RIVALS
from dramaturg.model.lexical import lexical_similarities
from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.transcript import Role, Transcript, Turn

BEFORE = 1
"""Turns before the judged one that are shown."""

REFERENCE_TOKENS = 96
"""Of the reference, where a question needs it, the passages nearest to what is said, up to so many."""

EVEN = 0.5

LEAST_CHANCE = 0.001
"""A probability nearer to 0 or 1 than this counts as this: no single turn may outweigh a thousand others."""

NEIGHBOUR_CHARACTERS = 160
"""Of a longer turn before the judged one the end is shown."""

ROLE_CHARACTERS = 120
"""Of a longer description of the speaker the beginning is shown."""


@dataclass(frozen=True, slots=True)
class Glance:
    """One turn that is judged.

    Attributes:
        turn: The turn.
        opened: The messages that the questions about it share.
        facts: What of the reference is nearest to it, framed.
    """

    turn: Turn
    opened: tuple[Message, ...]
    facts: str


def glance_at(transcript: Transcript, place: int, language: str, *, earlier: bool = False) -> Glance:
    """Returns what a judge reads of the turn at a place of a transcript.

    Args:
        transcript: What happened on the stage.
        place: Of the turn, from 0.
        language: Of the prompts, ISO 639-1.
        earlier: Whether the most similar earlier turn of the same speaker is shown too.
    """
    turns = transcript.turns
    turn = turns[place]
    before = {*range(max(0, place - BEFORE), place), *(_nearest_own(transcript, place) if earlier else ())}
    shown = [*(_shortened(turns[one]) for one in sorted(before)), turn]
    speaking = {one.role for one in shown}
    roles = [_briefly(role, turn) for role in transcript.roles if role.id in speaking]
    said = " ".join(one.text for one in turns[max(0, place - BEFORE) : place + 1])
    material = load_prompt("glance-window", language).fill(
        roles=quote_untrusted(render_roles(transcript, roles, language), *FENCES),
        transcript=quote_untrusted("\n".join(render_turn(one, transcript, language) for one in shown), *FENCES),
    )
    opened = (
        Message("system", load_prompt("glance-system", language).fill()),
        Message("user", material),
    )
    return Glance(turn, opened, framed(near_facts(transcript.scenario.reference, said, REFERENCE_TOKENS), language))


def glance_question(glance: Glance, question: str, language: str, *, facts: bool) -> Message:
    """Returns the message that asks a question about a turn.

    Args:
        glance: At the turn.
        question: What is asked.
        language: Of the prompts, ISO 639-1.
        facts: Whether what is true is told first.
    """
    text = load_prompt("glance-question", language).fill(turn=glance.turn.id, question=question)
    if facts:
        text = load_prompt("glance-facts", language).fill(reference=glance.facts, question=text)
    return Message("user", text)


async def ask_glances(questioning: Questioning, indicators: Sequence[Indicator]) -> dict[str, list[Vote]]:
    """Returns the votes on each indicator, by its id.

    Args:
        questioning: Whom to ask about what; its transcript is not cut.
        indicators: What is asked; a model plays at least one turn of each one's roles.
    """
    found: Answers = {}
    for earlier in (False, True):
        asked = [one for one in indicators if needs_earlier(one) == earlier]
        if asked:
            view_at = partial(glance_at, questioning.transcript, language=questioning.language, earlier=earlier)
            found |= await ask_each_turn(questioning, asked, view_at, ask_glance)
    return {
        indicator.id: [
            _of_all(questioning, indicator, found[indicator.id, number]) for number in range(questioning.votes)
        ]
        for indicator in indicators
    }


def needs_earlier(indicator: Indicator) -> bool:
    """Returns whether a question about a turn needs what its speaker said earlier."""
    return indicator.scope == "transcript"


async def ask_glance(questioning: Questioning, glance: Glance, indicator: Indicator, number: int) -> Vote:
    """Returns the vote on one indicator about one turn.

    Args:
        questioning: Whom to ask.
        glance: The turn, as it is shown.
        indicator: What is asked.
        number: Which vote, from 0.
    """
    question = glance_question(
        glance, questioning.question(indicator), questioning.language, facts=indicator.uses_reference
    )
    messages = [*glance.opened, question]
    if (overflow := beyond_context(questioning, messages, TOKENS)) is not None:
        return overflow
    asked = await questioning.calls.ask(
        questioning.judge,
        messages,
        step=f"glance/{glance.turn.id}/{indicator.id}",
        role=ROLE,
        purpose=PURPOSE,
        attempt=number,
        sampling=questioning.sampling(TOKENS, top_logprobs=RIVALS),
        labels={"indicator": indicator.id, "turn": glance.turn.id.removeprefix("T")},
    )
    return probable_vote(questioning, indicator, asked.reply, (asked.key,), decided=True)


def _of_all(questioning: Questioning, indicator: Indicator, answers: Sequence[tuple[Turn, Vote]]) -> Vote:
    """Returns what answers about single turns say of the whole, with the turns that tell it."""
    needs_one = indicator.scope == "transcript" and not questioning.turned(indicator)
    telling: Literal["yes", "no"] = "yes" if needs_one or indicator.sign == "negative" else "no"
    calls = tuple(key for _, vote in answers for key in vote.calls)
    chances = [(turn, vote, _chance(vote, telling)) for turn, vote in answers if vote.probability is not None]
    of_one = odds_of_one([chance for _, _, chance in chances], of=len(answers))
    missing = [(turn, vote) for turn, vote in answers if vote.probability is None]
    if missing and of_one <= 1:
        turn, first = missing[0]
        detail = f"{len(missing)} of {len(answers)} turns have no answer; {turn.id}: {first.detail}"
        return replace(first, calls=calls, detail=detail, probability=None)
    found = of_one > 1
    share = of_one / (1 + of_one)
    _, vote, _ = max(chances, key=lambda one: one[2])
    return replace(
        vote,
        answer=telling if found else "no" if telling == "yes" else "yes",
        reason="",
        detail="",
        evidence=tuple(turn.id for turn, _, chance in chances if chance > EVEN) if found else (),
        probability=share if telling == "yes" else 1 - share,
        calls=calls,
    )


def odds_of_one(chances: Sequence[float], of: int | None = None) -> float:
    """Returns the odds that one of some turns has what was asked about: the mean of their odds.

    A judge that was taught as many turns with it as without says of each turn how much likelier its words are with it.
    Where it is as likely to be in one of n turns as in none, and in each alike, Bayes' rule makes the mean of these
    ratios the odds. So of twenty turns one must be more than twenty times likelier, which one of two need not be.

    Args:
        chances: Of each turn, the probability that it has it; none makes odds of 0.
        of: How many turns there are, where some have no probability: of these, none is taken to have it.
    """
    if not chances:
        return 0.0
    kept = [min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE) for chance in chances]
    return math.fsum(chance / (1 - chance) for chance in kept) / (of or len(kept))


def _chance(vote: Vote, telling: Literal["yes", "no"]) -> float:
    probability = vote.probability if vote.probability is not None else EVEN
    return probability if telling == "yes" else 1 - probability


def _nearest_own(transcript: Transcript, place: int) -> set[int]:
    """Returns the place of the earlier turn of the same speaker whose words are nearest; none where there is none."""
    turn = transcript.turns[place]
    own = [
        earlier
        for earlier, one in enumerate(transcript.turns[: max(0, place - BEFORE)])
        if one.role == turn.role and one.kind == turn.kind
    ]
    if not own:
        return set()
    likeness = lexical_similarities(turn.text, [transcript.turns[one].text for one in own])
    best = max(range(len(own)), key=lambda one: likeness[one])
    return {own[best]} if likeness[best] > 0 else set()


def _briefly(role: Role, turn: Turn) -> Role:
    """Returns a role as it is shown: of whoever says the turn with the beginning of its description."""
    told = role.description if role.id == turn.role else ""
    if len(told) > ROLE_CHARACTERS:
        told = f"{told[:ROLE_CHARACTERS].rstrip()} {LEFT_OUT}"
    return role.model_copy(update={"description": told})


def _shortened(turn: Turn) -> Turn:
    if len(turn.text) <= NEIGHBOUR_CHARACTERS:
        return turn
    return turn.model_copy(update={"text": f"{LEFT_OUT} {turn.text[-NEIGHBOUR_CHARACTERS:].lstrip()}"})
