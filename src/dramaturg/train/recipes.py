"""Ready configurations for other trainers, with the published values, beside the forms that they read.

Source: CharacterBox, appendix E and table 7: LoRA, learning rate 5e-5 with a cosine schedule and 20 steps of warm-up,
cutoff 8192, batch 1, accumulation 16 (reward 32), epochs 5, 5, 6 and 3, a tenth for validation. The paper names no
rank.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dramaturg.files import dump_yaml
from dramaturg.text import Json, write_atomically
from dramaturg.train.example import Kind

CUTOFF_TOKENS = 8192
VALIDATION = 0.1
LEARNING_RATE = 5e-5
WARMUP_STEPS = 20
SCHEDULER = "cosine"

BASE = "Qwen/Qwen2.5-7B-Instruct"
"""What the paper trains; to be changed."""

Reads = Literal["alpaca", "sharegpt"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the paper trains one kind with.

    Attributes:
        epochs: Passes over the data.
        accumulation: Batches of one example before a step.
    """

    epochs: float
    accumulation: int


RECIPES: dict[Kind, Recipe] = {
    "guided": Recipe(6, 16),
    "reflective": Recipe(3, 16),
    "narrator": Recipe(5, 16),
    "reward": Recipe(5, 32),
    "judge": Recipe(5, 32),
}
"""Table 7; the paper has no judge, which takes what the reward model does."""


def write_trl(out: Path, kind: Kind, *, base: str, splits: Collection[str], seed: int, note: str) -> Path:
    """Returns ``OUT/trl.yaml`` for ``trl sft --config``, written: loss on the completion alone.

    Args:
        out: Folder of the set; the form ``trl`` lies in it.
        kind: What is learned.
        base: The model to begin with.
        splits: Those that the set has.
        seed: Of the training.
        note: One line at the head of the file.
    """
    has_validation = "validation" in splits
    settings: dict[str, Json] = {
        "model_name_or_path": _found(base),
        "dataset_name": str((out / "trl").resolve()),
        "dataset_train_split": "train",
        **({"dataset_test_split": "validation", "eval_strategy": "epoch"} if has_validation else {}),
        "completion_only_loss": True,
        "max_length": CUTOFF_TOKENS,
        "use_peft": True,
        **_schedule(kind, out, seed),
    }
    return _write(out / "trl.yaml", settings, note)


def write_dataset_info(out: Path, kind: Kind, *, reads: Reads, splits: Collection[str]) -> Path:
    """Returns the ``dataset_info.json`` that LLaMA-Factory needs beside a form, written.

    Args:
        out: Folder of the set.
        kind: What is learned.
        reads: The form; it lies in a folder of its name.
        splits: Those that the set has.
    """
    columns: dict[str, Json] = (
        {"prompt": "instruction", "query": "input", "response": "output", "system": "system", "history": "history"}
        if reads == "alpaca"
        else {"messages": "conversations", "system": "system"}
    )
    info: dict[str, Json] = {
        _named(kind, split): {"file_name": f"{split}.json", "formatting": reads, "columns": columns} for split in splits
    }
    path = out / reads / "dataset_info.json"
    write_atomically(path, json.dumps(info, indent=1) + "\n")
    return path


def write_llamafactory(
    out: Path, kind: Kind, *, base: str, reads: Reads, splits: Collection[str], seed: int, note: str
) -> Path:
    """Returns ``OUT/llamafactory.yaml``, written; see `write_dataset_info` for what it needs besides.

    Args:
        out: Folder of the set.
        kind: What is learned.
        base: The model to begin with.
        reads: The form that is trained on.
        splits: Those that the set has.
        seed: Of the training.
        note: One line at the head of the file.
    """
    has_validation = "validation" in splits
    settings: dict[str, Json] = {
        "model_name_or_path": _found(base),
        "stage": "sft",
        "do_train": True,
        "finetuning_type": "lora",
        "lora_target": "all",
        "dataset_dir": str((out / reads).resolve()),
        "dataset": _named(kind, "train"),
        **({"eval_dataset": _named(kind, "validation"), "eval_strategy": "epoch"} if has_validation else {}),
        "template": "qwen",
        "mask_history": True,
        "cutoff_len": CUTOFF_TOKENS,
        **_schedule(kind, out, seed),
    }
    return _write(out / "llamafactory.yaml", settings, note)


def _write(path: Path, settings: dict[str, Json], note: str) -> Path:
    write_atomically(path, f"# {' '.join(note.split())}\n{dump_yaml(settings, width=120)}")
    return path


def _found(base: str) -> str:
    """Returns a base of this machine by its whole path: a trainer may be started in any folder."""
    path = Path(base)
    return str(path.resolve()) if path.exists() else base


def _named(kind: Kind, split: str) -> str:
    return f"dramaturg_{kind}_{split}"


def _schedule(kind: Kind, out: Path, seed: int) -> dict[str, Json]:
    """Returns what both trainers call by one name, since both hand it on to transformers."""
    recipe = RECIPES[kind]
    return {
        "learning_rate": LEARNING_RATE,
        "lr_scheduler_type": SCHEDULER,
        "warmup_steps": WARMUP_STEPS,
        "num_train_epochs": recipe.epochs,
        "per_device_train_batch_size": 1,
        "per_device_eval_batch_size": 1,
        "gradient_accumulation_steps": recipe.accumulation,
        "save_strategy": "epoch",
        "seed": seed,
        "output_dir": str((out / "trained").resolve()),
    }
