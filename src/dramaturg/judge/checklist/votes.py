"""Votes: what was answered to one question, each time that it was asked, and what they say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dramaturg.judge.judgement import MissingReason, Verdict


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer to one question, or why there is none.

    Attributes:
        answer: What was answered.
        reason: Why it is missing; empty otherwise.
        reasoning: What the judge wrote before it answered.
        evidence: Ids of the named turns that exist.
        flags: What is wrong with the evidence.
        calls: Keys of the ledger's calls.
        repaired: Whether it needed a tolerant reading.
        detail: One line for people, where it is missing.
        probability: Probability of yes, where it was read.
    """

    answer: Verdict
    reason: MissingReason = ""
    reasoning: str = ""
    evidence: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    repaired: bool = False
    detail: str = ""
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What votes say together.

    Attributes:
        vote: The first vote for what most answered; missing where they do not agree.
        votes: Each vote's answer, or why it is missing; empty where there was one vote.
    """

    vote: Vote
    votes: tuple[str, ...] = ()


def spread(votes: Sequence[str]) -> float:
    """Returns the share of votes that differ from the most frequent one: 0 where all agree or there is none."""
    return 1 - max(Counter(votes).values()) / len(votes) if votes else 0.0


def decide(votes: Sequence[Vote]) -> Decision:
    """Returns the answer that most votes gave; a tie is missing, and a missing vote counts for no side.

    Reasoning, evidence, probability and flags are those of the first vote on the winning side, with
    ``spread:0.33`` for the share of votes that differ; the calls are all votes'.

    Args:
        votes: At least one.
    """
    if len(votes) == 1:
        return Decision(votes[0])
    shown = tuple(f"missing:{vote.reason}" if vote.answer == "missing" else vote.answer for vote in votes)
    calls = tuple(key for vote in votes for key in vote.calls)
    spread_flag = (f"spread:{spread(shown):.2f}",) if len(set(shown)) > 1 else ()
    counts = Counter(vote.answer for vote in votes if vote.answer != "missing").most_common()
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        detail = "the votes are tied: " + ", ".join(f"{answer} × {count}" for answer, count in counts)
        return Decision(Vote("missing", "disagreement", flags=spread_flag, calls=calls, detail=detail), shown)
    winner = counts[0][0] if counts else "missing"
    first = next(vote for vote in votes if vote.answer == winner)
    return Decision(replace(first, calls=calls, flags=(*first.flags, *spread_flag)), shown)
