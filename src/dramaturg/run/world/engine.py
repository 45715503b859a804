"""The engine of a study of worlds: plays run side by side, every reply is committed before it is used.

There is no checkpoint: the ledger replays what was answered. To resume is to run again.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from dramaturg.errors import LedgerError, LimitReached, UnitStopped, UserError
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.model.embeddings import Embedder, WordsOnly, open_embedder
from dramaturg.model.opening import Models
from dramaturg.run.board import Board
from dramaturg.run.court import EMPTY_HOUSE, House
from dramaturg.run.crew import Crew
from dramaturg.run.failure import bug_detail
from dramaturg.run.material import NamedModel
from dramaturg.run.progress import Progress, Silent
from dramaturg.run.rating import RATINGS, RatingBench
from dramaturg.run.recorded import recorded
from dramaturg.run.records import End, UnitRecord
from dramaturg.run.result import RunResult
from dramaturg.run.sitting import TRANSCRIPTS, UNITS, Sitting
from dramaturg.run.snapshot import check_folder, keep
from dramaturg.run.spool import Spool, copy_file
from dramaturg.run.world.material import WorldMaterial, world_snapshot
from dramaturg.run.world.rating import PlaysDocket
from dramaturg.run.world.units import WorldUnit, world_units
from dramaturg.stage.cast import Cast, HumanSeat, ModelSeat, Seat
from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.chain import OnCall
from dramaturg.stage.world.play import play_scene
from dramaturg.stage.world.setting import CHARACTER, NARRATOR, character_role
from dramaturg.stage.world.shared import Prompter, SharedSeat

SILENT = Silent()

_INTERRUPTED = End("open", "interrupted", "the run was interrupted before this unit's end")


async def run_world(
    material: WorldMaterial,
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
    """Returns what became of every play and every rating of one; the folder's files are written by then.

    These are ``transcripts.jsonl``, ``ratings.jsonl`` where the study names raters, and ``units.jsonl``. Run it again
    to go on: what was answered is replayed, what failed or was left is carried out. A play or a rating that fails is
    a record, never the end of the run. Budgets and Ctrl-C end the run cleanly, with a result.

    Args:
        material: The study, read and checked.
        out: Output folder, made where it is missing.
        ledger: Where every answer is kept.
        models: Opens the models; each subject is released after its last play.
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
    snapshot = world_snapshot(material)
    check_folder(out, snapshot, accept_changes=accept_changes)
    needed = material.models()
    budget.check_prices({spec: model.identity for spec, model in needed.items()})
    opened: dict[str, Model] = {}
    for spec, model in needed.items():
        opened[spec] = recorded(model, ledger) if replay_only else await models.open(spec)
    keep(out, snapshot)
    copy_file(material.path, out / "study.yaml")
    with ExitStack() as spools:
        transcripts = spools.enter_context(Spool(out / TRANSCRIPTS))
        records = spools.enter_context(Spool(out / UNITS))
        ratings = spools.enter_context(Spool(out / RATINGS)) if material.raters else None
        run = _Run(material, ledger, models, opened, budget, house, transcripts)
        started = time.monotonic()
        async with Crew(progress, run.board) as crew:
            await run.play(crew)
            transcripts.finish()
            if ratings is not None:
                docket = PlaysDocket(
                    transcripts.path,
                    {unit.transcript_id: unit for unit in run.units},
                    material.raters,
                    material.study.seed,
                    material.study.unit_timeout_s,
                    snapshot,
                )
                await run.rate(Sitting(docket, models, ledger, budget, replay_only), docket, crew, ratings)
                ratings.finish()
        result = run.result(out, time.monotonic() - started, interrupted=crew.interrupted)
        for position, record in enumerate(result.records):
            records.add(position, [record.model_dump_json()])
        records.finish()
    return result


