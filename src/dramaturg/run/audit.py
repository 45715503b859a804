"""Carries out an audit: every assignment of its plan is a unit of the ledger, so that to resume is to run again."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from dramaturg.files import dump_yaml
from dramaturg.judge.audit import Assignment, Base, Card, Plan, binding_of
from dramaturg.judge.audit.card import Cost, card_of
from dramaturg.judge.audit.excerpts import Excerpt
from dramaturg.judge.audit.marks import Answered, Mark, marks_of
from dramaturg.judge.audit.natural import natural_marks
from dramaturg.judge.checklist.ballots import batches
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.bench import judge_or_end, or_end
from dramaturg.run.board import Board
from dramaturg.run.crew import Crew
from dramaturg.run.material import JudgeBench
from dramaturg.run.progress import Progress
from dramaturg.run.recorded import open_judge
from dramaturg.run.records import End
from dramaturg.run.spool import Spool
from dramaturg.run.transcripts import read_transcripts
from dramaturg.run.units import unit_id
from dramaturg.text import Json, sha256, write_atomically

CHECKLIST = "checklist.yaml"
"""File of the checklist in an audit's folder: judge data are made by it."""

VOTES_AGAIN = 2
"""How often a question is asked for the retest."""

FIRST_ESTIMATE = 3
"""Assignments that must have been judged anew before the time that is left is told."""

ESTIMATE_EVERY_S = 60.0
"""Seconds between two estimates."""

SHORT_S = 20.0
"""Less than so many seconds that are left are not worth a line."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What became of an audit.

    Attributes:
        card: The card; None where the audit was stopped before its end.
        not_judged: Assignments that failed or were left, by reason.
        planned: Assignments of the plan.
        calls: New calls.
        replayed: Calls that the ledger answered.
        seconds: Of this session.
        stop: Empty, `limit` or `interrupted`.
        limit: Which limit was reached, for people.
    """

    card: Card | None
    not_judged: dict[str, int]
    planned: int
    calls: int
    replayed: int
    seconds: float
    stop: str = ""
    limit: str = ""

    @property
    def exit_code(self) -> int:
        """0 when everything was judged, 2 when an assignment failed, 3 when the audit was stopped."""
        return 3 if self.stop else 2 if self.not_judged else 0


def bases_of(path: Path) -> tuple[Base, ...]:
    """Returns the transcripts of a file as bases without hooks; that they are clean is taken for granted.

    Raises:
        ContentError: The file is no file of transcripts, holds none, or two of them share an id.
    """
    return tuple(Base(transcript) for _, transcript in read_transcripts(path))


