"""Stage 3: questions are removed, each with its reason; nothing is added, and no place is emptied unsaid.

Source: RPA-Check, section 3.1, stage 3. In order: rules without a model, questions that mean the same, the model's
decision, a limit for each place. A person's word from the account before goes above all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from dramaturg.errors import UnitStopped
from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.judge.checklist.build.account import Entry, Overrule, Stage, decided, kept_of
from dramaturg.judge.checklist.build.alike import Likeness, likeness
from dramaturg.judge.checklist.build.augment import part_of
from dramaturg.judge.checklist.build.lexicon import lexicon
from dramaturg.judge.checklist.build.rules import cast_of, findings, subjects
from dramaturg.ledger import Calls
from dramaturg.model import Message, Model
from dramaturg.model.embeddings import Embedder
from dramaturg.model.request import Sampling
from dramaturg.prompts import load_prompt

LEAST_PER_PLACE = 3
"""Fewer indicators than these are not made fewer by the model's decision."""

_FILTERING = Sampling(temperature=0.0, max_tokens=600)
_SHOWN_AT_ONCE = 12
"""Questions that a model decides on in one call; small models lose the thread in longer lists."""

Reason = Literal["off_topic", "redundant", "fault", "style"]

_SAID: dict[Reason, str] = {
    "off_topic": "the model says that it measures something else",
    "redundant": "the model says that another question asks the same",
    "fault": "the model says that a yes would tell of bad conduct",
    "style": "the model says that it cannot be answered as it is worded",
}


def _number_of(value: object) -> object:
    return int(value) if isinstance(value, str) and value.strip().isdigit() else value


class Removal(BaseModel):
    """One question that must go."""

    model_config = ConfigDict(extra="forbid")

    number: Annotated[int, BeforeValidator(_number_of)]
    reason: Reason


class Removals(BaseModel):
    """What a filtering model decides: it can only name what must go."""

    model_config = ConfigDict(extra="forbid")

    remove: Annotated[list[Removal], Field(json_schema_extra={"maxItems": _SHOWN_AT_ONCE})]


@dataclass(frozen=True, slots=True)
class Decided:
    """What the model decided in one place.

    Attributes:
        reasons: Index of an entry → why it must go.
        refused: How many numbers it returned that it was not given.
        notes: What failed.
    """

    reasons: Mapping[int, str]
    refused: int = 0
    notes: tuple[str, ...] = ()


def by_rules(entries: Sequence[Entry], benchmark: Benchmark) -> list[Entry]:
    """Returns the entries with those removed that a rule speaks against; seeds too."""
    words = lexicon(benchmark.language)
    cast = cast_of(benchmark)
    seeds = {seed.id: seed for seed in benchmark.seeds}
    made: list[Entry] = []
    for entry in entries:
        seed = seeds[entry.provenance.seed]
        sign = seed.sign if entry.is_seed else "positive"
        found = findings(entry.text, words, cast, sign=sign, roles=seed.roles) if entry.kept else []
        made.append(decided(entry, "rules", "; ".join(map(str, found))) if found else entry)
    return made


async def by_likeness(
    entries: Sequence[Entry], embedder: Embedder, benchmark: Benchmark
) -> tuple[list[Entry], Likeness]:
    """Returns the entries with those merged that mean the same as an earlier one of their place, and how alike all are.

    Seeds come first; of others, the one written first stays. What was merged stands in the provenance of what stays.
    Across places, what an embedder finds alike often measures something else: lint shows it to a person instead. Two
    questions about different roles are two questions.
    """
    words, cast = lexicon(benchmark.language), cast_of(benchmark)
    about = [set(subjects(entry.text, words, cast)) for entry in entries]

    def same(one: int, other: int) -> bool:
        apart = about[one] and about[other] and not about[one] & about[other]
        return entries[one].place == entries[other].place and not apart and likes.same(one, other)

    likes = await likeness(embedder, [entry.text for entry in entries], words)
    made = list(entries)
    order = sorted(range(len(made)), key=lambda at: (not made[at].is_seed, at))
    stays: list[int] = []
    for at in order:
        entry = made[at]
        if not entry.kept:
            continue
        alike = [other for other in stays if same(at, other)]
        if not alike or entry.is_seed or entry.overrule == "keep":
            stays.append(at)
            continue
        into = max(alike, key=lambda other: likes.values[at][other])
        kept = made[into]
        merged = (*kept.provenance.merged, entry.text)
        made[into] = kept.model_copy(update={"provenance": kept.provenance.model_copy(update={"merged": merged})})
        made[at] = decided(entry, "alike", f"means the same as: {kept.text}", "merged")
    return made, likes


