"""Judge transcripts that lie in a file, whoever made them: no study, no staging."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg import __version__
from dramaturg.errors import UserError
from dramaturg.files import find, load_yaml, read_text
from dramaturg.judge.checklist import Checklist, Long, Mode, Wording
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.bench import judge_or_end
from dramaturg.run.board import Board
from dramaturg.run.crew import Crew
from dramaturg.run.material import JudgeBench, named_judge
from dramaturg.run.progress import Progress
from dramaturg.run.recorded import open_judge
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.result import RunResult
from dramaturg.run.snapshot import Snapshot, add_judges_prompts, check_folder, keep
from dramaturg.run.spool import Spool, copy_file
from dramaturg.run.transcripts import read_transcripts
from dramaturg.run.units import unit_id
from dramaturg.stage.transcript import Transcript

_INTERRUPTED = End("open", "interrupted", "the judging was interrupted before this transcript's end")


def benches_of(
    judges: Sequence[str], *, checklist: str, mode: Mode, votes: int, long: Long, ask: Wording
) -> tuple[JudgeBench, ...]:
    """Returns one bench per judge; no model is opened.

    Args:
        judges: Spec strings.
        checklist: Name of a shipped checklist, or a path.
        mode: How they are asked.
        votes: How often each question is asked.
        long: What becomes of a transcript beyond a judge's context.
        ask: What is put to the judges.

    Raises:
        UserError: A spec or the checklist is wrong, or two specs mean the same judge.
    """
    path = find("checklists", checklist, where="--checklist")
    by = load_yaml(path, Checklist)
    benches: dict[str, JudgeBench] = {}
    for spec in judges:
        model = named_judge(spec, spec, beside=Path())
        bench = JudgeBench(model, by, checklist, path, mode, votes, long, ask)
        if bench.key in benches:
            raise UserError(
                f"{spec!r} means the same judge as {benches[bench.key].model.written!r}",
                where="--judge",
                allowed="each judge once",
            )
        benches[bench.key] = bench
    return tuple(benches.values())


@dataclass(frozen=True, slots=True)
class Docket:
    """A judging whose input was read and checked, before anything is written or asked.

    Attributes:
        transcripts: The file that is judged.
        benches: Who judges; all by one checklist and asked in one way.
        count: How many transcripts there are.
        snapshot: What the judging is made with.
    """

    transcripts: Path
    benches: tuple[JudgeBench, ...]
    count: int
    snapshot: Snapshot


def docket_of(out: Path, *, transcripts: Path, benches: Sequence[JudgeBench], accept_changes: bool = False) -> Docket:
    """Returns a judging that may go on in a folder; nothing is written.

    A judge may be added later.

    Args:
        out: Output folder; it need not exist.
        transcripts: The file that is judged; it is read whole.
        benches: Who judges; all by one checklist and asked in one way.
        accept_changes: Whether another version, prompt or setting than the folder's is fine.

    Raises:
        ContentError: The file is no file of transcripts, or two of them share an id; the message names the line.
        UserError: The folder holds a study or a judging of something else; the message names it.
    """
    count = sum(1 for _ in read_transcripts(transcripts))
    bench = benches[0]
    entries = {"version": __version__, "mode": bench.mode, "long": bench.long, "ask": bench.ask}
    entries |= {"votes": str(bench.votes), f"checklists/{bench.checklist.id}": bench.checklist.hash}
    entries |= {f"models/{one.model.written}": one.model.identity.key for one in benches}
    texts = {f"checklists/{bench.checklist.id}": (read_text(bench.path), bench.path.suffix)}
    add_judges_prompts(entries, texts, bench.checklist.language)
    snapshot = Snapshot(f"judging {transcripts.name}", entries, texts)
    check_folder(out, snapshot, accept_changes=accept_changes)
    return Docket(transcripts, tuple(benches), count, snapshot)


class FileJudging:
    """One judging of a file of transcripts by one judge after the other."""

    def __init__(
        self,
        docket: Docket,
        *,
        models: Models,
        ledger: Ledger,
        budget: Budget,
        replay_only: bool = False,
    ) -> None:
        """Prepares the judging; nothing is asked yet.

        Args:
            docket: What is judged, by whom, by what, and how.
            models: Opens the judges.
            ledger: Where every answer is kept.
            budget: Counts and limits the new calls.
            replay_only: Whether the judges need not be there.
        """
        self._docket = docket
        self._models = models
        self._ledger = ledger
        self._budget = budget
        self._replay_only = replay_only
        self._board = Board(docket.count * len(docket.benches), budget, models)
        self._limit: End | None = None

    async def carry_out(self, out: Path, *, concurrency: int, progress: Progress) -> RunResult:
        """Returns what became of every transcript before every judge; ``judgements.jsonl`` is written by then.

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
        docket = self._docket
        judges = [
            await open_judge(bench.model, self._models, self._ledger, replay_only=self._replay_only)
            for bench in docket.benches
        ]
        keep(out, docket.snapshot)
        records: dict[int, UnitRecord] = {}
        with Spool(out / "judgements.jsonl") as judgements, Spool(out / "units.jsonl") as units:

            def ended(position: int, transcript: Transcript, bench: JudgeBench, end: End) -> None:
                if end.lines:
                    judgements.add(position, end.lines)
                records[position] = _record(transcript, bench, end)
                units.add(position, [records[position].model_dump_json()])

            crew = Crew(progress, self._board)

            async def worker(work: Iterator[tuple[int, Transcript]], bench: JudgeBench, judge: Model) -> None:
                for position, transcript in work:
                    ended(position, transcript, bench, await self._judged(transcript, bench, judge, crew))

            async with crew:
                for number, (bench, judge) in enumerate(zip(docket.benches, judges, strict=True)):
                    work = enumerate(self._read(), start=number * docket.count)
                    await crew.work(functools.partial(worker, work, bench, judge), concurrency)
                    for position, transcript in work:  # what no worker came to before the interruption
                        ended(position, transcript, bench, _INTERRUPTED)
                    await self._models.release(bench.model.spec.text)
            judgements.finish()
            units.finish()
        if docket.transcripts.resolve() != (out / "transcripts.jsonl").resolve():
            copy_file(docket.transcripts, out / "transcripts.jsonl")
        return RunResult(
            study=docket.transcripts.stem,
            out=out,
            records=tuple(record for _, record in sorted(records.items())),
            stop="interrupted" if crew.interrupted else "limit" if self._limit is not None else "",
            limit=self._limit.detail if self._limit is not None else "",
            calls=self._budget.calls,
            replayed=self._budget.replayed,
            tokens=self._budget.tokens,
            seconds=time.monotonic() - started,
        )

    def _read(self) -> Iterator[Transcript]:
        return (transcript for _, transcript in read_transcripts(self._docket.transcripts))

    async def _judged(self, transcript: Transcript, bench: JudgeBench, judge: Model, crew: Crew) -> End:
        if crew.interrupted:
            return _INTERRUPTED
        if self._limit is not None:
            return self._limit
        label = f"judging {transcript.id} by {bench.label}"
        self._board.open_units[label] = time.monotonic()
        calls = self._ledger.calls(unit=_unit(transcript, bench), seed=0, budget=self._budget)
        try:
            judged = await judge_or_end(bench, transcript, judge=judge, calls=calls)
        except asyncio.CancelledError:
            if not crew.interrupted:
                raise
            return _INTERRUPTED
        finally:
            del self._board.open_units[label]
        if isinstance(judged, End):
            if judged.status == "failed":
                self._board.failed += 1
            else:
                self._limit = self._limit or judged
            return judged
        self._board.done += 1
        return End("done", lines=tuple(judgement.model_dump_json() for judgement in judged))


def _unit(transcript: Transcript, bench: JudgeBench) -> str:
    return unit_id("judge-file", transcript=transcript.digest, bench=bench.key)


def _record(transcript: Transcript, bench: JudgeBench, end: End) -> UnitRecord:
    subjects = sorted({player.model for player in transcript.cast.values() if player.subject})
    return UnitRecord(
        unit=_unit(transcript, bench),
        kind="judge",
        status=end.status,
        subject=", ".join(subjects),
        subject_model=", ".join(subjects),
        prompts="",
        case=transcript.scenario.id,
        seed=transcript.seed,
        protocol=transcript.protocol,
        stage=transcript.id,
        judge=bench.model.written,
        checklist=bench.checklist.id,
        mode=bench.mode,
        votes=bench.votes,
        failure=end.failure,
        detail=end.detail,
    )
