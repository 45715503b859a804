"""What a training run is: base, data, adapter, and every number that decides its result.

The defaults of learning rate, scheduler, warm-up, cutoff, batch and accumulation are those of CharacterBox, Table 7.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dramaturg.errors import ContentError
from dramaturg.files import load_yaml
from dramaturg.train.recipes import CUTOFF_TOKENS, LEARNING_RATE, WARMUP_STEPS

Scheduler = Literal["cosine", "constant"]
Precision = Literal["auto", "float32", "bfloat16"]
Device = Literal["auto", "cpu", "cuda"]

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_STRICT = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class LoraConfig(BaseModel):
    """Which weights are learnt: a product of two thin matrices beside each target (LoRA, Hu et al. 2022).

    Attributes:
        rank: Width of the thin matrices.
        alpha: The product is scaled by alpha / rank.
        dropout: Share of the inputs that are dropped while training.
        targets: Names of the linear layers, as the model has them.
        last_layers: Only in so many layers at the top; those below need no backward pass. None for all.
    """

    model_config = _STRICT

    rank: Annotated[int, Field(ge=1, le=1024)] = 8
    alpha: Annotated[float, Field(gt=0)] = 16.0
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    targets: Annotated[tuple[_Text, ...], Field(min_length=1)] = (
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
    )  # fmt: skip
    last_layers: Annotated[int, Field(ge=1)] | None = None


class TrainingConfig(BaseModel):
    """One training run.

    Attributes:
        base: ``embedded:NAME``, a GGUF file, a folder of weights, or a name on a hub.
        data: Folder with ``train.jsonl`` and ``validation.jsonl``.
        out: Folder of the run: log, checkpoints, adapter.
        start_from: Folder of another run, whose best adapter is where this one starts; None for a fresh adapter.
        lora: The adapter.
        learning_rate: At its height.
        scheduler: ``cosine`` falls to 0 at the last step.
        warmup_steps: Steps in which the rate rises from 0; at most a tenth of the steps there are.
        epochs: Passes over the data; a part is allowed.
        cutoff: Most tokens of one example; longer ones are counted and left out, never cut.
        batch: Examples computed at once.
        accumulation: A step learns from batch × accumulation examples.
        max_grad_norm: Gradients longer than this are shortened to it.
        evaluate_every: Steps between two looks at the held-out loss; None for the end of each epoch.
        patience: Looks without a lower held-out loss after which training stops; 0 for never.
        checkpoint_every: Steps between two checkpoints.
        seed: Of the adapter's first weights, the order of the data, and dropout.
        packing: Compute the examples of a step in rows, and a prompt that several share once; the result is the same.
        row_tokens: Most tokens of a row; a longer example has a row of its own.
        together: So many examples that share most of their prompt are drawn at once, so that packing saves more.
        recompute: Compute activations twice instead of keeping them: less memory, a third more time.
        threads: That compute; 0 for all cores of this process.
        dtype: Of the base's weights; ``auto`` is float32 on a CPU, bfloat16 on a GPU. The adapter is float32.
        device: ``auto`` takes a GPU where there is one.
    """

    model_config = _STRICT

    base: _Text
    data: Path
    out: Path
    start_from: Path | None = None
    lora: LoraConfig = LoraConfig()
    learning_rate: Annotated[float, Field(gt=0, le=1)] = LEARNING_RATE
    scheduler: Scheduler = "cosine"
    warmup_steps: Annotated[int, Field(ge=0)] = WARMUP_STEPS
    epochs: Annotated[float, Field(gt=0, le=1000)] = 3.0
    cutoff: Annotated[int, Field(ge=16)] = CUTOFF_TOKENS
    batch: Annotated[int, Field(ge=1)] = 1
    accumulation: Annotated[int, Field(ge=1)] = 16
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    evaluate_every: Annotated[int, Field(ge=1)] | None = None
    patience: Annotated[int, Field(ge=0)] = 2
    checkpoint_every: Annotated[int, Field(ge=1)] = 20
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    packing: bool = True
    row_tokens: Annotated[int, Field(ge=16)] = 2048
    together: Annotated[int, Field(ge=1)] = 1
    recompute: bool = False
    threads: Annotated[int, Field(ge=0, le=1024)] = 0
    dtype: Precision = "auto"
    device: Device = "auto"

    @property
    def examples_per_step(self) -> int:
        """Examples that one step learns from."""
        return self.batch * self.accumulation


def load_training_config(path: Path) -> TrainingConfig:
    """Returns a run's configuration; relative folders, and a base that is a path, are seen from the file's folder.

    Raises:
        ContentError: The file cannot be read, or something in it is wrong.
    """
    config = load_yaml(path, TrainingConfig, error=ContentError)
    here = path.parent
    base = here / config.base
    found: dict[str, object] = {"base": str(base)} if ":" not in config.base and base.exists() else {}
    if config.start_from is not None:
        found["start_from"] = here / config.start_from
    return config.model_copy(update={**found, "data": here / config.data, "out": here / config.out})
