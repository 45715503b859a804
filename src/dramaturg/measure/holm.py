"""Holm's correction: several tests at once, none of them believed too easily."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Returns the adjusted p-values in the given order; a test that could not be made stays None and counts for none.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statistics 6 (1979).

    Args:
        p_values: One for each test of a family.

    Raises:
        ValueError: A p-value is not between 0 and 1.
    """
    made = [(p, place) for place, p in enumerate(p_values) if p is not None]
    for p, _ in made:
        if not 0 <= p <= 1:
            raise ValueError(f"{p} is no p-value; it lies between 0 and 1")
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(sorted(made)):
        largest = max(largest, min(1.0, p * (len(made) - rank)))
        adjusted[place] = largest
    return adjusted
