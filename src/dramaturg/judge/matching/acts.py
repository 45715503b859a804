"""What a speaker will do, or would sooner do, where that answers what was asked."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator

from dramaturg.judge.matching.lexicon import phrases, single_words
from dramaturg.judge.matching.signs import Answer, Side, Sign, other, stem
from dramaturg.judge.matching.words import Phrases

_SUBORDINATING = frozenset(
    "if than what how before until as when where why unless all which who way reason chance".split()
)
_CHINESE_ADVERBS = frozenset("不没会能要一定可以也就愿意绝决是都才想敢肯必当無无")


def acts(answer: Answer, preferring: Collection[int]) -> Iterator[Sign]:
    """Yields what the speaker will do or not do, where it is what was asked."""
    words = answer.words.words
    for index, word in enumerate(words):
        if word not in ("i", "we") or index in preferring:
            continue
        inverted = index > 0 and words[index - 1] in single_words("auxiliaries")
        if inverted and index > 1 and words[index - 2] in ("never", "nor", "neither", "hardly"):
            if words[index - 2] in ("never", "nor", "neither") and does_what_was_asked(answer, index + 1) is not False:
                yield Sign("no", index, 2)
            continue
        if index + 1 >= len(words) or words[index + 1] not in single_words("auxiliaries") or inverted:
            if index + 1 < len(words) and words[index + 1] in ("never", "will", "not"):
                verb = does_what_was_asked(answer, index + 2)
                if verb:
                    yield Sign("no", index, 2)
            continue
        if answer.words.sentence[index] in answer.words.asked or answer.in_condition(index):
            continue
        if index > 0 and words[index - 1] in _SUBORDINATING:
            continue
        if index > 1 and words[index - 1] == "that" and words[index - 2] == "not":
            continue
        sign = _act(answer, index)
        if sign is not None:
            yield sign


def _act(answer: Answer, index: int) -> Sign | None:
    """Returns what the clause says whose subject is the speaker, standing before an auxiliary."""
    words, clause = answer.words.words, answer.words.clause
    auxiliary = words[index + 1]
    at, negated = verb_of(answer, index)
    if at < 0 or auxiliary in ("might", "may"):
        return None
    side: Side = "no" if negated else "yes"
    if at >= len(words) or clause[at] != clause[index]:
        return Sign(side, index, 2)
    verb = words[at]
    if stem(verb) in _refusing_stems():
        return Sign(side if answer.is_asked(verb) else other(side), index, 2)
    if verb in single_words("agreeing") or not does_what_was_asked(answer, at):
        return None
    if auxiliary in ("am", "have", "did", "was") and not (answer.is_asked(verb) or verb in ("going", "coming")):
        return None
    return Sign(other(side) if _objects_to_nothing(answer, at + 1) else side, index, 2)


def verb_of(answer: Answer, index: int) -> tuple[int, bool]:
    """Returns where the verb behind an auxiliary stands, and whether it is denied; -1 where "not only" opens it."""
    words, clause = answer.words.words, answer.words.clause
    at, negated = index + 2, False
    while at < len(words) and clause[at] == clause[index] and words[at] in single_words("adverbs"):
        if words[at] in ("only", "just", "simply") and words[at - 1] == "not":
            return -1, negated
        negated = negated != (words[at] in ("not", "never"))
        at += 1
    return at, negated


def _objects_to_nothing(answer: Answer, start: int) -> bool:
    """Returns whether a word of the same clause turns the verb from behind ("I will help nobody")."""
    words, clause = answer.words.words, answer.words.clause
    at = start
    while at < len(words) and clause[at] == clause[start - 1]:
        if words[at] in single_words("nothing") or (words[at] == "no" and at + 1 < len(words)):
            return True
        at += 1
    return False


def does_what_was_asked(answer: Answer, at: int) -> bool | None:
    """Returns whether a word is a verb of the message, or one that means doing what was asked; None behind the end."""
    words = answer.words.words
    if at >= len(words):
        return None
    verb = words[at]
    if stem(verb) in answer.asked:
        return True
    if verb in single_words("mental_verbs"):
        return False
    return _generic().at(words, at) is not None


def chinese_acts(answer: Answer) -> Iterator[Sign]:
    """Yields what a Chinese speaker will do or not do."""
    words, clause = answer.words.words, answer.words.clause
    for index, word in enumerate(words):
        if word not in ("我", "吾"):
            continue
        at, negated = index + 1, False
        while at < len(words) and clause[at] == clause[index] and words[at] in _CHINESE_ADVERBS:
            negated = negated != (words[at] in ("不", "没", "無", "无"))
            at += 1
        if (
            at < len(words)
            and clause[at] == clause[index]
            and words[at] in answer.message.words
            and words[at] not in "我你的了吗不"
        ):
            yield Sign("no" if negated else "yes", index, 2)


def sooner(answer: Answer, start: int, end: int) -> Sign | None:
    """Returns what a preference says: whoever would sooner do something else declines.

    Args:
        answer: The reply.
        start: Index of the first word of "would sooner".
        end: Index behind its last one.
    """
    words, stop = answer.words, end
    while stop < len(words.words) and words.sentence[stop] == words.sentence[start]:
        stop += 1
    rest = words.words[end:stop]
    if rest[:1] in (("not",), ("never",)):
        return Sign("no", start, 2)
    if rest[:1] and rest[0] in ("you", "he", "she", "they"):
        return None
    cut = next((index for index, one in enumerate(rest) if one in single_words("sooner_than")), None)
    mine, theirs = (rest, ()) if cut is None else (rest[:cut], rest[cut + 1 :])
    content = single_words("function_words")
    mine_asked = any(answer.is_asked(one) for one in mine if one not in content)
    theirs_asked = any(answer.is_asked(one) for one in theirs if one not in content)
    declines = any(stem(one) in _refusing_stems() for one in theirs) or ("say" in theirs and "no" in theirs)
    return Sign("yes" if declines or (mine_asked and not theirs_asked) else "no", start, 2)


@functools.cache
def _generic() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("generic_acts"), True))


@functools.cache
def _refusing_stems() -> frozenset[str]:
    return frozenset(map(stem, single_words("abandoning") | single_words("refusing")))
