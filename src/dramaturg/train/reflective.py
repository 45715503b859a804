"""Reflective data: a model criticises its own trajectory and plays it again on paper; what is rated better is learned.

The original, the critique and the rewrite are kept. A rewritten act answers the very chat in which it was asked for,
with the model's own earlier acts in it as they were: so it learns to do better from where it really stood. What a stage
would draw anew or cut in a rewritten turn is no rewrite: there the turn stays as it was, before anything is rated.

Source: CharacterBox, section 5: reflective trajectory fine-tuning. Its data and prompts were not published; that a
rewrite must be rated better by a rater who does not know which is which is ours.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.judge.rating import RatingJudgement, Rubric, rate_transcript, rubric_in
from dramaturg.judge.rating.rendering import material, render_questions
from dramaturg.ledger import Calls
from dramaturg.model import Message, Model, Sampling
from dramaturg.model.opening import Models
from dramaturg.model.structured import ask_list
from dramaturg.prompts import hashes, load_prompt, prompt_names
from dramaturg.stage.trajectory import trajectory
from dramaturg.stage.transcript import Role, Transcript
from dramaturg.text import Json, canonical_json, sha256
from dramaturg.train.acting import Act, acts_of, example_of, played_roles
from dramaturg.train.example import Gathered
from dramaturg.train.noticing import fault_of_rewrite
from dramaturg.train.reading import Runs, Source

PROMPTS = "train-"
ROLE = "player"
CRITIQUE = "critique"
REWRITE = "rewrite"

CRITIQUE_TOKENS = 700
TOKENS_PER_TURN = 120
"""What one rewritten turn may take, and as much again for the whole."""


class Rewritten(BaseModel):
    """One turn, written anew."""

    id: str
    text: Annotated[str, Field(min_length=1)]


class Reflection(BaseModel):
    """What became of one trajectory, as ``reflections.jsonl`` holds it.

    Attributes:
        transcript: Id of the transcript.
        role: Id of the role.
        name: Of the character.
        model: Identity of whoever played, criticised and rewrote it.
        original: Turn id → what was done.
        critique: What the model says of it.
        rewrite: Turn id → what is written in its place, of all that are another now and may be learned.
        refused: Turn id → what a stage would notice in what is written in its place; the turn stays as it was.
        rater: Identity of the rater; empty where nothing was rated.
        before: Metric → rating of the original; None where it is missing.
        after: The same of the rewrite.
        dropped: Why it is not learned; empty where it is.
    """

    model_config = ConfigDict(frozen=True)

    transcript: str
    role: str
    name: str
    model: str
    original: dict[str, str]
    critique: str = ""
    rewrite: dict[str, str] = {}
    refused: dict[str, str] = {}
    rater: str = ""
    before: dict[str, float | None] = {}
    after: dict[str, float | None] = {}
    dropped: str = ""


class CallsOf(Protocol):
    """Makes the calls of a unit."""

    def __call__(self, unit: str) -> Calls:
        """Returns them, with all that was already answered."""
        ...


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked, and how.

    Attributes:
        players: Spec strings of the models that played; each rewrites what it played itself.
        rater: Spec string of the rater.
        rubric: By what is rated.
        calls_of: Makes the calls of a unit.
        concurrency: Most trajectories at once.
    """

    players: tuple[str, ...]
    rater: str
    rubric: str
    calls_of: CallsOf
    concurrency: int


@dataclass(slots=True, eq=False)
class _Path:
    """One trajectory on its way."""

    source: Source
    transcript: Transcript
    role: Role
    acts: tuple[Act, ...]
    reflection: Reflection = field(init=False)

    def __post_init__(self) -> None:
        self.reflection = Reflection(
            transcript=self.transcript.id,
            role=self.role.id,
            name=self.role.name,
            model=self.transcript.cast[self.role.id].model,
            original={turn.id: turn.text for act in self.acts for turn in act.turns if turn.text.strip()},
        )

    def now(self, **changes: object) -> None:
        self.reflection = self.reflection.model_copy(update=changes)


