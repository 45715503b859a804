"""Long texts in pieces that a model can read, each beginning with the end of the one before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from dramaturg.ledger.budget import estimated_tokens
from dramaturg.text import sha256

OVERLAP_SHARE = 8
"""The overlap is one part in so many of a chunk, so that an event at its edge is whole in one of the two."""

_SENTENCE = re.compile(r".+?(?:[.!?…][\"'”’)]*\s+|[。！？][\"'”’」』）]*\s*|\n\s*\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a text.

    Attributes:
        index: Its position, from 1.
        of: How many there are.
        start: How many characters of the text stand before it.
        text: What it holds; no record keeps it.
    """

    index: int
    of: int
    start: int
    text: str

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return sha256(self.text)

    def as_json(self) -> dict[str, JsonValue]:
        """Returns where it stands and its hash, without its text."""
        return {
            "index": self.index,
            "of": self.of,
            "start": self.start,
            "characters": len(self.text),
            "sha256": self.hash,
        }


def split(text: str, tokens: int) -> tuple[Chunk, ...]:
    """Returns the chunks of a text; none for a blank one.

    A chunk ends where a sentence does, unless a sentence alone is longer than the overlap.

    Args:
        text: A text of any length.
        tokens: About how many tokens a chunk has at most, by `estimated_tokens`; 64 or more.
    """
    if not text.strip():
        return ()
    overlap = tokens // OVERLAP_SHARE
    pieces = list(_pieces(text, overlap))
    weights = [estimated_tokens(text[start:end]) for start, end in pieces]
    spans: list[tuple[int, int]] = []
    begin = end = 0
    while end < len(pieces):
        end, total = begin, 0
        while end < len(pieces) and total + weights[end] <= tokens:
            total += weights[end]
            end += 1
        spans.append((pieces[begin][0], pieces[end - 1][1]))
        back, shared = end, 0
        while back - 1 > begin and shared + weights[back - 1] <= overlap:
            back -= 1
            shared += weights[back]
        begin = back
    return tuple(
        Chunk(number, len(spans), start, text[start:end]) for number, (start, end) in enumerate(spans, start=1)
    )


def _pieces(text: str, most: int) -> Iterator[tuple[int, int]]:
    """Yields start and end of each sentence; one that is longer than so many tokens comes in halves."""
    for sentence in _SENTENCE.finditer(text):
        yield from _halves(text, *sentence.span(), most)


def _halves(text: str, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    if estimated_tokens(text[start:end]) <= most:
        yield start, end
        return
    middle = (start + end) // 2
    yield from _halves(text, start, middle, most)
    yield from _halves(text, middle, end, most)
