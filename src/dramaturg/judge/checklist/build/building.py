"""From a benchmark to a checklist: augment every seed, filter, and give the account of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dramaturg.judge.checklist.benchmark import Benchmark, Seed
from dramaturg.judge.checklist.build.account import Account, Entry, Overrule, kept_of
from dramaturg.judge.checklist.build.augment import PROMPTS, Augmented, augment, writer_of
from dramaturg.judge.checklist.build.filtering import (
    LEAST_PER_PLACE,
    Decided,
    apply_model,
    by_likeness,
    by_limit,
    by_model,
    by_rules,
    overruled,
    places_of,
    restored,
)
from dramaturg.judge.checklist.build.lexicon import Lexicon, lexicon
from dramaturg.judge.checklist.build.rules import cast_of, condition_of, same_words, subjects
from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.ledger import Calls
from dramaturg.model import Model
from dramaturg.model.embeddings import Embedder
from dramaturg.prompts import hashes

ResultT = TypeVar("ResultT")


class CallsOf(Protocol):
    """Gives the calls of a unit."""

    def __call__(self, unit: str) -> Calls:
        """Returns the calls of the unit with this id."""
        ...


OnProgress = Callable[[str, int, int], None]
"""Is told what goes on, and how much of it is done of how much."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build makes.

    Attributes:
        checklist: The checklist.
        account: What became of every question.
    """

    checklist: Checklist
    account: Account


async def build_checklist(
    benchmark: Benchmark,
    model: Model,
    embedder: Embedder,
    calls_of: CallsOf,
    *,
    most: int,
    before: tuple[Checklist, Account] | None = None,
    on_progress: OnProgress = lambda what, done, total: None,
) -> Built:
    """Returns the checklist of a benchmark, with its account. The same answers give the same checklist.

    Args:
        benchmark: Stage 1.
        model: Who writes and filters.
        embedder: What tells which questions mean the same.
        calls_of: Gives the calls of a unit: one for each seed, and one for each place.
        most: Most indicators of a place.
        before: The checklist and the account of the build before: ids stay with their questions, and what a person
            overruled holds.
        on_progress: Is told how far it is.

    Raises:
        LimitReached: A budget is used up; what was answered is kept.
        LedgerError: An answer cannot be committed.
    """
    of_seeds = await _together(
        [_augmenting(benchmark, seed, model, calls_of) for seed in benchmark.seeds],
        lambda done, total: on_progress("seeds", done, total),
    )
    entries = [entry for augmented in of_seeds for entry in augmented.entries]
    notes = [note for augmented in of_seeds for note in augmented.notes]
    words: dict[tuple[str, str], Overrule] = {}
    if before is not None:
        words = {entry.key: entry.overrule for entry in before[1].questions if entry.overrule}
    entries = overruled([*entries, *_only_before(entries, before, benchmark)], words)
    entries = _without_twins(by_rules(entries, benchmark))
    entries, likes = await by_likeness(entries, embedder, benchmark)

    places = places_of(benchmark)
    shown = tuple(entries)
    decisions = await _together(
        [_deciding(shown, place, benchmark, model, calls_of) for place in places],
        lambda done, total: on_progress("filter", done, total),
    )
    for place, decision in zip(places, decisions, strict=True):
        entries, said = apply_model(entries, place, decision)
        notes += said
        entries = by_limit(entries, place, likes, most)
    entries, said = restored(entries, benchmark)
    notes += said
    entries = _with_ids(entries, benchmark, before)
    notes += _short_of_goal(entries, benchmark)
    checklist = _checklist(entries, benchmark, before)
    account = Account(
        benchmark=checklist.benchmark,
        checklist=checklist.hash,
        model=writer_of(model),
        compared_by=likes.by,
        prompts=hashes(PROMPTS, benchmark.language),
        refused=sum(decision.refused for decision in decisions),
        notes=tuple(notes),
        questions=tuple(entry for place in places for entry in entries if entry.place == place),
    )
    return Built(checklist, account)


def expected_calls(benchmark: Benchmark) -> int:
    """Returns how many calls a build makes at least, re-asks aside."""
    translated = sum(1 for seed in benchmark.seeds if seed.language not in {None, benchmark.language})
    return 2 * len(benchmark.seeds) + translated + len(places_of(benchmark))


async def _augmenting(benchmark: Benchmark, seed: Seed, model: Model, calls_of: CallsOf) -> Augmented:
    return await augment(benchmark, seed, model, calls_of(f"checklist:{benchmark.id}:{seed.id}"))


async def _deciding(
    entries: Sequence[Entry], place: str, benchmark: Benchmark, model: Model, calls_of: CallsOf
) -> Decided:
    return await by_model(entries, place, benchmark, model, calls_of(f"checklist:{benchmark.id}:filter:{place}"))


async def _together(work: Sequence[Coroutine[Any, Any, ResultT]], on_done: Callable[[int, int], None]) -> list[ResultT]:
    """Returns all results in order; where one fails, the others end before its error goes on."""
    done = 0
    tasks = [asyncio.create_task(one) for one in work]
    on_done(0, len(tasks))
    try:
        for task in asyncio.as_completed(tasks):
            await task
            done += 1
            on_done(done, len(tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [task.result() for task in tasks]


def _only_before(
    entries: Sequence[Entry], before: tuple[Checklist, Account] | None, benchmark: Benchmark
) -> list[Entry]:
    """Returns what a person keeps of the build before and this build did not write again."""
    if before is None:
        return []
    here = {entry.key for entry in entries}
    seeds = {seed.id for seed in benchmark.seeds}
    places = set(places_of(benchmark))
    return [
        entry.model_copy(update={"decision": "kept", "stage": None, "reason": "", "id": ""})
        for entry in before[1].questions
        if entry.overrule == "keep"
        and entry.key not in here
        and entry.place in places
        and entry.provenance.seed in seeds
    ]


def _without_twins(entries: Sequence[Entry]) -> list[Entry]:
    """Returns the entries with those merged that have the words of an earlier one, whatever their place."""
    first: dict[str, int] = {}
    made = list(entries)
    for at in sorted(range(len(made)), key=lambda at: (not made[at].is_seed, at)):
        entry = made[at]
        if not entry.kept:
            continue
        twin = first.setdefault(same_words(entry.text), at)
        if twin != at and not entry.is_seed and entry.overrule != "keep":
            where = "" if made[twin].place == entry.place else f" in {made[twin].place}"
            reason = f"has the words of one{where} that was written before"
            made[at] = entry.model_copy(update={"decision": "merged", "stage": "alike", "reason": reason})
    return made


def _with_ids(entries: Sequence[Entry], benchmark: Benchmark, before: tuple[Checklist, Account] | None) -> list[Entry]:
    """Returns the entries with an id for each that is kept; an id is never given to another question later."""
    old = {entry.key: entry.id for entry in before[1].questions if entry.id} if before else {}
    used: dict[str, int] = {}
    for name in old.values():
        head, _, number = name.rpartition("-")
        used[head] = max(used.get(head, 0), int(number) if number.isdigit() else 0)
    made: list[Entry] = []
    for entry in entries:
        if not entry.kept:
            made.append(entry.model_copy(update={"id": old.get(entry.key, "")}))
            continue
        head = entry.place.replace(".", "-")
        name = old.get(entry.key, "")
        if not name:
            used[head] = used.get(head, 0) + 1
            name = f"{head}-{used[head]}"
        made.append(entry.model_copy(update={"id": name}))
    return made


def _short_of_goal(entries: Sequence[Entry], benchmark: Benchmark) -> list[str]:
    """Returns what the checklist falls short of: three indicators in each place, and half of all written by a model."""
    notes = [
        f"{place}: {len(kept)} left, {LEAST_PER_PLACE} wanted; add a seed, or build with another model"
        for place in places_of(benchmark)
        if len(kept := kept_of(entries, place)) < LEAST_PER_PLACE
    ]
    kept = [entry for entry in entries if entry.kept]
    seeds = sum(entry.is_seed for entry in kept)
    if 2 * seeds > len(kept):
        notes.append(f"{seeds} of {len(kept)} indicators are seeds; at most half were wanted")
    return notes


def _checklist(entries: Sequence[Entry], benchmark: Benchmark, before: tuple[Checklist, Account] | None) -> Checklist:
    seeds = {seed.id: seed for seed in benchmark.seeds}
    words = lexicon(benchmark.language)
    made = Checklist(
        id=f"{benchmark.id}-built",
        version=1,
        title=f"{benchmark.title} (built)",
        language=benchmark.language,
        domain=benchmark.domain,
        benchmark=f"{benchmark.id}@{benchmark.hash}",
        dimensions=benchmark.dimensions,
        indicators=tuple(
            _indicator(entry, seeds[entry.provenance.seed], benchmark, words)
            for place in places_of(benchmark)
            for entry in kept_of(entries, place)
        ),
    )
    if before is None:
        return made
    old = before[0]
    same = made.model_copy(update={"version": old.version})
    return same if same.hash == old.hash else made.model_copy(update={"version": old.version + 1})


def _indicator(entry: Entry, seed: Seed, benchmark: Benchmark, words: Lexicon) -> Indicator:
    """Returns the indicator of an entry; what only a person can know of a question holds for the seed alone."""
    condition = condition_of(entry.text, words)
    form = words.condition_form.format(clause=condition) if condition and words.condition_form else ""
    return Indicator(
        id=entry.id,
        text=entry.text,
        dimension=entry.dimension,
        subdimension=entry.subdimension,
        roles=seed.roles or (() if entry.is_seed else subjects(entry.text, words, cast_of(benchmark))),
        sign=seed.sign if entry.is_seed else "positive",
        not_applicable_when=seed.not_applicable_when or form,
        evidence=seed.evidence,
        detects=seed.detects if entry.is_seed else (),
        provenance=entry.provenance,
    )
