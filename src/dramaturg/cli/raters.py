"""What the commands say of people with a personal link, whatever they are asked for."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from dramaturg.cli.console import say, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dramaturg.web.survey.raters import Rater


def say_link(name: str, key: str, *, address: str, as_json: bool) -> None:
    """Writes the personal link of somebody.

    Args:
        name: Who it is.
        key: The key of the link.
        address: Where the pages are.
        as_json: Whether JSON is written.
    """
    link = f"{address.rstrip('/')}/rater/{key}"
    if as_json:
        say_json({"rater": name, "link": link})
    else:
        say(link)


def say_raters(found: Sequence[Rater], *, gave: str, nobody: str, as_json: bool) -> None:
    """Writes who has a personal link, and how far each has come.

    Args:
        found: Who.
        gave: What they give, in the plural.
        nobody: What is written where nobody has one.
        as_json: Whether JSON is written.
    """
    if as_json:
        say_json([asdict(rater) for rater in found])
        return
    for rater in found:
        state = "removed" if rater.removed else "has begun" if rater.began else "has not begun"
        say(f"{rater.name}: {rater.votes} {gave}, {state}")
    if not found:
        say(nobody)
