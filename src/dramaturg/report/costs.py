"""What a run cost, per model and purpose and together. A sum with an unknown part is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dramaturg.report.data import ModelUse, RunFacts

NumberT = TypeVar("NumberT", int, float)


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one model did for one purpose."""

    model: str
    use: ModelUse


@dataclass(frozen=True, slots=True)
class Costs:
    """All rows and their sums; a sum is None where one of its parts is unknown."""

    rows: Sequence[CostRow]
    calls: int
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    seconds: float | None
    cost_usd: float | None

    @property
    def has_gaps(self) -> bool:
        """Whether a figure beside the cost is unknown."""
        return any(
            figure is None
            for row in self.rows
            for figure in (
                row.use.input_tokens,
                row.use.cached_tokens,
                row.use.output_tokens,
                row.use.reasoning_tokens,
                row.use.seconds,
                row.use.tokens_per_s,
                row.use.first_token_s,
            )
        )


def costs(facts: RunFacts) -> Costs:
    """Returns what the models of a run did and what it cost."""
    rows = [CostRow(model.identity, use) for model in facts.models for use in model.uses]
    # A purpose whose every call failed used nothing that could be unknown.
    uses = [row.use for row in rows if row.use.calls]
    return Costs(
        rows=rows,
        calls=sum(use.calls for use in uses),
        input_tokens=total(use.input_tokens for use in uses),
        cached_tokens=total(use.cached_tokens for use in uses),
        output_tokens=total(use.output_tokens for use in uses),
        reasoning_tokens=total(use.reasoning_tokens for use in uses),
        seconds=total(use.seconds for use in uses),
        cost_usd=total(use.cost_usd for use in uses),
    )


def total(values: Iterable[NumberT | None]) -> NumberT | None:
    """Returns the sum, or None where a value is unknown or there is none."""
    known: list[NumberT] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return sum(known[1:], known[0]) if known else None