class _Run:
    """One run of one study."""

    def __init__(
        self,
        material: WorldMaterial,
        ledger: Ledger,
        models: Models,
        opened: Mapping[str, Model],
        budget: Budget,
        house: House,
        transcripts: Spool,
    ) -> None:
        self._material = material
        self._ledger = ledger
        self._models = models
        self._opened = opened
        self._budget = budget
        self._house = house
        self._transcripts = transcripts
        self.units = tuple(world_units(material))
        self.board = Board(len(self.units) * (1 + len(material.raters)), budget, models)
        self._ends: dict[str, End] = {}
        self._rated: tuple[UnitRecord, ...] = ()
        self._limit: End | None = None
        self._embedder: Embedder = WordsOnly()

    async def play(self, crew: Crew) -> None:
        """Plays all units, one subject after the other; models that play no more are released."""
        if self._material.study.memory.by == "embeddings":
            self._embedder = await open_embedder()
        watched = self._house.audience is not None or self._material.has_person
        most = 1 if watched else self._material.study.concurrency  # people follow one play at a time
        fixed = self._fixed()
        for subject, units in itertools.groupby(self.units, lambda unit: unit.subject):
            if crew.interrupted or self._limit:
                break
            work = iter(list(units))
            await crew.work(lambda work=work: self._worker(work), most)
            if subject.spec.text not in fixed:
                await self._models.release(subject.spec.text)
        for spec in fixed:
            await self._models.release(spec)

    async def rate(self, sitting: Sitting[RatingBench], docket: PlaysDocket, crew: Crew, ratings: Spool) -> None:
        """Puts what was played before the raters, one after the other."""
        rated = await sitting.hold(crew, self.board, ratings, concurrency=self._material.study.concurrency)
        unplayed = {unit.id: end for unit in self.units if (end := self._end(unit)).status != "done"}
        self._rated = (*rated, *docket.unplayed(unplayed))
        self._limit = self._limit or sitting.limit

    def result(self, out: Path, seconds: float, *, interrupted: bool) -> RunResult:
        """Returns what became of every unit."""
        limit = self._limit
        return RunResult(
            study=self._material.study.study,
            out=out,
            records=(*(unit.record(self._end(unit)) for unit in self.units), *self._rated),
            stop="interrupted" if interrupted else "limit" if limit is not None else "",
            limit=limit.detail if limit is not None else "",
            calls=self._budget.calls,
            replayed=self._budget.replayed,
            tokens=self._budget.tokens,
            seconds=seconds,
        )

    def _fixed(self) -> frozenset[str]:
        players = (self._material.narrator, *self._material.cast.values())
        return frozenset(player.spec.text for player in players if player is not None)

    def _end(self, unit: WorldUnit) -> End:
        return self._ends.get(unit.id) or self._limit or _INTERRUPTED

    async def _worker(self, work: Iterator[WorldUnit]) -> None:
        while self._limit is None:
            unit = next(work, None)
            if unit is None:
                return
            self.board.open_units[unit.description] = time.monotonic()
            try:
                self._ends[unit.id] = await self._ended(unit)
            finally:
                del self.board.open_units[unit.description]

    async def _ended(self, unit: WorldUnit) -> End:
        """Plays one unit; whatever stops it is a value, but for a broken ledger."""
        seconds = self._material.study.unit_timeout_s
        clock = asyncio.timeout(None if unit.has_person else seconds)
        try:
            async with clock:
                transcript = await self._play(unit)
        except LedgerError:
            raise
        except LimitReached as limit:
            end = End("open", f"limit:{limit.limit}", str(limit))
            self._limit = self._limit or end
            return end
        except UnitStopped as stopped:
            self.board.failed += 1
            return End("failed", stopped.kind, stopped.detail)
        except Exception as problem:  # a fault of one play must not end the others
            self.board.failed += 1
            if clock.expired():
                return End("failed", "unit_timeout", f"took longer than unit_timeout_s={seconds:g}")
            return End("failed", "error", bug_detail(problem))
        self._transcripts.add(unit.position, [transcript.model_dump_json()])
        self.board.done += 1
        return End("done")

    async def _play(self, unit: WorldUnit) -> Transcript:
        return await play_unit(
            unit, self._material, self._opened, self._ledger, self._budget, house=self._house, embedder=self._embedder
        )


async def play_unit(
    unit: WorldUnit,
    material: WorldMaterial,
    opened: Mapping[str, Model],
    ledger: Ledger,
    budget: Budget,
    *,
    house: House = EMPTY_HOUSE,
    embedder: Embedder | None = None,
    on_call: OnCall | None = None,
    prompter: Prompter | None = None,
) -> Transcript:
    """Returns the transcript of one play: the subject plays every character that nobody else is cast for.

    Args:
        unit: What is played.
        material: Its study.
        opened: Open models by spec string.
        ledger: Where every answer is kept.
        budget: Counts and limits the new calls.
        house: Who is there to watch and to play.
        embedder: What compares memories with a situation; their words by default.
        on_call: Is told of every call.
        prompter: Is asked before every act of a character whether a person plays it; a character that is cast for a
            person is then played by one until it is handed back to the subject.

    Raises:
        UnitStopped: An endpoint failed.
        LimitReached: A budget of the run is used up.
    """
    study = material.study
    seats: dict[str, Seat] = {
        CHARACTER: ModelSeat(opened[unit.subject.spec.text], subject=True),
        NARRATOR: ModelSeat(opened[unit.narrator.spec.text]),
    }
    if prompter is not None:
        seats |= _shared(unit, opened, prompter)
    for role, player in unit.cast.items():
        if role not in seats:
            seats[role] = _seat(player, opened, house)
    return await play_scene(
        unit.scene,
        cast=Cast(seats),
        calls=ledger.calls(unit=unit.id, seed=study.seed, budget=budget),
        seed=unit.seed,
        protocol=study.protocol,
        limits=study.play_limits,
        embedder=embedder,
        memory=study.memory.rules,
        prompts=unit.variant.folder,
        transcript_id=unit.transcript_id,
        audience=house.audience,
        on_call=on_call,
    )


def _shared(unit: WorldUnit, opened: Mapping[str, Model], prompter: Prompter) -> dict[str, Seat]:
    """Returns a seat for every character that a person may take over."""
    seats: dict[str, Seat] = {}
    for role in (character_role(character.id) for character in unit.scene.characters):
        player = unit.cast.get(role, unit.subject)
        is_subject = role not in unit.cast or player is None
        model = opened[(player or unit.subject).spec.text]
        seats[role] = SharedSeat(model=model, subject=is_subject, prompter=prompter, begins=player is None)
    return seats


def _seat(player: NamedModel | None, opened: Mapping[str, Model], house: House) -> Seat:
    if player is not None:
        return ModelSeat(opened[player.spec.text])
    if house.read is None:
        raise TypeError("a person plays, and nothing asks this person")
    return HumanSeat(house.read)
