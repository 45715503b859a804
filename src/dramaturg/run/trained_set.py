"""The test split of a data set before a base and a tuned model, one after the other; to resume is to run again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dramaturg import __version__
from dramaturg.errors import LimitReached, UnitStopped, UserError
from dramaturg.files import read_jsonl, read_text
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.board import Board
from dramaturg.run.crew import Crew
from dramaturg.run.material import NamedModel
from dramaturg.run.progress import Progress
from dramaturg.run.recorded import open_judge
from dramaturg.run.result import Stop
from dramaturg.run.snapshot import Snapshot, check_folder, keep
from dramaturg.run.spool import Spool
from dramaturg.run.trained import BeforeAfter, Pair, TrainedOn
from dramaturg.run.units import unit_id
from dramaturg.text import canonical_json, sha256
from dramaturg.train.comparing import Marks
from dramaturg.train.comparing_scores import Outcome, drawn, mark, tables_of, why_unasked
from dramaturg.train.example import Example, ExampleRow, Kind

TEST = "test.jsonl"
ANSWERS = "answers.jsonl"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What both models are asked.

    Attributes:
        path: The file of the split.
        kind: What is learned by such a set.
        examples: What is asked.
        left_out: Why the others are not → how many.
        seed: Of the drawing and of all calls.
        snapshot: What the comparison is made with.
    """

    path: Path
    kind: Kind
    examples: tuple[Example, ...]
    left_out: Mapping[str, int]
    seed: int
    snapshot: Snapshot


def held_out(folder: Path, pair: Pair, known: TrainedOn, *, sample: int | None, seed: int) -> HeldOut:
    """Returns the examples of a test split that neither model was trained on; nothing is asked.

    Args:
        folder: Of the data set.
        pair: Who is compared.
        known: What they were trained on.
        sample: Most examples, drawn from the scenes in turn; None for all.
        seed: Of the drawing and of all calls.

    Raises:
        UserError: There is no test split, it holds several kinds, or nothing of it is held out.
        ContentError: A line is broken.
    """
    path = folder / TEST
    if not path.is_file():
        raise UserError(
            f"holds no {TEST}", where=str(folder), allowed="a set of dramaturg train data with --test above 0"
        )
    examples = [row.example for _, row in read_jsonl(path, ExampleRow)]
    kinds = sorted({example.kind for example in examples})
    if len(kinds) != 1:
        held = ", ".join(kinds) or "nothing"
        raise UserError(f"holds {held}", where=str(path), allowed="examples of one kind")
    kind: Kind = examples[0].kind
    left_out = Counter[str]()
    asked: list[Example] = []
    for example in examples:
        why = why_unasked(example)
        if not known.ids.isdisjoint({example.scene, example.transcript, example.source}):
            why = "its scene or its transcript was trained on"
        if why:
            left_out[why] += 1
        else:
            asked.append(example)
    if not asked:
        reasons = "; ".join(f"{why} ({count})" for why, count in left_out.items())
        raise UserError(
            f"nothing of it is held out: {reasons}", where=str(path), allowed="scenes that neither model knows"
        )
    if sample is not None and sample < len(asked):
        chosen = drawn(asked, sample, seed)
        left_out["not drawn (--sample)"] = len(asked) - len(chosen)
        asked = chosen
    entries = {"version": __version__, "seed": str(seed), "sample": str(sample or 0), "kind": kind}
    entries |= {"data": sha256(read_text(path)), "base": pair.base.key, "tuned": pair.tuned.key}
    snapshot = Snapshot(f"train compare {kind}", entries, {})
    return HeldOut(path, kind, tuple(asked), left_out, seed, snapshot)


