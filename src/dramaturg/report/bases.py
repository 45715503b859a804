"""Whether two models are of one base, told by their files' hashes and metadata and by their names.

A judge favours its own kind.
"""

from __future__ import annotations

import itertools
import re
from typing import Literal

from dramaturg.run.kept import KeptModel

Kinship = Literal["", "same_model", "same_base"]
"""Nothing known in common; one and the same model; models whose names or files tell of one base."""

_PARTS = re.compile(r"[-_:/@ ]+")
_NO_BASE = re.compile(
    r"\d+(\.\d+)?[mbt]|\d+x\d+b|a\d+b"  # size
    r"|i?q\d.*|bf?16|f(p)?(16|32|8|4)|int[48]|gptq|awq|gguf|k|m|s|l|xs|xxs|\d+bit"  # quantisation
    r"|instruct|chat|it|base|hf|latest|preview|\d{4,}|v\d+(\.\d+)*"  # tuning and date
)
_NAMELESS = frozenset({"script", "human"})


def kinship(one: KeptModel, other: KeptModel) -> Kinship:
    """Returns what two models have in common.

    Equal hashes are one model, and so are equal names at one provider. Names of one base are a guess: size,
    quantisation and tuning are taken off, and what is left of one must stand whole in the other, as ``llama-3.1`` does
    in ``hermes-3-llama-3.1-8b``. What a file says that it was made from counts like its name.
    """
    if one.provider in _NAMELESS or other.provider in _NAMELESS:
        return (
            "same_model" if (one.provider, one.name, one.digest) == (other.provider, other.name, other.digest) else ""
        )
    if one.digest and one.digest == other.digest:
        return "same_model"
    if (one.provider, one.name) == (other.provider, other.name) and not (one.digest and other.digest):
        return "same_model"
    names = itertools.product((one.name, *one.bases), (other.name, *other.bases))
    return "same_base" if any(_tell_of_one_base(*pair) for pair in names) else ""


def _tell_of_one_base(one: str, other: str) -> bool:
    shorter, longer = sorted((base_of(one), base_of(other)), key=len)
    width = len(shorter)
    inside = any(longer[start : start + width] == shorter for start in range(len(longer) - width + 1))
    return bool(shorter) and inside


def base_of(name: str) -> tuple[str, ...]:
    """Returns the words of a model's name that tell its base.

    ``Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf`` gives ``qwen2.5`` and ``coder``.
    """
    file = re.split(r"[/\\]", name.lower())[-1].removesuffix(".gguf")
    return tuple(word for word in _PARTS.split(file) if word and not _NO_BASE.fullmatch(word))
