"""Evidence: which turns an answer names, and whether it may rest on them.

Turns that a person, a script or the procedure made are context: an answer may name them beside others, but
what is judged is model-played. Invalid evidence flags an answer; it never drops it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dramaturg.judge.checklist.checklist import EvidenceRule
from dramaturg.model.vocabulary import YesNo
from dramaturg.stage.transcript import Transcript, Turn

LONGEST_SHOWN = 40
"""Characters of an unreadable citation that its flag keeps."""

LONGEST_RANGE = 50
"""Turns that a range such as T2-T4 may name; of a longer one only the ends are read."""

NO_EVIDENCE = frozenset({"", "none", "null", "nil", "n/a", "na", "-", "no evidence", "no turn", "no turns"})
"""What judges write for an empty list, in lower case."""

_CITED = re.compile(r"^\W*(?:turn(?:\s+id)?\s*[:#]?\s*)?t?\s*0*(\d{1,9})(?:\.0+)?\W*$", re.IGNORECASE)
_RANGE = re.compile(
    r"^\W*(?:turns?\s*)?t?0*(\d{1,9})\s*(?:[-–—~]|\.{2,3}|…|to|through|until|a|al|至|到)\s*t?0*(\d{1,9})\W*$",
    re.IGNORECASE,
)
_WITHIN = re.compile(r"\bT0*(\d{1,9})\b")
_BETWEEN = re.compile(r"[,;\n]|\band\b|&")


@dataclass(frozen=True, slots=True)
class CheckedEvidence:
    """What remains of the turns that an answer named.

    Attributes:
        turns: Ids of those that exist, each once, as named.
        flags: What is wrong with the rest.
    """

    turns: tuple[str, ...]
    flags: tuple[str, ...]


def read_citations(named: Iterable[str]) -> tuple[str, ...]:
    """Returns what was named as turn ids, each once; what names no turn is kept as it is.

    ``T7``, ``[T7]``, ``turn 7``, ``7``, ``7.0`` and ``T07`` all name T7; ``T3, T4``, ``T5: he admits it`` and the
    range ``T2-T4`` are read too.
    """
    found: dict[str, None] = {}
    for text in named:
        for part in _BETWEEN.split(text):
            word = " ".join(part.split())
            if word.strip("[]()\"'.").casefold() in NO_EVIDENCE:
                continue
            numbers = _numbers(word)
            found.update(dict.fromkeys([f"T{number}" for number in numbers] or [word]))
    return tuple(found)


def _numbers(word: str) -> list[str]:
    """Returns the numbers of the turns that a citation names."""
    cited = _CITED.match(word)
    if cited:
        return [cited[1]]
    between = _RANGE.match(word)
    if between and 0 <= (last := int(between[2])) - (first := int(between[1])) < LONGEST_RANGE:
        return [str(number) for number in range(first, last + 1)]
    return _WITHIN.findall(word)


def check_evidence(named: Iterable[str], answer: YesNo, rule: EvidenceRule, transcript: Transcript) -> CheckedEvidence:
    """Returns the named turns that exist, with a flag for each fault.

    ``evidence:unknown:T99``: no such turn. ``evidence:human:T4``, ``evidence:script:T4``,
    ``evidence:procedure:T4``: the answer rests on turns that are not judged, and on no other.
    ``evidence:none``: the indicator wants evidence for this answer, and none of the named turns exists.

    Args:
        named: Turn ids as the judge wrote them.
        answer: What was answered.
        rule: Which answers the indicator wants evidence for.
        transcript: What was judged.
    """
    turns = {_plain(turn.id): turn for turn in transcript.turns}
    cited = read_citations(named)
    known = [turns[word] for word in cited if word in turns]
    flags = [f"evidence:unknown:{word[:LONGEST_SHOWN]}" for word in cited if word not in turns]
    if answer != "not_applicable":
        if not known and _wanted(rule, answer):
            flags.append("evidence:none")
        if not any(transcript.is_judged(turn) for turn in known):
            flags += [f"evidence:{_source(turn, transcript)}:{turn.id}" for turn in known]
    return CheckedEvidence(tuple(turn.id for turn in known), tuple(flags))


def _wanted(rule: EvidenceRule, answer: Literal["yes", "no"]) -> bool:
    return rule == "required" or (rule == "for_no" and answer == "no")


def _plain(turn_id: str) -> str:
    return f"T{int(turn_id[1:])}"


def _source(turn: Turn, transcript: Transcript) -> str:
    """Returns who made a turn that is not judged."""
    if turn.kind == "procedure":
        return "procedure"
    player = transcript.cast.get(turn.role)
    return "human" if turn.human or player is None else player.kind
