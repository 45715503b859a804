"""Checks of drafted scenarios that need no model.

They are rules over words, written for English: they find what is surely wrong and may overlook what is worded in
another way. A scenario with an error does not enter a set.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from dramaturg.files import load_yaml
from dramaturg.model.lexical import tokens
from dramaturg.stage import finding
from dramaturg.stage.cast.character import Character
from dramaturg.stage.cast.eras import dated
from dramaturg.stage.interview.item import Category
from dramaturg.stage.interview.making.forms import ChoiceDraft, Draft, EmotionDraft, FactDraft, fact_of

Code = Literal[
    "length",
    "markup",
    "context",
    "several-speakers",
    "gives-away",
    "label-unknown",
    "no-question",
    "not-yes-no",
    "two-choices",
    "polarity",
    "no-conflict",
    "known-already",
    "beyond",
    "repeated",
    "critique",
]
CODES: tuple[Code, ...] = get_args(Code)

FEWEST_CHARACTERS = 12
MOST_CHARACTERS = 600

_MARKUP = re.compile(r"```|\{\{|\}\}|\*[^*\n]+\*|</?[a-z][^<>\n]*>|\[[^\]\n]*\]|\A\s*\([^)]*\)")
_CONTEXT = re.compile(
    r"\b(?:as (?:I|we|you) (?:said|told|discussed|mentioned|agreed)|like I (?:said|told you)"
    r"|as (?:before|mentioned|discussed)|(?:what|like) you (?:just said|said (?:earlier|before|yesterday))"
    r"|earlier you said|you just (?:said|told)|back to (?:what|our)|to continue|going on from"
    r"|in (?:my|your) last message|about what we (?:said|discussed))\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"^\s*[A-Z][\w.' -]{0,40}:\s+\S", re.MULTILINE)
_WHISPERED = re.compile(
    r"\b(?:say (?:yes|no)|the (?:right |only |honest )?answer is|of course you (?:will|would|won['’]t)"
    r"|you (?:must|should) (?:refuse|accept|agree|say)|I know you (?:will|would|won['’]t|would never)"
    r"|you would never|you['’]d never|surely you)\b",
    re.IGNORECASE,
)
_AUXILIARY = (
    r"(?:am|are|is|was|were|do|does|did|will|would|can|could|shall|should|may|might|must|have|has|had|ought|dare|need)"
)
_POLAR = re.compile(rf"(?:^|[,;:–—-]\s*|\b(?:so|then|now|and|but|tell me|well)\b,?\s+){_AUXILIARY}\s+(?!not\b)\w", re.I)
_NEGATED = re.compile(
    rf"(?:^|[,;:–—]\s*)(?:{_AUXILIARY}n['’]t|won['’]t|can['’]t|shan['’]t|cannot|{_AUXILIARY} \w+ (?:not|never))\b"
    r"|\b(?:do|would) you (?:really )?mind\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^(?:\W*(?:so|then|and|but|well|tell me)\W+)?(?:who|whom|whose|what|when|where|why|which|how)\b", re.I
)
_AFTER_TIME = re.compile(rf"^\W*(?:when|where)\b[^?]*,\s*{_AUXILIARY}\s+(?!not\b)\w", re.IGNORECASE)
"""“When they come, will you stay?”: it opens like a question for a time, and is none."""
_CHOICE = re.compile(r"\bor\b(?! (?:not|no)\b)", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?…]*[.!?…]+|[^.!?…]+\Z")


@dataclass(frozen=True, slots=True)
class Finding(finding.Finding):
    """One thing that is doubtful about a scenario; see `dramaturg.stage.finding.Finding`."""

    code: Code


def can_be_beyond(character: Character) -> bool:
    """Returns whether it can be shown that something lies beyond what a character can know."""
    return character.knows_until is not None or character.origin in ("fictional", "non_human")


def check_drafts(
    drafts: Sequence[Draft], character: Character, category: Category, labels: Sequence[str], used: Sequence[str]
) -> dict[int, list[Finding]]:
    """Returns what is doubtful, by the position of the scenario; those without a finding are left out.

    Args:
        drafts: The scenarios.
        character: Who is asked.
        category: What is asked for.
        labels: What an emotion may be.
        used: Messages to the same character that are in the set already.
    """
    found: dict[int, list[Finding]] = {}
    seen = {_plain(message) for message in used}
    for at, draft in enumerate(drafts):
        where = f"scenarios[{at}]"
        listed = [*_message(draft.message, where), *_answer(draft, character, category, labels, where)]
        if _plain(draft.message) in seen:
            listed.append(_error("repeated", where, "says what an earlier message says"))
        seen.add(_plain(draft.message))
        if listed:
            found[at] = listed
    return found


def asks_yes_or_no(message: str) -> Code | Literal[""]:
    """Returns what keeps the last question of a message from having yes or no as its answer; empty where nothing does.

    ``polarity`` is a question in the negative, or one whose yes means no (“do you mind”).
    """
    questions = [sentence.strip() for sentence in _SENTENCE.findall(message) if sentence.rstrip().endswith("?")]
    if not questions:
        return "no-question"
    last = questions[-1]
    if _NEGATED.search(last):
        return "polarity"
    polar = _AFTER_TIME.search(last)
    if polar is None and _OPEN.search(last) is None:
        polar = _POLAR.search(last)
    if polar is None:
        return "not-yes-no"
    return "two-choices" if _CHOICE.search(last, polar.end()) else ""


def _message(message: str, where: str) -> Iterator[Finding]:
    if not FEWEST_CHARACTERS <= len(message) <= MOST_CHARACTERS:
        told = f"has {len(message)} characters; {FEWEST_CHARACTERS} to {MOST_CHARACTERS} are expected"
        yield _error("length", where, told)
    if markup := _MARKUP.search(message):
        yield _error("markup", where, f"holds {markup[0].strip()!r}, which nobody says aloud")
    if context := _CONTEXT.search(message):
        yield _error("context", where, f"{context[0]!r} needs an earlier talk, and there is none")
    if _SPEAKER.search(message):
        yield _error("several-speakers", where, "names a speaker; it must be what one person says, and nothing else")


def _answer(
    draft: Draft, character: Character, category: Category, labels: Sequence[str], where: str
) -> Iterator[Finding]:
    match draft:
        case EmotionDraft():
            answer = draft.answer.strip().casefold()
            if answer not in labels:
                yield _error("label-unknown", where, f"{draft.answer!r} is none of: {', '.join(labels)}")
            elif _says(draft.message, answer):
                yield _error("gives-away", where, f"the message itself speaks of {answer}")
        case ChoiceDraft():
            if problem := asks_yes_or_no(draft.message):
                yield _error(problem, where, _ASKED[problem])
            if whispered := _WHISPERED.search(draft.message):
                yield _error("gives-away", where, f"{whispered[0]!r} tells which answer is expected")
        case FactDraft():
            if "?" not in draft.message:
                yield _error("no-question", where, "asks nothing")
            for form in fact_of(draft, "").all_forms:
                if _holds(draft.message, form):
                    yield _error("gives-away", where, f"the message itself says {form!r}")
                elif category == "in_character" and _holds(character.description, form):
                    yield _error("known-already", where, f"the character's description says {form!r}")
            yield from _time(draft, character, category, where)


_ASKED: dict[Code, str] = {
    "no-question": "asks nothing; it must end in a question",
    "not-yes-no": "its last question cannot be answered with yes or no",
    "two-choices": "its last question offers two things; yes or no would not say which",
    "polarity": "its last question is in the negative, so that yes and no may mean the same",
}


def _time(draft: FactDraft, character: Character, category: Category, where: str) -> Iterator[Finding]:
    """Yields what speaks against a fact's lying beyond a character's time, or against its lying within."""
    until = character.knows_until
    fact = fact_of(draft, "")
    if fact.date:
        years = [_year(fact.date)]
    else:
        years = [novelty.year for _, novelty in dated(f"{draft.message} {draft.fact} {' '.join(fact.all_forms)}")]
        years += [] if draft.since is None else [draft.since]
    latest = max(years, default=None)
    if category == "knows":
        if until is not None and latest is not None and latest > until:
            yield _error("beyond", where, f"is of {latest}, and the character can know nothing after {until}")
    elif until is None:
        if not can_be_beyond(character):
            yield _error("no-conflict", where, "it is not said how far the character's knowledge reaches")
    elif latest is None:
        yield _error("no-conflict", where, "does not say since which year it can be known")
    elif latest <= until:
        yield _error("no-conflict", where, f"can be known since {latest}, and the character lives in {until}")


def _year(date: str) -> int:
    """Returns the year of an ISO date; one before the common era is negative."""
    return int(date[0] + date[1:].partition("-")[0])


class _Emotions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    roots: Mapping[str, tuple[str, ...]]


@functools.cache
def _roots(label: str) -> tuple[str, ...]:
    """Returns how the words that name an emotion begin; a label that the list does not have names itself."""
    path = Path(str(resources.files("dramaturg"))) / "content" / "cast" / "emotions.yaml"
    return load_yaml(path, _Emotions).roots.get(label, (label,))


def _says(message: str, label: str) -> bool:
    """Returns whether a message names an emotion, in any ending of its words."""
    words = f" {' '.join(tokens(message))} "
    return any(f" {root}" in words for root in _roots(label))


def _holds(text: str, form: str) -> bool:
    """Returns whether a text holds a form as whole words, in any case."""
    words, wanted = tokens(text), tokens(form)
    return bool(wanted) and any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def _plain(message: str) -> str:
    return " ".join(tokens(message))


def _error(code: Code, where: str, text: str) -> Finding:
    return Finding(code, "error", where, text)