@dataclass(slots=True)
class SetComparison:
    """The comparison of two models on a test split; nothing is asked before it is carried out.

    Attributes:
        asked: What is asked.
        pair: Whom.
        models: Opens them.
        ledger: Where every answer is kept.
        budget: Counts and limits the new calls.
        replay_only: Whether the models need not be there.
    """

    asked: HeldOut
    pair: Pair
    models: Models
    ledger: Ledger
    budget: Budget
    replay_only: bool = False
    _marks: dict[tuple[int, int], Marks] = field(init=False, default_factory=dict[tuple[int, int], Marks])
    _failed: Counter[str] = field(init=False, default_factory=Counter[str])
    _limit: LimitReached | None = field(init=False, default=None)

    async def carry_out(
        self, out: Path, *, concurrency: int, progress: Progress, accept_changes: bool = False
    ) -> BeforeAfter:
        """Returns before and after; ``answers.jsonl`` holds every answer with its marks by then.

        Args:
            out: Output folder.
            concurrency: Most examples at once.
            progress: Shows what is going on.
            accept_changes: Whether another version or other data than the folder's are fine.

        Raises:
            UserError: A model cannot be opened, the folder holds something else, or the disk is full.
            LedgerError: The ledger cannot be written.
        """
        started = time.monotonic()
        check_folder(out, self.asked.snapshot, accept_changes=accept_changes)
        self.budget.check_prices({one.spec.text: one.identity for one in self.pair.models})
        planned = 2 * len(self.asked.examples)
        board = Board(planned, self.budget, self.models)
        keep(out, self.asked.snapshot)
        async with Crew(progress, board) as crew:
            for side, named in enumerate(self.pair.models):
                if crew.interrupted or self._limit is not None:
                    break
                model = await open_judge(named, self.models, self.ledger, replay_only=self.replay_only)
                work = iter(enumerate(self.asked.examples))
                await crew.work(lambda w=work, s=side, m=model: self._worker(w, s, m, board), concurrency)
                await self.models.release(named.spec.text)
        self._write(out)
        stop: Stop = "interrupted" if crew.interrupted else "limit" if self._limit is not None else ""
        return BeforeAfter(
            kind=self.asked.kind,
            on=str(self.asked.path),
            base=self.pair.base.label,
            tuned=self.pair.tuned.label,
            tables=() if stop else tables_of(self.asked.kind, list(self._outcomes())),
            left_out=self.asked.left_out,
            notes=tuple(f"not answered: {why} × {count}" for why, count in sorted(self._failed.items())),
            planned=planned,
            done=len(self._marks),
            calls=self.budget.calls,
            replayed=self.budget.replayed,
            seconds=time.monotonic() - started,
            stop=stop,
            limit=str(self._limit) if self._limit is not None else "",
        )

    async def _worker(self, work: Iterator[tuple[int, Example]], side: int, model: Model, board: Board) -> None:
        for place, example in work:
            if self._limit is not None:
                return
            label = f"example {place + 1} by {self.pair.models[side].label}"
            board.open_units[label] = time.monotonic()
            # Both models share the unit, so that they are asked with the same seeds.
            unit = unit_id("train-compare", example=example.id)
            calls = self.ledger.calls(unit=unit, seed=self.asked.seed, budget=self.budget)
            try:
                self._marks[place, side] = await mark(example, model, calls)
                board.done += 1
            except LimitReached as limit:
                self._limit = self._limit or limit
            except UnitStopped as stopped:
                self._failed[f"{self.pair.models[side].label}: {stopped.kind}"] += 1
                board.failed += 1
            finally:
                del board.open_units[label]

    def _outcomes(self) -> Iterator[Outcome]:
        for place, example in enumerate(self.asked.examples):
            base, tuned = (self._marks.get((place, side), Marks(missing="not answered")) for side in (0, 1))
            yield Outcome(example, base, tuned)

    def _write(self, out: Path) -> None:
        with Spool(out / ANSWERS) as answers:
            for place, example in enumerate(self.asked.examples):
                lines = [
                    _line(example, named, marks)
                    for side, named in enumerate(self.pair.models)
                    if (marks := self._marks.get((place, side))) is not None
                ]
                answers.add(place, lines)
            answers.finish()


def _line(example: Example, named: NamedModel, marks: Marks) -> str:
    return canonical_json(
        {
            "example": example.id,
            "scene": example.scene,
            "purpose": example.purpose,
            "model": named.label,
            "values": dict(marks.values),
            "missing": marks.missing,
            "text": marks.text,
            "wanted": example.answer,
            "calls": list(marks.calls),
        }
    )
