"""Rate the roles of transcripts that lie in a file or in a run's folder, whoever made them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dramaturg import __version__
from dramaturg.errors import LimitReached, UnitStopped, UserError
from dramaturg.files import read_text
from dramaturg.judge.rating import RatingJudgement, RatingMode, Rubric, rate_transcript, rubric_in
from dramaturg.ledger import Budget, Calls, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.run.board import Board
from dramaturg.run.crew import Crew
from dramaturg.run.failure import bug_detail
from dramaturg.run.material import NamedModel, named_judge
from dramaturg.run.progress import Progress
from dramaturg.run.recorded import open_judge
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.result import RunResult
from dramaturg.run.snapshot import Snapshot, check_folder, keep, read_manifest
from dramaturg.run.spool import Spool, copy_file
from dramaturg.run.transcripts import read_transcripts
from dramaturg.run.units import unit_id
from dramaturg.stage.transcript import Transcript
from dramaturg.text import Json, canonical_json

TRANSCRIPTS = "transcripts.jsonl"
RATINGS = "ratings.jsonl"
UNITS = "units.jsonl"

RUBRICS = "rubrics/"
"""Head of a snapshot's entries that hold rubrics."""

RATERS_PROMPTS = "rate-"
"""Prompts whose names begin so are the raters'."""

_INTERRUPTED = End("open", "interrupted", "the rating was interrupted before this transcript's end")


@dataclass(frozen=True, slots=True)
class RatingBench:
    """A judge that rates, and how it is asked.

    Attributes:
        model: Who rates.
        rubric: Name of the rubric, or its path.
        mode: How it is asked.
        votes: How often each metric is rated.
    """

    model: NamedModel
    rubric: str
    mode: RatingMode
    votes: int

    def rubric_for(self, language: str) -> Rubric:
        """Returns the rubric for transcripts in a language.

        Raises:
            ContentError: There is no such rubric.
        """
        return rubric_in(self.rubric, language)

    def key(self, language: str) -> str:
        """Canonical JSON of what can change a rating of a transcript in a language."""
        asked: dict[str, Json] = {"mode": self.mode, "votes": self.votes}
        return canonical_json({"rubric": self.rubric_for(language).hash, "judge": self.model.key, **asked})

    @property
    def label(self) -> str:
        """What tables call it."""
        votes = f", {self.votes} votes" if self.votes > 1 else ""
        return f"{self.model.label} ({self.rubric}, {self.mode}{votes})"


def rating_benches(judges: Sequence[str], *, rubric: str, mode: RatingMode, votes: int) -> tuple[RatingBench, ...]:
    """Returns one bench per judge; no model is opened.

    Args:
        judges: Spec strings.
        rubric: Name of a shipped rubric, or a path.
        mode: How they are asked.
        votes: How often each metric is rated.

    Raises:
        UserError: A spec or the rubric is wrong, or two specs mean the same judge.
    """
    benches: dict[str, RatingBench] = {}
    for spec in judges:
        bench = RatingBench(named_judge(spec, spec, beside=Path()), rubric, mode, votes)
        key = bench.key("en")
        if key in benches:
            raise UserError(
                f"{spec!r} means the same judge as {benches[key].model.written!r}",
                where="--judge",
                allowed="each judge once",
            )
        benches[key] = bench
    return tuple(benches.values())


@dataclass(frozen=True, slots=True)
class RatingDocket:
    """A rating whose input was read and checked, before anything is written or asked.

    Attributes:
        transcripts: The file.
        benches: Who rates; all by one rubric and asked in one way.
        count: How many transcripts there are.
        seed: Of all calls: the same judge under another seed is its own retest.
        snapshot: What the rating is made with.
    """

    transcripts: Path
    benches: tuple[RatingBench, ...]
    count: int
    seed: int
    snapshot: Snapshot


