"""Character cards, as authors of characters exchange them.

In: JSON or PNG files of versions 1 to 3. Out: characters, and cards again, with all that nobody here reads.
"""

from dramaturg.stage.cast.cards.card import Card, card_of, parse_card, read_card
from dramaturg.stage.cast.cards.conversion import card_for, character_of

__all__ = ["Card", "card_for", "card_of", "character_of", "parse_card", "read_card"]
