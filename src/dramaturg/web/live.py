"""A performance that is going on: one task plays it, any number of open pages watch it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar

from dramaturg.errors import DramaturgError, LedgerError, RunChangedError, UnitStopped
from dramaturg.judge.checklist import Mode
from dramaturg.model.opening import Models
from dramaturg.run.court import House
from dramaturg.run.failure import bug_detail
from dramaturg.run.games import Game, KeptGame, PageWriter, judge_game, play
from dramaturg.stage.audience import Floor
from dramaturg.stage.transcript import Transcript, Turn
from dramaturg.text import redact

MOST_CHARACTERS = 200_000
"""Characters of an answer that are taken at all; what the court hears of them is the trial's own limit."""

State = Literal["playing", "waiting", "paused", "ended", "stopped"]
"""playing: a model's turn. waiting: for the person. paused: somebody holds it. ended: there is a transcript. stopped: a
fault; it can go on."""

GameT = TypeVar("GameT", bound=KeptGame)

Fault = Literal["connect", "model", "locked", "changed", "inner"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a game, or its judging, has stopped.

    Attributes:
        kind: Which words tell it.
        detail: One line, without secrets.
    """

    kind: Fault
    detail: str


@dataclass(frozen=True, slots=True)
class Said:
    """A turn that is final, with the number of the attempt that it belongs to."""

    turn: Turn
    attempt: int


@dataclass(frozen=True, slots=True)
class Due:
    """The turn that waits for the person.

    Attributes:
        number: Which turn; an answer names it, so that a second answer to the same turn is told from one to the next.
        note: What the procedure tells the person.
        answer: Takes the words.
    """

    number: int
    note: str
    answer: asyncio.Future[str]


@dataclass(slots=True)
class Judging:
    """The judging of an ended game.

    Attributes:
        task: Carries it out while it goes on.
        report: The report's page, once there is one.
        problem: Why there is none.
    """

    task: asyncio.Task[None] | None = None
    report: Path | None = None
    problem: Problem | None = None


class Live(ABC, Generic[GameT]):
    """A game that is open in this process. It goes on when nobody watches.

    Attributes:
        game: The saved game.
        state: What it is doing.
        said: All final turns, of all attempts.
        floor: Who has the floor.
        speaker: Name of whoever is being heard.
        heard: What is being said, not final yet.
        due: The turn that waits for the person.
        problem: Why it has stopped.
        transcript: The whole, once it has ended.
    """

    def __init__(self, game: GameT, models: Models) -> None:
        """Opens a game; `start` plays it.

        Args:
            game: The saved game.
            models: Shared with other games; the caller closes them.
        """
        self.game = game
        self.state: State = "playing"
        self.said: list[Said] = []
        self.floor: Floor | None = None
        self.speaker: str = ""
        self.heard: str = ""
        self.due: Due | None = None
        self.problem: Problem | None = None
        self.transcript: Transcript | None = None
        self._models = models
        self._watchers: dict[int, Callable[[], None]] = {}
        self._next_watcher = 0
        self._task: asyncio.Task[None] | None = None

    @abstractmethod
    async def _perform(self, *, accept_changes: bool) -> Transcript:
        """Returns the transcript of the game, played to its end."""

    # Watching

    def watch(self, changed: Callable[[], None]) -> int:
        """Calls back after every change, until `unwatch`; returns the number to give back there."""
        self._next_watcher += 1
        self._watchers[self._next_watcher] = changed
        return self._next_watcher

    def unwatch(self, number: int) -> None:
        """Forgets a watcher."""
        self._watchers.pop(number, None)

    @property
    def idle(self) -> bool:
        """Whether nobody watches and nothing would be lost or late if the game were put away."""
        return not self._watchers and self.state != "playing"

    def _tell(self) -> None:
        for changed in [*self._watchers.values()]:
            changed()

    # Playing

    def start(self, *, accept_changes: bool = False) -> None:
        """Plays from the first turn that is not in the ledger; does nothing while it is being played.

        Args:
            accept_changes: Whether to go on under other prompts or another version than the game began with.
        """
        if self._task is not None and not self._task.done():
            return
        self.said.clear()
        self.problem, self.floor, self.due = None, None, None
        self.state, self.speaker, self.heard = "playing", "", ""
        self._task = asyncio.create_task(self._play(accept_changes), name=f"game {self.game.id}")
        self._tell()

    async def stop(self) -> None:
        """Stops playing; what was said is kept."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def answer(self, number: int, text: str) -> bool:
        """Returns whether the words were taken: the first answer to the turn that is due is, any other is not."""
        due = self.due
        if due is None or due.number != number or due.answer.done():
            return False
        due.answer.set_result(text[:MOST_CHARACTERS])
        return True

    async def _play(self, accept_changes: bool) -> None:
        try:
            self.transcript = await self._perform(accept_changes=accept_changes)
        except Exception as problem:  # whatever ends a game is told on its page
            self.problem, self.state = problem_of(problem), "stopped"
        else:
            self.state = "ended"
        self.due, self.speaker, self.heard = None, "", ""
        self._tell()

    async def _read(self, note: str, number: int) -> str:
        """Returns what the person answers.

        Args:
            note: What the person is told.
            number: Which turn; the same one whenever the game is played again.
        """
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.due = Due(number, note, answer)
        self.state = "waiting"
        self._tell()
        try:
            return await answer
        finally:
            self.due, self.state = None, "playing"
            self._tell()

    # The audience of the performance

    def hears(self, speaker: str, piece: str) -> None:
        """Takes a piece of what is being said."""
        if speaker != self.speaker:
            self.speaker, self.heard = speaker, ""
        self.heard += piece
        self._tell()

    def sees(self, turn: Turn, attempt: int) -> None:
        """Takes a turn that is final."""
        self.said.append(Said(turn, attempt))
        self.speaker, self.heard = "", ""
        self._tell()

    def gives(self, floor: Floor) -> None:
        """Takes who has the floor."""
        self.floor = floor
        self._tell()


class LiveGame(Live[Game]):
    """A game in court that is open in this process.

    Attributes:
        judging: The judging, once it has ended.
    """

    def __init__(self, game: Game, models: Models, write_page: PageWriter) -> None:
        """Opens a game; `start` plays it.

        Args:
            game: The saved game.
            models: Shared with other games; the caller closes them.
            write_page: Writes the report once it is judged.
        """
        super().__init__(game, models)
        self.judging = Judging()
        self._write_page = write_page

    @property
    def idle(self) -> bool:
        """Whether nobody watches and nothing would be lost or late if the game were put away."""
        return super().idle and self.judging.task is None

    async def stop(self) -> None:
        """Stops playing and judging; what was said is kept."""
        await super().stop()
        if self.judging.task is not None:
            self.judging.task.cancel()
            await asyncio.gather(self.judging.task, return_exceptions=True)

    async def _perform(self, *, accept_changes: bool) -> Transcript:
        async def read(note: str) -> str:
            return await self._read(note, len(self.said))

        house = House(self, read)
        transcript = await play(self.game, models=self._models, house=house, accept_changes=accept_changes)
        self.judging.report = self._last_report()
        return transcript

    def _last_report(self) -> Path | None:
        pages = self.game.folder.glob("judged/*/report.html")
        return max(pages, key=lambda page: page.stat().st_mtime, default=None)

    def judge(self, *, checklist: str, judge: str, mode: Mode) -> None:
        """Judges the ended game; does nothing while it is being judged."""
        if self.judging.task is None and self.state == "ended":
            work = self._judge(checklist, judge, mode)
            self.judging = Judging(asyncio.create_task(work, name=f"judging {self.game.id}"))
            self._tell()

    async def _judge(self, checklist: str, judge: str, mode: Mode) -> None:
        report, problem = None, None
        try:
            report = await judge_game(
                self.game,
                models=self._models,
                judge_spec=judge,
                write_page=self._write_page,
                checklist=checklist,
                mode=mode,
            )
        except Exception as fault:  # whatever ends a judging is told on the game's page
            problem = problem_of(fault)
        self.judging = Judging(None, report, problem)
        self._tell()


def problem_of(fault: Exception) -> Problem:
    """Returns what a page tells of a fault: never a trace."""
    match fault:
        case UnitStopped():
            return Problem("connect", redact(fault.detail or fault.kind))
        case RunChangedError():
            return Problem("changed", redact(str(fault)))
        case LedgerError():
            return Problem("locked", redact(str(fault)))
        case DramaturgError():
            return Problem("model", redact(str(fault)))
        case _:
            return Problem("inner", bug_detail(fault))
