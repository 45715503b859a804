"""The words of the field in which a person writes."""

from __future__ import annotations

from dramaturg.web.live import MOST_CHARACTERS
from dramaturg.web.words import Words

_WORDS = (
    *("say", "send", "object", "object_hint", "rest", "rest_hint", "dictate", "listening", "not_now", "empty"),
    "answered_elsewhere",
)


def composer_words(say: Words, heard: int, **own: str) -> dict[str, str]:
    """Returns the words by name.

    Args:
        say: The interface.
        heard: Characters that are heard of a turn.
        own: Words of this page, in the place of the usual ones or beside them.
    """
    return {
        **{name: say(f"court.{name}") for name in _WORDS},
        "long": say("court.long", count=heard),
        "too_long": say("court.too_long", count=MOST_CHARACTERS),
        **own,
    }
