"""A sitting: every transcript of a file before every judge, one judge after the other: few models are loaded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from dramaturg.ledger import Budget, Calls, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.board import Board
from dramaturg.run.crew import Crew
from dramaturg.run.material import NamedModel
from dramaturg.run.progress import Progress
from dramaturg.run.recorded import open_judge
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.result import RunResult
from dramaturg.run.snapshot import Snapshot, keep
from dramaturg.run.spool import Spool, copy_file
from dramaturg.run.transcripts import read_transcripts
from dramaturg.stage.transcript import Transcript

TRANSCRIPTS = "transcripts.jsonl"
UNITS = "units.jsonl"

_INTERRUPTED = End("open", "interrupted", "interrupted before this transcript's end")


class Bench(Protocol):
    """A judge, by what it judges, and how it is asked."""

    @property
    def model(self) -> NamedModel:
        """Who judges."""
        ...

    @property
    def label(self) -> str:
        """What progress calls it."""
        ...


BenchT = TypeVar("BenchT", bound=Bench)


class Docket(Protocol[BenchT]):
    """What is put before whom, and how it is asked and recorded."""

    @property
    def transcripts(self) -> Path:
        """The file."""
        ...

    @property
    def count(self) -> int:
        """How many transcripts there are."""
        ...

    @property
    def benches(self) -> Sequence[BenchT]:
        """Who judges."""
        ...

    @property
    def seed(self) -> int:
        """Of all calls."""
        ...

    @property
    def snapshot(self) -> Snapshot:
        """What it is made with."""
        ...

    @property
    def answers(self) -> str:
        """Name of the file that the answers go to."""
        ...

    def unit(self, transcript: Transcript, bench: BenchT) -> str:
        """Returns the id of the unit that one transcript before one judge is."""
        ...

    async def asked(
        self, transcript: Transcript, bench: BenchT, *, judge: Model, calls: Calls
    ) -> Sequence[BaseModel] | End:
        """Returns the answers, or how it ended without any."""
        ...

    def record(self, transcript: Transcript, bench: BenchT, end: End) -> UnitRecord:
        """Returns the record of the unit that ended so."""
        ...


@dataclass(slots=True)
class Sitting(Generic[BenchT]):
    """One sitting; nothing is asked before it is carried out.

    Attributes:
        docket: What is put before whom.
        models: Opens the judges.
        ledger: Where every answer is kept.
        budget: Counts and limits the new calls.
        replay_only: Whether the judges need not be there.
        limit: The first limit that was reached; None where none was.
    """

    docket: Docket[BenchT]
    models: Models
    ledger: Ledger
    budget: Budget
    replay_only: bool = False
    limit: End | None = field(init=False, default=None)

    async def carry_out(self, out: Path, *, concurrency: int, progress: Progress) -> RunResult:
        """Returns what became of every transcript before every judge; the file of answers is written by then.

        Ctrl-C ends it cleanly, with a result. A failure before the first call leaves the folder as it was.

        Args:
            out: Output folder; a copy of the transcripts is put there for the report.
            concurrency: Most transcripts judged at once.
            progress: Shows what is going on.

        Raises:
            UserError: A judge cannot be opened, or the disk is full.
            LedgerError: The ledger cannot be written.
        """
        started = time.monotonic()
        docket = self.docket
        for bench in docket.benches:
            await self._judge(bench)
        keep(out, docket.snapshot)
        board = Board(docket.count * len(docket.benches), self.budget, self.models)
        with Spool(out / docket.answers) as answers, Spool(out / UNITS) as units:

            def keep_record(position: int, record: UnitRecord) -> None:
                units.add(position, [record.model_dump_json()])

            async with Crew(progress, board) as crew:
                records = await self.hold(crew, board, answers, concurrency=concurrency, on_record=keep_record)
            answers.finish()
            units.finish()
        if docket.transcripts.resolve() != (out / TRANSCRIPTS).resolve():
            copy_file(docket.transcripts, out / TRANSCRIPTS)
        return RunResult(
            study=docket.transcripts.stem,
            out=out,
            records=records,
            stop="interrupted" if crew.interrupted else "limit" if self.limit is not None else "",
            limit=self.limit.detail if self.limit is not None else "",
            calls=self.budget.calls,
            replayed=self.budget.replayed,
            tokens=self.budget.tokens,
            seconds=time.monotonic() - started,
        )

    async def hold(
        self,
        crew: Crew,
        board: Board,
        answers: Spool,
        *,
        concurrency: int,
        on_record: Callable[[int, UnitRecord], None] | None = None,
    ) -> tuple[UnitRecord, ...]:
        """Returns the record of every transcript before every judge, by judge and then in the file's order.

        Args:
            crew: Who works; once it is interrupted, what is left stays open.
            board: Shows what is going on.
            answers: Takes the answers.
            concurrency: Most transcripts judged at once.
            on_record: Is told of each record as it comes, with its place.

        Raises:
            UserError: A judge cannot be opened, or the disk is full.
            LedgerError: The ledger cannot be written.
        """
        docket = self.docket
        records: dict[int, UnitRecord] = {}

        def ended(position: int, transcript: Transcript, bench: BenchT, end: End) -> None:
            if end.lines:
                answers.add(position, end.lines)
            records[position] = docket.record(transcript, bench, end)
            if on_record is not None:
                on_record(position, records[position])

        for number, bench in enumerate(docket.benches):
            judge = await self._judge(bench)
            work = enumerate(self._read(), start=number * docket.count)

            async def worker(
                work: Iterator[tuple[int, Transcript]] = work, bench: BenchT = bench, judge: Model = judge
            ) -> None:
                for position, transcript in work:
                    try:
                        ended(position, transcript, bench, await self._ended(transcript, bench, judge, board))
                    except asyncio.CancelledError:
                        ended(position, transcript, bench, _INTERRUPTED)
                        raise

            if not crew.interrupted:
                await crew.work(worker, concurrency)
            for position, transcript in work:  # what no worker came to before the interruption
                ended(position, transcript, bench, _INTERRUPTED)
            await self.models.release(bench.model.spec.text)
        return tuple(record for _, record in sorted(records.items()))

    async def _judge(self, bench: BenchT) -> Model:
        return await open_judge(bench.model, self.models, self.ledger, replay_only=self.replay_only)

    def _read(self) -> Iterator[Transcript]:
        return (transcript for _, transcript in read_transcripts(self.docket.transcripts, empty=True))

    async def _ended(self, transcript: Transcript, bench: BenchT, judge: Model, board: Board) -> End:
        if self.limit is not None:
            return self.limit
        label = f"{transcript.id} before {bench.label}"
        board.open_units[label] = time.monotonic()
        docket = self.docket
        calls = self.ledger.calls(unit=docket.unit(transcript, bench), seed=docket.seed, budget=self.budget)
        try:
            answers = await docket.asked(transcript, bench, judge=judge, calls=calls)
        finally:
            del board.open_units[label]
        if isinstance(answers, End):
            if answers.status == "failed":
                board.failed += 1
            else:
                self.limit = self.limit or answers
            return answers
        board.done += 1
        return End("done", lines=tuple(answer.model_dump_json() for answer in answers))


def file_record(
    transcript: Transcript, bench: Bench, end: End, *, unit: str, by: str, mode: str, votes: int
) -> UnitRecord:
    """Returns the record of a transcript of a file, which no study staged.

    Args:
        transcript: What was judged.
        bench: Before whom.
        end: How it ended.
        unit: Id of the unit.
        by: Id of the checklist or the rubric.
        mode: How the judge is asked.
        votes: How often.
    """
    subjects = ", ".join(sorted({player.model for player in transcript.cast.values() if player.subject}))
    return UnitRecord(
        unit=unit,
        kind="judge",
        status=end.status,
        subject=subjects,
        subject_model=subjects,
        prompts="",
        case=transcript.scenario.id,
        seed=transcript.seed,
        protocol=transcript.protocol,
        stage=transcript.id,
        judge=bench.model.written,
        checklist=by,
        mode=mode,
        votes=votes,
        failure=end.failure,
        detail=end.detail,
    )
