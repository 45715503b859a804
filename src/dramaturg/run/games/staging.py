"""Plays any kept game to its end: what was said is replayed, what is new is kept before it is used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from dramaturg.errors import RunChangedError
from dramaturg.ledger import Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.games.game import LEDGER, TRANSCRIPT, KeptGame, Standing
from dramaturg.run.kept import PART, keep_models
from dramaturg.run.snapshot import SHOWN, differences
from dramaturg.run.spool import writing
from dramaturg.stage.audience import Audience, Floor, Observer, Usher
from dramaturg.stage.transcript import StateChange, Transcript, Turn
from dramaturg.text import write_atomically


class Watcher:
    """Counts what is said, so that lists can tell it, and passes everything on to the game's own audience.

    Attributes:
        standing: How far the game has come.
    """

    def __init__(self, game: KeptGame, audience: Audience | None) -> None:
        """Begins to count.

        Args:
            game: What is watched.
            audience: Who else watches.
        """
        self.standing = Standing()
        self._game = game
        self._audience = audience
        self._attempt: int = 0

    def hears(self, speaker: str, piece: str) -> None:
        """Passes on what is being said."""
        if self._audience is not None:
            self._audience.hears(speaker, piece)

    def sees(self, turn: Turn, attempt: int) -> None:
        """Counts a turn and passes it on; a new beginning counts anew."""
        if attempt != self._attempt:
            self._attempt = attempt
            self.standing = Standing()
        if turn.kind != "procedure":
            self.standing = Standing(turns=self.standing.turns + 1, phase=turn.phase)
        if self._audience is not None:
            self._audience.sees(turn, attempt)

    def gives(self, floor: Floor) -> None:
        """Passes on who has the floor."""
        if isinstance(self._audience, Usher):
            self._audience.gives(floor)

    def changed(self, change: StateChange) -> None:
        """Passes on a state that changed."""
        if isinstance(self._audience, Observer):
            self._audience.changed(change)

    def keep(self) -> None:
        """Writes how far the game has come."""
        self._game.keep_standing(self.standing)


Perform = Callable[[Mapping[str, Model], Ledger, Watcher], Awaitable[Transcript]]
"""Plays: takes the open models by spec string, the game's ledger and its watcher."""


@dataclass(frozen=True, slots=True)
class Staged:
    """What is played.

    Attributes:
        made_with: What can change an answer, by name.
        models: Spec strings of the models that play.
        parts: What each of them is in the study.
        perform: Plays it.
    """

    made_with: Mapping[str, str]
    models: Collection[str]
    parts: Mapping[str, tuple[PART, ...]]
    perform: Perform


async def play_on(
    game: KeptGame, stage: Callable[[], Staged], *, models: Models, audience: Audience | None, accept_changes: bool
) -> Transcript:
    """Returns the transcript of a game that was played to its end.

    Args:
        game: The game. Once it has ended it is shown to the audience as it is, and nothing is staged.
        stage: Reads what is played; it is called in a thread, for other games are played in the same loop.
        models: Opens the models; the caller releases them.
        audience: Who watches.
        accept_changes: Whether the game may go on under other prompts or another version than it began with.

    Raises:
        UserError: The game is open elsewhere, or a model cannot be opened.
        RunChangedError: Prompts, files or version are not those that the game began with.
        UnitStopped: An endpoint failed; play again to go on.
        LimitReached: The budget is used up.
        LedgerError: The ledger cannot be written; what was committed is kept.
    """
    with game.held():
        if game.has_ended:
            return _shown(game.transcript(), audience)
        staged = await asyncio.to_thread(stage)
        _check_unchanged(game, staged.made_with, accept_changes=accept_changes)
        watcher = Watcher(game, audience)
        with Ledger.open(game.folder / LEDGER) as ledger:
            opened = {spec: await models.open(spec) for spec in staged.models}
            try:
                transcript = await staged.perform(opened, ledger, watcher)
            finally:
                watcher.keep()
                keep_models(ledger, models, staged.parts)
        path = game.folder / TRANSCRIPT
        with writing(path):
            write_atomically(path, transcript.model_dump_json() + "\n")
        label = transcript.outcome.label if transcript.outcome is not None else ""
        game.keep_standing(watcher.standing.model_copy(update={"outcome": label}))
        return transcript


def _shown(transcript: Transcript, audience: Audience | None) -> Transcript:
    if audience is None:
        return transcript
    for turn in transcript.turns:
        audience.sees(turn, len(transcript.restarts))
        if isinstance(audience, Observer):
            for change in transcript.states:
                if change.turn == turn.id:
                    audience.changed(change)
    return transcript


def _check_unchanged(game: KeptGame, now: Mapping[str, str], *, accept_changes: bool) -> None:
    changes = differences(game.made_with, now)
    if changes and not accept_changes:
        more = f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        raise RunChangedError(
            f"the game began with something else: {'; '.join(changes[:SHOWN])}{more}",
            where=str(game.folder),
            allowed="restore it, or go on with --accept-changes: your turns stay, models may answer anew",
        )
