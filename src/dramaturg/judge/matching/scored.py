"""A verdict with what it is about, and what is left of an item's repeats: one mean."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from dramaturg.judge.matching.compat import Crash
from dramaturg.judge.matching.question import Kind, Question, Verdict
from dramaturg.judge.matching.reply_text import ReplyText

Match: TypeAlias = Callable[[Question, ReplyText], Verdict | Crash]
"""A matcher: `robust` as it is, or `compat` of the reply's text."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of one planned reply.

    Attributes:
        item: Id of the item.
        character: Id of its character: the cluster of all intervals.
        question: The item, as the matcher saw it.
        verdict: What the matcher said; the status ``failed`` where there is no reply, asked or not.
        repeat: Which of the item's replies it is.
    """

    item: str
    character: str
    question: Question
    verdict: Verdict | Crash
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class ItemCredit:
    """What an item earned.

    Attributes:
        character: Id of its character.
        question: The item.
        replies: The verdicts by repeat, those without a reply too.
        credits: The credit of each reply that there is.
        mean: Their mean; None without any.
    """

    character: str
    question: Question
    replies: Mapping[int, Verdict | Crash]
    credits: tuple[float, ...]
    mean: float | None

    @property
    def kind(self) -> Kind:
        """What the item asks for."""
        return self.question.kind


def outcome(verdict: Verdict | Crash) -> str:
    """Returns what a reply says: the answer where one was read and counts, else what became of it."""
    if isinstance(verdict, Crash):
        return "crash"
    if verdict.status in ("right", "wrong"):
        return verdict.answer or "unparsed"
    return verdict.status


def by_item(scored: Iterable[Scored]) -> dict[str, ItemCredit]:
    """Returns the replies gathered by item, in the order of the items' ids; what cannot be scored is left out.

    Raises:
        ValueError: A repeat of an item stands twice.
    """
    replies: defaultdict[str, dict[int, Verdict | Crash]] = defaultdict(dict)
    about: dict[str, Scored] = {}
    for one in scored:
        if is_invalid(one):
            continue
        if one.repeat in replies[one.item]:
            raise ValueError(f"repeat {one.repeat} of the item {one.item} stands twice")
        replies[one.item][one.repeat] = one.verdict
        about[one.item] = one
    return {item: _credited(about[item], replies[item]) for item in sorted(about)}


def _credited(one: Scored, replies: Mapping[int, Verdict | Crash]) -> ItemCredit:
    ordered = {repeat: replies[repeat] for repeat in sorted(replies)}
    credits = tuple(credit for verdict in ordered.values() if (credit := verdict.credit) is not None)
    mean = math.fsum(credits) / len(credits) if credits else None
    return ItemCredit(one.character, one.question, ordered, credits, mean)


def is_invalid(one: Scored) -> bool:
    """Returns whether the item itself cannot be scored, whatever is replied."""
    return isinstance(one.verdict, Verdict) and one.verdict.status == "invalid_item"
