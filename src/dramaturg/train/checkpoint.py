"""What a training run keeps: enough to go on, after any kind of end, as if nothing had happened.

OUT/run.json      what the run is, and what was learnt from: another configuration or other data are refused
OUT/log.jsonl     a line for each step and each look at the held-out loss
OUT/last.pt       adapter, optimizer, random generators and position after a step
OUT/best.pt       the adapter with the lowest held-out loss
OUT/start.pt      the adapter that the run began with, where it is another run's
OUT/lock          held by the process that trains

Order of the data and learning rate are functions of seed and step, so the position is the number of the step.
"""

from __future__ import annotations

import io
import json
import os
import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from dramaturg.errors import ContentError, RunChangedError, UserError
from dramaturg.files import read_lines, read_text
from dramaturg.text import Json, canonical_json, write_atomically
from dramaturg.train.config import LoraConfig
from dramaturg.train.loading import needed

_RESOLVED = ("device", "dtype")
"""Settings that are recorded as they were resolved; where a record says ``auto``, it is older and tells nothing."""


class RunFacts(BaseModel):
    """What a run is, and what its adapter fits.

    Attributes:
        settings: Everything that decides the result, by name.
        base: The base as it was asked for.
        base_digest: SHA-256 of the base's GGUF file or folder; empty for a hub's.
        is_gguf: Whether the base is a GGUF file.
        architecture: As transformers names it, for example ``llama``.
        layers: Of the base.
        heads: Of its attention.
        kv_heads: Of its keys and values.
        lora: The adapter.
        trained_on: Ids of scenes, cases and transcripts that decided anything: of the training and validation set.
        learnt: Ids of the scenes and cases of the training set alone.
        examples: How many were learnt from.
        kinds: Kinds of data.
        purposes: What the calls of the examples are for, or the kinds of faults that they ask about.
        too_long: How many examples were left out because they are longer than the cutoff.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: dict[str, Any]
    base: str
    base_digest: str
    is_gguf: bool
    architecture: str
    layers: int
    heads: int
    kv_heads: int
    lora: LoraConfig
    trained_on: tuple[str, ...]
    examples: int
    kinds: tuple[str, ...]
    purposes: tuple[str, ...] = ()
    learnt: tuple[str, ...] = ()
    too_long: int

    def after(self, before: RunFacts) -> RunFacts:
        """Returns what the run is if it starts from another one's adapter: it learnt from the data of both."""

        def both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(sorted({*one, *other}))

        return self.model_copy(
            update={
                "trained_on": both(self.trained_on, before.trained_on),
                "learnt": both(self.learnt, before.learnt),
                "kinds": both(self.kinds, before.kinds),
                "purposes": both(self.purposes, before.purposes),
            }
        )


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run is.

    Attributes:
        step: Steps that are done.
        looked: The step after which the held-out loss was last looked at; -1 for never.
        best_step: The step with the lowest held-out loss.
        best_loss: That loss.
        worse: Looks at the held-out loss since then.
        held_out_loss: The last one seen.
        base_loss: The one before the first step: of the base, or of the adapter that the run starts from.
        ended: Whether the run is over.
    """

    step: int = 0
    looked: int = -1
    best_step: int = 0
    best_loss: float = float("inf")
    worse: int = 0
    held_out_loss: float = float("inf")
    base_loss: float = float("inf")
    ended: bool = False


def read_facts_of(out: Path) -> RunFacts:
    """Returns what the run of a folder is.

    Raises:
        ContentError: The folder holds no run.
    """
    path = out / "run.json"
    if not is_begun(out):
        raise ContentError("holds no training run", where=str(out), allowed="the folder `out` of a train run")
    try:
        return RunFacts.model_validate_json(read_text(path))
    except ValidationError:
        raise ContentError("is no record of a training run", where=str(path)) from None


def begin(out: Path, facts: RunFacts) -> None:
    """Writes what the run is, or proves that the one begun here is the same.

    Raises:
        RunChangedError: It is not; the message names what differs.
        UserError: The folder cannot be written.
    """
    if is_begun(out):
        before, now = read_facts_of(out).settings, json.loads(canonical_json(facts.settings))
        other = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        other = [name for name in other if name not in _RESOLVED or before.get(name) != "auto"]
        if other:
            changed = ", ".join(f"{name} was {_short(before.get(name))}, is {_short(now.get(name))}" for name in other)
            raise RunChangedError(
                f"was begun with other settings: {changed}",
                where=str(out),
                allowed="set them back, or name another out",
            )
        return
    try:
        write_atomically(out / "run.json", facts.model_dump_json(indent=1))
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", where=str(out)) from None


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"


class Checkpoints:
    """The two checkpoints of a run, each written whole or not at all."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._torch = needed("torch")
        self._stands = 0

    @property
    def last(self) -> Path:
        """Where the run stands."""
        return self._out / "last.pt"

    @property
    def best(self) -> Path:
        """The best adapter."""
        return self._out / "best.pt"

    @property
    def start(self) -> Path:
        """The adapter that the run began with, where it is another run's."""
        return self._out / "start.pt"

    def take_start(self, run: Path) -> None:
        """Keeps another run's best adapter as the start, so that nothing depends on that run any more.

        Raises:
            ContentError: It has none, or that is no checkpoint.
            UserError: The disk is full, or cannot be written.
        """
        other = Checkpoints(run)
        if not other.best.is_file():
            raise ContentError("start_from: the run has no adapter yet", where=str(run), allowed="a run that has begun")
        position, held = other.load(other.best)
        self._write(self.start, held, position.step)

    def save_last(self, position: Position, adapter: Any, optimizer: Any, generators: Any) -> None:
        """Writes where the run stands.

        Raises:
            UserError: The disk is full, or cannot be written; the checkpoint before stands.
        """
        held = {"position": asdict(position), "adapter": adapter, "optimizer": optimizer, "generators": generators}
        self._write(self.last, held, position.step)
        self._stands = position.step

    def save_best(self, position: Position, adapter: Any) -> None:
        """Writes the best adapter; see `save_last`."""
        self._write(self.best, {"position": asdict(position), "adapter": adapter}, position.step)

    def adapter(self, path: Path) -> dict[str, Any]:
        """Returns the adapter of a checkpoint, its weights by PEFT's names; see `load`."""
        return dict(self.load(path)[1]["adapter"])

    def load(self, path: Path) -> tuple[Position, Mapping[str, Any]]:
        """Returns position and content of a checkpoint.

        Raises:
            ContentError: It is not there, or is no checkpoint.
        """
        try:
            held = cast("Mapping[str, Any]", self._torch.load(path, map_location="cpu", weights_only=True))
            position = Position(**held["position"])
        except FileNotFoundError:
            raise ContentError("there is no checkpoint yet", where=str(path), allowed="dramaturg train run") from None
        except (OSError, RuntimeError, KeyError, TypeError, ValueError, EOFError, pickle.UnpicklingError) as error:
            what = str(error).strip().split("\n")[0]
            raise ContentError(f"is no checkpoint: {what}", where=str(path)) from None
        self._stands = position.step
        return position, held

    def _write(self, path: Path, held: Mapping[str, Any], step: int) -> None:
        # In memory first: torch reports a full disk as an error of its own, without saying so.
        buffer = io.BytesIO()
        self._torch.save(held, buffer)
        part = path.with_suffix(".part")
        try:
            with part.open("wb") as file:
                file.write(buffer.getbuffer())
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            size = f"{len(buffer.getbuffer()) / 1e6:.0f} MB"
            stands = f"that of step {self._stands} stands" if self._stands else "there is none before it"
            raise UserError(
                f"the checkpoint of step {step} ({size}) cannot be written: {error.strerror or error}; {stands}",
                where=str(path),
                allowed="make room, then run the same command again",
            ) from None


def is_begun(out: Path) -> bool:
    """Returns whether a folder holds a run."""
    return (out / "run.json").is_file()


class Log:
    """OUT/log.jsonl: lines in the order of steps, none of a step that the checkpoint does not know."""

    def __init__(self, out: Path, position: Position) -> None:
        """Opens the log; lines behind the position, of a process that was killed, are taken out."""
        self._path = out / "log.jsonl"
        kept: list[str] = []
        if self._path.exists():
            for _, line in read_lines(self._path):
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # Torn by a kill.
                if entry.get("step", 0) <= position.step:
                    kept.append(canonical_json(entry))
        write_atomically(self._path, "".join(f"{line}\n" for line in kept))

    def write(self, **entry: Json) -> None:
        """Adds a line.

        Raises:
            UserError: The disk is full, or cannot be written.
        """
        try:
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(canonical_json(entry) + "\n")
        except OSError as error:
            raise UserError(f"cannot be written: {error.strerror or error}", where=str(self._path)) from None
