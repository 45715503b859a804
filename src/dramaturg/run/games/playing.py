"""Plays a game to its end, and judges it afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from dramaturg.errors import UserError
from dramaturg.judge.checklist import Mode
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.bench import judge_by
from dramaturg.run.court import House, perform
from dramaturg.run.games.game import LEDGER, TRANSCRIPT, Game
from dramaturg.run.games.making import made_with
from dramaturg.run.games.staging import Staged, Watcher, play_on
from dramaturg.run.judging import benches_of
from dramaturg.run.kept import keep_models, parts_of
from dramaturg.run.material import Material
from dramaturg.run.records import End, record_of
from dramaturg.run.snapshot import keep, snapshot_of
from dramaturg.run.spool import copy_file, writing
from dramaturg.run.units import JudgeUnit, StageUnit, unit_id, units_of
from dramaturg.stage.cast import Reader
from dramaturg.stage.transcript import Transcript
from dramaturg.text import write_atomically

PageWriter = Callable[[Path, Ledger, str], Path]
"""Writes the report of a judged folder, as `dramaturg.report.page.write_page` does.

It takes the folder, the ledger and the command that repeats the judging, and returns the page.
"""


async def play(
    game: Game, *, models: Models, house: House, budget: Budget | None = None, accept_changes: bool = False
) -> Transcript:
    """Returns the transcript of a game that was played to its end.

    What was said before is replayed: the audience sees it, nobody is asked for it again. To leave a game, cancel this;
    every answer is kept by then. An ended game is shown to the audience as it is, and no model is opened.

    Args:
        game: The game.
        models: Opens the models; the caller releases them.
        house: Who watches, and who asks the person that plays.
        budget: Limits the new calls; none by default.
        accept_changes: Whether the game may go on under other prompts or another version than it began with.

    Raises:
        UserError: The game is open elsewhere, a model cannot be opened, or nobody is there to ask the player.
        RunChangedError: Prompts, files or version are not those that the game began with.
        UnitStopped: An endpoint failed; play again to go on.
        LimitReached: The budget is used up.
        LedgerError: The ledger cannot be written; what was committed is kept.
    """

    def stage() -> Staged:
        if game.settings.player == "human" and house.read is None:
            raise UserError("a person plays, and nobody is there to ask", where=game.id)
        material = game.material()
        unit = _stage_unit(material)

        async def show(opened: Mapping[str, Model], ledger: Ledger, watcher: Watcher) -> Transcript:
            calls = ledger.calls(unit=unit.id, seed=material.study.seed, budget=budget or Budget())
            asks = House(watcher, _keeping(house.read, watcher) if house.read is not None else None)
            return await perform(unit, material.study, opened, calls, asks)

        return Staged(made_with(material), material.models().keys(), parts_of(material), show)

    return await play_on(game, stage, models=models, audience=house.audience, accept_changes=accept_changes)


def _keeping(read: Reader, watcher: Watcher) -> Reader:
    """Returns the reader, before which it is written how far the game has come."""

    async def read_then(note: str) -> str:
        watcher.keep()
        return await read(note)

    return read_then


async def judge_game(
    game: Game,
    *,
    models: Models,
    judge_spec: str,
    write_page: PageWriter,
    checklist: str = "court",
    mode: Mode = "single",
    budget: Budget | None = None,
) -> Path:
    """Returns the page with the report on an ended game; what a person or a script said is not judged.

    Judge again to go on with a judging that was left, or by another judge, checklist or mode.

    Args:
        game: An ended game.
        models: Opens the judge; the caller releases it.
        judge_spec: Spec string.
        write_page: Writes the report: `dramaturg.report.page.write_page`, which is above this room.
        checklist: Name of a shipped checklist, or a path.
        mode: How the judge is asked.
        budget: Limits the new calls; none by default.

    Raises:
        UserError: The game has not ended or is open elsewhere, or the judge or the checklist is wrong.
        UnitStopped: The judge's endpoint failed; what was answered is kept.
        LimitReached: The budget is used up.
        LedgerError: The ledger cannot be written.
    """
    (bench,) = benches_of([judge_spec], checklist=checklist, mode=mode, votes=1, long="refuse", ask="presence")
    with game.held():
        transcript = game.transcript()
        material = replace(game.material(), judges=(bench,))
        stage = _stage_unit(material)
        unit = JudgeUnit(unit_id("judge", stage=stage.id, bench=bench.key), stage, bench)
        out = game.folder / "judged" / unit.id
        with Ledger.open(game.folder / LEDGER) as ledger:
            judge = await models.open(bench.model.spec.text)
            calls = ledger.calls(unit=unit.id, seed=material.study.seed, budget=budget or Budget())
            try:
                judgements = await judge_by(bench, transcript, judge=judge, calls=calls)
            finally:
                keep_models(ledger, models, {bench.model.spec.text: ("judge",)})
            await asyncio.to_thread(keep, out, snapshot_of(material))
            copy_file(game.folder / TRANSCRIPT, out / "transcripts.jsonl")
            protocol = material.study.protocol
            records = [record_of(one, End("done"), protocol=protocol) for one in (stage, unit)]
            with writing(out):
                for name, lines in (("judgements.jsonl", judgements), ("units.jsonl", records)):
                    write_atomically(out / name, "".join(f"{line.model_dump_json()}\n" for line in lines))
            command = (
                f"dramaturg judge {out / 'transcripts.jsonl'} --judge {judge_spec} --checklist {checklist} "
                f"--mode {mode} --out DIR"
            )
            return write_page(out, ledger, command)


def _stage_unit(material: Material) -> StageUnit:
    return next(unit for unit in units_of(material) if isinstance(unit, StageUnit))
