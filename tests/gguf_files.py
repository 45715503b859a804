"""Writes small GGUF files: a tiny model that llama.cpp really loads, an adapter for it, and wrecks."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

GgufValue = str | int | float | bool | Sequence[str] | Sequence[int] | Sequence[float]

WIDTH = 32
HEADS = 2
LAYERS = 1
CONTEXT = 4096
CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>"


def _text(value: str) -> bytes:
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def _value(value: GgufValue) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _text(value)
        case _:
            kind = 8 if isinstance(value[0], str) else 5 if isinstance(value[0], int) else 6
            head = struct.pack("<IIQ", 9, kind, len(value))
            return head + b"".join(
                _text(item) if isinstance(item, str) else struct.pack("<i" if kind == 5 else "<f", item)
                for item in value
            )


def gguf_bytes(
    values: Mapping[str, GgufValue], tensors: Mapping[str, Sequence[int]] | None = None, *, seed: int = 0
) -> bytes:
    """Returns a GGUF file; tensors are 32-bit floats drawn from the seed."""
    tensors = tensors or {}
    chance = random.Random(seed)
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(values))]
    parts += [_text(key) + _value(value) for key, value in values.items()]
    data = bytearray()
    for name, shape in tensors.items():
        parts.append(_text(name) + struct.pack("<I", len(shape)))
        parts.append(struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", 0, len(data)))
        count = 1
        for size in shape:
            count *= size
        data += struct.pack(f"<{count}f", *(chance.gauss(0, 0.3) for _ in range(count)))
        data += bytes(-len(data) % 32)
    head = b"".join(parts)
    return head + bytes(-len(head) % 32) + bytes(data)


def _vocabulary() -> Iterator[tuple[str, int]]:
    """Yields token and type: three that steer, every byte, and the letters."""
    yield from (("<unk>", 2), ("<s>", 3), ("</s>", 3))
    yield from ((f"<0x{byte:02X}>", 6) for byte in range(256))
    yield from ((chr(code), 1) for code in range(33, 127))
    yield "\u2581", 1


def model_values(**changes: GgufValue) -> dict[str, GgufValue]:
    """Returns the key-value pairs of the tiny model, some of them changed."""
    tokens = list(_vocabulary())
    values: dict[str, GgufValue] = {
        "general.architecture": "llama",
        "general.type": "model",
        "general.name": "Tiny",
        "general.license": "mit",
        "general.file_type": 0,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": LAYERS,
        "llama.feed_forward_length": 2 * WIDTH,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [token for token, _ in tokens],
        "tokenizer.ggml.scores": [-float(number) for number in range(len(tokens))],
        "tokenizer.ggml.token_type": [kind for _, kind in tokens],
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.chat_template": CHAT,
    }
    return {**values, **{key.replace("__", "."): value for key, value in changes.items()}}


def write_model(path: Path) -> Path:
    """Writes a model with random weights: it speaks nonsense, and the runtime takes it for any other."""
    vocabulary = len(list(_vocabulary()))
    tensors: dict[str, Sequence[int]] = {"token_embd.weight": (WIDTH, vocabulary)}
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        tensors |= {
            f"{block}.attn_norm.weight": (WIDTH,),
            f"{block}.attn_q.weight": (WIDTH, WIDTH),
            f"{block}.attn_k.weight": (WIDTH, WIDTH),
            f"{block}.attn_v.weight": (WIDTH, WIDTH),
            f"{block}.attn_output.weight": (WIDTH, WIDTH),
            f"{block}.ffn_norm.weight": (WIDTH,),
            f"{block}.ffn_gate.weight": (WIDTH, 2 * WIDTH),
            f"{block}.ffn_up.weight": (WIDTH, 2 * WIDTH),
            f"{block}.ffn_down.weight": (2 * WIDTH, WIDTH),
        }
    tensors |= {"output_norm.weight": (WIDTH,), "output.weight": (WIDTH, vocabulary)}
    path.write_bytes(gguf_bytes(model_values(), tensors))
    return path


def write_adapter(path: Path, *, architecture: str = "llama") -> Path:
    """Writes a LoRA adapter for the tiny model."""
    values: dict[str, GgufValue] = {
        "general.architecture": architecture,
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 64.0,
    }
    tensors = {"blk.0.attn_q.weight.lora_a": (WIDTH, 2), "blk.0.attn_q.weight.lora_b": (2, WIDTH)}
    path.write_bytes(gguf_bytes(values, tensors, seed=1))
    return path