async def reflective(runs: Runs, models: Models, asking: Asking) -> tuple[Gathered, list[Reflection]]:
    """Returns the examples of every rewrite that was rated better, and what became of each trajectory.

    Every model is asked for all of its trajectories before the rater is opened, so that few are loaded at once. What
    was answered is in the ledger: to go on after an interruption, run it again.

    Args:
        runs: What was played.
        models: Opens the models.
        asking: Who is asked.

    Raises:
        UserError: A model cannot be opened, or a ledger of the runs lacks a call.
        UnitStopped: An endpoint failed.
        LimitReached: A budget is used up.
    """
    paths = [
        _Path(source, transcript, role, tuple(acts_of(runs, source, transcript, role.id)))
        for source, transcript in runs.transcripts.values()
        for role in played_roles(transcript)
    ]
    taken: list[_Path] = []
    for spec in asking.players:
        model = await models.open(spec)
        own = [path for path in paths if path not in taken and _played_by(path, model)]
        await _all([partial(_rewrite, path, model, asking) for path in own], asking.concurrency)
        taken += own
        await models.release(spec)
    rewritten = [path for path in taken if not path.reflection.dropped]
    if rewritten:
        rater = await models.open(asking.rater)
        await _all([partial(_rate, path, rater, asking) for path in rewritten], asking.concurrency)
        await models.release(asking.rater)
    found = Gathered()
    if len(paths) > len(taken):
        found.left_out["trajectory: played by a model that is not asked"] = len(paths) - len(taken)
    for path in taken:
        found.left_out.update(f"rewritten turn: {fault}" for fault in path.reflection.refused.values())
        if path.reflection.dropped:
            found.left_out[f"trajectory: {path.reflection.dropped}"] += 1
        else:
            _take(found, runs, path)
    kept = [path.reflection for path in taken if not path.reflection.dropped]
    found.terms = {
        "rater": asking.rater,
        "rubric": asking.rubric,
        "kept_if": "the mean of all metrics is higher for the rewrite",
        "trajectories": len(taken),
        "kept": len(kept),
        "mean_gain_of_kept": _mean_gain(kept),
    }
    return found, [path.reflection for path in taken]


async def _rewrite(path: _Path, model: Model, asking: Asking) -> None:
    language, name = path.transcript.scenario.language, path.role.name
    ids = tuple(path.reflection.original)
    if not ids:
        path.now(dropped="nothing was done")
        return
    rubric = rubric_in(asking.rubric, language)
    calls = asking.calls_of(_unit("reflect", path, model, prompts=_prompt_hashes(language), rubric=rubric.hash))
    shown = material(trajectory(path.transcript, path.role.id), language, is_rated=path.transcript.is_judged)
    question = load_prompt("train-critique", language).fill(name=name, metrics=render_questions(rubric))
    opening = (
        Message("system", load_prompt("train-system", language).fill(name=name)),
        Message("user", f"{shown}\n\n{question}"),
    )
    criticised = await calls.ask(
        model,
        opening,
        step=CRITIQUE,
        role=ROLE,
        purpose=CRITIQUE,
        sampling=Sampling(0.0, CRITIQUE_TOKENS),
    )
    critique = criticised.reply.text.strip()
    if criticised.reply.status not in {"ok", "truncated"} or not critique:
        path.now(dropped=f"no critique ({criticised.reply.status})")
        return

    def messages(wanted: Sequence[str]) -> list[Message]:
        turns = "\n".join(f"- {turn}" for turn in wanted)
        asked = load_prompt("train-rewrite", language).fill(name=name, turns=turns)
        return [*opening, Message("assistant", critique), Message("user", asked)]

    answered = await ask_list(
        calls.asker(
            model,
            step=REWRITE,
            role=ROLE,
            purpose=REWRITE,
            sampling=Sampling(0.0, TOKENS_PER_TURN * (len(ids) + 1)),
        ),
        messages,
        ids,
        Rewritten,
        name=REWRITE,
        decisive="text",
    )
    anew = {
        turn: text
        for turn, item in answered.items.items()
        if (text := item.text.strip()) and text != path.reflection.original[turn].strip()
    }
    refused = _refused(path, anew)
    kept = {turn: text for turn, text in anew.items() if turn not in refused}
    dropped = ""
    if not answered.items:
        dropped = "the rewrite could not be read"
    elif not kept:
        dropped = "nothing of the rewrite can be used" if refused else "nothing was written anew"
    path.now(critique=critique, rewrite=kept, refused=refused, dropped=dropped)


