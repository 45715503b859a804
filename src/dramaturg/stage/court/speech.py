"""Reads what a player wrote: where the own words end, and what is wrong with them. Pure text, no model.

Only a leading prefix with the speaker's own name is taken off; colons, quotes, times and addresses stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.model import Reply
from dramaturg.stage.court.names import People
from dramaturg.stage.transcript import Role

SpeechFault = Literal[
    "", "empty", "freeze", "refused", "degenerate", "truncated", "context_overflow", "loop", "speaks_for_others"
]

_HEAD = re.compile(r"^[ \t>*_#\"“-]*(?P<head>[^\n:：]{1,80}?)[ \t*_]*(?:：|:(?=\s|\*|$))", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’)\]*]*(?=\s|$|[^\x00-\x7f])")
_SENTENCE = re.compile(r"[^.!?…。！？\n]+")
_QUOTED = re.compile(r"\A[\"“]([^\"“”]*)[\"”]\Z")
_WORD = re.compile(r"\w+")
_AS_AN_AI = re.compile(
    r"\b(?:as an|i am an|i['’]m an|being an)\s+(?:ai|artificial intelligence|ai language model)\b"
    r"|\bas a (?:large )?language model\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:can(?:no|['’])t|unable to|not able to)\s+(?:assist|help|comply|continue|fulfil+)(?:\s+\w+){0,2}?"
    r"\s+with\s+(?:that|this|your)\b"
    r"|(?:无法|不能)(?:协助|帮助|继续|提供|满足|完成)(?:您|你)?(?:的|这个|这样的|该|此类|这类)?(?:请求|要求|内容|任务)",
    re.IGNORECASE,
)

SHORT_WORDS = 8
"""A turn with fewer words may be said again: "I do not know" is an answer, however often."""

SAME_SHARE = 0.8
"""Share of common word triples from which two turns count as nearly the same."""

ECHO_SHARE = 0.6
"""Share of a speech's word triples from which it counts as an echo of its instructions.

Measured on 1,858 turns: what small models copied had .65 to 1, a judge's true call for the final theses at most .5.
"""

LEAST_TRIPLES = 4
"""A shorter speech is no echo: it has no room to say something else."""


@dataclass(frozen=True, slots=True)
class Speech:
    """What a player said, as far as it is the speaker's own.

    Attributes:
        text: The speaker's own words.
        fault: What is wrong with them; empty when nothing is.
        flags: What was noticed: ``prefix``, ``truncated``, ``cut:other_speaker``, ``as_an_ai``, ``echo`` of what the
            speaker was told to do, ``copy`` of what another side said.
    """

    text: str
    fault: SpeechFault
    flags: tuple[str, ...]


def read_speech(
    reply: Reply,
    text: str,
    *,
    speaker: Role,
    people: People,
    addressable: Collection[str],
    earlier: Sequence[str],
    heard: Sequence[str] = (),
    told: str = "",
) -> Speech:
    """Returns the speaker's own words and what is wrong with them.

    Another speaker's line is cut off together with all that follows; `fault` is ``speaks_for_others`` only when
    nothing is left before it, the flag ``cut:other_speaker`` tells in any case.

    Args:
        reply: The answer of the player.
        text: Its text, final tags taken off.
        speaker: Whose turn it is.
        people: Everybody in court.
        addressable: Ids of those whom the speaker may address: their name and a colon at the very head is an address.
        earlier: What the speaker said before in this performance.
        heard: What was said from another side.
        told: What the speaker was told to do, without the case that it was told about.
    """
    if reply.failure == "timeout":
        return Speech("", "freeze", ())
    match reply.status:
        case "context_overflow" | "refused" | "degenerate":
            return Speech(text.strip(), reply.status, ())
        case _:
            pass
    own, flags = _without_prefix(text.strip(), speaker, people)
    cut = _foreign_line(own, speaker, people, addressable)
    if cut is not None:
        own = own[:cut].rstrip()
        flags.append("cut:other_speaker")
    elif reply.status == "truncated":
        flags.append("truncated")
    if _AS_AN_AI.search(own):
        flags.append("as_an_ai")
    if echoes(own, told):
        flags.append("echo")
    if any(nearly_same(own, other) for other in heard):
        flags.append("copy")
    fault = _fault(own, earlier)
    if fault == "empty" and cut is not None:
        fault = "speaks_for_others"
    return Speech(own, fault, tuple(flags))


def whole_sentences(text: str) -> str:
    """Returns the text up to its last whole sentence; all of it where it has none."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else text


