"""A model with an adapter that learns from rows: the part of training that computes.

Why a loop of our own, and not the trainers of transformers or TRL: theirs skip to a position in the data and restore
generators in ways that differ between releases, pack without a mask unless a GPU has flash attention, and compute the
vocabulary's scores for every token of the prompt. Here a step is a function of its number, a row's mask keeps examples
apart on every device, scores are computed for the tokens of answers alone, and the whole of it is this file.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from dramaturg.errors import ContentError, UserError
from dramaturg.model.embedded import peak_of
from dramaturg.train.batching import Row, Tokens, alone, pack
from dramaturg.train.config import TrainingConfig
from dramaturg.train.estimate import activation_bytes, loading_bytes, optimizer_bytes
from dramaturg.train.loading import Base, add_adapter, load_weights, needed, quiet, refuse_missing_targets

_TOLERANCE = {4: 1e-3, 2: 5e-2}
"""By bytes of a weight: how far the loss of packed examples may lie from the loss of each alone, as a share of it."""

_PROOF = {4: 2, 2: 8}
"""By bytes of a weight: examples that prove the packing; more where each one's loss is rounded by a few hundredths."""

_GRAIN = 64
"""A row is computed in whole multiples of so many tokens. Kernels for a CPU are prepared for each length and kept: with
lengths as they come, memory grows from step to step."""

Generators: TypeAlias = "dict[str, Any]"
"""State of torch's generators, by device."""


class NotANumberError(UserError):
    """Loss or gradient are no numbers; the weights are those of the step before."""