def _refused(path: _Path, anew: Mapping[str, str]) -> dict[str, str]:
    """Returns what a stage would notice in rewritten turns, by turn."""
    faults = {
        turn.id: fault_of_rewrite(path.transcript, turn, anew[turn.id], purpose=act.call.purpose)
        for act in path.acts
        for turn in act.turns
        if turn.id in anew
    }
    return {turn: fault for turn, fault in faults.items() if fault}


async def _rate(path: _Path, rater: Model, asking: Asking) -> None:
    rubric = rubric_in(asking.rubric, path.transcript.scenario.language)
    before = await _ratings(path, path.transcript, rater, rubric, asking)
    after = await _ratings(path, _with_texts(path.transcript, path.reflection.rewrite), rater, rubric, asking)
    path.now(rater=_identity(rater), before=before, after=after)
    old, new = _mean(before), _mean(after)
    if old is None or new is None:
        path.now(dropped="a rating is missing")
    elif new <= old:
        path.now(dropped="the rewrite is rated no better")


async def _ratings(
    path: _Path, transcript: Transcript, rater: Model, rubric: Rubric, asking: Asking
) -> dict[str, float | None]:
    calls = asking.calls_of(_unit("rate", path, rater, transcript=transcript.digest, rubric=rubric.hash))
    ratings: tuple[RatingJudgement, ...] = await rate_transcript(
        transcript, rubric, judge=rater, calls=calls, roles=[path.role.id]
    )
    return {rating.metric: rating.value for rating in ratings}


def _take(found: Gathered, runs: Runs, path: _Path) -> None:
    anew = path.reflection.rewrite
    language = path.transcript.scenario.language
    asked = {f"default/{language}/{name}": of for name, of in _prompt_hashes(language).items()}
    for act in path.acts:
        if anew.keys().isdisjoint(turn.id for turn in act.turns):
            found.left_out["act: as it was"] += 1
            continue
        if fault := act.fault_with(anew):
            found.left_out[f"act: {fault}"] += 1
            continue
        place = f"{path.role.id}/{'+'.join(turn.id for turn in act.turns)}"
        example = example_of(
            runs,
            path.source,
            path.transcript,
            act.call,
            act.answer(anew),
            kind="reflective",
            teacher=path.reflection.model,
            place=place,
        )
        found.examples.append(replace(example, prompt_hashes={**example.prompt_hashes, **asked}))


async def _all(asks: Sequence[Callable[[], Awaitable[None]]], concurrency: int) -> None:
    most = asyncio.Semaphore(concurrency)

    async def one(ask: Callable[[], Awaitable[None]]) -> None:
        async with most:
            await ask()

    tasks = [asyncio.ensure_future(one(ask)) for ask in asks]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _played_by(path: _Path, model: Model) -> bool:
    player = path.transcript.cast[path.role.id]
    return player.model == _identity(model) and player.digest == model.identity.digest


def _identity(model: Model) -> str:
    return f"{model.identity.provider}:{model.identity.name}"


def _unit(what: str, path: _Path, model: Model, **more: Json) -> str:
    of: dict[str, Json] = {"transcript": path.transcript.digest, "role": path.role.id, "model": model.identity.key}
    return sha256(canonical_json({"train": what, **of, **more}))[:20]


def _with_texts(transcript: Transcript, texts: Mapping[str, str]) -> Transcript:
    turns = tuple(
        turn.model_copy(update={"text": texts[turn.id], "raw": ""}) if turn.id in texts else turn
        for turn in transcript.turns
    )
    return transcript.model_copy(update={"turns": turns})


def _prompt_hashes(language: str) -> dict[str, str]:
    return hashes(tuple(name for name in prompt_names() if name.startswith(PROMPTS)), language)


def _mean(ratings: Mapping[str, float | None]) -> float | None:
    values = [value for value in ratings.values() if value is not None]
    return statistics.fmean(values) if values and len(values) == len(ratings) else None


def _mean_gain(kept: Sequence[Reflection]) -> float | None:
    gains = [(_mean(one.after) or 0.0) - (_mean(one.before) or 0.0) for one in kept]
    return round(statistics.fmean(gains), 3) if gains else None