def rating_docket(
    out: Path, *, source: Path, benches: Sequence[RatingBench], seed: int = 0, accept_changes: bool = False
) -> RatingDocket:
    """Returns a rating that may go on in a folder; nothing is written.

    Args:
        out: Output folder; it need not exist.
        source: A file of transcripts, or the output folder of a run.
        benches: Who rates.
        seed: Of all calls.
        accept_changes: Whether another version, prompt or setting than the folder's is fine.

    Raises:
        ContentError: The source holds no transcripts, or two of them share an id; the message names the line.
        UserError: The folder holds something else; the message names it.
    """
    path = source / TRANSCRIPTS if source.is_dir() else source
    if source.is_dir() and not path.is_file():
        raise UserError(f"holds no {TRANSCRIPTS}", where=str(source), allowed="the --out folder of a run, or a file")
    languages: dict[str, int] = {}
    for _, transcript in read_transcripts(path):
        languages[transcript.scenario.language] = languages.get(transcript.scenario.language, 0) + 1
    bench = benches[0]
    entries = {"version": __version__, "mode": bench.mode, "votes": str(bench.votes), "seed": str(seed)}
    entries |= {f"models/{one.model.written}": one.model.identity.key for one in benches}
    texts: dict[str, tuple[str, str]] = {}
    for language in sorted(languages):
        rubric = bench.rubric_for(language)
        entries[f"{RUBRICS}{rubric.id}"] = rubric.hash
        texts[f"{RUBRICS}{rubric.id}"] = (rubric.model_dump_json(indent=1), ".json")
        for name in prompt_names():
            if name.startswith(RATERS_PROMPTS):
                prompt = load_prompt(name, rubric.language)
                entries[f"prompts/{prompt.language}/{name}"] = prompt.hash
                texts[f"prompts/{prompt.language}/{name}"] = (prompt.source, ".txt")
    snapshot = Snapshot(f"rating {path.name}", entries, texts)
    check_folder(out, snapshot, accept_changes=accept_changes)
    return RatingDocket(path, tuple(benches), sum(languages.values()), seed, snapshot)


def used_rubrics(out: Path) -> dict[str, Rubric]:
    """Returns the rubrics that a rating was made with, by id, as its folder keeps them; none where it keeps none.

    Raises:
        UserError: The folder's manifest or a file of it is broken.
    """
    manifest = read_manifest(out)
    if manifest is None:
        return {}
    return {
        name.removeprefix(RUBRICS): Rubric.model_validate_json(read_text(out / "snapshot" / path))
        for name, path in manifest.files.items()
        if name.startswith(RUBRICS)
    }