async def by_model(entries: Sequence[Entry], place: str, benchmark: Benchmark, model: Model, calls: Calls) -> Decided:
    """Returns which of a place's questions the model would remove. Seeds are shown and are not up for removal.

    Raises:
        LimitReached: A budget is used up.
        LedgerError: An answer cannot be committed.
    """
    mine = [at for at, entry in enumerate(entries) if entry.kept and entry.place == place]
    fixed = [entries[at].text for at in mine if entries[at].is_seed]
    open_for = [at for at in mine if not entries[at].is_seed]
    reasons: dict[int, str] = {}
    refused = 0
    notes: list[str] = []
    for start in range(0, len(open_for), _SHOWN_AT_ONCE):
        shown = open_for[start : start + _SHOWN_AT_ONCE]
        prompt = _prompt(entries, shown, fixed, benchmark)
        try:
            answer = await calls.ask_structured(
                model,
                [Message("user", prompt)],
                Removals,
                step=f"filter/{start // _SHOWN_AT_ONCE}",
                role="filter",
                purpose="filter",
                sampling=_FILTERING,
            )
        except UnitStopped as stopped:
            notes.append(f"{place}: the model could not be asked ({stopped}); it removed nothing")
            continue
        if answer.value is None:
            notes.append(f"{place}: the model's decision could not be read ({answer.detail}); it removed nothing")
            continue
        for removal in answer.value.remove:
            at = shown[removal.number - 1] if 1 <= removal.number <= len(shown) else None
            if at is None or at in reasons:
                refused += at is None
                continue
            reasons[at] = _SAID[removal.reason]
    return Decided(reasons, refused, tuple(notes))


def apply_model(entries: Sequence[Entry], place: str, said: Decided) -> tuple[list[Entry], tuple[str, ...]]:
    """Returns the entries without what the model removes, and what must be said.

    A model that removes nearly all has judged nothing. So three questions stay in a place, and as many that were
    written as there are seeds, whatever it says: those written first.
    """
    made = list(entries)
    kept = kept_of(entries, place)
    seeds = sum(entry.is_seed for entry in kept)
    room = max(0, len(kept) - seeds - max(seeds, LEAST_PER_PLACE - seeds))
    wanted = sorted(at for at in said.reasons if made[at].overrule != "keep")
    for at in wanted[::-1][:room]:
        made[at] = decided(made[at], "model", said.reasons[at])
    held = max(0, len(wanted) - room)
    if not held:
        return made, said.notes
    note = f"{place}: the model would have removed {len(wanted)}; {held} stay, since too few would be left"
    return made, (*said.notes, note)


