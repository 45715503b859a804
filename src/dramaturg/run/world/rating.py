"""The rating of a study's plays: each of them before each rater, when all of them were played."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dramaturg.judge.rating import RatingJudgement
from dramaturg.ledger import Calls
from dramaturg.model import Model
from dramaturg.run.rating import RATINGS, RatingBench, rate_or_end
from dramaturg.run.records import End, UnitRecord, without_stage
from dramaturg.run.snapshot import Snapshot
from dramaturg.run.units import unit_id
from dramaturg.run.world.units import WorldUnit
from dramaturg.stage.transcript import Transcript


@dataclass(frozen=True, slots=True)
class PlaysDocket:
    """The plays of a study before its raters.

    Attributes:
        transcripts: Where the plays are, once they were played.
        plays: All of them by the id of the transcript, in plan order.
        benches: Who rates, by what, and how.
        seed: Of all calls.
        timeout_s: Longest that one rater may take for one play, in seconds.
        snapshot: What the study is made with.
        answers: Name of the file that ratings go to.
    """

    transcripts: Path
    plays: Mapping[str, WorldUnit]
    benches: tuple[RatingBench, ...]
    seed: int
    timeout_s: float
    snapshot: Snapshot
    answers: str = RATINGS

    @property
    def count(self) -> int:
        """How many plays there are."""
        return len(self.plays)

    def unit(self, transcript: Transcript, bench: RatingBench) -> str:
        """Returns the id of one play before one rater."""
        return _unit(self.plays[transcript.id], bench)

    async def asked(
        self, transcript: Transcript, bench: RatingBench, *, judge: Model, calls: Calls
    ) -> tuple[RatingJudgement, ...] | End:
        """Returns the ratings of one play, or how the rating ended without any."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await rate_or_end(bench, transcript, judge=judge, calls=calls)
        except TimeoutError:
            return End("failed", "unit_timeout", f"took longer than unit_timeout_s={self.timeout_s:g}")

    def record(self, transcript: Transcript, bench: RatingBench, end: End) -> UnitRecord:
        """Returns what became of one play before one rater."""
        return _record(self.plays[transcript.id], bench, end)

    def unplayed(self, ends: Mapping[str, End]) -> Iterator[UnitRecord]:
        """Yields a record for each rater of each play that has no transcript.

        Args:
            ends: How these plays ended, by the id of the unit.
        """
        for bench in self.benches:
            for play in self.plays.values():
                if play.id in ends:
                    yield _record(play, bench, without_stage(ends[play.id]))


def _unit(play: WorldUnit, bench: RatingBench) -> str:
    return unit_id("rate", stage=play.id, bench=bench.key(play.scene.language))


def _record(play: WorldUnit, bench: RatingBench, end: End) -> UnitRecord:
    return UnitRecord(
        unit=_unit(play, bench),
        kind="judge",
        status=end.status,
        subject=play.subject.label,
        subject_model=play.subject.written,
        prompts=play.variant.name,
        case=play.scene.id,
        seed=play.seed,
        protocol=play.protocol,
        stage=play.id,
        judge=bench.model.written,
        checklist=bench.rubric_for(play.scene.language).id,
        mode=bench.mode,
        votes=bench.votes,
        failure=end.failure,
        detail=end.detail,
    )