@dataclass(slots=True)
class FileRating:
    """One rating of a file of transcripts by one judge after the other; nothing is asked before `carry_out`.

    Attributes:
        docket: What is rated, by whom, and how.
        models: Opens the judges.
        ledger: Where every answer is kept.
        budget: Counts and limits the new calls.
        replay_only: Whether the judges need not be there.
    """

    docket: RatingDocket
    models: Models
    ledger: Ledger
    budget: Budget
    replay_only: bool = False
    _board: Board = field(init=False)
    _limit: End | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._board = Board(self.docket.count * len(self.docket.benches), self.budget, self.models)

    async def carry_out(self, out: Path, *, concurrency: int, progress: Progress) -> RunResult:
        """Returns what became of every transcript before every judge; ``ratings.jsonl`` is written by then.

        Ctrl-C ends it cleanly, with a result. A failure before the first call leaves the folder as it was.

        Args:
            out: Output folder; a copy of the transcripts is put there.
            concurrency: Most transcripts rated at once.
            progress: Shows what is going on.

        Raises:
            UserError: A judge cannot be opened, or the disk is full.
            LedgerError: The ledger cannot be written.
        """
        started = time.monotonic()
        docket = self.docket
        judges = [
            await open_judge(bench.model, self.models, self.ledger, replay_only=self.replay_only)
            for bench in docket.benches
        ]
        keep(out, docket.snapshot)
        records: dict[int, UnitRecord] = {}
        with Spool(out / RATINGS) as ratings, Spool(out / UNITS) as units:

            def ended(position: int, transcript: Transcript, bench: RatingBench, end: End) -> None:
                if end.lines:
                    ratings.add(position, end.lines)
                records[position] = self._record(transcript, bench, end)
                units.add(position, [records[position].model_dump_json()])

            async with Crew(progress, self._board) as crew:
                for number, (bench, judge) in enumerate(zip(docket.benches, judges, strict=True)):
                    work = enumerate(self._read(), start=number * docket.count)

                    async def worker(
                        work: Iterator[tuple[int, Transcript]] = work, bench: RatingBench = bench, judge: Model = judge
                    ) -> None:
                        for position, transcript in work:
                            try:
                                ended(position, transcript, bench, await self._rated(transcript, bench, judge))
                            except asyncio.CancelledError:
                                ended(position, transcript, bench, _INTERRUPTED)
                                raise

                    if not crew.interrupted:
                        await crew.work(worker, concurrency)
                    for position, transcript in work:  # what no worker came to before the interruption
                        ended(position, transcript, bench, _INTERRUPTED)
                    await self.models.release(bench.model.spec.text)
            ratings.finish()
            units.finish()
        if docket.transcripts.resolve() != (out / TRANSCRIPTS).resolve():
            copy_file(docket.transcripts, out / TRANSCRIPTS)
        return RunResult(
            study=docket.transcripts.stem,
            out=out,
            records=tuple(record for _, record in sorted(records.items())),
            stop="interrupted" if crew.interrupted else "limit" if self._limit is not None else "",
            limit=self._limit.detail if self._limit is not None else "",
            calls=self.budget.calls,
            replayed=self.budget.replayed,
            tokens=self.budget.tokens,
            seconds=time.monotonic() - started,
        )

    def _read(self) -> Iterator[Transcript]:
        return (transcript for _, transcript in read_transcripts(self.docket.transcripts))

    async def _rated(self, transcript: Transcript, bench: RatingBench, judge: Model) -> End:
        if self._limit is not None:
            return self._limit
        label = f"rating {transcript.id} by {bench.label}"
        self._board.open_units[label] = time.monotonic()
        calls = self.ledger.calls(unit=_unit(transcript, bench), seed=self.docket.seed, budget=self.budget)
        try:
            rated = await rate_or_end(bench, transcript, judge=judge, calls=calls)
        finally:
            del self._board.open_units[label]
        if isinstance(rated, End):
            if rated.status == "failed":
                self._board.failed += 1
            else:
                self._limit = self._limit or rated
            return rated
        self._board.done += 1
        return End("done", lines=tuple(one.model_dump_json() for one in rated))

    def _record(self, transcript: Transcript, bench: RatingBench, end: End) -> UnitRecord:
        subjects = ", ".join(sorted({player.model for player in transcript.cast.values() if player.subject}))
        return UnitRecord(
            unit=_unit(transcript, bench),
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
            checklist=bench.rubric_for(transcript.scenario.language).id,
            mode=bench.mode,
            votes=bench.votes,
            failure=end.failure,
            detail=end.detail,
        )


async def rate_or_end(
    bench: RatingBench, transcript: Transcript, *, judge: Model, calls: Calls, roles: Sequence[str] | None = None
) -> tuple[RatingJudgement, ...] | End:
    """Returns the ratings of a transcript, or how the rating ended without any.

    The end is ``open`` where a budget is used up, and ``failed`` where the endpoint failed (``failure`` says how) or
    something unforeseen happened (``failure`` is ``error``).

    Args:
        bench: By what is rated, and how it is asked.
        transcript: Where the roles act.
        judge: The bench's model, open.
        calls: Through which it is asked.
        roles: Ids of those to rate; all by default.
    """
    try:
        return await rate_transcript(
            transcript,
            bench.rubric_for(transcript.scenario.language),
            judge=judge,
            calls=calls,
            mode=bench.mode,
            votes=bench.votes,
            roles=roles,
        )
    except LimitReached as limit:
        return End("open", f"limit:{limit.limit}", str(limit))
    except UnitStopped as stopped:
        return End("failed", stopped.kind, stopped.detail)
    except (ValueError, TypeError, LookupError, AttributeError) as problem:
        return End("failed", "error", bug_detail(problem))


def _unit(transcript: Transcript, bench: RatingBench) -> str:
    return unit_id("rate-file", transcript=transcript.digest, bench=bench.key(transcript.scenario.language))
