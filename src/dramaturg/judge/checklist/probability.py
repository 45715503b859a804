"""Mode `probability`: one question per call, of whose first word the probability is read.

The judge is asked for one word, and P(yes) is what its server puts on the words for yes against those for no, in the
checklist's language and in English. Where both are equally likely there is no answer (``even_odds``). It is read at
the first word: unlike in the other modes the judge does not reason before it, since reasoning is another text for each
question and would have to be written 38 times. It names no evidence either, so the indicator's rule of evidence is not
applied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dramaturg.judge.checklist.asking import PURPOSE, ROLE, Questioning, definition_of, told, with_condition
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.votes import Vote
from dramaturg.model import Message, Reply
from dramaturg.model.answer_masses import HIGHEST, RIVALS, answer_masses
from dramaturg.model.vocabulary import YesNo, yes_no_synonyms
from dramaturg.prompts import load_prompt

TOKENS = 4
"""Tokens that are asked for: a mark or two, and a word in pieces."""

SAME = 1e-9
"""Relative difference below which two probabilities are the same: sums of exponentials are not exact."""

LEAST_MASS = 0.05
"""Probability that must lie on the allowed answers together; below it the judge was not answering the question."""


def probability_question(questioning: Questioning, indicator: Indicator) -> Message:
    """Returns the message that asks one question."""
    language = questioning.language
    answers = load_prompt(
        "judge-answers-three" if indicator.not_applicable_when else "judge-answers-two", language
    ).fill()
    text = load_prompt("judge-probability", language).fill(
        question=with_condition(questioning.question(indicator), indicator, language),
        definition=definition_of(indicator, questioning.checklist),
        answers=answers,
    )
    return Message("user", text)


async def ask_probability(
    questioning: Questioning, opened: Sequence[Message], indicator: Indicator, number: int
) -> dict[str, Vote]:
    """Returns the vote on one indicator, by its id, with the probability of yes to its text.

    Args:
        questioning: Whom to ask about what.
        opened: The messages that all questions share.
        indicator: What is asked.
        number: Which vote, from 0.
    """
    sampling = questioning.sampling(TOKENS, top_logprobs=RIVALS)
    asked = await questioning.calls.ask(
        questioning.judge,
        [*opened, probability_question(questioning, indicator)],
        step=f"probability/{indicator.id}",
        role=ROLE,
        purpose=PURPOSE,
        attempt=number,
        sampling=sampling,
        labels={"indicator": indicator.id},
    )
    return {indicator.id: probable_vote(questioning, indicator, asked.reply, (asked.key,))}


def probable_vote(
    questioning: Questioning, indicator: Indicator, reply: Reply, calls: tuple[str, ...], *, decided: bool = False
) -> Vote:
    """Returns the vote that the log-probabilities of a reply give.

    Args:
        questioning: Whose question was asked.
        indicator: What was asked about.
        reply: With the rivals of its first tokens.
        calls: Keys of the ledger's calls.
        decided: Whether only yes and no were allowed.
    """
    if reply.status == "refused" or reply.status == "context_overflow":
        return Vote("missing", reply.status, calls=calls, detail=reply.detail or reply.status)
    if not reply.logprobs:
        if not reply.text.strip() and reply.status in {"empty", "degenerate"}:
            return Vote("missing", "empty", calls=calls, detail=reply.detail or "the judge wrote nothing")
        detail = "the judge's server gives no log-probabilities; choose another mode"
        return Vote("missing", "judge_failed", calls=calls, detail=detail)
    if any(logprob > HIGHEST for token in reply.logprobs for _, logprob in (*token.top, ("", token.logprob))):
        detail = "the judge's server gives log-probabilities above 0, which are none; choose another mode"
        return Vote("missing", "judge_failed", calls=calls, detail=detail)
    words: dict[str, YesNo] = {
        word: answer
        for word, answer in yes_no_synonyms("en", questioning.language).items()
        if answer != "not_applicable" or (indicator.not_applicable_when and not decided)
    }
    masses = answer_masses(reply.logprobs, words)
    yes, no, neither = (masses.get(answer, 0.0) for answer in ("yes", "no", "not_applicable"))
    if yes + no + neither < LEAST_MASS:
        problem = f"only {yes + no + neither:.3f} of the probability lies on an allowed answer"
        return Vote("missing", "unparsed", calls=calls, detail=told(problem, reply.text))
    if neither > yes + no:
        return Vote("not_applicable", calls=calls)
    share = yes / (yes + no)
    if questioning.turned(indicator):
        share = 1 - share
    if math.isclose(yes, no, rel_tol=SAME):
        detail = "yes and no are equally likely"
        return Vote("missing", "even_odds", calls=calls, detail=told(detail, reply.text), probability=0.5)
    return Vote("yes" if share > 0.5 else "no", calls=calls, probability=share)
