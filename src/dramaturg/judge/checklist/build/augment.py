"""Stage 2: a model makes more questions of each seed, by diversification and by elaboration.

Source: RPA-Check, section 3.1, stage 2. One call for each seed and strategy, and one more for a seed of which little
came, in one ledger unit for each seed, so that another seed asks nothing again. What an endpoint fails to give is a
value: the seed then stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.errors import UnitStopped
from dramaturg.judge.checklist.benchmark import Benchmark, Seed
from dramaturg.judge.checklist.build.account import Entry, decided
from dramaturg.judge.checklist.build.cleaning import NUMBER, WHY, Cleaned, clean
from dramaturg.judge.checklist.build.lexicon import lexicon
from dramaturg.judge.checklist.build.replies import LEAST_PARTS, MOST_PARTS, Diversified, Elaborated, Translated
from dramaturg.judge.checklist.build.rules import cast_of, findings, same_words
from dramaturg.judge.checklist.checklist import Dimension, Provenance, Subdimension
from dramaturg.ledger import Calls
from dramaturg.model import Message, Model
from dramaturg.model.request import Sampling
from dramaturg.prompts import load_prompt

Augmentation = Literal["diversification", "elaboration"]
AUGMENTATIONS: tuple[Augmentation, ...] = ("diversification", "elaboration")

_PROMPT_OF: dict[Augmentation, str] = {"diversification": "checklist-diversify", "elaboration": "checklist-elaborate"}

_AGAIN = "checklist-again"
"""For a model that wrote little of use: shorter, and with a person's questions to copy the form of.