class Learner:
    """A base with an adapter.

    Attributes:
        model: Of PEFT.
        device: Where it computes.
        dtype: Name of the type of the base's weights.
        threads: That compute.
        settled: Steps that are made, and the state of torch's generators after the last; None while one is being made.
    """

    def __init__(self, base: Base, config: TrainingConfig) -> None:
        """Loads the base and puts a fresh adapter beside it.

        Raises:
            UserError: It cannot be loaded, or does not fit into memory.
        """
        self._torch = torch = needed("torch")
        self._config = config
        self._base = base.name
        self.threads = _threads(torch, config.threads)
        torch.set_num_threads(self.threads)
        self.device = _device(torch, config.device)
        self.dtype = {"auto": "bfloat16" if self.device == "cuda" else "float32"}.get(config.dtype, config.dtype)
        self._bytes_each = 4 if self.dtype == "float32" else 2
        if base.weights is not None:
            self._refuse_small_memory(loading_bytes(base.weights, self._bytes_each), f"loading {base.name}")
        model = load_weights(base, getattr(torch, self.dtype), self.device)
        refuse_missing_targets(model, config.lora)
        self.shape = model.config.get_text_config()
        torch.manual_seed(config.seed)
        self.model = add_adapter(model, config.lora)
        if config.recompute:
            with quiet():
                self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        self._learnt = [weight for weight in self.model.parameters() if weight.requires_grad]
        self._optimizer = torch.optim.AdamW(self._learnt, lr=config.learning_rate, weight_decay=0.0)
        self.settled: tuple[int, Generators] | None = None

    @property
    def learnt(self) -> int:
        """How many weights the adapter has."""
        return sum(weight.numel() for weight in self._learnt)

    def start(self, adapter: Mapping[str, Any] | None = None) -> None:
        """Sets torch's generators to the run's seed, before the first step; takes over another run's adapter."""
        if adapter is not None:
            needed("peft").set_peft_model_state_dict(self.model, adapter)
        self._torch.manual_seed(self._config.seed)
        self.settled = (0, self._generators())

    def restore(self, step: int, held: Mapping[str, Any]) -> None:
        """Takes over the weights, optimizer and generators of a checkpoint after a step."""
        needed("peft").set_peft_model_state_dict(self.model, held["adapter"])
        self._optimizer.load_state_dict(held["optimizer"])
        self._torch.set_rng_state(held["generators"]["cpu"])
        if self.device == "cuda" and held["generators"]["cuda"]:
            self._torch.cuda.set_rng_state_all(held["generators"]["cuda"])
        self.settled = (step, self._generators())

    def learn(self, rows: Sequence[Row], rate: float) -> float:
        """Makes one step, and returns the mean loss of an answer's token before it.

        Raises:
            NotANumberError: Loss or gradient are no numbers.
        """
        self.model.train()
        loss = self._backward(rows)
        norm = float(self._torch.nn.utils.clip_grad_norm_(self._learnt, self._config.max_grad_norm))
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise NotANumberError(f"the loss is {loss}, the gradient's length {norm}")
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        assert self.settled is not None
        made, self.settled = self.settled[0], None
        self._optimizer.step()
        self.settled = (made + 1, self._generators())
        self._optimizer.zero_grad(set_to_none=True)
        return loss

    def mean_loss(self, rows: Sequence[Row]) -> float:
        """Returns the mean loss of an answer's token, by weight, without learning from it."""
        self.model.eval()
        with self._torch.no_grad():
            return math.fsum(float(self._loss(row)) for row in rows) / math.fsum(row.weight for row in rows)

    def seconds_of(self, row: Row) -> tuple[float, float]:
        """Returns how long the row takes to look at, and to learn from; nothing is learnt."""
        begun = time.perf_counter()
        self.mean_loss([row])
        looked = time.perf_counter()
        self.model.train()
        self._backward([row])
        self._optimizer.zero_grad(set_to_none=True)
        return looked - begun, time.perf_counter() - looked

    def prove_packing(self, examples: Sequence[Tokens]) -> None:
        """Proves on this very model that packed examples have the losses that they have alone.

        Args:
            examples: At least one; the shortest are computed, and the longest is compared with a sliding window.

        Raises:
            NotANumberError: Even alone they have none.
            ContentError: They have not: the model's layers do not follow the row's mask.
        """
        window = getattr(self.shape, "sliding_window", None)
        longest = max(map(len, examples))
        if window and longest > window and getattr(self.shape, "use_sliding_window", True):
            what = f"packing: the base looks back {window} tokens in some layers, the longest example has {longest}"
            raise ContentError(what, allowed=f"packing: false, or a cutoff of {window}")
        few = sorted(examples, key=len)[: _PROOF[self._bytes_each]]
        apart, packed = self.mean_loss(alone(few)), self.mean_loss(pack(few, sum(map(len, few))))
        self.refuse_no_number(apart, "the base's loss")
        if not math.isclose(apart, packed, rel_tol=_TOLERANCE[self._bytes_each], abs_tol=1e-5):
            what = f"packing: the base does not keep packed examples apart (loss {packed:.4f}, alone {apart:.4f})"
            raise ContentError(what, allowed="packing: false")

    def refuse_no_number(self, loss: float, what: str) -> None:
        """Proves that a loss from before the first step is a number.

        Args:
            loss: Of some examples.
            what: Whose it is.

        Raises:
            NotANumberError: It is none.
        """
        if not math.isfinite(loss):
            raise NotANumberError(
                f"{what} is not a number ({loss}), before anything was learnt",
                where=self._base,
                allowed="another base, or dtype: float32",
            )

    def refuse_too_long(self, row: Row) -> None:
        """Proves, before it is computed, that a row fits into memory.

        Raises:
            UserError: It does not.
        """
        layers = self.shape.num_hidden_layers
        needs = activation_bytes(
            len(row),
            targets=len(row.targets),
            layers=min(layers, self._config.lora.last_layers or layers),
            width=self.shape.hidden_size,
            inner=self.shape.intermediate_size,
            vocabulary=self.shape.vocab_size,
            recompute=self._config.recompute,
        )
        self._refuse_small_memory(needs + optimizer_bytes(self.learnt), f"a row of {len(row)} tokens")

    def peak_bytes(self) -> int:
        """Returns the most memory that was held so far, and what the optimizer will hold."""
        if self.device == "cuda":
            return int(self._torch.cuda.max_memory_allocated()) + optimizer_bytes(self.learnt)
        return peak_of(needed("psutil").Process()) + optimizer_bytes(self.learnt)

    def adapter(self) -> dict[str, Any]:
        """Returns the adapter's weights by PEFT's names."""
        state = needed("peft").get_peft_model_state_dict(self.model, save_embedding_layers=False)
        return {name: weight.detach().cpu().contiguous() for name, weight in state.items()}

    def optimizer(self) -> Any:
        """Returns the optimizer's state."""
        return self._optimizer.state_dict()

    def _generators(self) -> Generators:
        cuda: list[Any] = self._torch.cuda.get_rng_state_all() if self.device == "cuda" else []
        return {"cpu": self._torch.get_rng_state(), "cuda": cuda}

    def _backward(self, rows: Sequence[Row]) -> float:
        self._optimizer.zero_grad(set_to_none=True)
        weight = math.fsum(row.weight for row in rows)
        total = 0.0
        for row in rows:
            loss = self._loss(row) / weight
            loss.backward()
            total += float(loss.detach())
        return total

    def _loss(self, row: Row) -> Any:
        """Returns the sum of the losses of the row's targets, by weight."""
        torch, device = self._torch, self.device
        filler = -len(row) % _GRAIN
        mask = row.mask(filler)
        scores = self.model(
            input_ids=torch.tensor([row.tokens + [0] * filler], device=device),
            position_ids=torch.tensor([row.positions + [0] * filler], device=device),
            attention_mask=None if mask is None else torch.from_numpy(mask)[None, None].to(device),
            logits_to_keep=torch.tensor(row.sources, device=device),
            use_cache=False,
        ).logits[0]
        targets = torch.tensor(row.targets, device=device)
        losses = torch.nn.functional.cross_entropy(scores.float(), targets, reduction="none")
        return (losses * torch.tensor(row.weights, device=device)).sum()

    def _refuse_small_memory(self, needs: int, what: str) -> None:
        if self.device == "cuda":
            free = self._torch.cuda.mem_get_info()[0]
        else:
            free = needed("psutil").virtual_memory().available
        if needs > free:
            raise UserError(
                f"{what} needs about {needs / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free",
                allowed="a smaller base, cutoff or row_tokens, or recompute: true",
            )


def _threads(torch: Any, wanted: int) -> int:
    from dramaturg.model.serve_gguf import idle_cores

    needed("psutil")
    return wanted or min(idle_cores(), torch.get_num_threads())


def _device(torch: Any, wanted: str) -> str:
    there = torch.cuda.is_available()
    if wanted == "cuda" and not there:
        raise ContentError("device: there is no GPU that torch can use", allowed="auto, cpu")
    return "cuda" if there and wanted != "cpu" else "cpu"
