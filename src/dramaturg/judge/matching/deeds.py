"""Answers that are done, not said: the thing itself, a place offered to whoever asked for one, the truth for a lie.

Deeds are read in few forms, each bound to what the message asks for, and never in narration: a reply without an answer
is better than a wrong one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from dramaturg.judge.matching.lexicon import phrases, single_words
from dramaturg.judge.matching.signs import Answer, Sign, stem
from dramaturg.judge.matching.words import Phrases, Words

_ASKING = frozenset({"will", "would", "can", "could", "shall"})
_REPORTING = frozenset("there now all it is already so and here that as you asked see look".split())
"""May stand beside the participle that reports the thing done ("There, it is signed")."""
_LEAVING = frozenset({"stay", "stays", "remain", "remains", "go", "goes", "leave", "left"})
_TELLING = frozenset({"told", "tell", "say", "swear", "testify", "vouch", "write", "sign", "claim"})
_NARRATING = frozenset("i we he she they it is was were went had has".split())
_DIRECTIONS = frozenset({"into", "under", "behind", "up", "down", "through"})


def deeds(answer: Answer) -> Iterator[Sign]:
    """Yields what the speaker does or leaves undone, where it is what was asked."""
    requested = _requested(answer.message)
    if requested:
        yield from _reported(answer, requested)
    if _asks_for_shelter(answer, requested):
        yield from _ushered(answer)


def truth_for_lie(answer: Answer) -> Sign | None:
    """Returns a no where the message dictates what to say, and the reply pledges the truth and says none of it."""
    words = answer.words
    dictated = _dictated(answer.message)
    if not dictated or any(stem(word) in dictated for word in words.words):
        return None
    for hit in _pledges().find(words.words, parts=words.sentence):
        aside = words.clause_before(hit.start)[-1:] == ("to",)  # "to tell the truth" promises nothing
        if not aside and words.sentence[hit.start] not in words.asked and not answer.negators(hit.start):
            return Sign("no", hit.start, 2)
    return None


def takes_hold(answer: Answer) -> bool:
    """Returns whether a reply asks for the thing that it needs to comply ("hand me the reins")."""
    words = answer.words
    return any(
        words.opens_clause(hit.start) and words.sentence[hit.start] not in words.asked
        for hit in _handing().find(words.words, parts=words.clause)
    )


@functools.lru_cache(maxsize=1024)
def _requested(message: Words) -> frozenset[str]:
    """Returns the stems of the verbs that a message asks to be done ("Will you sign it?")."""
    words = message.words
    found: set[str] = set()
    for at in range(len(words) - 2):
        if words[at] in _ASKING and words[at + 1] == "you":
            verb = next(
                (word for word in words[at + 2 : at + 5] if word not in single_words("adverbs") | {"please"}), ""
            )
            found |= {stem(verb)} if verb else set()
    return frozenset(found)


@functools.lru_cache(maxsize=1024)
def _dictated(message: Words) -> frozenset[str]:
    """Returns the stems of what a message tells the character to say, behind "that"."""
    words = message.words
    told = next((at for at, word in enumerate(words) if word in _TELLING), None)
    if told is None or "that" not in words[told + 1 :]:
        return frozenset()
    behind = words[words.index("that", told + 1) + 1 :]
    if not behind or behind[0] not in {"i", "we", "he", "she", "they", "you", "it", "my", "our", "his", "her"}:
        return frozenset()
    return frozenset(stem(word) for word in behind if word not in single_words("function_words"))


def _reported(answer: Answer, requested: frozenset[str]) -> Iterator[Sign]:
    words = answer.words
    for at, word in enumerate(words.words):
        if not word.endswith("ed") or words.sentence[at] in words.asked:
            continue
        if word.startswith("un") and stem(word[2:]) in requested:
            if at and words.words[at - 1] in _LEAVING:
                yield Sign("no", at, 2)
        elif stem(word) in requested and (at + 1 >= len(words.words) or words.clause[at + 1] != words.clause[at]):
            if all(one in _REPORTING for one in words.clause_before(at)) and not answer.in_condition(at):
                yield Sign("yes", at, 2)


def _asks_for_shelter(answer: Answer, requested: frozenset[str]) -> bool:
    return any(stem(word) in requested for word in single_words("sheltering")) or (
        bool(requested) and any(word in single_words("places") for word in answer.message.words)
    )


def _ushered(answer: Answer) -> Iterator[Sign]:
    words = answer.words
    for hit in _ushering().find(words.words, parts=words.clause):
        if not words.opens_clause(hit.start) or words.sentence[hit.start] in words.asked:
            continue
        stop = hit.start
        while stop < len(words.words) and words.clause[stop] == words.clause[hit.start]:
            stop += 1
        if _NARRATING.intersection(words.words[hit.start : stop]):
            continue
        if words.words[hit.start] in _DIRECTIONS and not _is_called_out(words, stop - 1):
            continue
        yield Sign("yes", hit.start, 2)


def _is_called_out(words: Words, at: int) -> bool:
    """Returns whether the sentence of a word is called out: a direction without a verb is an order only then."""
    while at + 1 < len(words.words) and words.sentence[at + 1] == words.sentence[at]:
        at += 1
    return "!" in words.after[at]


@functools.cache
def _pledges() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("truth_pledges"), True))


@functools.cache
def _handing() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("handing"), True))


@functools.cache
def _ushering() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("ushering"), True))
