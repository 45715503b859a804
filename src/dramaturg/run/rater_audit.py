"""Carries out the audit of a rater: every specimen is a unit of the ledger, so that to resume is to run again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dramaturg.judge.audit.world import RaterAssignment, RaterCard, RaterPlan, rater_card
from dramaturg.judge.audit.world.card import RatedSpecimen, rater_binding
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.board import Board
from dramaturg.run.crew import Crew
from dramaturg.run.progress import Progress
from dramaturg.run.rating import RatingBench, rate_or_end
from dramaturg.run.recorded import open_judge
from dramaturg.run.records import End
from dramaturg.run.result import Stop, exit_code
from dramaturg.run.spool import Spool
from dramaturg.run.units import unit_id
from dramaturg.text import canonical_json


@dataclass(frozen=True, slots=True)
class RaterAuditResult:
    """What became of an audit.

    Attributes:
        card: The card; None where the audit was stopped before its end, or nothing was rated.
        not_rated: Specimens that failed or were left, by reason.
        planned: Specimens of the plan.
        calls: New calls.
        replayed: Calls that the ledger answered.
        seconds: Of this session.
        stop: Why it stopped before its end.
        limit: Which limit was reached, for people.
    """

    card: RaterCard | None
    not_rated: dict[str, int]
    planned: int
    calls: int
    replayed: int
    seconds: float
    stop: Stop = ""
    limit: str = ""

    @property
    def exit_code(self) -> int:
        """0 when everything was rated, 2 when a specimen failed, 3 at a limit, 130 interrupted."""
        return exit_code(self.stop, failed=bool(self.not_rated))


@dataclass(slots=True)
class RaterAudit:
    """One audit of one rater; nothing is asked before `carry_out`.

    Attributes:
        plan: What is rated.
        bench: The judge, and how it is asked.
        models: Opens the judge.
        ledger: Where every answer is kept.
        budget: Counts and limits the new calls.
        replay_only: Whether the judge need not be there.
    """

    plan: RaterPlan
    bench: RatingBench
    models: Models
    ledger: Ledger
    budget: Budget
    replay_only: bool = False
    _board: Board = field(init=False)
    _rated: dict[int, RatedSpecimen] = field(init=False, default_factory=dict[int, RatedSpecimen])
    _not_rated: Counter[str] = field(init=False, default_factory=Counter[str])
    _limit: End | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._board = Board(len(self.plan.assignments), self.budget, self.models)

    async def carry_out(
        self, out: Path, *, concurrency: int, progress: Progress, command: str, sample: int | None
    ) -> RaterAuditResult:
        """Returns what became of the audit; specimens, what was planted and ratings lie in the folder by then.

        Args:
            out: Output folder.
            concurrency: Most specimens rated at once.
            progress: Shows what is going on.
            command: What the card says that made it.
            sample: Most mutants that were asked for.

        Raises:
            UserError: The judge cannot be opened, or the disk is full.
            LedgerError: The ledger cannot be written.
        """
        started = time.monotonic()
        spec = self.bench.model.spec
        judge = await open_judge(self.bench.model, self.models, self.ledger, replay_only=self.replay_only)
        work = iter(enumerate(self.plan.assignments))
        async with Crew(progress, self._board) as crew:
            await crew.work(lambda: self._worker(work, judge), concurrency)
        await self.models.release(spec.text)
        rated = [one for _, one in sorted(self._rated.items())]
        self._write(out, rated)
        stop: Stop = "interrupted" if crew.interrupted else "limit" if self._limit is not None else ""
        return RaterAuditResult(
            card=None if stop or not rated else self._card(rated, judge, command, sample),
            not_rated=dict(self._not_rated),
            planned=len(self.plan.assignments),
            calls=self.budget.calls,
            replayed=self.budget.replayed,
            seconds=time.monotonic() - started,
            stop=stop,
            limit=self._limit.detail if self._limit is not None else "",
        )

    async def _worker(self, work: Iterator[tuple[int, RaterAssignment]], judge: Model) -> None:
        for place, assignment in work:
            if self._limit is not None:
                return
            await self._rate(place, assignment, judge)

    async def _rate(self, place: int, assignment: RaterAssignment, judge: Model) -> None:
        label = f"specimen {place + 1}"
        self._board.open_units[label] = time.monotonic()
        transcript = assignment.transcript
        unit = unit_id(
            "audit-rater",
            transcript=transcript.digest,
            role=assignment.role,
            bench=self.bench.key(transcript.scenario.language),
        )
        try:
            rated = await rate_or_end(
                self.bench,
                transcript,
                judge=judge,
                calls=self.ledger.calls(unit=unit, seed=self.plan.seed, budget=self.budget),
                roles=(assignment.role,),
            )
        finally:
            del self._board.open_units[label]
        if not isinstance(rated, End):
            self._rated[place] = RatedSpecimen(assignment, rated)
            self._board.done += 1
        elif rated.status == "failed":
            self._not_rated[rated.detail if rated.failure == "error" else rated.failure] += 1
            self._board.failed += 1
        else:
            self._limit = self._limit or rated

    def _card(self, rated: list[RatedSpecimen], judge: Model, command: str, sample: int | None) -> RaterCard:
        languages = sorted({one.assignment.transcript.scenario.language for one in rated})
        rubrics = [self.bench.rubric_for(language) for language in languages]
        return rater_card(
            self.plan,
            rated,
            binding=rater_binding(judge.identity, rubrics, mode=self.bench.mode, votes=self.bench.votes),
            metrics=[metric.id for metric in rubrics[0].metrics],
            command=command,
            sample=sample,
            not_rated=self._not_rated,
        )

    def _write(self, out: Path, rated: list[RatedSpecimen]) -> None:
        with (
            Spool(out / "specimens.jsonl") as specimens,
            Spool(out / "planted.jsonl") as planted,
            Spool(out / "ratings.jsonl") as ratings,
        ):
            for place, one in enumerate(self.plan.assignments):
                specimens.add(place, [one.transcript.model_dump_json()])
                planted.add(place, [canonical_json(_told(one))])
            for place, specimen in enumerate(rated):
                ratings.add(place, [rating.model_dump_json() for rating in specimen.ratings])
            for spool in (specimens, planted, ratings):
                spool.finish()


def _told(one: RaterAssignment) -> dict[str, str]:
    return {
        "transcript": one.transcript.id,
        "base": one.base,
        "role": one.role,
        "nature": one.nature,
        "kind": one.kind,
        "severity": one.severity,
        "turn": one.turn,
    }
