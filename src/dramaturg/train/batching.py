"""From examples to rows of tokens: what is shared is computed once, and no example sees another.

A row is a forest. Examples whose prompts begin alike share the tokens of that beginning; behind it each goes its own
way. A token sees what stands before it on its own way alone, at the position that it has there. So a row gives every
example the very loss that it has alone: a row of examples that share nothing is the usual block-diagonal packing with
restarted positions, and a row of questions behind one transcript computes the transcript once.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
import numpy.typing as npt

_FAMILY = 0.5
"""Examples that share at least this part of both prompts are of one family."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """An example in tokens.

    Attributes:
        prompt: Of the chat up to where the answer begins.
        answer: Of the answer, with the token that ends it.
        weight: Of each of its answer's tokens in the loss.
    """

    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    weight: float = 1.0

    def __len__(self) -> int:
        return len(self.prompt) + len(self.answer)


@dataclass(slots=True)
class Row:
    """Tokens that are computed at once.

    Attributes:
        tokens: All of them, each branch behind the one before.
        positions: Of each token on its own way.
        branches: First token of each branch, with the tokens of other branches that it goes on from.
        sources: Place of the token that tells each token of an answer.
        targets: The tokens of the answers.
        weights: Theirs, in the loss.
    """

    tokens: list[int] = field(default_factory=list[int])
    positions: list[int] = field(default_factory=list[int])
    branches: list[tuple[int, list[int]]] = field(default_factory=list[tuple[int, list[int]]])
    sources: list[int] = field(default_factory=list[int])
    targets: list[int] = field(default_factory=list[int])
    weights: list[float] = field(default_factory=list[float])

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def weight(self) -> float:
        """The weights of all its targets together."""
        return math.fsum(self.weights)

    def mask(self, filler: int = 0) -> npt.NDArray[np.bool_] | None:
        """Returns who sees whom (the row sees the column); None for a single branch, which is causal.

        Args:
            filler: Tokens behind the row that nobody sees; each of them sees itself.
        """
        if len(self.branches) == 1:
            return None
        size = len(self.tokens)
        mask = np.eye(size + filler, dtype=np.bool_)
        ends = [start for start, _ in self.branches[1:]] + [size]
        for (start, before), end in zip(self.branches, ends, strict=True):
            mask[start:end, before] = True
            mask[start:end, start:end] = np.tri(end - start, dtype=np.bool_)
        return mask


def pack(examples: Sequence[Tokens], row_tokens: int) -> list[Row]:
    """Returns rows that hold all examples; those whose prompts begin alike stand side by side.

    Args:
        examples: In any order; none is empty.
        row_tokens: Most tokens of a row; a longer example has a row of its own.
    """
    rows: list[Row] = []
    way: list[int] = []
    last: tuple[int, ...] = ()
    for example in sorted(examples, key=lambda one: (one.prompt, one.answer)):
        shared = _shared(last, example.prompt)
        if not rows or len(rows[-1]) + len(example) - shared > row_tokens:
            rows.append(Row())
            shared = 0
        way = _add(rows[-1], example, way[:shared])
        last = example.prompt
    return rows


def _add(row: Row, example: Tokens, before: list[int]) -> list[int]:
    """Adds an example that goes on from tokens of the row; returns the places of its prompt."""
    start = len(row)
    new = (*example.prompt[len(before) :], *example.answer)
    row.branches.append((start, before))
    row.tokens += new
    row.positions += range(len(before), len(before) + len(new))
    way = [*before, *range(start, start + len(new))]
    row.sources += way[len(example.prompt) - 1 : -1]
    row.targets += example.answer
    row.weights += [example.weight] * len(example.answer)
    return way[: len(example.prompt)]


def alone(examples: Sequence[Tokens]) -> list[Row]:
    """Returns a row for each example."""
    return [row for example in examples for row in pack([example], len(example))]


def bunches(examples: Sequence[Tokens], together: int) -> list[list[int]]:
    """Returns the examples' numbers in bunches of a family, each of at most `together`."""
    if together == 1:
        return [[number] for number in range(len(examples))]
    found: list[list[int]] = []
    last: tuple[int, ...] = ()
    for number in sorted(range(len(examples)), key=lambda one: (examples[one].prompt, examples[one].answer)):
        prompt = examples[number].prompt
        kin = _shared(last, prompt) >= _FAMILY * max(len(last), len(prompt))
        if found and kin and len(found[-1]) < together:
            found[-1].append(number)
        else:
            found.append([number])
        last = prompt
    return found


class Order:
    """Which examples each step learns from: all of them once in each epoch, in an order that the seed alone decides."""

    def __init__(self, bunched: Sequence[Sequence[int]], per_step: int, seed: int) -> None:
        self._bunched = bunched
        self._per_step = per_step
        self._seed = seed
        self._epoch: tuple[int, list[int]] = (-1, [])
        self.steps_per_epoch = math.ceil(sum(map(len, bunched)) / per_step)

    def step(self, number: int) -> list[int]:
        """Returns the numbers of the examples of a step, counted from 0."""
        epoch, place = divmod(number, self.steps_per_epoch)
        if self._epoch[0] != epoch:
            order = list(self._bunched)
            random.Random(f"{self._seed}/{epoch}").shuffle(order)
            self._epoch = (epoch, [one for bunch in order for one in bunch])
        start = place * self._per_step
        return self._epoch[1][start : start + self._per_step]


def spread(rows: Sequence[Row], share: float) -> Iterator[Row]:
    """Yields two rows: the one behind which the given share of all tokens lies, by length, and the longest.

    Args:
        rows: At least one.
        share: Of all tokens, those that stand in shorter rows.
    """
    by_length = sorted(rows, key=len)
    sums = list(accumulate(map(len, by_length)))
    yield by_length[min(bisect_right(sums, share * sums[-1]), len(rows) - 1)]
    yield by_length[-1]


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """Returns how many tokens stand at the beginning of both."""
    most = min(len(one), len(other))
    return next((place for place in range(most) if one[place] != other[place]), most)
