"""Who speaks: the character, or the model behind it, as an assistant or declining a request."""

from __future__ import annotations

import functools
from typing import Literal, TypeAlias

from dramaturg.judge.matching.lexicon import phrases, single_words
from dramaturg.judge.matching.words import LONGEST_KEPT, Hit, Phrases, Words, words_of

Voice: TypeAlias = Literal["character", "refusal", "persona_break"]
_Kind: TypeAlias = Literal["assistant", "hard", "denied", "request", "whole"]

_LONGEST_WHOLE = 60
"""Words of a reply that is nothing but a refusal."""
_MOST_READ = 8000


def voice_of(text: str, message: str, *, machine: bool) -> Voice:
    """Returns who speaks in a text.

    A refusal that could be the character's own ("I cannot help you with that") is the model's only where the reply
    holds nothing else but courtesies.

    Args:
        text: What was said aloud.
        message: What was said to the character; names that it holds may be taken up.
        machine: Whether the character is a machine, which may call itself one.
    """
    if len(text) > 2 * _MOST_READ:
        text = f"{text[:_MOST_READ]}\n{text[-_MOST_READ:]}"
    hits = _claims(text) if len(text) <= LONGEST_KEPT else _found(text)
    if not hits:
        return "character"
    words = words_of(text)
    refused = False
    named = _named_in(message)
    for hit in hits:
        said = words.words[hit.start : hit.end]
        if said[0] not in _CLAIMS and said in named:
            continue
        if said[0] in _CLAIMS and words.sentence[hit.start] in words.asked and _is_echo(words, hit.start):
            continue
        match hit.kind:
            case "hard":
                return "persona_break"
            case "assistant":
                if not machine and not _is_negated(words, hit.start):
                    return "persona_break"
            case "request":
                refused = True
            case "whole":
                refused = refused or _says_nothing_else(words)
            case "denied":
                pass
    return "refusal" if refused else "character"


@functools.lru_cache(maxsize=512)
def _claims(text: str) -> tuple[Hit[_Kind], ...]:
    return _found(text)


def _found(text: str) -> tuple[Hit[_Kind], ...]:
    words = words_of(text)
    return tuple(_phrases().find(words.words, parts=words.sentence))


_CLAIMS = frozenset({"as", "i", "being", "since", "because"})


@functools.lru_cache(maxsize=1024)
def _named_in(message: str) -> frozenset[tuple[str, ...]]:
    words = words_of(message[:_MOST_READ]).words
    return frozenset(tuple(words[hit.start : hit.end]) for hit in _phrases().find(words))


def _is_negated(words: Words, start: int) -> bool:
    before = words.clause_before(start)[-3:]
    return any(word in ("not", "no", "never", "ne", "non", "nicht", "没", "不") for word in before)


def _is_echo(words: Words, start: int) -> bool:
    """Returns whether a phrase stands at the head of a short question, such as "As an AI? What is that?"."""
    sentence = words.sentence[start]
    return sum(1 for one in words.sentence if one == sentence) <= 12


def _says_nothing_else(words: Words) -> bool:
    if len(words.words) > _LONGEST_WHOLE:
        return False
    polite = single_words("polite")
    covered = set[int]()
    for hit in _phrases().find(words.words, parts=words.sentence):
        covered.update(range(hit.start, hit.end))
    return all(index in covered or word in polite for index, word in enumerate(words.words))


@functools.cache
def _phrases() -> Phrases[_Kind]:
    known: dict[tuple[str, ...], _Kind] = {}
    for words in phrases("refusing_whole"):
        known[words] = "whole"
    for words in phrases("refusing_request"):
        known[words] = "request"
    for words in phrases("assistant"):
        known[words] = "assistant"
    for words in phrases("assistant_even_for_machines"):
        known[words] = "hard"
    for words in phrases("denied_machine"):
        known[words] = "denied"
    return Phrases(known)
