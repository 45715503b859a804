"""A story that is going on: it can be held before every act, and people take its characters over."""

from __future__ import annotations

import asyncio

from dramaturg.model.opening import Models
from dramaturg.run.games import Control, Story, play_story
from dramaturg.stage.audience import Floor
from dramaturg.stage.transcript import Role, StateChange, Transcript, Turn
from dramaturg.stage.world.briefing import Purpose
from dramaturg.stage.world.world import REACTION
from dramaturg.web.live import Live
from dramaturg.web.world.standings import Standings


class _HandedBack(Exception):
    """The character whose turn waited for a person was handed back to its model."""


class LiveStory(Live[Story]):
    """A story that is open in this process.

    Attributes:
        control: Whether it is paused, and whom a person is to play: kept on disk before it takes effect.
        standings: How everything stands.
    """

    def __init__(self, story: Story, models: Models) -> None:
        """Opens a story; `start` plays it.

        Args:
            story: The saved story.
            models: Shared with other games; the caller closes them.

        Raises:
            ContentError: The file of what somebody wants of the story is torn.
        """
        super().__init__(story, models)
        self.control = story.control()
        self.standings = Standings()
        self._step = False
        self._freed = asyncio.Event()

    # Holding

    def pause(self) -> None:
        """Holds the story before its next act.

        Raises:
            UserError: The disk is full or the folder cannot be written.
        """
        self._keep(self.control.model_copy(update={"paused": True}))

    def go_on(self) -> None:
        """Lets the story go on.

        Raises:
            UserError: The disk is full or the folder cannot be written.
        """
        self._keep(self.control.model_copy(update={"paused": False}))
        self._freed.set()

    def step(self) -> None:
        """Lets one act happen, with all that comes of it before the next one; nothing where the story is not held."""
        if self.state == "paused":
            self._step = True
            self._freed.set()

    async def _held(self) -> None:
        while self.control.paused and not self._step:
            self.state = "paused"
            self._freed.clear()
            self._tell()
            await self._freed.wait()
        self._step = False
        if self.state == "paused":
            self.state = "playing"
            self._tell()

    # Taking over

    def take_over(self, character: str) -> None:
        """Lets a person play a character from its next act on.

        Raises:
            UserError: The disk is full or the folder cannot be written.
        """
        self._keep(self.control.model_copy(update={"by_person": self.control.by_person | {character}}))

    def hand_back(self, character: str) -> None:
        """Lets the model play a character again, at once where its turn is waiting for a person.

        Raises:
            UserError: The disk is full or the folder cannot be written.
        """
        self._keep(self.control.model_copy(update={"by_person": self.control.by_person - {character}}))
        due = self.due
        if due is not None and self.acting == character and not due.answer.done():
            due.answer.set_exception(_HandedBack())

    @property
    def acting(self) -> str:
        """Id of the character that has the floor; empty where nobody has."""
        return self.floor.role.partition(":")[2] if self.floor is not None else ""

    @property
    def last_act(self) -> int:
        """Number of the turn of the last act that is no reaction; 0 before the first."""
        acts = (said.turn for said in reversed(self.said) if said.turn.kind == "action")
        return next((int(turn.id[1:]) for turn in acts if REACTION not in turn.flags), 0)

    def _keep(self, control: Control) -> None:
        self.game.keep_control(control)
        self.control = control
        self._tell()

    # Playing

    def start(self, *, accept_changes: bool = False) -> None:
        """Plays from the first act that is not in the ledger; does nothing while it is being played."""
        if self._task is None or self._task.done():
            self.standings.clear()
        super().start(accept_changes=accept_changes)

    async def _perform(self, *, accept_changes: bool) -> Transcript:
        return await play_story(
            self.game, models=self._models, audience=self, prompter=self._cue, accept_changes=accept_changes
        )

    async def _cue(self, role: Role, purpose: Purpose, note: str) -> str | None:
        if purpose != "speech":
            await self._held()
        if role.id.partition(":")[2] not in self.control.by_person:
            return None
        number = 2 * len(self.said) + int(purpose == "speech")  # an act and its speech are written down together
        try:
            return await self._read(note.rpartition("\n")[2], number)
        except _HandedBack:
            return None

    # The audience of the performance

    def sees(self, turn: Turn, attempt: int) -> None:
        """Takes a turn that is final; nobody has the floor then."""
        self.floor = None
        super().sees(turn, attempt)

    def gives(self, floor: Floor) -> None:
        """Takes who has the floor; what somebody says after what it does begins on a new line."""
        if self.heard and self.floor is not None and floor.role == self.floor.role:
            self.heard = f"{self.heard.rstrip()}\n"
        super().gives(floor)

    def changed(self, change: StateChange) -> None:
        """Takes a state that changed."""
        self.standings.take(change, self.said[-1].turn.phase if self.said else "")
        self._tell()
