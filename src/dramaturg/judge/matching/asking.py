"""A model is asked what the rules leave open, through the ledger, like any judge.

Asked are replies that are unparsed or ambiguous, and of these only what a reader can settle: a reply in which an
answer may lie in other words. Empty, cut, repeated and echoed replies are not asked about. The judge sees the message
and the reply, never the expected answer; it may say that there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from dramaturg.judge.matching import flags
from dramaturg.judge.matching.question import Question, Verdict
from dramaturg.judge.matching.reply_text import ReplyText
from dramaturg.judge.matching.speech import heard, spoken
from dramaturg.ledger.calls import Calls
from dramaturg.model import Message, Model
from dramaturg.model.vocabulary import match_word
from dramaturg.prompts import load_prompt
from dramaturg.text import canonical_json

PROMPTS = ("match-decision", "match-emotion")
"""Prompts that this module uses, for records."""

NONE = "none"
_LONGEST_REPLY = 4000
_NOT_ASKED = frozenset({flags.ECHO, flags.DEGENERATE})


class Read(BaseModel):
    """What a judge reads in a reply.

    Attributes:
        reasoning: What in the reply decides it.
        answer: One of the answers that were offered, or ``none``.
    """

    model_config = ConfigDict(frozen=True)

    reasoning: str
    answer: str


@dataclass(frozen=True, slots=True)
class JudgeShare:
    """For how much of a set of verdicts a judge was asked.

    Attributes:
        verdicts: All of them.
        asked: Those that a judge was asked about, whether it settled them or not.
    """

    verdicts: int
    asked: int

    @property
    def share(self) -> float | None:
        """`asked` of `verdicts`; None without a verdict."""
        return self.asked / self.verdicts if self.verdicts else None


def is_open(question: Question, verdict: Verdict) -> bool:
    """Returns whether a judge could settle what the rules left open."""
    return (
        verdict.status in ("unparsed", "ambiguous")
        and question.kind in ("emotion", "decision", "moral")
        and not _NOT_ASKED.intersection(verdict.flags)
    )


async def settle(
    question: Question, reply: ReplyText, verdict: Verdict, *, judge: Model, calls: Calls, step: str
) -> Verdict:
    """Returns the verdict that a judge comes to, where the rules left it open; else the rules' own.

    A judge that fails, or finds no answer, leaves the rules' verdict as it is; that it was asked is in `Verdict.by`.

    Args:
        question: The item.
        reply: The reply.
        verdict: What `robust` made of it.
        judge: Who is asked.
        calls: The unit's calls.
        step: Path of this call inside its unit.

    Raises:
        UnitStopped: The judge's endpoint failed.
        LimitReached: A budget is used up.
        LedgerError: The answer cannot be committed.
    """
    if not is_open(question, verdict):
        return verdict
    options = question.labels or (question.expected,) if question.kind == "emotion" else ("yes", "no")
    answered = await calls.ask_structured(
        judge, _messages(question, reply, options), Read, step=step, role="judge", purpose="match"
    )
    if answered.value is None:
        return replace(verdict, by="judge")
    answer = match_word(answered.value.answer, (*options, NONE))
    if answer is None or answer == NONE:
        return replace(verdict, by="judge")
    return Verdict("right" if answer == question.expected else "wrong", answer, verdict.flags, by="judge")


def judge_share(verdicts: Iterable[Verdict]) -> JudgeShare:
    """Returns for how many verdicts a judge was asked."""
    every = list(verdicts)
    return JudgeShare(len(every), sum(verdict.by == "judge" for verdict in every))


def _messages(question: Question, reply: ReplyText, options: tuple[str, ...]) -> list[Message]:
    name: Literal["match-emotion", "match-decision"] = (
        "match-emotion" if question.kind == "emotion" else "match-decision"
    )
    said = spoken(heard(reply.text or ""))[:_LONGEST_REPLY]
    text = load_prompt(name, "en").fill(
        message=canonical_json(question.message), reply=canonical_json(said), options=", ".join((*options, NONE))
    )
    return [Message("user", text)]
