"""People's votes on the items of a set, read from a file and checked: which count, and who gave them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from dramaturg.errors import ContentError
from dramaturg.files import read_jsonl
from dramaturg.measure.raters import RaterCheck, check_raters
from dramaturg.measure.votes import Vote
from dramaturg.run.interview.vote_row import VoteRow
from dramaturg.stage.interview.item import Category, Item
from dramaturg.stage.interview.item_set import ItemSet

Ground: TypeAlias = Literal["fast", "honeypots", "at-random"]
"""Why votes may be left out: the answer came too fast; its rater failed a honeypot, or answers at random."""

GROUNDS: tuple[Ground, ...] = get_args(Ground)

RuleName: TypeAlias = Literal["emotion", "yes_no"]

YES_NO = ("yes", "no")

READING_SPEED = 600.0
"""Words a minute above which nobody reads: twice what practised readers reach on easy text."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+")
_IDEOGRAPHS_PER_WORD = 1.5


@dataclass(frozen=True, slots=True)
class Rater:
    """What the file shows of one rater.

    Attributes:
        check: How the answers fit those of the others.
        honeypots: Honeypots answered.
        failed: Those answered wrongly.
        timed: Answers whose time is known.
        fast: Those that came faster than anybody reads.
    """

    check: RaterCheck
    honeypots: int
    failed: int
    timed: int
    fast: int


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes that count, and what became of all other rows.

    Attributes:
        votes: The votes that count.
        rows: Rows of the file.
        answers: Answers to items of the set that are no honeypots, before any was left out.
        skipped: Items passed over.
        reported: Item → how often it was reported.
        elsewhere: Rows about items that are not in the set.
        honeypots: Rows about honeypots.
        unknown_honeypots: Those whose right answer nobody tells.
        anonymous: Answers whose rater is not known.
        fast: Answers that came faster than anybody reads.
        left_out: Answers left out by ground.
        raters: Every known rater who answered.
    """

    votes: tuple[Vote, ...]
    rows: int
    answers: int
    skipped: int
    reported: Mapping[str, int]
    elsewhere: int
    honeypots: int
    unknown_honeypots: int
    anonymous: int
    fast: int
    left_out: Mapping[Ground, int]
    raters: tuple[Rater, ...]


@dataclass(slots=True)
class _Sorted:
    """Rows by what they are."""

    answers: list[VoteRow] = field(default_factory=list[VoteRow])
    skipped: int = 0
    reported: Counter[str] = field(default_factory=Counter[str])
    elsewhere: int = 0
    honeypots: Counter[str] = field(default_factory=Counter[str])
    failed: Counter[str] = field(default_factory=Counter[str])
    honeypot_rows: int = 0
    unknown_honeypots: int = 0


def rule_of(category: Category) -> RuleName | None:
    """Returns which rule accepts answers to a category; None where nobody needs to vote."""
    if category in ("decision", "moral"):
        return "yes_no"
    return "emotion" if category == "emotion" else None


def read_votes(
    path: Path,
    item_set: ItemSet,
    *,
    leave_out: Collection[Ground] = (),
    words_per_minute: float = READING_SPEED,
    seed: int = 1,
) -> Votes:
    """Returns the votes of a file about the items of a set.

    Args:
        path: JSON Lines of `VoteRow`.
        item_set: The set.
        leave_out: Grounds on which votes do not count; by default all do, as in the paper.
        words_per_minute: Reading speed above which an answer came too fast to have read the message.
        seed: Of the check of the raters.

    Raises:
        ContentError: A row is none; an answer is not allowed; somebody answers an item twice; or no row is about an
            item of the set. The message names the line.
    """
    items = {item.id: item for item in item_set.items}
    rows = list(read_jsonl(path, VoteRow))
    found = _sort(path, rows, items, item_set.labels)
    if found.elsewhere == len(rows):
        what = f"no vote is about an item of {item_set.id}" if rows else "holds no votes"
        raise ContentError(what, where=str(path), allowed=f"items such as {min(items, default='none')!r}")
    fast = {id(row) for row in found.answers if _too_fast(row, items[row.item], words_per_minute)}
    known = [row for row in found.answers if row.rater]
    checks = check_raters([_vote(row) for row in known], seed=seed)
    at_random = {check.rater for check in checks if check.at_random}
    counted: list[VoteRow] = []
    left_out: dict[Ground, int] = {}
    for row in found.answers:
        grounds: dict[Ground, bool] = {
            "fast": id(row) in fast,
            "honeypots": found.failed[row.rater] > 0,
            "at-random": row.rater in at_random,
        }
        holding: list[Ground] = [ground for ground in GROUNDS if grounds[ground] and ground in leave_out]
        if holding:
            left_out[holding[0]] = left_out.get(holding[0], 0) + 1
        else:
            counted.append(row)
    timed = Counter(row.rater for row in known if row.seconds is not None)
    hurried = Counter(row.rater for row in known if id(row) in fast)
    return Votes(
        votes=tuple(_vote(row) for row in counted),
        rows=len(rows),
        answers=len(found.answers),
        skipped=found.skipped,
        reported=dict(found.reported.most_common()),
        elsewhere=found.elsewhere,
        honeypots=found.honeypot_rows,
        unknown_honeypots=found.unknown_honeypots,
        anonymous=len(found.answers) - len(known),
        fast=len(fast),
        left_out=left_out,
        raters=tuple(
            Rater(
                check,
                found.honeypots[check.rater],
                found.failed[check.rater],
                timed[check.rater],
                hurried[check.rater],
            )
            for check in checks
        ),
    )


def counts_by_item(votes: Iterable[Vote]) -> dict[str, Counter[str]]:
    """Returns item → how many votes each answer has."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        counts[vote.item][vote.answer] += 1
    return counts


def _sort(path: Path, rows: Sequence[tuple[int, VoteRow]], items: Mapping[str, Item], labels: Sequence[str]) -> _Sorted:
    found = _Sorted()
    first: dict[tuple[str, str], int] = {}
    for number, row in rows:
        where = f"{path}:{number}"
        item = items.get(row.item)
        if row.answer:
            _check_answer(row, labels, where)
            line = first.setdefault((row.rater, row.item), number) if row.rater else number
            if line != number:
                raise ContentError(
                    f"{row.rater!r} answers {row.item!r} twice",
                    where=where,
                    allowed=f"once; the first is in line {line}",
                )
        if row.honeypot:
            _note_honeypot(found, row, item)
        elif item is None:
            found.elsewhere += 1
        else:
            if item.category != row.category:
                raise ContentError(f"category is {row.category!r}", where=where, allowed=f"the item's: {item.category}")
            found.skipped += row.skipped
            found.reported[row.item] += row.reported
            if row.answer:
                found.answers.append(row)
    found.reported = +found.reported
    return found


def _note_honeypot(found: _Sorted, row: VoteRow, item: Item | None) -> None:
    found.honeypot_rows += 1
    if not row.answer or not row.rater:
        return
    expected = row.expected or (item.expected if item is not None else "")
    if not expected:
        found.unknown_honeypots += 1
        return
    found.honeypots[row.rater] += 1
    found.failed[row.rater] += row.answer != expected


def _check_answer(row: VoteRow, labels: Sequence[str], where: str) -> None:
    rule = rule_of(row.category)
    if rule is None:
        raise ContentError(
            f"answers an item of the category {row.category}", where=where, allowed="emotion, decision or moral"
        )
    allowed = YES_NO if rule == "yes_no" else labels
    if row.answer not in allowed:
        raise ContentError(f"answer is {row.answer!r}", where=where, allowed=", ".join(allowed))


def _too_fast(row: VoteRow, item: Item, words_per_minute: float) -> bool:
    if row.seconds is None:
        return False
    found = _WORD.findall(item.message)
    ideographs = sum(len(word) == 1 and word >= "\u3040" for word in found)
    words = len(found) - ideographs + ideographs / _IDEOGRAPHS_PER_WORD
    return row.seconds < 60 * words / words_per_minute


def _vote(row: VoteRow) -> Vote:
    return Vote(row.item, row.rater, row.answer, "emotion" if row.category == "emotion" else "yes_no")
