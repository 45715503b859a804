"""Small data sets to train on, and a base so small that a whole run takes seconds."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gguf_files import CHAT, CONTEXT, GgufValue, gguf_bytes, model_values

HEADS = 4
KV_HEADS = 2
LAYERS = 2
WIDTH = 64

CHAT_WITHOUT_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + CHAT
)
CHAT_THAT_DROPS_SYSTEM = (
    "{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>"
)

_THINGS = ("lamp", "coin", "book", "rope", "bell", "knife", "glove", "ring")


def write_base(path: Path, *, architecture: str = "llama", chat: str = CHAT, bad: bool = False) -> Path:
    """Writes a model with random weights whose queries have more heads than its keys.

    Args:
        path: The file.
        architecture: ``llama`` or ``qwen2``.
        chat: Its template.
        bad: Whether a weight is no number.
    """
    plain = model_values(tokenizer__chat_template=chat)
    values: dict[str, GgufValue] = {key.replace("llama.", f"{architecture}."): value for key, value in plain.items()}
    values |= {
        "general.architecture": architecture,
        f"{architecture}.embedding_length": WIDTH,
        f"{architecture}.block_count": LAYERS,
        f"{architecture}.feed_forward_length": 2 * WIDTH,
        f"{architecture}.attention.head_count": HEADS,
        f"{architecture}.attention.head_count_kv": KV_HEADS,
        f"{architecture}.rope.dimension_count": WIDTH // HEADS,
        f"{architecture}.rope.freq_base": 10000.0,
        f"{architecture}.context_length": CONTEXT,
    }
    tokens = values["tokenizer.ggml.tokens"]
    assert isinstance(tokens, Sequence)
    narrow = WIDTH // HEADS * KV_HEADS
    tensors: dict[str, Sequence[int]] = {"token_embd.weight": (WIDTH, len(tokens))}
    for block in (f"blk.{layer}" for layer in range(LAYERS)):
        tensors |= {
            f"{block}.attn_norm.weight": (WIDTH,),
            f"{block}.attn_q.weight": (WIDTH, WIDTH),
            f"{block}.attn_k.weight": (WIDTH, narrow),
            f"{block}.attn_v.weight": (WIDTH, narrow),
            f"{block}.attn_output.weight": (WIDTH, WIDTH),
            f"{block}.ffn_norm.weight": (WIDTH,),
            f"{block}.ffn_gate.weight": (WIDTH, 2 * WIDTH),
            f"{block}.ffn_up.weight": (WIDTH, 2 * WIDTH),
            f"{block}.ffn_down.weight": (2 * WIDTH, WIDTH),
        }
        if architecture == "qwen2":
            tensors |= {
                f"{block}.attn_q.bias": (WIDTH,),
                f"{block}.attn_k.bias": (narrow,),
                f"{block}.attn_v.bias": (narrow,),
            }
    tensors |= {"output_norm.weight": (WIDTH,), "output.weight": (WIDTH, len(tokens))}
    data = gguf_bytes(values, tensors)
    path.write_bytes(data[:-4] + b"\x00\x00\xc0\x7f" if bad else data)
    return path


def example(scene: str, number: int, **changes: Any) -> dict[str, Any]:
    """Returns a line of a data set: a question about a list, and its answer."""
    chance = random.Random(scene)
    things = chance.sample(_THINGS, 4)
    asked = _THINGS[number % len(_THINGS)]
    answer = "yes" if asked in things else "no"
    question = f"{scene}: {', '.join(things)}. {asked}?"
    return {
        "id": f"{scene}-{number}",
        "kind": "judge",
        "messages": [
            {"role": "system", "content": "Say yes or no."},
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer},
        ],
        "scene": scene,
        "characters": [f"Keeper of {scene}"],
        "language": "en",
        "source": f"t-{scene}",
        "teacher": "rule",
        **changes,
    }


def write_data(
    folder: Path, train: Sequence[dict[str, Any]] | None = None, validation: Sequence[dict[str, Any]] | None = None
) -> Path:
    """Writes a data set; what is not given is four questions on each of six lists, and on each of two others."""
    train = [example(f"a{i}", n) for i in range(6) for n in range(4)] if train is None else train
    validation = [example(f"b{i}", n) for i in range(2) for n in range(4)] if validation is None else validation
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("train", train), ("validation", validation)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder
