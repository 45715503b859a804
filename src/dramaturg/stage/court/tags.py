"""Tags of the paper's protocol: what stands in angle brackets at the very end of a turn.

Source: RPA-Check, section 4.4 (``<NextSpeaker: …>``); counts and verdict labels are tagged alike.
A tag in the middle of a text is text. Nothing is guessed: a tag that does not say exactly one thing says nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

from dramaturg.stage.court.analyst import Acceptance

TagName = Literal["nextspeaker", "questions", "accept", "verdict"]

_TAG = r"<\s*(?P<{0}>next[ _]?speaker|questions|accept|verdict)\s*[:：]\s*(?P<{1}>[^<>\n]{{0,200}}?)\s*>"
_ONE = re.compile(_TAG.format("name", "value"), re.IGNORECASE)
_TAIL = re.compile(rf"(?:[\s*`_]*{_TAG.format('n', 'v')}[\s*`_.]*)+\Z", re.IGNORECASE)
_ANYWHERE = re.compile(r"<(?=\s*(?:next[ _]?speaker|questions|accept|verdict)\s*[:：])", re.IGNORECASE)
_ANSWERS: dict[str, Acceptance] = {"yes": "accepted", "no": "declined"}


@dataclass(frozen=True, slots=True)
class Tagged:
    """A turn's text with its final tags taken off.

    Attributes:
        text: What was said.
        tags: Name and value of each final tag, in order.
    """

    text: str
    tags: tuple[tuple[TagName, str], ...]

    def values(self, name: TagName) -> tuple[str, ...]:
        """Returns the distinct values of one tag."""
        return tuple(dict.fromkeys(value for tag, value in self.tags if tag == name))

    @property
    def next_speakers(self) -> tuple[str, ...]:
        """Whom the final tags name; more than one is not a choice."""
        return self.values("nextspeaker")

    @property
    def questions(self) -> int | None:
        """The count, where the final tags give exactly one."""
        numbers = {int(number) for value in self.values("questions") for number in re.findall(r"\d{1,6}", value)}
        return numbers.pop() if len(numbers) == 1 else None

    @property
    def acceptance(self) -> Acceptance | None:
        """How a proposal is answered, where the final tags say exactly one thing."""
        words = self._plain("accept")
        return _ANSWERS.get(words.pop()) if len(words) == 1 else None

    @property
    def verdict(self) -> str:
        """The word of the decision in lower case, where the final tags give exactly one; empty otherwise."""
        words = self._plain("verdict")
        return words.pop() if len(words) == 1 else ""

    def _plain(self, name: TagName) -> set[str]:
        return {value.strip(" .*'\"").casefold() for value in self.values(name)}


def split_tags(raw: str) -> Tagged:
    """Returns the text and the tags that end it."""
    tail = _TAIL.search(raw)
    if tail is None:
        return Tagged(raw.strip(), ())
    found: list[tuple[TagName, str]] = [
        (_tag_name(tag["name"]), tag["value"].strip()) for tag in _ONE.finditer(tail[0])
    ]
    return Tagged(raw[: tail.start()].strip(), tuple(found))


def _tag_name(name: str) -> TagName:
    return cast("TagName", name.casefold().replace(" ", "").replace("_", ""))


def break_tags(text: str) -> str:
    """Returns the text with an invisible mark in whatever looks like a tag, so that it is one no more."""
    return _ANYWHERE.sub("<\u200b", text)
