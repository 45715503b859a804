"""Draw a sample of items: by category in its share, by seed, and so that a larger sample holds the smaller one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dramaturg.stage.interview.item import CATEGORIES, Category, Item
from dramaturg.text import sha256


def stratified_sample(items: Sequence[Item], size: int, seed: int) -> tuple[Item, ...]:
    """Returns so many items, every category in proportion to its share, in the order in which they came.

    Which items of a category come first depends on the seed and the item's id alone. A category that there is gets
    one item at least as long as the size allows it.

    Args:
        items: What is drawn from.
        size: How many; all where there are not more.
        seed: Of the draw.
    """
    if size >= len(items):
        return tuple(items)
    by_category: dict[Category, list[Item]] = defaultdict(list)
    for item in items:
        by_category[item.category].append(item)
    sizes = _shares({category: len(by_category[category]) for category in CATEGORIES if by_category[category]}, size)
    chosen = {
        item.id
        for category, count in sizes.items()
        for item in sorted(by_category[category], key=lambda item: sha256(f"{seed}\nsample\n{item.id}"))[:count]
    }
    return tuple(item for item in items if item.id in chosen)


def _shares(counts: dict[Category, int], size: int) -> dict[Category, int]:
    """Returns how many of each category are drawn: the next one always goes to the category that is shortest of it."""
    drawn: dict[Category, int] = dict.fromkeys(counts, 0)
    for _ in range(size):
        open_ones: list[Category] = [category for category in counts if drawn[category] < counts[category]]
        # Webster's rule (divisors 1, 3, 5 …), but for the first, which goes to every category in turn.
        ranks = {one: (drawn[one] == 0, counts[one] / (2 * drawn[one] + 1)) for one in open_ones}
        drawn[max(open_ones, key=ranks.__getitem__)] += 1
    return drawn
