"""Plays a game to its end, and judges it afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dramaturg.errors import RunChangedError, UserError
from dramaturg.judge.checklist import Mode
from dramaturg.ledger import Budget, Ledger
from dramaturg.model.opening import Models
from dramaturg.run.bench import judge_by
from dramaturg.run.court import House, perform
from dramaturg.run.games.game import LEDGER, TRANSCRIPT, Game, Standing
from dramaturg.run.games.making import made_with
from dramaturg.run.judging import benches_of
from dramaturg.run.kept import keep_models, parts_of
from dramaturg.run.material import Material
from dramaturg.run.records import End, record_of
from dramaturg.run.snapshot import SHOWN, differences, keep, snapshot_of
from dramaturg.run.spool import copy_file, writing
from dramaturg.run.units import JudgeUnit, StageUnit, unit_id, units_of
from dramaturg.stage.audience import Floor, Usher
from dramaturg.stage.transcript import Transcript, Turn
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
    with game.held():
        if game.has_ended:
            return _shown(game.transcript(), house)
        material = await asyncio.to_thread(game.material)  # other games are played in the same loop
        _check_unchanged(game, await asyncio.to_thread(made_with, material), accept_changes=accept_changes)
        unit = _stage_unit(material)
        if game.settings.player == "human" and house.read is None:
            raise UserError("a person plays, and nobody is there to ask", where=game.id)
        watcher = _Watcher(game, house)
        with Ledger.open(game.folder / LEDGER) as ledger:
            opened = {spec: await models.open(spec) for spec in material.models()}
            calls = ledger.calls(unit=unit.id, seed=material.study.seed, budget=budget or Budget())
            try:
                transcript = await perform(unit, material.study, opened, calls, watcher.house())
            finally:
                game.keep_standing(watcher.standing)
                keep_models(ledger, models, parts_of(material))
        path = game.folder / TRANSCRIPT
        with writing(path):
            write_atomically(path, transcript.model_dump_json() + "\n")
        label = transcript.outcome.label if transcript.outcome is not None else ""
        game.keep_standing(watcher.standing.model_copy(update={"outcome": label}))
        return transcript


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


class _Watcher:
    """Counts what is said, so that lists can tell it, and passes everything on to the house's own audience."""

    def __init__(self, game: Game, house: House) -> None:
        self.standing = Standing()
        self._game = game
        self._house = house
        self._attempt: int = 0

    def house(self) -> House:
        """Returns the house with the watcher in it."""
        return House(self, self._read if self._house.read is not None else None)

    def hears(self, speaker: str, piece: str) -> None:
        """Passes on what is being said."""
        if self._house.audience is not None:
            self._house.audience.hears(speaker, piece)

    def sees(self, turn: Turn, attempt: int) -> None:
        """Counts a turn and passes it on; a new beginning counts anew."""
        if attempt != self._attempt:
            self._attempt = attempt
            self.standing = Standing()
        if turn.kind != "procedure":
            self.standing = Standing(turns=self.standing.turns + 1, phase=turn.phase)
        if self._house.audience is not None:
            self._house.audience.sees(turn, attempt)

    def gives(self, floor: Floor) -> None:
        """Passes on who has the floor."""
        if isinstance(self._house.audience, Usher):
            self._house.audience.gives(floor)

    async def _read(self, note: str) -> str:
        self._game.keep_standing(self.standing)
        if self._house.read is None:
            raise TypeError("nobody is there to ask")
        return await self._house.read(note)


def _stage_unit(material: Material) -> StageUnit:
    return next(unit for unit in units_of(material) if isinstance(unit, StageUnit))


def _shown(transcript: Transcript, house: House) -> Transcript:
    if house.audience is not None:
        for turn in transcript.turns:
            house.audience.sees(turn, len(transcript.restarts))
    return transcript


def _check_unchanged(game: Game, now: dict[str, str], *, accept_changes: bool) -> None:
    changes = differences(game.made_with, now)
    if changes and not accept_changes:
        more = f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        raise RunChangedError(
            f"the game began with something else: {'; '.join(changes[:SHOWN])}{more}",
            where=str(game.folder),
            allowed="restore it, or go on with --accept-changes: your turns stay, models may answer anew",
        )
