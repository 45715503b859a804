"""Where raters' cards are kept: those that ship, and the user's own in the cache; and which of them fits."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from dramaturg.errors import ContentError
from dramaturg.files import read_text
from dramaturg.judge.audit.world.card import RaterBinding, RaterCard
from dramaturg.model.registry import cache_folder
from dramaturg.text import canonical_json, sha256, write_atomically

FOLDER = "rater-cards"

_NO_NAME = re.compile(r"[^a-z0-9.]+")


def keep_rater_card(card: RaterCard, folder: Path | None = None) -> Path:
    """Returns the file in which a card was kept; an older one with the same binding is replaced.

    Args:
        card: What to keep.
        folder: Where; the user's own cards by default.

    Raises:
        ValueError: It is incomplete: what was left open may be what the rater does not see.
        OSError: The folder cannot be written.
    """
    if card.open:
        raise ValueError(f"{card.open} specimens of the card are open")
    path = (folder or cache_folder() / FOLDER) / f"{_name(card.binding)}.json"
    write_atomically(path, card.model_dump_json(indent=1) + "\n")
    return path


def known_rater_cards() -> list[tuple[Path, RaterCard]]:
    """Returns all cards with their files, the user's own first.

    Raises:
        ContentError: A file is no card.
    """
    shipped = Path(str(resources.files("dramaturg"))) / "content" / FOLDER
    paths = [path for folder in (cache_folder() / FOLDER, shipped) for path in sorted(folder.glob("*.json"))]
    return [(path, _read(path)) for path in paths]


def rater_card_for(judge: str, mode: str, rubric: str) -> RaterCard | None:
    """Returns the card of a judge that is asked in a mode by a family of rubrics, the user's own first; or None.

    Raises:
        ContentError: A file of the known ones is no card.
    """
    for _, card in known_rater_cards():
        binding = card.binding
        if (binding.judge, binding.mode, binding.rubric) == (judge, mode, rubric):
            return card
    return None


def _read(path: Path) -> RaterCard:
    try:
        return RaterCard.model_validate_json(read_text(path))
    except ValidationError as problems:
        first = problems.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise ContentError(f"is no rater's card: {key}: {first['msg']}", where=str(path)) from None


def _name(binding: RaterBinding) -> str:
    parts = (binding.judge.rpartition("/")[2], binding.rubric, binding.mode)
    readable = "-".join(_NO_NAME.sub("-", part.lower()).strip("-") for part in parts)
    return f"{readable}-{sha256(canonical_json(binding.model_dump(mode='json')))[:8]}"
