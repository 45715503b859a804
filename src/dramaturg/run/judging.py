"""Judge transcripts that lie in a file, whoever made them: no study, no staging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg import __version__
from dramaturg.errors import UserError
from dramaturg.files import find, load_yaml, read_text
from dramaturg.judge import Judgement
from dramaturg.judge.checklist import Checklist, Long, Mode, Wording
from dramaturg.ledger import Calls
from dramaturg.model import Model
from dramaturg.run.bench import judge_or_end
from dramaturg.run.material import JudgeBench, mode_of, named_judge
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.sitting import file_record
from dramaturg.run.snapshot import Snapshot, add_judges_prompts, check_folder
from dramaturg.run.transcripts import read_transcripts
from dramaturg.run.units import unit_id
from dramaturg.stage.transcript import Transcript

JUDGEMENTS = "judgements.jsonl"


def benches_of(
    judges: Sequence[str], *, checklist: str, mode: Mode | None, votes: int, long: Long, ask: Wording
) -> tuple[JudgeBench, ...]:
    """Returns one bench per judge; no model is opened.

    Args:
        judges: Spec strings.
        checklist: Name of a shipped checklist, or a path.
        mode: How they are asked; None for one question per call, or what a judge was made for.
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
        bench = JudgeBench(model, by, checklist, path, mode_of(model.spec, mode), votes, long, ask)
        if bench.key in benches:
            raise UserError(
                f"{spec!r} means the same judge as {benches[bench.key].model.written!r}",
                where="--judge",
                allowed="each judge once",
            )
        benches[bench.key] = bench
    if len(modes := sorted({bench.mode for bench in benches.values()})) > 1:
        raise UserError(f"these judges are asked in different modes: {', '.join(modes)}", allowed="one mode at a time")
    return tuple(benches.values())


@dataclass(frozen=True, slots=True)
class Docket:
    """A judging whose input was read and checked, before anything is written or asked.

    Attributes:
        transcripts: The file that is judged.
        benches: Who judges; all by one checklist and asked in one way.
        count: How many transcripts there are.
        snapshot: What the judging is made with.
        seed: Of all calls.
        answers: Name of the file that judgements go to.
    """

    transcripts: Path
    benches: tuple[JudgeBench, ...]
    count: int
    snapshot: Snapshot
    seed: int = 0
    answers: str = JUDGEMENTS

    def unit(self, transcript: Transcript, bench: JudgeBench) -> str:
        """Returns the id of one transcript before one judge."""
        return unit_id("judge-file", transcript=transcript.digest, bench=bench.key)

    async def asked(
        self, transcript: Transcript, bench: JudgeBench, *, judge: Model, calls: Calls
    ) -> tuple[Judgement, ...] | End:
        """Returns the judgements of one transcript, or how the judging ended without any."""
        return await judge_or_end(bench, transcript, judge=judge, calls=calls)

    def record(self, transcript: Transcript, bench: JudgeBench, end: End) -> UnitRecord:
        """Returns what became of one transcript before one judge."""
        unit = self.unit(transcript, bench)
        by = bench.checklist.id
        return file_record(transcript, bench, end, unit=unit, by=by, mode=bench.mode, votes=bench.votes)


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
