"""Descriptions in the second person, written from sketches by any model, or by a plain pattern without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from dramaturg.errors import UnitStopped
from dramaturg.ledger import Budget, Calls, Ledger
from dramaturg.model import Message, Model, Sampling
from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.cast.character import Character
from dramaturg.stage.cast.checking import FEWEST_WORDS, MOST_WORDS, Finding, check_character
from dramaturg.stage.cast.eras import HUMAN
from dramaturg.stage.cast.sketch import Sketch
from dramaturg.stage.finding import badness, has_errors
from dramaturg.text import canonical_json, sha256

PROMPTS = ("cast-describe", "cast-describe-again")
"""Prompts of a description, for records."""
TEMPLATE = "template"
"""What ``--model`` calls the pattern."""
WRITING = Sampling(temperature=0.9, max_tokens=700)
DRAWS = 2
"""How often a description is asked for, with another seed, when no usable answer came."""


@dataclass(frozen=True, slots=True)
class Described:
    """What became of one sketch.

    Attributes:
        sketch: What was to be described.
        character: The best version; None where the model never answered.
        findings: What is doubtful about it.
        repairs: How many rounds of repair were carried out.
        failure: Why there is no character; empty otherwise.
        stopped: Whether an endpoint failed, so that the next run asks again.
    """

    sketch: Sketch
    character: Character | None
    findings: tuple[Finding, ...] = ()
    repairs: int = 0
    failure: str = ""
    stopped: bool = False

    @property
    def passes(self) -> bool:
        """Whether there is a description without errors."""
        return self.character is not None and not has_errors(self.findings)


async def describe(calls: Calls, model: Model, sketch: Sketch, *, repairs: int) -> Described:
    """Returns a sketch's description by a model, the best of its versions.

    Each version is checked; while repairs are left, what was found is quoted to the model, which writes it again. Of
    two versions the one with fewer errors is better, then that with fewer warnings, then the later one.

    Args:
        calls: The sketch's calls; a rerun replays them.
        model: Who writes.
        sketch: What is described.
        repairs: Most rounds of repair.

    Raises:
        UnitStopped: An endpoint failed.
        LimitReached: A budget of the run is used up.
    """
    profile = canonical_json(sketch.profile.model_dump(mode="json"))
    first = load_prompt("cast-describe").fill(
        profile=quote_untrusted(profile, "</profile>"), least=str(FEWEST_WORDS + 40), most=str(MOST_WORDS - 200)
    )
    chat = [Message("user", first)]
    text, failure = await _written(calls, model, chat, "describe")
    if not text:
        return Described(sketch, None, failure=failure)
    best = sketch.described(text)
    best_findings = findings = check_character(best)
    done = 0
    for number in range(1, repairs + 1):
        if not findings:
            break
        told = "\n".join(f"- the text {finding.text}" for finding in findings)
        again = load_prompt("cast-describe-again").fill(findings=quote_untrusted(told, "</findings>"))
        chat = [chat[0], Message("assistant", text), Message("user", again)]
        mended, _ = await _written(calls, model, chat, f"describe/repair/{number}")
        done = number
        if not mended:
            continue
        text = mended
        character = sketch.described(text)
        findings = check_character(character)
        if badness(findings) <= badness(best_findings):
            best, best_findings = character, findings
    return Described(sketch, best, best_findings, done)


async def describe_all(
    sketches: Sequence[Sketch],
    model: Model,
    ledger: Ledger,
    budget: Budget,
    *,
    seed: int,
    repairs: int,
    concurrency: int = 8,
) -> AsyncGenerator[Described, None]:
    """Yields what became of each sketch, in their order; what the ledger holds is not asked again.

    Args:
        sketches: What is described.
        model: Who writes.
        ledger: Keeps every answer.
        budget: Of the run.
        seed: Of the run.
        repairs: Most rounds of repair of a description.
        concurrency: Most descriptions written at once.

    Raises:
        LimitReached: A budget is used up.
    """
    room = asyncio.Semaphore(concurrency)

    async def one(sketch: Sketch) -> Described:
        async with room:
            try:
                calls = ledger.calls(unit=unit_of(sketch, seed), seed=seed, budget=budget)
                return await describe(calls, model, sketch, repairs=repairs)
            except UnitStopped as stopped:
                return Described(sketch, None, failure=str(stopped), stopped=True)

    tasks = [asyncio.create_task(one(sketch)) for sketch in sketches]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def unit_of(sketch: Sketch, seed: int) -> str:
    """Returns the id of a sketch's unit, made of its content and not of its position."""
    return sha256(canonical_json({"kind": "description", "seed": seed, "sketch": sketch.model_dump(mode="json")}))[:20]


def described_by_pattern(sketch: Sketch) -> Described:
    """Returns a sketch's description without a model: every trait in plain sentences."""
    profile = sketch.profile
    race = "" if profile.race == HUMAN else f" You are a {profile.race}."
    text = load_prompt("cast-pattern").fill(
        name=profile.name,
        age=str(profile.age),
        occupation=profile.occupation,
        place=profile.place,
        era=profile.era,
        race=race,
        personality=", ".join(profile.personality),
        values="; ".join(profile.values),
        likes=" and ".join(profile.likes),
        dislikes=" and ".join(profile.dislikes),
        physical=", ".join(profile.physical),
        history=" ".join(f"You {event}." for event in profile.history),
        knows=", ".join(profile.knows),
    )
    character = sketch.described(text)
    return Described(sketch, character, check_character(character))


async def _written(calls: Calls, model: Model, chat: Sequence[Message], step: str) -> tuple[str, str]:
    """Returns a text and no failure, or no text and why."""
    failure = ""
    for attempt in range(DRAWS):
        asked = await calls.ask(
            model, chat, step=step, role="author", purpose="cast-description", attempt=attempt, sampling=WRITING
        )
        if asked.reply.status == "ok" and asked.reply.text.strip():
            return asked.reply.text.strip(), ""
        failure = f"the reply was {asked.reply.status}"
    return "", failure