def by_limit(entries: Sequence[Entry], place: str, likes: Likeness, most: int) -> list[Entry]:
    """Returns the entries with at most so many in a place: seeds for at most half, then what is nearest to its seed.

    The seeds take turns, so that each has its share.

    Args:
        entries: All entries, in the order of `likes`.
        place: The place.
        likes: How alike they are.
        most: How many may stay.
    """
    made = list(entries)
    mine = [at for at, entry in enumerate(made) if entry.kept and entry.place == place]
    chosen = [at for at in mine if made[at].overrule == "keep"]
    others = [at for at in mine if not made[at].is_seed and at not in chosen]
    seeds = [at for at in mine if made[at].is_seed and at not in chosen]
    chosen += seeds[: max(most - len(others), most // 2, 1)]
    chosen += _nearest_first(made, others, likes)[: max(0, most - len(chosen))]
    for at in mine:
        if at not in chosen:
            made[at] = decided(
                made[at], "limit", f"at most {most} stay in a place, and others are nearer to their seeds"
            )
    return made


def _nearest_first(entries: Sequence[Entry], which: Sequence[int], likes: Likeness) -> list[int]:
    """Returns the entries by how near they are to their seeds, one of each seed in turn."""
    seeds = {entry.provenance.seed: at for at, entry in enumerate(entries) if entry.is_seed}
    rows: dict[str, list[int]] = {}
    for at in sorted(which, key=lambda at: (-likes.values[at][seeds[entries[at].provenance.seed]], at)):
        rows.setdefault(entries[at].provenance.seed, []).append(at)
    ordered = [(turn, seeds[seed], at) for seed, row in rows.items() for turn, at in enumerate(row)]
    return [at for _, _, at in sorted(ordered)]


def overruled(entries: Sequence[Entry], words: Mapping[tuple[str, str], Overrule]) -> list[Entry]:
    """Returns the entries with a person's word put in: what is to be removed is removed before any rule."""
    made: list[Entry] = []
    for entry in entries:
        word = words.get(entry.key, "")
        marked = entry.model_copy(update={"overrule": word})
        made.append(decided(marked, "person", "a person removed it") if word == "remove" else marked)
    return made


def restored(entries: Sequence[Entry], benchmark: Benchmark) -> tuple[list[Entry], tuple[str, ...]]:
    """Returns the entries with what a person keeps, and with a seed where a place would be empty; and what to say."""
    made = [_kept_by_person(entry) if entry.overrule == "keep" and not entry.kept else entry for entry in entries]
    notes: list[str] = []
    for place in places_of(benchmark):
        if kept_of(made, place):
            continue
        seeds = [at for at, entry in enumerate(made) if entry.place == place and entry.is_seed]
        at = next((at for at in seeds if made[at].overrule != "remove"), seeds[0])
        seed = made[at]
        notes.append(f"{place}: nothing else is left, so the seed {seed.provenance.seed} stays ({seed.reason})")
        made[at] = _stays(seed, "last_in_subdimension", f"the last of its place; else: {seed.reason}")
    return made, tuple(notes)


def places_of(benchmark: Benchmark) -> list[str]:
    """Returns the places of a benchmark in order: its sub-dimensions, and its dimensions that have none."""
    return [
        f"{dimension.id}.{part.id}" if part else dimension.id
        for dimension in benchmark.dimensions
        for part in (dimension.subdimensions or (None,))
    ]


def _kept_by_person(entry: Entry) -> Entry:
    return _stays(entry, "person", f"a person keeps it; else: {entry.reason}")


def _stays(entry: Entry, why: Literal["last_in_subdimension", "person"], reason: str) -> Entry:
    stage: Stage = "person" if why == "person" else "limit"
    provenance = entry.provenance.model_copy(update={"kept": why})
    return decided(entry, stage, reason, "kept").model_copy(update={"provenance": provenance})


def _prompt(entries: Sequence[Entry], shown: Sequence[int], fixed: Sequence[str], benchmark: Benchmark) -> str:
    first = entries[shown[0]]
    part = part_of(benchmark, first.dimension, first.subdimension)
    return load_prompt("checklist-filter", benchmark.language).fill(
        domain=benchmark.domain,
        language=lexicon(benchmark.language).name,
        name=part.name,
        definition=part.definition,
        kept="\n".join(f"- {text}" for text in fixed) or "- none",
        questions="\n".join(f"{number}. {entries[at].text}" for number, at in enumerate(shown, start=1)),
    )
