"""A training run from configuration to the best adapter: steps, looks at the held-out loss, checkpoints.

Nothing here depends on how often the run was interrupted. Which examples a step learns from and its learning rate are
functions of seed and step; weights, optimizer and generators are those of the checkpoint.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from filelock import FileLock, Timeout

from dramaturg.errors import ContentError, UserError
from dramaturg.train.batching import Order, Row, Tokens, alone, bunches, pack, spread
from dramaturg.train.checkpoint import Checkpoints, Log, Position, RunFacts, begin, is_begun, read_facts_of
from dramaturg.train.config import TrainingConfig
from dramaturg.train.estimate import Estimate, fit_pace
from dramaturg.train.learner import Learner, NotANumberError
from dramaturg.train.loading import Base, ChatTokens, find_base, needed
from dramaturg.train.material import Material, in_tokens, read_splits

_INDIFFERENT = {"out", "data", "base", "start_from", "threads", "checkpoint_every"}
"""Settings that do not change the result; data, base and the run to start from count by their digests."""

_WARMUP_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Prepared:
    """The data are read.

    Attributes:
        material: In tokens.
        cutoff: That some were longer than.
        notes: What is done in another form than asked.
        resumed_at: Step that the run goes on from; 0 for a new one.
    """

    material: Material
    cutoff: int
    notes: tuple[str, ...]
    resumed_at: int


@dataclass(frozen=True, slots=True)
class Stepped:
    """A step is made.

    Attributes:
        step: Its number, from 1.
        steps: All there are.
        loss: Mean of an answer's token, before it.
        seconds_left: To the end, if the run does not stop early.
    """

    step: int
    steps: int
    loss: float
    seconds_left: float


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A look at the held-out loss.

    Attributes:
        step: After which.
        loss: Mean of an answer's token.
        is_best: Whether it is the lowest so far.
    """

    step: int
    loss: float
    is_best: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over.

    Attributes:
        step: The last.
        steps: Those planned.
        held_out_loss: After the last step.
        best_step: The step whose adapter is kept.
        best_loss: Its held-out loss.
        base_loss: That before the first step.
        seconds: That this process took for the steps.
        peak_memory_bytes: The most that it held.
    """

    step: int
    steps: int
    held_out_loss: float
    best_step: int
    best_loss: float
    base_loss: float
    seconds: float
    peak_memory_bytes: int


Event: TypeAlias = Prepared | Estimate | Stepped | HeldOut | Ended
Watch: TypeAlias = Callable[[Event], None]


def train(config: TrainingConfig, watch: Watch) -> Ended:
    """Carries out a run, or the rest of it, and returns how it ended.

    Args:
        config: What the run is.
        watch: Is told of everything as it happens.

    Raises:
        MissingExtraError: The extra ``train`` is not installed.
        UserError: Base or data are wrong, the memory is too small, the disk is full, the loss is no number, or another
            process trains in the folder. What was learnt stands in the last checkpoint.
        RunChangedError: The folder holds another run.
    """
    for module in ("torch", "peft"):
        needed(module)
    try:
        config.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot be made: {error.strerror or error}", where=str(config.out)) from None
    try:
        with FileLock(config.out / "lock", timeout=0):
            return _train(config, watch)
    except Timeout:
        raise UserError("another process trains here", where=str(config.out)) from None


def _train(config: TrainingConfig, watch: Watch) -> Ended:
    splits = read_splits(config.data)
    base = find_base(config.base)
    chat = ChatTokens(base)
    material = in_tokens(splits, chat, config.cutoff, str(config.data))
    learner = Learner(base, config)
    facts = _facts(config, base, material, learner)
    if config.start_from is not None:
        facts = _started(facts, config.start_from, material, config.out)
    begin(config.out, facts)
    return _Run(config, material, learner, watch).to_the_end(chat.notes)


class _Run:
    """A run that goes on from its last checkpoint."""

    def __init__(self, config: TrainingConfig, material: Material, learner: Learner, watch: Watch) -> None:
        self._config = config
        self._material = material
        self._learner = learner
        self._watch = watch
        self._order = Order(bunches(material.train, config.together), config.examples_per_step, config.seed)
        self._steps = max(1, round(config.epochs * self._order.steps_per_epoch))
        self._look_every = config.evaluate_every or self._order.steps_per_epoch
        self._validation = self._rows(material.validation)
        self._checkpoints = Checkpoints(config.out)
        self._position: Position = Position()
        self._held: Mapping[str, Any] | None = None
        if self._checkpoints.last.exists():
            self._position, self._held = self._checkpoints.load(self._checkpoints.last)
        self._log = Log(config.out, self._position)

    def to_the_end(self, notes: tuple[str, ...]) -> Ended:
        position, learner = self._position, self._learner
        self._watch(Prepared(self._material, self._config.cutoff, notes, position.step))
        seconds = 0.0
        if not position.ended:
            if self._config.packing:
                learner.prove_packing(self._material.train)
            estimate = self._estimate()
            begun = time.perf_counter()
            if self._held is None:
                start = self._checkpoints.start
                learner.start(None if self._config.start_from is None else self._checkpoints.adapter(start))
            else:
                learner.restore(position.step, self._held)
            try:
                self._go_on(estimate, begun)
            except KeyboardInterrupt:
                if learner.settled is not None and learner.settled[0] == self._position.step:
                    self._save()
                raise
            seconds = time.perf_counter() - begun
            position = self._position
            self._log.write(step=position.step, seconds=seconds, peak_memory_bytes=learner.peak_bytes())
        ended = Ended(
            step=position.step,
            steps=self._steps,
            held_out_loss=position.held_out_loss,
            best_step=position.best_step,
            best_loss=position.best_loss,
            base_loss=position.base_loss,
            seconds=seconds,
            peak_memory_bytes=learner.peak_bytes(),
        )
        self._watch(ended)
        return ended

    def _estimate(self) -> Estimate:
        """Returns what the rest will take, and says so."""
        epoch = [row for step in range(self._order.steps_per_epoch) for row in self._rows_of(step)]
        self._learner.refuse_too_long(max([*epoch, *self._validation], key=len))
        times = [(len(row), self._learner.seconds_of(row)) for row in spread(epoch, 0.5)]
        (few, fast), (many, slow) = times
        look, learn = (fit_pace((few, fast[way]), (many, slow[way])) for way in (0, 1))
        left = self._steps - self._position.step
        looks = math.ceil(left / self._look_every) + (self._position.looked < 0)
        seconds = learn.seconds(map(len, epoch)) * left / self._order.steps_per_epoch
        seconds += look.seconds(map(len, self._validation)) * looks
        estimate = Estimate(self._learner.peak_bytes(), seconds, left, self._learner.threads)
        self._log.write(
            step=self._position.step, estimated_seconds=seconds, estimated_memory_bytes=estimate.memory_bytes
        )
        self._watch(estimate)
        return estimate

    def _go_on(self, estimate: Estimate, begun: float) -> None:
        """Steps and looks until the end; each of the two changes the position in one assignment, when it is done."""
        learner = self._learner
        while not self._position.ended:
            position = self._position
            if position.looked < position.step and self._is_due(position.step):
                self._look()
                self._save()
                continue
            rows = self._rows_of(position.step)
            try:
                loss = learner.learn(rows, rate_at(position.step, self._steps, self._config))
            except NotANumberError as error:
                raise self._no_number(f"{error.what} at step {position.step + 1}") from None
            step = position.step + 1
            self._position = replace(position, step=step)
            self._log.write(step=step, loss=loss, tokens=sum(map(len, rows)))
            ahead = (self._steps - step) / estimate.steps
            seconds_left = ahead * (time.perf_counter() - begun + ahead * estimate.seconds)
            self._watch(Stepped(step, self._steps, loss, seconds_left))
            if step % self._config.checkpoint_every == 0 and not self._is_due(step):
                self._save()

    def _is_due(self, step: int) -> bool:
        return step % self._look_every == 0 or step == self._steps

    def _look(self) -> None:
        """Takes the held-out loss; keeps the adapter where it is the lowest so far."""
        position = self._position
        loss = self._learner.mean_loss(self._validation)
        if position.looked < 0:
            whose = "the base's" if self._config.start_from is None else "the start's"
            self._learner.refuse_no_number(loss, f"{whose} held-out loss")
        if not math.isfinite(loss):
            raise self._no_number(f"the held-out loss is {loss} after step {position.step}")
        is_best = loss < position.best_loss
        worse = 0 if is_best else position.worse + 1
        patience = self._config.patience
        now = replace(
            position,
            looked=position.step,
            held_out_loss=loss,
            base_loss=loss if position.step == 0 else position.base_loss,
            worse=worse,
            ended=position.step == self._steps or 0 < patience <= worse,
        )
        if is_best:
            now = replace(now, best_loss=loss, best_step=position.step)
            self._checkpoints.save_best(now, self._learner.adapter())
        self._position = now
        self._log.write(step=position.step, held_out_loss=loss)
        self._watch(HeldOut(position.step, loss, is_best))

    def _save(self) -> None:
        learner = self._learner
        assert learner.settled is not None
        generators = learner.settled[1]
        self._checkpoints.save_last(self._position, learner.adapter(), learner.optimizer(), generators)

    def _rows_of(self, step: int) -> list[Row]:
        return self._rows([self._material.train[number] for number in self._order.step(step)])

    def _rows(self, examples: Sequence[Tokens]) -> list[Row]:
        return pack(examples, self._config.row_tokens) if self._config.packing else alone(examples)

    def _no_number(self, what: str) -> NotANumberError:
        return NotANumberError(
            f"{what}; the checkpoint before it and the best adapter, of step {self._position.best_step}, stand",
            where=str(self._config.out),
            allowed="a lower learning_rate in another out",
        )


def rate_at(step: int, steps: int, config: TrainingConfig) -> float:
    """Returns the learning rate of a step, counted from 0: linear warm-up, then half a cosine to 0, or constant."""
    warmup = min(config.warmup_steps, int(_WARMUP_SHARE * steps))
    if step < warmup:
        return config.learning_rate * (step + 1) / warmup
    if config.scheduler == "constant":
        return config.learning_rate
    return config.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def _facts(config: TrainingConfig, base: Base, material: Material, learner: Learner) -> RunFacts:
    """Returns what the run is; device and precision are those that it really has."""
    shape = learner.shape
    settings = config.model_dump(mode="json", exclude=_INDIFFERENT)
    settings |= {"device": learner.device, "dtype": learner.dtype}
    digests = {f"{name}.jsonl": _digest(config.data / f"{name}.jsonl") for name in ("train", "validation")}
    return RunFacts(
        settings={**settings, **digests, "base": base.digest or base.name},
        base=base.name,
        base_digest=base.digest,
        is_gguf=base.file is not None,
        architecture=shape.model_type,
        layers=shape.num_hidden_layers,
        heads=shape.num_attention_heads,
        kv_heads=shape.num_key_value_heads,
        lora=config.lora,
        trained_on=material.trained_on,
        learnt=material.learnt,
        examples=len(material.train),
        kinds=material.kinds,
        purposes=material.purposes,
        too_long=material.too_long,
    )


def _started(facts: RunFacts, run: Path, material: Material, out: Path) -> RunFacts:
    """Returns what a run is that starts from another one's adapter, and keeps that adapter in the run's own folder.

    A run that has begun needs the other one no more: that may have gone on since, or be gone.

    Raises:
        ContentError: There is no such run, its adapter does not fit this one, or it learnt what is held out here.
    """
    checkpoints = Checkpoints(out)
    if is_begun(out):
        recorded = read_facts_of(out).settings.get("start_run")
    else:
        before = read_facts_of(run)
        _refuse_misfit(facts, before, run)
        if seen := sorted({*before.learnt} & {*material.held_out}):
            what = f"start_from: scenes that are held out here were learnt there: {len(seen)}, such as {seen[0]!r}"
            raise ContentError(what, where=str(run), allowed="a set made by train data --split-as")
        checkpoints.take_start(run)
        facts, recorded = facts.after(before), None
    start = {
        "start_from": _digest(checkpoints.start) if checkpoints.start.is_file() else None,
        "start_run": _digest(run / "run.json") if is_begun(run) else recorded,
    }
    return facts.model_copy(update={"settings": {**facts.settings, **start}})


def _refuse_misfit(facts: RunFacts, before: RunFacts, run: Path) -> None:
    fits = {
        "base": (before.settings["base"], facts.settings["base"]),
        "architecture": (before.architecture, facts.architecture),
        "layers": (before.layers, facts.layers),
        "lora": (before.lora, facts.lora),
    }
    for name, (was, now) in fits.items():
        if was != now:
            raise ContentError(f"start_from: its {name} is {was}, of this run it is {now}", where=str(run))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
