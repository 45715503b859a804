"""Where cards are kept: those that ship, and the user's own in the cache; and which of them fits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from dramaturg.errors import ContentError
from dramaturg.files import read_text
from dramaturg.judge.audit.binding import Binding
from dramaturg.judge.audit.card import Card
from dramaturg.model.registry import cache_folder
from dramaturg.text import canonical_json, sha256, write_atomically

_NO_NAME = re.compile(r"[^a-z0-9.]+")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The card that fits best.

    Attributes:
        card: The card.
        differences: What differs from where it is wanted; empty where it holds there.
    """

    card: Card
    differences: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether it holds."""
        return not self.differences


def own_cards() -> Path:
    """Returns the folder of the user's own cards."""
    return cache_folder() / "cards"


def shipped_cards() -> Path:
    """Returns the folder of the cards that ship."""
    return Path(str(resources.files("dramaturg"))) / "content" / "cards"


def keep_card(card: Card, folder: Path | None = None) -> Path:
    """Returns the file in which a card was kept; an older one with the same binding is replaced.

    Args:
        card: What to keep.
        folder: Where; the user's own cards by default.

    Raises:
        ValueError: It is incomplete: what was left open may be what the judge does not see.
        OSError: The folder cannot be written.
    """
    if card.open:
        raise ValueError(f"{card.open} specimens of the card are open")
    path = (folder or own_cards()) / f"{card_name(card.binding)}.json"
    write_atomically(path, card.model_dump_json(indent=1) + "\n")
    return path


def card_name(binding: Binding) -> str:
    """Returns the name of a binding's file: readable, and told apart by a hash."""
    parts = (binding.judge.rpartition("/")[2], binding.checklist.partition(" ")[0], binding.mode, binding.ask)
    readable = "-".join(_NO_NAME.sub("-", part.lower()).strip("-") for part in parts)
    return f"{readable}-{sha256(canonical_json(binding.model_dump(mode='json')))[:8]}"


def known_cards() -> list[tuple[Path, Card]]:
    """Returns all cards with their files, the user's own first.

    Raises:
        ContentError: A file is no card.
    """
    paths = [path for folder in (own_cards(), shipped_cards()) for path in sorted(folder.glob("*.json"))]
    return [(path, read_card(path)) for path in paths]


def read_card(path: Path) -> Card:
    """Returns the card of a file.

    Raises:
        ContentError: It cannot be read, or is no card.
    """
    try:
        return Card.model_validate_json(read_text(path))
    except ValidationError as problems:
        first = problems.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise ContentError(f"is no card: {key}: {first['msg']}", where=str(path)) from None


def find_card(binding: Binding, cards: Iterable[Card] | None = None) -> Nearest | None:
    """Returns the card of a judge that holds for a binding, or the nearest one with what differs; None without any.

    A card of another judge says nothing, however near the rest is.

    Args:
        binding: Where a card is wanted.
        cards: Among which; all known ones by default, the user's own first.

    Raises:
        ContentError: A file of the known ones is no card.
    """
    candidates = [card for _, card in known_cards()] if cards is None else list(cards)
    found = [
        Nearest(card, card.binding.differences(binding))
        for card in candidates
        if card.binding.same_judge == binding.same_judge
    ]
    return min(found, key=lambda nearest: len(nearest.differences), default=None)
