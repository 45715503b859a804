"""Corrections: what a text that stands behind an answer says against it, or for it.

A judge writes a clean object and goes on: "Sorry, A-1 should be no." Read are three forms: a sentence with a word of
correction and an answer behind it; a sentence that puts an answer to an id ("A-1: no"); a sentence that is nothing but
an answer. Such a text is never an answer of its own: where it says something else than the answer before it, there
is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.model.labelled import fold_text
from dramaturg.model.vocabulary import YesNo, plain_text, read_yes_no, yes_no_synonyms

_ANSWERS: dict[str, YesNo] = {
    **dict.fromkeys(("yes", "true", "sì", "oui", "是", "对", "是的"), "yes"),
    **dict.fromkeys(("no", "false", "non", "否", "不是", "不对", "没有"), "no"),
    **dict.fromkeys(("not applicable", "not_applicable", "n/a", "non applicabile", "不适用"), "not_applicable"),
}
_WORDS: dict[str, YesNo] = yes_no_synonyms("en", "it", "fr", "zh")
_ONE = "|".join(map(re.escape, sorted(_ANSWERS, key=len, reverse=True)))
_ALONE = r"(?=\s*(?:[.,;:!?()\[\]}（【。，；：！？）】\"'”’*`_]|\Z)|\s+(?:because|since|as|instead|and|but|while)\b)"
_ANSWER = re.compile(
    rf"(?P<not>\b(?:not|non|pas|from|rather than|instead of)\s+[\"'*`“]*)?"
    rf"(?:(?<![\w'])|(?<=[是为成]))(?P<answer>{_ONE}){_ALONE}"
)
_CORRECTS = re.compile(
    r"\b(?:sorry|correct(?:ion|ed|ing)|actually|wait|hold on|rather|i mean|i meant|scratch that|second thoughts?|"
    r"reflection|reconsider\w*|mistake\w*|oops|apolog\w+|should|must be|ought to|chang(?:e|ed|ing)|revis\w+|amend\w*|"
    r"in fact|hmm+|scusa\w*|anzi|correggo|correzione|in realtà|dovrebbe|ripensandoci|aspetta|pardon|désolée?|"
    r"en fait|plutôt|devrait)\b|抱歉|对不起|更正|纠正|修正|应该?[是为]|改[为成]|等等|实际上|其实"
)
_FILLED = re.compile(
    r"(?:[\s:：=,>*_\"'`|.)\]\-–—]|\b(?:is|was|should|must|be|the|answer|verdict|to|it|now|really|è)\b|的?答案[是为]?)*"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Correction:
    """An answer that is given anew.

    Attributes:
        answer: The answer.
        ids: What it is given to, as it was asked; empty where it names nothing.
    """

    answer: YesNo
    ids: tuple[str, ...] = ()


def corrections(text: str, ids: Sequence[str] = ()) -> list[Correction]:
    """Returns the answers that a text behind an answer gives anew, in order.

    Args:
        text: What stands behind an answer.
        ids: Ids that it may name.
    """
    folded = {fold_text(name): name for name in ids}
    longest_first = sorted(map(re.escape, folded), key=len, reverse=True)
    named = re.compile(rf"(?<![a-z0-9_-])(?:{'|'.join(longest_first)})(?![a-z0-9_-])") if folded else None
    found: list[Correction] = []
    for sentence in _SENTENCE.split(fold_text(text[:_LONGEST])):
        places = [(place.start(), place.end(), folded[place[0]]) for place in named.finditer(sentence)] if named else []
        corrects = _CORRECTS.search(sentence)
        answers = [one for one in _ANSWER.finditer(sentence) if not one["not"]]
        if not answers:
            continue
        if not places:
            alone = _ANSWERS.get(plain_text(sentence))
            opens = re.match(r"\W*", sentence)
            begins = opens.end() if opens else 0
            behind = [one for one in answers if corrects and (one.start() >= corrects.start() or one.start() == begins)]
            if alone is not None or behind:
                found.append(Correction(alone or _ANSWERS[behind[-1]["answer"]]))
            continue
        for number, (start, end, name) in enumerate(places):
            stop = places[number + 1][0] if number + 1 < len(places) else len(sentence)
            own = next((one for one in answers if end <= one.start() < stop), None)
            if own is None and corrects is not None:
                own = next((one for one in reversed(answers) if one.end() <= start), None)
            if own is not None and (corrects is not None or _FILLED.fullmatch(sentence, end, own.start())):
                found.append(Correction(_ANSWERS[own["answer"]], (name,)))
    return found


def is_taken_back(answer: YesNo, behind: str) -> bool:
    """Returns whether a text that stands behind an answer says something else.

    Args:
        answer: What was answered.
        behind: What stands behind it.
    """
    given_last = read_yes_no(behind)
    return (given_last is not None and given_last != answer) or any(
        correction.answer != answer for correction in corrections(behind)
    )


def holds_several_answers(text: str) -> bool:
    """Returns whether words for different answers stand in a text, as in "no, wait, yes" or "yes | no"."""
    words = re.findall(r"[^\W_]+", fold_text(text[:_LONGEST]))
    return len({_WORDS[word] for word in words if word in _WORDS}) > 1


def taken_back_inside(text: str, answer: YesNo) -> bool:
    """Returns whether a text that gives an answer takes it back behind the last word for it.

    Args:
        text: What was read as the answer.
        answer: The answer that it was read as.
    """
    folded = fold_text(text)
    last = max((one.end() for one in _ANSWER.finditer(folded) if _ANSWERS[one["answer"]] == answer), default=len(text))
    return any(correction.answer != answer for correction in corrections(text[last:]))
