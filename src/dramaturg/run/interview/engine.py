"""The engine of an interview: one call per item, many in flight, every reply committed before it is used.

There is no checkpoint: the ledger replays what was answered. To resume is to run again.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import LimitReached, UnitStopped
from dramaturg.ledger import Budget, Calls, Ledger
from dramaturg.ledger.keys import derive_seed
from dramaturg.model import Asked, Model, Sampling
from dramaturg.model.opening import Models
from dramaturg.model.request import chain_hashes
from dramaturg.run.board import Board
from dramaturg.run.crew import Crew
from dramaturg.run.interview.material import InterviewMaterial, interview_snapshot
from dramaturg.run.interview.reply_row import ReplyRow
from dramaturg.run.interview.units import InterviewUnit, interview_units
from dramaturg.run.progress import Progress, Silent
from dramaturg.run.recorded import recorded
from dramaturg.run.records import UnitRecord
from dramaturg.run.result import Stop, advice, exit_code
from dramaturg.run.snapshot import check_folder, keep
from dramaturg.run.spool import Spool, copy_file, writing
from dramaturg.stage.interview import asked_as, item_digest, write_item_set

REPLIES = "replies.jsonl"
UNITS = "units.jsonl"
ITEM_SET = "item-set"
"""Folder of the run that holds the item set as it was asked."""

SILENT = Silent()


@dataclass(frozen=True, slots=True)
class InterviewResult:
    """What became of an interview.

    Attributes:
        study: Name of the study.
        out: The output folder.
        planned: Calls that the study takes.
        answered: How many have a reply.
        failed: How many have none because of the endpoint, by reason.
        stop: Why the run stopped before its end.
        limit: The limit that was reached, with what it said; empty when none was.
        calls: New calls.
        replayed: Calls that the ledger answered.
        tokens: Tokens of the new calls.
        seconds: How long this run took.
    """

    study: str
    out: Path
    planned: int
    answered: int
    failed: Counter[str]
    stop: Stop
    limit: str
    calls: int
    replayed: int
    tokens: int
    seconds: float

    @property
    def exit_code(self) -> int:
        """0 fine, 2 some calls failed, 3 limit reached, 130 interrupted."""
        return exit_code(self.stop, failed=bool(self.failed))

    @property
    def advice(self) -> str:
        """One line that says how to go on; empty when everything is done."""
        return advice(self.stop, self.limit, done=self.answered, planned=self.planned, what="replies")


async def run_interview(
    material: InterviewMaterial,
    *,
    out: Path,
    ledger: Ledger,
    models: Models,
    budget: Budget,
    progress: Progress = SILENT,
    accept_changes: bool = False,
    replay_only: bool = False,
) -> InterviewResult:
    """Returns what became of every item; ``replies.jsonl`` and ``units.jsonl`` are written by then.

    Run it again to go on: what was answered is replayed, what failed or was left is asked. A call that fails is a row,
    never the end of the run. Budgets and Ctrl-C end the run cleanly, with a result.

    Args:
        material: The study, read and checked.
        out: Output folder, made where it is missing; the item set is kept there for the report.
        ledger: Where every answer is kept.
        models: Opens the models; each is released after its last item.
        budget: Counts and limits the new calls.
        progress: Shows what is going on.
        accept_changes: Whether the run may go on under other prompts, settings or another version.
        replay_only: Whether the ledger refuses new calls, so that no model, key or server need be there.

    Raises:
        UserError: The folder belongs to another study or run, a model cannot be opened, or the disk is full.
        LedgerError: The ledger cannot be written; what was committed is kept.
    """
    snapshot = interview_snapshot(material)
    check_folder(out, snapshot, accept_changes=accept_changes)
    budget.check_prices({spec: model.identity for spec, model in material.models().items()})
    opened: dict[str, Model] = {}
    for spec, model in material.models().items():
        opened[spec] = recorded(model, ledger) if replay_only else await models.open(spec)
    keep(out, snapshot)
    copy_file(material.path, out / "study.yaml")
    with writing(out / ITEM_SET):
        write_item_set(out / ITEM_SET, material.item_set)
    with Spool(out / REPLIES) as replies, Spool(out / UNITS) as records:
        run = _Run(material, ledger, models, budget, replies, records)
        await run.carry_out(opened, progress)
        replies.finish()
        records.finish()
    return run.result(out)


@dataclass(slots=True)
class _Begun:
    """A unit that is being carried out.

    Attributes:
        unit: The unit.
        calls: Through which it asks; all that it was answered before is loaded.
        lines: The row of each item; empty where it is not there yet.
        left: How many rows are not there yet.
        failed: How the first call failed that did.
    """

    unit: InterviewUnit
    calls: Calls
    lines: list[str]
    left: int
    failed: UnitStopped | None = None


class _Run:
    """One run of one interview."""

    def __init__(
        self,
        material: InterviewMaterial,
        ledger: Ledger,
        models: Models,
        budget: Budget,
        replies: Spool,
        records: Spool,
    ) -> None:
        study = material.study
        self._material = material
        self._ledger = ledger
        self._models = models
        self._budget = budget
        self._replies = replies
        self._records = records
        self._sampling = Sampling(temperature=study.temperature, max_tokens=study.max_tokens)
        self._characters = material.item_set.characters
        self._digests = {item.id: item_digest(item, self._characters.get(item.character)) for item in material.items}
        self._board = Board(material.planned, budget, models)
        self._begun: dict[int, _Begun] = {}
        self._failed: Counter[str] = Counter()
        self._limit: LimitReached | None = None
        self._stop: Stop = ""
        self._started = time.monotonic()

    async def carry_out(self, opened: Mapping[str, Model], progress: Progress) -> None:
        """Asks every item, one subject after the other; what was answered by then is spooled in any case."""
        concurrency = self._material.study.concurrency
        async with Crew(progress, self._board) as crew:
            of_subjects = itertools.groupby(interview_units(self._material), lambda unit: unit.subject)
            for subject, units in of_subjects:
                if not (crew.interrupted or self._limit):
                    work, model = self._work(units), opened[subject.spec.text]
                    await crew.work(lambda work=work, model=model: self._worker(work, model), concurrency)
                    await self._models.release(subject.spec.text)
                for unit in units:  # what nobody came to
                    self._records.add(unit.position, [self._record(unit, None).model_dump_json()])
            self._stop = "interrupted" if crew.interrupted else "limit" if self._limit else ""
        for begun in [*self._begun.values()]:
            self._end(begun)

    def result(self, out: Path) -> InterviewResult:
        """Returns what became of every item."""
        return InterviewResult(
            study=self._material.study.study,
            out=out,
            planned=self._board.units,
            answered=self._board.done,
            failed=self._failed,
            stop=self._stop,
            limit=str(self._limit) if self._limit is not None else "",
            calls=self._budget.calls,
            replayed=self._budget.replayed,
            tokens=self._budget.tokens,
            seconds=time.monotonic() - self._started,
        )

    def _work(self, units: Iterator[InterviewUnit]) -> Iterator[tuple[_Begun, int]]:
        """Yields every item of units with its place; a unit begins when its first item is taken."""
        seed = self._material.study.seed
        for unit in units:
            calls = self._ledger.calls(unit=unit.id, seed=seed, budget=self._budget)
            begun = self._begun[unit.position] = _Begun(unit, calls, [""] * len(unit.items), len(unit.items))
            for index in range(len(unit.items)):
                yield begun, index

    async def _worker(self, work: Iterator[tuple[_Begun, int]], model: Model) -> None:
        while self._limit is None:
            taken = next(work, None)
            if taken is None:
                return
            await self._ask(*taken, model)

    async def _ask(self, begun: _Begun, index: int, model: Model) -> None:
        """Asks one item and keeps its row; a call that the endpoint failed has a row that says so."""
        unit, calls, study = begun.unit, begun.calls, self._material.study
        item = unit.items[index]
        character = asked_as(item, self._characters, study.condition, study.seed)
        messages = unit.asking.messages(item, character)
        step = f"item/{item.id}"
        label = f"{item.id}, {unit.subject.label}, {unit.asking.strategy.name}, repeat {unit.repeat}"
        self._board.open_units[label] = time.monotonic()
        try:
            answer: Asked | UnitStopped = await calls.ask(
                model,
                messages,
                step=step,
                role="character",
                purpose=item.category,
                sampling=self._sampling,
                schema=unit.asking.schema(item),
                labels={"item": item.id, "character": item.character},
            )
            self._board.done += 1
        except LimitReached as limit:
            self._limit = self._limit or limit
            return
        except UnitStopped as stopped:
            self._failed[stopped.kind] += 1
            self._board.failed += 1
            begun.failed = begun.failed or stopped
            answer = stopped
        finally:
            del self._board.open_units[label]
        reply = answer.reply if isinstance(answer, Asked) else None
        row = ReplyRow(
            set=self._material.item_set.id,
            item=item.id,
            character=item.character,
            asked_as=character.id if character is not None else "",
            category=item.category,
            item_digest=self._digests[item.id],
            subject=unit.subject.label,
            subject_model=unit.subject.written,
            strategy=unit.asking.strategy.name,
            form=unit.asking.form,
            condition=study.condition,
            repeat=unit.repeat,
            seed=derive_seed(study.seed, unit.id, step, 0),
            prompt=chain_hashes(messages)[-1],
            status="failed" if reply is None else reply.status,
            failure=answer.kind if isinstance(answer, UnitStopped) else "",
            text=None if reply is None else reply.text,
            reasoning=reply is not None and bool(reply.reasoning),
            call=answer.key if isinstance(answer, Asked) else "",
        )
        begun.lines[index] = row.model_dump_json()
        begun.left -= 1
        if not begun.left:
            self._end(begun)

    def _end(self, begun: _Begun) -> None:
        position = begun.unit.position
        del self._begun[position]
        self._replies.add(position, [line for line in begun.lines if line])
        self._records.add(position, [self._record(begun.unit, begun).model_dump_json()])

    def _record(self, unit: InterviewUnit, begun: _Begun | None) -> UnitRecord:
        """Returns what became of a unit; `begun` is None where nothing of it was asked."""
        if begun is not None and begun.failed is not None:
            return unit.record("failed", begun.failed.kind, begun.failed.detail)
        if begun is not None and not begun.left:
            return unit.record("done")
        if self._limit is not None:
            return unit.record("open", f"limit:{self._limit.limit}", str(self._limit))
        return unit.record("open", "interrupted", "the run was interrupted before this unit's end")