Not the model's own answer with what is wrong in it: a small model writes the same words again when it sees them.
"""

PROMPTS = (_AGAIN, "checklist-diversify", "checklist-elaborate", "checklist-filter", "checklist-translate")
"""Prompts of a build, for records."""

WRITING = Sampling(temperature=0.5, max_tokens=900)
_TRANSLATING = Sampling(temperature=0.0, max_tokens=200)
_SHOWN_CHARACTERS = 300
_PATTERNS = 6


@dataclass(frozen=True, slots=True)
class Augmented:
    """What became of one seed.

    Attributes:
        entries: The seed first, then what was made of it; what is no question is in it as removed.
        notes: What failed, in one line each.
    """

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Written:
    """A question as a model wrote it."""

    text: str
    number: str = ""


async def augment(benchmark: Benchmark, seed: Seed, model: Model, calls: Calls) -> Augmented:
    """Returns a seed with what a model made of it.

    Args:
        benchmark: What the seed belongs to.
        seed: The seed.
        model: Who writes.
        calls: Of the seed's unit.

    Raises:
        LimitReached: A budget is used up.
        LedgerError: An answer cannot be committed.
    """
    try:
        entry, problem = await _in_language(benchmark, seed, model, calls)
    except UnitStopped as stopped:
        entry, problem = _seed_entry(seed), _told(stopped)
    if problem:
        return Augmented((entry,), (f"seed {seed.id} stands alone, untranslated: {problem}",))
    writing = _Writing(benchmark, seed, entry.text, model, calls)
    entries = [entry]
    notes: list[str] = []

    async def write(strategy: Augmentation, prompt: str, step: str) -> None:
        try:
            made, problem = await writing.carry_out(strategy, prompt, step, entries)
        except UnitStopped as stopped:
            made, problem = [], _told(stopped)
        if problem:
            notes.append(f"seed {seed.id}: {step} gave nothing: {problem}")
        entries.extend(made)

    for strategy in AUGMENTATIONS:
        await write(strategy, _PROMPT_OF[strategy], strategy)
    if len(entries) > 1 and writing.fit(entries) < LEAST_PARTS:
        await write("diversification", _AGAIN, "again")
    if len(entries) == 1:
        notes.append(f"seed {seed.id} stands alone")
    return Augmented(tuple(entries), tuple(notes))


def writer_of(model: Model) -> str:
    """Returns how provenance names a model."""
    return f"{model.identity.provider}:{model.identity.name}"


def _told(stopped: UnitStopped) -> str:
    return f"the model could not be asked ({stopped})"


def part_of(benchmark: Benchmark, dimension: str, subdimension: str | None) -> Dimension | Subdimension:
    """Returns the sub-dimension of a place, or the dimension that has no parts."""
    whole = next(one for one in benchmark.dimensions if one.id == dimension)
    return next((part for part in whole.subdimensions if part.id == subdimension), whole)


def _seed_entry(seed: Seed) -> Entry:
    return Entry(
        text=seed.text,
        dimension=seed.dimension,
        subdimension=seed.subdimension,
        provenance=Provenance(seed=seed.id, strategy="seed"),
    )


async def _in_language(benchmark: Benchmark, seed: Seed, model: Model, calls: Calls) -> tuple[Entry, str]:
    """Returns the seed's entry in the benchmark's language, or as it is with the problem."""
    entry = _seed_entry(seed)
    source = seed.language or benchmark.language
    if source == benchmark.language:
        return entry, ""
    target = lexicon(benchmark.language)
    prompt = load_prompt("checklist-translate", benchmark.language).fill(
        source=lexicon(source).name, target=target.name, question=seed.text
    )
    answer = await calls.ask_structured(
        model,
        [Message("user", prompt)],
        Translated,
        step="translate",
        role="writer",
        purpose="translation",
        sampling=_TRANSLATING,
    )
    if answer.value is None:
        return entry, answer.detail
    cleaned = clean(answer.value.question, target, prompt="", seed=seed.text)
    if not isinstance(cleaned, Cleaned):
        return entry, WHY[cleaned]
    made = {"translated_from": source, "model": writer_of(model)}
    return entry.model_copy(update={"text": cleaned.text, "provenance": entry.provenance.model_copy(update=made)}), ""


def _about(benchmark: Benchmark, seed: Seed) -> str:
    """Returns the names of the roles that a seed is about."""
    judged = [role for role in benchmark.roles if role.played_by == "model"]
    return ", ".join(role.name for role in judged if not seed.roles or role.id in seed.roles)


@dataclass(frozen=True, slots=True)
class _Writing:
    """One seed, and the model that makes more of it.

    Attributes:
        benchmark: What the seed belongs to.
        seed: The seed.
        text: Its text in the benchmark's language.
        model: Who writes.
        calls: Of the seed's unit.
    """

    benchmark: Benchmark
    seed: Seed
    text: str
    model: Model
    calls: Calls

    async def carry_out(
        self, strategy: Augmentation, prompt: str, step: str, before: Sequence[Entry]
    ) -> tuple[list[Entry], str]:
        """Returns what the model wrote when it was asked by a prompt of this name, and why there is nothing."""
        chat = (Message("user", self._filled(prompt)),)
        if strategy == "diversification":
            told = await self.calls.ask_structured(
                self.model, chat, Diversified, step=step, role="writer", purpose=strategy, sampling=WRITING
            )
            written = [_Written(text) for text in told.value.questions] if told.value else []
            return self._entries(written, strategy, prompt, chat[0].text, before), told.detail
        parts = await self.calls.ask_structured(
            self.model, chat, Elaborated, step=step, role="writer", purpose=strategy, sampling=WRITING
        )
        written = [_Written(part.question, part.number) for part in parts.value.questions] if parts.value else []
        return self._entries(written, strategy, prompt, chat[0].text, before), parts.detail

    def fit(self, entries: Sequence[Entry]) -> int:
        """Returns how many questions beside the seed no rule speaks against."""
        words, cast = lexicon(self.benchmark.language), cast_of(self.benchmark)
        return sum(
            entry.kept and not entry.is_seed and not findings(entry.text, words, cast, roles=self.seed.roles)
            for entry in entries
        )

    def _filled(self, prompt: str) -> str:
        benchmark, seed = self.benchmark, self.seed
        part = part_of(benchmark, seed.dimension, seed.subdimension)
        people = [role.name for role in benchmark.roles if role.played_by == "human"]
        common = {
            "domain": benchmark.domain,
            "language": lexicon(benchmark.language).name,
            "people": ", ".join(people) or "nobody",
            "name": part.name,
            "definition": part.definition,
            "about": _about(benchmark, seed),
            "seed": self.text,
        }
        template = load_prompt(prompt, benchmark.language)
        if prompt == _AGAIN:
            return template.fill(**common, patterns="\n".join(f"- {text}" for text in self._patterns()))
        judged = [role for role in benchmark.roles if role.played_by == "model"]
        shown = "\n".join(benchmark.examples)
        return template.fill(
            **common,
            roles="\n".join(f"- {role.name}: {role.duties}" for role in judged),
            truth=benchmark.ground_truth,
            examples=f"\nExamples of conduct:\n{shown}\n" if shown else "",
        )

    def _patterns(self) -> list[str]:
        """Returns seeds of other places, whose form a model is to copy: a person's own words do it best."""
        seed = self.seed
        others = [
            other.text
            for other in self.benchmark.seeds
            if (other.dimension, other.subdimension) != (seed.dimension, seed.subdimension)
            and other.language in {None, self.benchmark.language}
        ]
        return others[:: max(1, len(others) // _PATTERNS)][:_PATTERNS] or ["none"]

    def _entries(
        self,
        written: Sequence[_Written],
        strategy: Augmentation,
        prompt: str,
        told_it: str,
        before: Sequence[Entry],
    ) -> list[Entry]:
        """Returns an entry for each question that a model wrote; what is none is removed, with its reason."""
        made: list[Entry] = []
        words = lexicon(self.benchmark.language)
        instructions = "\n".join([load_prompt(prompt, self.benchmark.language).text, *self.benchmark.examples])
        numbers = {entry.provenance.number for entry in before if entry.provenance.strategy == strategy} - {""}
        told = {same_words(entry.text) for entry in before}
        for one in written:
            cleaned = clean(one.text, words, prompt=told_it, seed=self.text, instructions=instructions)
            provenance = Provenance(
                seed=self.seed.id, strategy=strategy, parent=self.seed.id, model=writer_of(self.model)
            )
            entry = Entry(
                text=cleaned.text if isinstance(cleaned, Cleaned) else " ".join(one.text.split())[:_SHOWN_CHARACTERS],
                dimension=self.seed.dimension,
                subdimension=self.seed.subdimension,
                provenance=provenance,
            )
            if not isinstance(cleaned, Cleaned):
                made.append(decided(entry, "augmentation", WHY[cleaned]))
                continue
            if same_words(cleaned.text) in told:
                made.append(decided(entry, "augmentation", WHY["repeats_sibling"]))
                continue
            if sum(done.kept for done in made) == MOST_PARTS:
                made.append(decided(entry, "augmentation", f"more than {MOST_PARTS} were written"))
                continue
            told.add(same_words(cleaned.text))
            if strategy == "elaboration":
                number = _number(one.number, cleaned.number, numbers)
                numbers.add(number)
                above = number.rpartition(".")[0]
                placed = {"number": number, "parent": above if above in numbers else self.seed.id}
                provenance = provenance.model_copy(update=placed)
            made.append(entry.model_copy(update={"provenance": provenance}))
        return made


def _number(given: str, inside: str, used: set[str]) -> str:
    """Returns a number of its own for a sub-question: as the model gave it where that can be, else the next one."""
    for text in (given, inside):
        found = NUMBER.search(text)
        if found is not None and found[0] not in used and not re.search(r"\b0", found[0]):
            return found[0]
    return str(max((int(number.partition(".")[0]) for number in used), default=0) + 1)
