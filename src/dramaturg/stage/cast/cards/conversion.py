"""Cards become characters, and characters cards; one that is not changed between comes out as it came in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from pydantic import ValidationError

from dramaturg.stage.cast.cards.card import Card, new_card
from dramaturg.stage.cast.character import Character
from dramaturg.stage.slug import slug
from dramaturg.text import Json, sha256, storable

EXTENSION = "dramaturg"
"""Key of a card's ``extensions`` under which a character keeps what a card has no field for."""

_PARTS = ("description", "personality", "scenario")
_SELF = re.compile(r"\{\{char\}\}|<BOT>|<CHAR>", re.IGNORECASE)
_OTHER = re.compile(r"\{\{user\}\}|<USER>", re.IGNORECASE)
_WHOEVER = "whoever speaks to you"


def character_of(card: Card) -> Character:
    """Returns the character of a card.

    Its description is that of the card, then personality and scenario; the marks for the character's and the other's
    name are filled. Where the card was made of a character, what only a character has is taken from its extension.
    """
    name = storable(card.text("name").strip())
    described = description_of(card) or f"You are {name}."
    kept = _kept(card)
    if kept is not None:
        return kept.model_copy(update={"name": name, "description": described})
    digest = sha256(f"{name}\n{described}")[:8]
    return Character(id=f"{slug(name) or 'character'}-{digest}", name=name, description=described)


def description_of(card: Card) -> str:
    """Returns what a card says of its character, as a model is to read it."""
    name = card.text("name").strip()
    parts = (card.text(part).strip() for part in _PARTS)
    text = "\n\n".join(part for part in parts if part)
    return storable(_OTHER.sub(_WHOEVER, _SELF.sub(lambda _: name, text)))


def card_for(character: Character, version: Literal[2, 3], source: Card | None = None) -> Card:
    """Returns the card of a character.

    Args:
        character: The character.
        version: Of the specification.
        source: The card that it was once read from: all that the character does not hold is taken from it.
    """
    extension: dict[str, Json] = {EXTENSION: character.model_dump(mode="json", exclude={"name", "description"})}
    if source is None:
        fields: dict[str, Json] = {
            "name": character.name,
            "description": character.description,
            "extensions": extension,
        }
        return new_card(fields, version)
    card = source.as_version(version)
    if character_of(source) == character:
        return card
    changed: dict[str, Json] = {"name": character.name}
    if description_of(card.with_data({"name": character.name})) != character.description:
        changed |= {"description": character.description, "personality": "", "scenario": ""}
    others = card.data.get("extensions")
    return card.with_data({**changed, "extensions": {**(others if isinstance(others, Mapping) else {}), **extension}})


def _kept(card: Card) -> Character | None:
    """Returns the character that a card was made of, as far as its extension holds it; None where there is none."""
    extensions = card.data.get("extensions")
    kept = extensions.get(EXTENSION) if isinstance(extensions, Mapping) else None
    if not isinstance(kept, Mapping):
        return None
    try:
        return Character.model_validate({**kept, "name": "-", "description": "-"})
    except ValidationError:  # another program's extension of the same name
        return None
