"""The guideline: a plain text of an owner's, in paragraphs, heads and lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

BlockKind: TypeAlias = Literal["head", "paragraph", "list"]

_ITEM = re.compile(r"[-*•] +")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the text.

    Attributes:
        kind: Head, paragraph or list.
        lines: Entries of a list; else one text.
    """

    kind: BlockKind
    lines: tuple[str, ...]


def read_guideline(text: str) -> list[Block]:
    """Returns the parts of a text: a blank line parts them, ``#`` begins a head, ``-`` an entry of a list."""
    blocks: list[Block] = []
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in part.splitlines()]
        if lines[0].startswith("#"):
            blocks.append(Block("head", (lines.pop(0).lstrip("# "),)))
        if lines and all(_ITEM.match(line) for line in lines):
            blocks.append(Block("list", tuple(_ITEM.sub("", line, count=1) for line in lines)))
        elif any(lines):
            blocks.append(Block("paragraph", (" ".join(lines),)))
    return blocks
