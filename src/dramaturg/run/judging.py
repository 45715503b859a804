"""Judge transcripts that lie in a file, whoever made them: no study, no staging."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from dramaturg import __version__
from dramaturg.errors import ContentError, LimitReached, UnitStopped
from dramaturg.files import read_jsonl, read_text
from dramaturg.judge.checklist import judge_transcript
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.run.board import Board
from dramaturg.run.failure import bug_detail
from dramaturg.run.material import JUDGES_PROMPTS
from dramaturg.run.progress import Progress
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.result import RunResult
from dramaturg.run.snapshot import Snapshot, check_folder, keep
from dramaturg.run.spool import Spool, copy_file
from dramaturg.run.study import Mode
from dramaturg.stage.transcript import Transcript
from dramaturg.text import canonical_json, sha256


def keep_judging(out: Path, *, transcripts: Path, checklist: Path, by: Checklist, judge: Model, mode: Mode) -> None:
    """Keeps a snapshot of what a judging is made with, and refuses a folder that was made with something else.

    Args:
        out: Output folder.
        transcripts: The file that is judged.
        checklist: File of the checklist.
        by: The checklist.
        judge: Who judges.
        mode: How it is asked.

    Raises:
        UserError: The folder holds a study or a judging of something else; the message names it.
    """
    entries = {"version": __version__, "judge": judge.identity.key, "mode": mode, f"checklists/{by.id}": by.hash}
    texts = {f"checklists/{by.id}": (read_text(checklist), checklist.suffix)}
    for name in prompt_names():
        if name.startswith(JUDGES_PROMPTS):
            prompt = load_prompt(name)
            entries[f"prompts/default/{prompt.language}/{name}"] = prompt.hash
            texts[f"prompts/default/{prompt.language}/{name}"] = (prompt.source, ".txt")
    snapshot = Snapshot(f"judging {transcripts.name}", entries, texts)
    check_folder(out, snapshot)
    keep(out, snapshot)


class FileJudging:
    """One judging of a file of transcripts by one judge."""

    def __init__(
        self,
        transcripts: Path,
        *,
        checklist: Checklist,
        written: str,
        judge: Model,
        mode: Mode,
        votes: int,
        ledger: Ledger,
        board: Board,
        budget: Budget,
    ) -> None:
        """Prepares the judging; nothing is asked yet.

        Args:
            transcripts: The file.
            checklist: By what is judged.
            written: The judge's spec string, for records.
            judge: Who judges.
            mode: How it is asked.
            votes: How often each question is asked.
            ledger: Where every answer is kept.
            board: What a progress display reads.
            budget: Counts and limits the new calls.
        """
        self._path = transcripts
        self._checklist = checklist
        self._written = written
        self._judge = judge
        self._mode: Mode = mode
        self._votes = votes
        self._ledger = ledger
        self._board = board
        self._budget = budget
        self._limit: LimitReached | None = None

    async def carry_out(self, out: Path, *, concurrency: int, progress: Progress) -> RunResult:
        """Returns what became of every transcript; ``judgements.jsonl`` is written by then.

        Args:
            out: Output folder; a copy of the transcripts is put there for the report.
            concurrency: Most transcripts judged at once.
            progress: Shows what is going on.

        Raises:
            UserError: The file is no file of transcripts, two of them share an id, or the disk is full.
            LedgerError: The ledger cannot be written.
        """
        started = time.monotonic()
        self._board.units = sum(1 for _ in self._read())
        records: dict[int, UnitRecord] = {}
        with Spool(out / "judgements.jsonl") as judgements, Spool(out / "units.jsonl") as units:
            display = asyncio.create_task(progress.show(self._board))
            work = enumerate(self._read())

            async def worker() -> None:
                for position, transcript in work:
                    end = await self._judged(transcript)
                    if end.lines:
                        judgements.add(position, end.lines)
                    records[position] = self._record(transcript, end)
                    units.add(position, [records[position].model_dump_json()])

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(concurrency):
                        group.create_task(worker())
            except ExceptionGroup as problems:
                raise problems.exceptions[0] from None
            finally:
                display.cancel()
                await asyncio.gather(display, return_exceptions=True)
            judgements.finish()
            units.finish()
        if self._path.resolve() != (out / "transcripts.jsonl").resolve():
            copy_file(self._path, out / "transcripts.jsonl")
        return RunResult(
            study=self._path.stem,
            out=out,
            records=tuple(record for _, record in sorted(records.items())),
            stop="limit" if self._limit is not None else "",
            limit=str(self._limit or ""),
            calls=self._budget.calls,
            replayed=self._budget.replayed,
            tokens=self._budget.tokens,
            seconds=time.monotonic() - started,
        )

    def _read(self) -> Iterator[Transcript]:
        seen: set[str] = set()
        for line, transcript in read_jsonl(self._path, Transcript):
            if transcript.id in seen:
                raise ContentError(f"the transcript {transcript.id!r} stands twice", where=f"{self._path}:{line}")
            seen.add(transcript.id)
            yield transcript
        if not seen:
            raise ContentError("holds no transcript", where=str(self._path))

    async def _judged(self, transcript: Transcript) -> End:
        if self._limit is not None:
            return End("open", f"limit:{self._limit.limit}", str(self._limit))
        label = f"judging {transcript.id} by {self._written}"
        self._board.open_units[label] = time.monotonic()
        try:
            judgements = await judge_transcript(
                transcript,
                self._checklist,
                judge=self._judge,
                calls=self._ledger.calls(unit=self._unit(transcript), seed=0, budget=self._budget),
                mode=self._mode,
                votes=self._votes,
            )
        except LimitReached as limit:
            self._limit = self._limit or limit
            return End("open", f"limit:{limit.limit}", str(limit))
        except UnitStopped as stopped:
            self._board.failed += 1
            return End("failed", stopped.kind, stopped.detail)
        except (ValueError, TypeError, LookupError, AttributeError) as problem:
            self._board.failed += 1
            return End("failed", "error", bug_detail(problem))
        finally:
            del self._board.open_units[label]
        self._board.done += 1
        return End("done", lines=tuple(judgement.model_dump_json() for judgement in judgements))

    def _unit(self, transcript: Transcript) -> str:
        content = {
            "kind": "judge-file",
            "transcript": transcript.digest,
            "checklist": self._checklist.hash,
            "judge": self._judge.identity.key,
            "mode": self._mode,
            "votes": self._votes,
        }
        return sha256(canonical_json(content))[:20]

    def _record(self, transcript: Transcript, end: End) -> UnitRecord:
        subjects = sorted({player.model for player in transcript.cast.values() if player.subject})
        return UnitRecord(
            unit=self._unit(transcript),
            kind="judge",
            status=end.status,
            subject=", ".join(subjects),
            subject_model=", ".join(subjects),
            prompts="",
            case=transcript.scenario.id,
            seed=transcript.seed,
            protocol=transcript.protocol,
            stage=transcript.id,
            judge=self._written,
            checklist=self._checklist.id,
            mode=self._mode,
            votes=self._votes,
            failure=end.failure,
            detail=end.detail,
        )
