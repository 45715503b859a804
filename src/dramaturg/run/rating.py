"""Rate the roles of transcripts that lie in a file or in a run's folder, whoever made them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg import __version__
from dramaturg.errors import LimitReached, UnitStopped, UserError
from dramaturg.files import find, read_text, shipped
from dramaturg.judge.rating import RatingJudgement, RatingMode, Rubric, rate_transcript, rubric_in
from dramaturg.ledger import Calls
from dramaturg.model import Model
from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.run.failure import bug_detail
from dramaturg.run.material import NamedModel, named_judge
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.sitting import TRANSCRIPTS, file_record
from dramaturg.run.snapshot import Snapshot, check_folder, read_manifest
from dramaturg.run.transcripts import read_transcripts
from dramaturg.run.units import unit_id
from dramaturg.stage.transcript import Transcript
from dramaturg.text import Json, canonical_json

RATINGS = "ratings.jsonl"

RUBRICS = "rubrics/"
"""Head of a snapshot's entries that hold rubrics."""

RATERS_PROMPTS = "rate-"
"""Prompts whose names begin so are the raters'."""


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


def rubric_named(name: str, *, beside: Path) -> str:
    """Returns the name of a shipped rubric, or a path that means the same from every folder.

    Args:
        name: As a study writes it.
        beside: Folder that relative paths start from.

    Raises:
        ContentError: There is no such rubric.
    """
    return name if name in shipped("rubrics") else str(find("rubrics", name, beside=beside).resolve())


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
        answers: Name of the file that ratings go to.
    """

    transcripts: Path
    benches: tuple[RatingBench, ...]
    count: int
    seed: int
    snapshot: Snapshot
    answers: str = RATINGS

    def unit(self, transcript: Transcript, bench: RatingBench) -> str:
        """Returns the id of one transcript before one judge."""
        return unit_id("rate-file", transcript=transcript.digest, bench=bench.key(transcript.scenario.language))

    async def asked(
        self, transcript: Transcript, bench: RatingBench, *, judge: Model, calls: Calls
    ) -> tuple[RatingJudgement, ...] | End:
        """Returns the ratings of one transcript, or how the rating ended without any."""
        return await rate_or_end(bench, transcript, judge=judge, calls=calls)

    def record(self, transcript: Transcript, bench: RatingBench, end: End) -> UnitRecord:
        """Returns what became of one transcript before one judge."""
        unit, by = self.unit(transcript, bench), bench.rubric_for(transcript.scenario.language).id
        return file_record(transcript, bench, end, unit=unit, by=by, mode=bench.mode, votes=bench.votes)


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
    add_rubrics(entries, texts, [bench.rubric_for(language) for language in sorted(languages)])
    snapshot = Snapshot(f"rating {path.name}", entries, texts)
    check_folder(out, snapshot, accept_changes=accept_changes)
    return RatingDocket(path, tuple(benches), sum(languages.values()), seed, snapshot)


def add_rubrics(entries: dict[str, str], texts: dict[str, tuple[str, str]], rubrics: Iterable[Rubric]) -> None:
    """Adds rubrics, and the prompts of those who rate by them, as `Snapshot` holds them."""
    for rubric in rubrics:
        entries[f"{RUBRICS}{rubric.id}"] = rubric.hash
        texts[f"{RUBRICS}{rubric.id}"] = (rubric.model_dump_json(indent=1), ".json")
        for name in prompt_names():
            if name.startswith(RATERS_PROMPTS):
                prompt = load_prompt(name, rubric.language)
                entries[f"prompts/{prompt.language}/{name}"] = prompt.hash
                texts[f"prompts/{prompt.language}/{name}"] = (prompt.source, ".txt")


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