class Audit:
    """One audit of one judge."""

    def __init__(
        self,
        plan: Plan,
        bench: JudgeBench,
        *,
        models: Models,
        ledger: Ledger,
        budget: Budget,
        natural: Sequence[Excerpt] = (),
        left_out: int = 0,
        natural_left_out: int = 0,
        replay_only: bool = False,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Prepares the audit; nothing is asked yet.

        Args:
            plan: What is asked.
            bench: The judge, and how it is asked.
            models: Opens the judge.
            ledger: Where every answer is kept.
            budget: Counts and limits the new calls.
            natural: Excerpts of natural text, asked about behind the plan.
            left_out: Clean transcripts that the plan leaves out because the judge knows them, for the card.
            natural_left_out: Excerpts of natural text that are left out for the same reason.
            replay_only: Whether the judge need not be there.
            tell: Receives a line with the time that is left.
        """
        self._plan = plan
        self._bench = bench
        self._models = models
        self._ledger = ledger
        self._budget = budget
        self._natural = natural
        self._left_out = left_out
        self._natural_left_out = natural_left_out
        self._marks: list[Mark] = []
        self._replay_only = replay_only
        self._tell = tell
        self._board = Board(len(plan.assignments) + len(natural), budget, models)
        self._answered: dict[int, Answered] = {}
        self._not_judged: Counter[str] = Counter()
        self._limit: End | None = None
        self._fresh = 0

    async def carry_out(
        self, out: Path, *, concurrency: int, progress: Progress, command: str, sample: int | None
    ) -> AuditResult:
        """Returns what became of the audit; specimens, plants, checklist, answers and marks lie in the folder by then.

        Args:
            out: Output folder.
            concurrency: Most specimens judged at once.
            progress: Shows what is going on.
            command: What the card says that made it.
            sample: Most mutants that were asked for.

        Raises:
            UserError: The judge cannot be opened, or the disk is full.
            LedgerError: The ledger cannot be written.
        """
        started = time.monotonic()
        spec = self._bench.model.spec.text
        judge = await open_judge(self._bench.model, self._models, self._ledger, replay_only=self._replay_only)
        work = iter(enumerate(self._plan.assignments))
        try:
            async with Crew(progress, self._board) as crew:
                await crew.work(lambda: self._worker(work, judge, started), concurrency)
                if self._natural and not crew.interrupted:
                    excerpts = iter(self._natural)
                    await crew.work(lambda: self._reader(excerpts, judge), concurrency)
        finally:
            await self._models.release(spec)
        answered = [one for _, one in sorted(self._answered.items())]
        natural = sorted(self._marks, key=lambda mark: (mark.base, mark.indicator))
        _write(out, self._plan, answered, natural)
        stopped = "interrupted" if crew.interrupted else "limit" if self._limit is not None else ""
        return AuditResult(
            card=None if stopped or not answered else self._card(answered, natural, judge, command, sample),
            not_judged=dict(self._not_judged),
            planned=len(self._plan.assignments),
            calls=self._budget.calls,
            replayed=self._budget.replayed,
            seconds=time.monotonic() - started,
            stop=stopped,
            limit=self._limit.detail if self._limit is not None else "",
        )

    async def _worker(self, work: Iterator[tuple[int, Assignment]], judge: Model, started: float) -> None:
        told = started
        for place, assignment in work:
            if self._limit is not None:
                return
            before = self._budget.calls
            await self._judge(place, assignment, judge)
            if self._budget.calls == before:
                continue
            self._fresh += 1
            now = time.monotonic()
            left = (now - started) / self._fresh * (self._board.units - self._board.done - self._board.failed)
            due = self._fresh == FIRST_ESTIMATE or (self._fresh > FIRST_ESTIMATE and now - told >= ESTIMATE_EVERY_S)
            if due and left >= SHORT_S:
                told = now
                self._tell(f"about {_duration(left)} left")

    async def _reader(self, excerpts: Iterator[Excerpt], judge: Model) -> None:
        bench = self._bench
        for excerpt in excerpts:
            if self._limit is not None:
                return
            unit = unit_id("natural", excerpt=sha256(excerpt.model_dump_json()), bench=bench.key)
            calls = self._ledger.calls(unit=unit, seed=self._plan.seed, budget=self._budget)
            found = await or_end(natural_marks(excerpt, bench.checklist, judge=judge, calls=calls))
            if not isinstance(found, End):
                self._marks += found
                self._board.done += 1
            else:
                self._note(found)

    async def _judge(self, place: int, assignment: Assignment, judge: Model) -> None:
        label = f"specimen {place + 1} ({assignment.part})"
        self._board.open_units[label] = time.monotonic()
        bench = self._bench
        try:
            judged = await judge_or_end(
                bench,
                assignment.specimen.transcript,
                judge=judge,
                calls=self._ledger.calls(unit=_unit(assignment, bench), seed=self._plan.seed, budget=self._budget),
                votes=_votes(assignment, bench),
                indicators=_asked(assignment, bench),
            )
        finally:
            del self._board.open_units[label]
        if not isinstance(judged, End):
            self._answered[place] = Answered(assignment, judged)
            self._board.done += 1
        else:
            self._note(judged)

    def _note(self, end: End) -> None:
        if end.status == "failed":
            self._not_judged[end.detail if end.failure == "error" else end.failure] += 1
            self._board.failed += 1
        else:
            self._limit = self._limit or end

    def _card(
        self, answered: Sequence[Answered], natural: Sequence[Mark], judge: Model, command: str, sample: int | None
    ) -> Card:
        bench = self._bench
        binding = binding_of(
            judge.identity,
            bench.checklist,
            (one.assignment.specimen.transcript for one in answered),
            mode=bench.mode,
            ask=bench.ask,
            votes=bench.votes,
        )
        extra = judge.facts.extra
        return card_of(
            self._plan,
            answered,
            binding=binding,
            command=command,
            sample=sample,
            cost=self._cost(answered),
            sees=(_names(extra["sees"]), _names(extra.get("sees_partly"))) if "sees" in extra else None,
            trained_for=_names(extra["trained_for"]) if "trained_for" in extra else None,
            natural=natural,
            left_out=self._left_out,
            natural_left_out=self._natural_left_out,
            not_judged=self._not_judged,
        )

    def _cost(self, answered: Sequence[Answered]) -> Cost:
        units = {_unit(one.assignment, self._bench) for one in answered}
        uses = self._ledger.uses(units)
        count = sum(
            max(1, len(judgement.votes))
            for one in answered
            for judgement in one.judgements
            if judgement.source == "model"
        )
        each = max(1, count)
        return Cost(
            judgements=count,
            calls=sum(use.calls for use in uses) / each,
            input_tokens=sum(use.input_tokens for use in uses) / each,
            output_tokens=sum(use.output_tokens for use in uses) / each,
            seconds=sum(use.seconds for use in uses) / each,
        )


def specimen_lines(assignments: Sequence[Assignment]) -> Iterator[tuple[str, str]]:
    """Yields each specimen once, as a line of a file of transcripts, with the line that says what was done to it."""
    seen: set[str] = set()
    for one in assignments:
        specimen = one.specimen
        if specimen.transcript.id in seen:
            continue
        seen.add(specimen.transcript.id)
        done: dict[str, Json] = {
            "transcript": specimen.transcript.id,
            "base": specimen.base,
            "part": one.part,
            "twin": one.twin,
            "indicators": list(one.indicators),
            "mutations": [cast("dict[str, Json]", asdict(mutation)) for mutation in specimen.mutations],
        }
        yield specimen.transcript.model_dump_json(), json.dumps(done, ensure_ascii=False)


def _write(out: Path, plan: Plan, answered: Sequence[Answered], natural: Sequence[Mark]) -> None:
    write_atomically(out / CHECKLIST, dump_yaml(plan.checklist.model_dump(mode="json", exclude_defaults=True)))
    with (
        Spool(out / "specimens.jsonl") as specimens,
        Spool(out / "planted.jsonl") as planted,
        Spool(out / "judgements.jsonl") as judgements,
        Spool(out / "marks.jsonl") as marks,
    ):
        for place, (transcript, done) in enumerate(specimen_lines(plan.assignments)):
            specimens.add(place, [transcript])
            planted.add(place, [done])
        for place, one in enumerate(answered):
            if one.assignment.part == "main":
                judgements.add(place, [judgement.model_dump_json() for judgement in one.judgements])
        main = marks_of([one for one in answered if one.assignment.part == "main"], plan.checklist)
        marks.add(0, [json.dumps({"part": "planted", **asdict(mark)}) for mark in main])
        marks.add(1, [json.dumps({"part": "natural", **asdict(mark)}) for mark in natural])
        for spool in (specimens, planted, judgements, marks):
            spool.finish()


def _unit(assignment: Assignment, bench: JudgeBench) -> str:
    """Returns the id of an assignment, which comes from all that can change its answers."""
    asked = _asked(assignment, bench)
    return unit_id(
        "audit",
        transcript=assignment.specimen.transcript.digest,
        bench=bench.key,
        indicators=None if asked is None else list(asked),
        votes=_votes(assignment, bench),
    )


def _votes(assignment: Assignment, bench: JudgeBench) -> int:
    return VOTES_AGAIN if assignment.part == "again" else bench.votes


def _asked(assignment: Assignment, bench: JudgeBench) -> tuple[str, ...] | None:
    """Returns what is put to the judge: the counted questions, with all that stand in one call with them."""
    match bench.mode:
        case "joint":
            return None
        case "grouped" | "paper":
            counted = set(assignment.indicators)
            sets = batches(bench.checklist.indicators, bench.mode)
            return tuple(one.id for batch in sets if not counted.isdisjoint(i.id for i in batch) for one in batch)
        case "single" | "probability" | "windowed" | "glance":
            return assignment.indicators


def _names(value: Json) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