def declines(text: str) -> bool:
    """Returns whether a text turns its task down as an assistant does, and not as somebody who plays a part."""
    return _REFUSAL.search(text) is not None


def _fault(text: str, earlier: Sequence[str]) -> SpeechFault:
    if not _WORD.search(text):
        return "empty"
    if declines(text):
        return "refused"
    if repeats_itself(text) or any(nearly_same(text, before) for before in earlier):
        return "loop"
    return ""


def _without_prefix(text: str, speaker: Role, people: People) -> tuple[str, list[str]]:
    head = _HEAD.match(text)
    if head is None:
        return text, []
    meant = people.named(head["head"])
    generic = meant is None and people.speaks_of_kind(head["head"]) == speaker.kind
    if generic or (meant is not None and meant.id == speaker.id):
        return _QUOTED.sub(r"\1", text[head.end() :].lstrip(" \t\n*_")), ["prefix"]
    return text, []


def _foreign_line(text: str, speaker: Role, people: People, addressable: Collection[str]) -> int | None:
    """Returns where the first line of somebody else begins, or None."""
    places: list[int] = []
    for head in _HEAD.finditer(text):
        meant = people.named(head["head"])
        if meant is None:
            kind = people.speaks_of_kind(head["head"])
            if kind and kind != speaker.kind:
                places.append(head.start())
        elif meant.id != speaker.id and not (head.start() == 0 and meant.id in addressable):
            places.append(head.start())
    for role in people.roles:
        titles = "|".join(map(re.escape, dict.fromkeys((role.kind, people.titles.get(role.kind, role.kind)))))
        marked = re.compile(rf"(?<!\w){re.escape(role.name)}\s*[(（]\s*(?:{titles})\s*[)）]\s*[:：]", re.IGNORECASE)
        if role.id != speaker.id and (found := marked.search(text)) is not None:
            places.append(found.start())
    return min(places, default=None)


def nearly_same(text: str, before: str) -> bool:
    """Returns whether two turns say nearly the same words; short turns never do."""
    one, other = _words(text), _words(before)
    if min(len(one), len(other)) < SHORT_WORDS:
        return False
    triples, more = word_triples(one), word_triples(other)
    return len(triples & more) >= SAME_SHARE * max(len(triples), len(more))


def echoes(text: str, told: str) -> bool:
    """Returns whether a speech says hardly more than what its speaker was told to do, if in the first person."""
    said, instructions = _long_sentences(text), _long_sentences(told)
    if 2 * len(said & instructions) > len(said):
        return True
    triples = word_triples(_words(text))
    return len(triples) >= LEAST_TRIPLES and len(triples & word_triples(_words(told))) >= ECHO_SHARE * len(triples)


def repeats_itself(text: str) -> bool:
    """Returns whether a sentence of at least four words stands three times in the text, or a shorter one six times."""
    return any(count >= (3 if sentence.count(" ") >= 3 else 6) for sentence, count in Counter(_sentences(text)).items())


def _sentences(text: str) -> list[str]:
    sentences = (" ".join(_words(found[0])) for found in _SENTENCE.finditer(text))
    return [sentence for sentence in sentences if sentence]


def _long_sentences(text: str) -> set[str]:
    return {sentence for sentence in _sentences(text) if sentence.count(" ") >= 3}


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def word_triples(words: Sequence[str]) -> set[tuple[str, ...]]:
    """Returns all runs of three words."""
    return {tuple(words[index : index + 3]) for index in range(len(words) - 2)}


def one_line(text: str) -> str:
    """Returns the text on one line: no line break of any alphabet can begin a line of another speaker."""
    return " ".join(text.split())
