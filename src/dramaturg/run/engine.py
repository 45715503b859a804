"""The engine: carries out the units of a study in one asyncio process.

There is no checkpoint: staging and judging are pure functions of the study and the replies, and the ledger
replays what was answered. To resume is to run again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from dramaturg.errors import LedgerError, LimitReached, UnitStopped, UserError
from dramaturg.ledger import Budget, Calls, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.bench import judge_by
from dramaturg.run.board import Board
from dramaturg.run.court import EMPTY_HOUSE, House, perform
from dramaturg.run.failure import bug_detail
from dramaturg.run.interrupt import interrupts
from dramaturg.run.material import Material
from dramaturg.run.progress import Progress, Silent
from dramaturg.run.recorded import recorded
from dramaturg.run.records import End, record_of, without_stage
from dramaturg.run.result import RunResult
from dramaturg.run.schedule import Schedule
from dramaturg.run.snapshot import check_folder, keep, snapshot_of
from dramaturg.run.spool import Spool, copy_file
from dramaturg.run.units import JudgeUnit, StageUnit, Unit, units_of
from dramaturg.stage.transcript import Transcript

SILENT = Silent()


async def run_study(
    material: Material,
    *,
    out: Path,
    ledger: Ledger,
    models: Models,
    budget: Budget,
    progress: Progress = SILENT,
    accept_changes: bool = False,
    replay_only: bool = False,
    house: House = EMPTY_HOUSE,
) -> RunResult:
    """Returns what became of every unit of a study; its files are written by then.

    Run it again to go on: what was answered is replayed, what failed or was left is carried out. A unit that
    fails is a record, never the end of the run. Budgets and Ctrl-C end the run cleanly, with a result.

    Args:
        material: The study, read and checked.
        out: Output folder, made where it is missing. ``transcripts.jsonl``, ``judgements.jsonl`` and
            ``units.jsonl`` are in plan order and replaced in one step at the end.
        ledger: Where every answer is kept.
        models: Opens the models; they are released after their last unit.
        budget: Counts and limits the new calls.
        progress: Shows what is going on.
        accept_changes: Whether the run may go on under other prompts, settings or another version.
        replay_only: Whether the ledger refuses new calls, so that no model, key or server need be there.
        house: Who is there to watch and to play.

    Raises:
        UserError: The folder belongs to another study or run, a model cannot be opened, or the disk is full.
        LedgerError: The ledger cannot be written; what was committed is kept.
    """
    if house.read is None and material.has_person:
        raise UserError("a person plays, and this run has nobody to ask", where=str(material.path))
    snapshot = snapshot_of(material)
    check_folder(out, snapshot, accept_changes=accept_changes)
    needed = material.models()
    budget.check_prices({spec: model.identity for spec, model in needed.items()})
    if replay_only:
        opened: dict[str, Model] = {spec: recorded(model, ledger) for spec, model in needed.items()}
    else:
        opened = {spec: await models.open(spec) for spec in needed}
    keep(out, snapshot)
    copy_file(material.path, out / "study.yaml")
    with (
        Spool(out / "transcripts.jsonl") as transcripts,
        Spool(out / "judgements.jsonl") as judgements,
        Spool(out / "units.jsonl") as records,
    ):
        run = _Run(material, ledger, models, opened, budget, house, transcripts, judgements)
        started = time.monotonic()
        await run.carry_out(progress)
        result = run.result(out, time.monotonic() - started)
        for position, record in enumerate(result.records):
            records.add(position, [record.model_dump_json()])
        for spool in (transcripts, judgements, records):
            spool.finish()
    return result


_INTERRUPTED = End("open", "interrupted", "the run was interrupted before this unit's end")


class _Run:
    """One run of one study."""

    def __init__(
        self,
        material: Material,
        ledger: Ledger,
        models: Models,
        opened: Mapping[str, Model],
        budget: Budget,
        house: House,
        transcripts: Spool,
        judgements: Spool,
    ) -> None:
        self._material = material
        self._ledger = ledger
        self._models = models
        self._opened = opened
        self._budget = budget
        self._house = house
        self._transcripts = transcripts
        self._judgements = judgements
        self._units = units_of(material)
        self._positions = {unit.id: position for position, unit in enumerate(self._units)}
        heavy = [spec for spec, model in material.models().items() if model.spec.local]
        self._schedule = Schedule(self._units, heavy=heavy)
        self._board = Board(len(self._units), budget, models)
        self._ends: dict[str, End] = {}
        self._running: dict[asyncio.Task[End], int] = {}
        self._one_stage = asyncio.Lock()
        self._interrupted = False
        self._limit: LimitReached | None = None

    async def carry_out(self, progress: Progress) -> None:
        """Carries out all units, as many at once as the study says; a display that breaks does not end the run."""
        display = asyncio.create_task(progress.show(self._board))
        try:
            with interrupts(self._interrupt):
                self._start_ready()
                while self._running:
                    finished, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                    for task in finished:
                        await self._close(self._running.pop(task), task.result())
                    self._start_ready()
        finally:
            display.cancel()
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)
            await asyncio.gather(display, return_exceptions=True)

    def result(self, out: Path, seconds: float) -> RunResult:
        """Returns what became of every unit."""
        limit = self._limit
        return RunResult(
            study=self._material.study.study,
            out=out,
            records=tuple(
                record_of(unit, self._ends.get(unit.id, _INTERRUPTED), protocol=self._material.study.protocol)
                for unit in self._units
            ),
            stop="interrupted" if self._interrupted else "limit" if limit is not None else "",
            limit=str(limit) if limit is not None else "",
            calls=self._budget.calls,
            replayed=self._budget.replayed,
            tokens=self._budget.tokens,
            seconds=seconds,
        )

    def _interrupt(self) -> None:
        self._interrupted = True
        for task in self._running:
            task.cancel()

    def _start_ready(self) -> None:
        while not self._interrupted and len(self._running) < self._material.study.concurrency:
            position = self._schedule.take()
            if position is None:
                return
            unit = self._units[position]
            self._board.open_units[unit.description] = time.monotonic()
            self._running[asyncio.create_task(self._ended(unit))] = position

    async def _close(self, position: int, end: End) -> None:
        """Keeps what a finished unit brought, and lets go of models that nobody needs any more."""
        unit = self._units[position]
        del self._board.open_units[unit.description]
        match unit:
            case StageUnit() if end.lines:
                self._transcripts.add(position, end.lines)
            case JudgeUnit() if end.lines:
                self._judgements.add(position, end.lines)
            case _:
                pass
        self._note(unit, end)
        needless = [*unit.models]
        for dependent in self._schedule.finish(position, has_result=end.status == "done"):
            orphan = self._units[dependent]
            self._note(orphan, without_stage(end))
            needless += orphan.models
        for spec in self._schedule.unneeded(needless):
            await self._models.release(spec)

    def _note(self, unit: Unit, end: End) -> None:
        self._ends[unit.id] = replace(end, lines=())  # the spool has them; memory must not grow with the run
        match end.status:
            case "done":
                self._board.done += 1
            case "failed" | "not_run":
                self._board.failed += 1
            case "open":
                pass
            case _:
                assert_never(end.status)

    async def _ended(self, unit: Unit) -> End:
        """Carries out one unit; whatever stops it is a value, but for a broken ledger."""
        seconds = self._material.study.unit_timeout_s
        clock = asyncio.timeout(None if _waits_for_person(unit) else seconds)
        try:
            async with clock:
                return End("done", lines=await self._lines(unit))
        except LedgerError:
            raise
        except LimitReached as limit:
            self._limit = self._limit or limit
            return End("open", f"limit:{limit.limit}", str(limit))
        except UnitStopped as stopped:
            return End("failed", stopped.kind, stopped.detail)
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            return _INTERRUPTED
        except Exception as problem:  # a fault of one unit must not end the others
            if clock.expired():
                return End("failed", "unit_timeout", f"took longer than unit_timeout_s={seconds:g}")
            return End("failed", "error", bug_detail(problem))

    async def _lines(self, unit: Unit) -> tuple[str, ...]:
        calls = self._ledger.calls(unit=unit.id, seed=self._material.study.seed, budget=self._budget)
        match unit:
            case StageUnit():
                transcript = await self._perform(unit, calls)
                return (transcript.model_dump_json(),)
            case JudgeUnit():
                (line,) = self._transcripts.lines(self._positions[unit.stage.id])
                bench = unit.bench
                transcript = Transcript.model_validate_json(line)
                judgements = await judge_by(bench, transcript, judge=self._opened[bench.model.spec.text], calls=calls)
                return tuple(judgement.model_dump_json() for judgement in judgements)

    async def _perform(self, unit: StageUnit, calls: Calls) -> Transcript:
        if self._house.audience is None and not _waits_for_person(unit):
            return await perform(unit, self._material.study, self._opened, calls, self._house)
        async with self._one_stage:  # people follow one performance at a time
            return await perform(unit, self._material.study, self._opened, calls, self._house)


def _waits_for_person(unit: Unit) -> bool:
    return isinstance(unit, StageUnit) and unit.staging.has_person
