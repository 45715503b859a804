"""What a run will take, said before it begins: memory from the longest row, time from two timed rows.

The time of a row of n tokens is a·n + b·n²: matrix products, and attention. Two rows of different lengths give both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_LIBRARIES_BYTES = 500_000_000
_LOADING = 1.5
"""Of the weights' bytes while they are read and dequantised."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of a row by its tokens.

    Attributes:
        per_token: Seconds.
        per_square: Seconds for each token squared.
    """

    per_token: float
    per_square: float

    def seconds(self, lengths: Iterable[int]) -> float:
        """Returns the seconds of rows of such lengths."""
        return math.fsum(self.per_token * length + self.per_square * length * length for length in lengths)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will take.

    Attributes:
        memory_bytes: At most, of the process or of the GPU.
        seconds: From now to the end, if it does not stop early.
        steps: From now to the end.
        threads: That compute.
    """

    memory_bytes: int
    seconds: float
    steps: int
    threads: int


def fit_pace(short: tuple[int, float], long: tuple[int, float]) -> Pace:
    """Returns the pace that two timed rows show; where noise hides the square, there is none.

    Args:
        short: Tokens and seconds of one row.
        long: Of one that is at least as long.
    """
    (few, fast), (many, slow) = short, long
    square = (slow / many - fast / few) / (many - few) if many > few else 0.0
    square = min(max(square, 0.0), slow / many / many)
    return Pace(per_token=slow / many - square * many, per_square=square)


def loading_bytes(weights: int, bytes_each: int) -> int:
    """Returns about how much memory the process needs while it loads a base."""
    return round(weights * bytes_each * _LOADING) + _LIBRARIES_BYTES


def activation_bytes(
    tokens: int, *, targets: int, layers: int, width: int, inner: int, vocabulary: int, recompute: bool
) -> int:
    """Returns about how much memory a row needs while it is computed forth and back.

    Args:
        tokens: Of the row.
        targets: Tokens that it has a loss on.
        layers: Of the model that keep what they computed.
        width: Of its hidden states.
        inner: Of its feed-forward part.
        vocabulary: Of its output.
        recompute: Whether the layers keep only what they begin with.
    """
    layer = tokens * (16 * width + 8 * inner) * 4
    kept = layers * tokens * width * 4 + layer if recompute else layers * layer
    return kept + 3 * targets * vocabulary * 4 + tokens * tokens


def optimizer_bytes(learnt: int) -> int:
    """Returns the memory of gradients, AdamW's two moments, and a checkpoint on its way to the disk."""
    return learnt * 4 * (1 + 2 + 3)
