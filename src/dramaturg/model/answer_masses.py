"""What a model puts on each of a few answers: read from the log-probabilities of the first word that it writes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from dramaturg.model.reply import TokenLogprob
from dramaturg.model.vocabulary import YesNo, plain_text

RIVALS = 20
"""Rivals of a token that are asked for: the most that common servers give."""

HIGHEST = 0.01
"""Log-probability that rounding may reach; the true ones are at most 0."""


def answer_masses(tokens: Sequence[TokenLogprob], words: Mapping[str, YesNo]) -> dict[YesNo, float]:
    """Returns the probability that lies on each answer, over the first word of what a model wrote.

    Blanks and marks before the word are passed over. A piece counts for an answer where it is a word for it, or
    more than half of one, and no word for another answer begins with it; what is still open is decided by the tokens
    behind it, along what was really written.

    Args:
        tokens: What was written, with the rivals of each token.
        words: What each word means.
    """
    found: dict[YesNo, float] = {}
    written, weight = "", 1.0
    for token in tokens:
        for text, probability in _rivals(token):
            answer = _meaning(written + text, words)
            if answer is not None:
                found[answer] = found.get(answer, 0.0) + weight * probability
        written += token.token
        if _meaning(written, words) is not None or not _open(written, words):
            break
        weight *= _probability(token.logprob)
    return {answer: min(mass, 1.0) for answer, mass in found.items()}


def _rivals(token: TokenLogprob) -> Iterator[tuple[str, float]]:
    """Yields a token and its rivals with their probabilities, each text once."""
    texts = dict(token.top)
    texts.setdefault(token.token, token.logprob)
    for text, logprob in texts.items():
        yield text, _probability(logprob)


def _probability(logprob: float) -> float:
    """Returns the probability of a logarithm as servers report it: at most 1, and 0 for what is no number."""
    return 0.0 if math.isnan(logprob) else math.exp(min(logprob, 0.0))


def _meaning(text: str, words: Mapping[str, YesNo]) -> YesNo | None:
    """Returns the answer that a word or the beginning of one can only be, or None."""
    plain = plain_text(text)
    if not plain:
        return None
    begun: set[YesNo] = {answer for word, answer in words.items() if word.startswith(plain)}
    exact = words.get(plain)
    if exact is not None and (len(begun) == 1 or len(plain) > 1):
        return exact
    if len(begun) != 1:
        return None
    shortest = min(len(word) for word in words if word.startswith(plain))
    return begun.pop() if 2 * len(plain) > shortest else None


def _open(text: str, words: Mapping[str, YesNo]) -> bool:
    """Returns whether more tokens can still make it a word for an answer."""
    plain = plain_text(text)
    return not plain or any(word.startswith(plain) for word in words)
