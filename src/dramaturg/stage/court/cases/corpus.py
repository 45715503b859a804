"""Corpora: many cases from a few wishes, reproducible, resumable, without near-duplicates.

Each case has a unit of its own, made of wish, language, seed, its number and how often it was drawn. So the same plan
gives the same corpus, whatever the concurrency and wherever it was interrupted, and a larger one begins with the
smaller.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal, get_args

from dramaturg.errors import UnitStopped, UserError
from dramaturg.prompts import hashes
from dramaturg.stage.court.case import Case
from dramaturg.stage.court.cases.diversity import NEAR_DUPLICATE, case_names, case_tokens
from dramaturg.stage.court.cases.draft import Premise
from dramaturg.stage.court.cases.finding import Finding
from dramaturg.stage.court.cases.generating import PROMPTS, Generated
from dramaturg.stage.court.cases.template import NAME as TEMPLATE
from dramaturg.stage.court.cases.words import Language
from dramaturg.stage.court.cases.writing import case_yaml
from dramaturg.stage.diversity import Spread
from dramaturg.stage.made_before import figures_before
from dramaturg.text import Json, canonical_json, sha256, write_atomically

Status = Literal["kept", "rejected", "duplicate", "failed", "stopped"]
"""kept: in the corpus. rejected: errors remained. duplicate: too near to an earlier one, however often it was drawn.
failed: the model did not answer a form. stopped: an endpoint failed; asked again on the next run."""

STATUSES: tuple[Status, ...] = get_args(Status)
DRAWS = 3
"""How often a case is drawn, when it comes out as a near-duplicate."""

FILE = "corpus.json"

Author = Callable[[Premise, str], Awaitable[Generated]]
"""Writes one case; the text is the unit's id."""


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """What a corpus is made of.

    Attributes:
        priors: What the cases are about, by turns.
        count: How many cases are written.
        seed: Of the corpus.
        language: Of all cases.
        model: Who writes, for the record.
        critic: Who reads, for the record; empty where nobody does.
        repairs: Most rounds of repair.
    """

    priors: tuple[str, ...]
    count: int
    seed: int
    language: Language
    model: str
    critic: str
    repairs: int

    def prior(self, number: int) -> str:
        """Returns what a case is about."""
        return self.priors[(number - 1) % len(self.priors)] if self.priors else ""

    def unit(self, number: int, draw: int) -> str:
        """Returns the id of a case's unit."""
        made_of: dict[str, Json] = {
            "kind": "case",
            "prior": self.prior(number),
            "language": self.language,
            "seed": self.seed,
            "number": number,
            "draw": draw,
        }
        return sha256(canonical_json(made_of))[:20]

    def premise(self, number: int, draw: int) -> Premise:
        """Returns what is drawn for a case before a model is asked."""
        return Premise.draw(self.prior(number), self.language, number, Random(self.unit(number, draw)))

    def settings(self) -> dict[str, Json]:
        """Returns what must not change while a corpus grows."""
        return {
            "priors": list(self.priors),
            "seed": self.seed,
            "language": self.language,
            "model": self.model,
            "critic": self.critic,
            "repairs": self.repairs,
            "prompts": dict(hashes(PROMPTS, self.language)) if self.model != TEMPLATE else {},
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one case of a corpus.

    Attributes:
        number: Its position, from 1.
        prior: What it is about.
        status: See `Status`.
        id: The case's id; empty where there is none.
        file: Its file below the folder; empty where there is none.
        draws: How often it was drawn.
        at_once: Whether the first version had no error.
        repairs: Rounds of repair.
        findings: What is doubtful about it.
        detail: Why there is no case, or to which it is too near.
    """

    number: int
    prior: str
    status: Status
    id: str = ""
    file: str = ""
    draws: int = 1
    at_once: bool = False
    repairs: int = 0
    findings: tuple[Finding, ...] = ()
    detail: str = ""

    def as_json(self) -> dict[str, Json]:
        """Returns the entry as JSON."""
        return {
            "number": self.number,
            "prior": self.prior,
            "status": self.status,
            "id": self.id,
            "file": self.file,
            "draws": self.draws,
            "at_once": self.at_once,
            "repairs": self.repairs,
            "findings": [finding.as_json() for finding in self.findings],
            "detail": self.detail,
        }


@dataclass(slots=True)
class Corpus:
    """A corpus while it is made.

    Attributes:
        plan: What it is made of.
        entries: One for each case so far, in order.
        cases: Those that were kept.
        spread: Their words and names.
    """

    plan: CorpusPlan
    entries: list[Entry] = field(default_factory=list[Entry])
    cases: list[Case] = field(default_factory=list[Case])
    spread: Spread = field(default_factory=Spread)

    def figures(self) -> dict[str, int]:
        """Returns how many cases came to what: each status, and how many passed at once and by repair."""
        statuses = Counter(entry.status for entry in self.entries)
        kept = [entry for entry in self.entries if entry.status == "kept"]
        at_once = sum(entry.at_once for entry in kept)
        counts = {status: statuses[status] for status in STATUSES}
        return {
            "planned": self.plan.count,
            **counts,
            "passed_at_once": at_once,
            "passed_by_repair": len(kept) - at_once,
        }

    def as_json(self) -> dict[str, Json]:
        """Returns the corpus as it stands in its file; a complete one holds nothing that a rerun would change."""
        return {
            "settings": self.plan.settings(),
            "complete": len(self.entries) == self.plan.count and not self.figures()["stopped"],
            "figures": dict(self.figures()),
            "diversity": dict(self.spread.figures().as_json("cases")),
            "cases": [entry.as_json() for entry in self.entries],
        }


async def make_corpus(
    plan: CorpusPlan,
    folder: Path,
    author: Author,
    *,
    concurrency: int = 8,
    on_entry: Callable[[Entry], None] = lambda _: None,
) -> Corpus:
    """Makes a corpus, or goes on with it, and returns it; files are written as cases are decided, in order.

    ``FOLDER/cases`` gets the kept ones, ``FOLDER/rejected`` those in which errors remained, ``FOLDER/corpus.json`` what
    became of each, and the diversity of those that were kept.

    Args:
        plan: What it is made of.
        folder: Where it is written.
        author: Writes one case.
        concurrency: Most cases written at once.
        on_entry: Is told what became of each case.

    Raises:
        UserError: The folder holds a corpus of other settings, or a larger one.
        LimitReached: A budget is used up; what was decided is written.
        OSError: The folder cannot be written.
    """
    _check_folder(plan, folder)
    corpus = Corpus(plan)
    _write(corpus, folder)
    room = asyncio.Semaphore(concurrency)

    async def write_case(number: int, draw: int) -> Generated | UnitStopped:
        async with room:
            try:
                return await author(plan.premise(number, draw), plan.unit(number, draw))
            except UnitStopped as stopped:
                return stopped

    tasks = [asyncio.create_task(write_case(number, 1)) for number in range(1, plan.count + 1)]
    try:
        for number, task in enumerate(tasks, start=1):
            entry = await _decide(corpus, folder, number, await task, write_case)
            corpus.entries.append(entry)
            on_entry(entry)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        _write(corpus, folder)
    return corpus


async def _decide(
    corpus: Corpus,
    folder: Path,
    number: int,
    made: Generated | UnitStopped,
    again: Callable[[int, int], Awaitable[Generated | UnitStopped]],
) -> Entry:
    """Returns what becomes of a case, and writes it; a near-duplicate is drawn again."""
    prior = corpus.plan.prior(number)
    draw = 1
    while True:
        if isinstance(made, UnitStopped):
            return Entry(number, prior, "stopped", draws=draw, detail=str(made))
        if made.case is None:
            return Entry(number, prior, "failed", draws=draw, detail=made.failure)
        words = case_tokens(made.case)
        nearest = corpus.spread.nearest(words)
        if nearest is None or nearest[1] >= NEAR_DUPLICATE:
            break
        if draw == DRAWS:
            near = f"{nearest[1]:.2f} from {corpus.cases[nearest[0]].id}"
            return Entry(number, prior, "duplicate", made.case.id, draws=draw, detail=near)
        draw += 1
        made = await again(number, draw)
    status: Status = "kept" if made.passes else "rejected"
    file = f"{'cases' if status == 'kept' else 'rejected'}/{made.case.id}.yaml"
    write_atomically(folder / file, case_yaml(made.case))
    if status == "kept":
        corpus.cases.append(made.case)
        corpus.spread.add(words, case_names(made.case))
    return Entry(
        number, prior, status, made.case.id, file, draw, made.at_once and made.passes, made.repairs, made.findings
    )


def _check_folder(plan: CorpusPlan, folder: Path) -> None:
    before = figures_before(folder / FILE, plan.settings(), kind="corpus")
    planned = before.get("planned", 0) if before is not None else 0
    if planned > plan.count:
        raise UserError(f"holds a corpus of {planned} cases", where=str(folder), allowed=f"-n {planned} or more")


def _write(corpus: Corpus, folder: Path) -> None:
    text = json.dumps(corpus.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    write_atomically(folder / FILE, f"{text}\n")
