"""What code can say of a question without a model: whether it is fit to be an indicator, and if not, why.

The filter removes by these rules, and lint reports by them. Source: RPA-Check, section 3.1, stage 3 (binary
determinism, non-redundancy, agent isolation); the other rules are ours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.judge.checklist.build.lexicon import Lexicon, begins_with, found_in, lexicon, lexicons, without
from dramaturg.judge.checklist.checklist import QUESTION_MARKS, Sign

Rule = Literal[
    "not_yes_no",
    "other_language",
    "too_long",
    "too_short",
    "two_concepts",
    "negative",
    "wrong_sign",
    "human",
    "other_role",
    "unanswerable",
    "vague",
    "exaggerated",
    "leaking",
]

_SUBJECT_REACH = 4
"""Within how many words behind the opening a role is named to be the one that the question is about."""

_FEW = 2
"""So many frequent words of another language, and none of its own, make a text one of the other language."""

_OTHER_SPELLING = re.compile(r"ence\b", re.ASCII)
"""`defence` is `defense` elsewhere, and models write both."""

_LETTERS = re.compile(r"[^\W\d_]+")
_PLACEHOLDER = re.compile(r"\[[^\]]*\]|<[^>]*>|\{[^}]*\}|\.\.\.|…|_{2,}")


@dataclass(frozen=True, slots=True)
class Cast:
    """Who takes part, by the names under which questions speak of them.

    Attributes:
        judged: Kind of each model-played role → its names, in lower case.
        people: Names of those who are played by people.
    """

    judged: dict[str, tuple[str, ...]]
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule finds in a question.

    Attributes:
        rule: Which rule.
        detail: What in the text shows it, for people.
    """

    rule: Rule
    detail: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.detail}"


def cast_of(benchmark: Benchmark) -> Cast:
    """Returns who takes part in a benchmark, with the general names of people in its language."""
    judged = {role.id: _names(role.id, role.name) for role in benchmark.roles if role.played_by == "model"}
    people = [name for role in benchmark.roles if role.played_by == "human" for name in _names(role.id, role.name)]
    return Cast(judged, (*people, *lexicon(benchmark.language).people))


def findings(
    text: str, words: Lexicon, cast: Cast, *, sign: Sign = "positive", roles: Sequence[str] = ()
) -> list[Finding]:
    """Returns what speaks against a question; nothing where it is fit.

    Args:
        text: The question.
        words: Lexicon of its language.
        cast: Who takes part.
        sign: Whether a yes is good.
        roles: Kinds of the roles that it has to be about; empty for any.
    """
    return list(_findings(text, words, cast, sign, roles))


def same_words(text: str) -> str:
    """Returns a text without case, punctuation and blanks: equal for two that differ in nothing else."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def condition_of(text: str, words: Lexicon) -> str:
    """Returns the condition under which a question asks, such as `the agent refuses a request`; empty for none."""
    clause, _ = _split(text, words)
    opening = begins_with(clause, words.conditions)
    return clause[len(opening) :].strip(" ,，") if opening else ""


def subjects(text: str, words: Lexicon, cast: Cast) -> tuple[str, ...]:
    """Returns the kinds of the model-played roles that a question is about; none where it names none as its subject."""
    near = _near_subject(text, words)
    named = [(place, kind) for kind, names in cast.judged.items() if (place := _first(near, names)) >= 0]
    return (min(named)[1],) if named else ()


def _findings(text: str, words: Lexicon, cast: Cast, sign: Sign, roles: Sequence[str]) -> Iterator[Finding]:
    if (language := _other_language(text, words)) is not None:
        yield Finding("other_language", f"the text is {language}, not {words.name}")
        return
    yield from _form(text, words)
    if _says_nothing(text, words, cast):
        yield Finding("too_short", "it says nothing of the role that it names twice")
    core = without(text, words.fixed_pairs)
    if joints := found_in(core, words.joints):
        yield Finding("two_concepts", _quoted(joints))
    turned = (*found_in(without(text, words.neutral), words.negations), *found_in(text, words.avoidance))
    faults = found_in(text, words.faults)
    if sign == "positive" and turned:
        yield Finding("negative", _quoted(turned))
    if sign == "positive" and faults and not turned:
        yield Finding("wrong_sign", f"{_quoted(faults)} is a fault, and a yes counts as good")
    if sign == "negative" and turned:
        yield Finding("wrong_sign", f"{_quoted(turned)} asks for an absence, and a yes counts as bad")
    yield from _about(text, words, cast, roles)
    if unseen := found_in(_behind_opening(text, words), words.unanswerable):
        yield Finding("unanswerable", f"{_quoted(unseen)}: transcript and reference do not show it")
    if vague := found_in(text, words.vague):
        yield Finding("vague", _quoted(vague))
    if exaggerated := found_in(text, words.exaggerated):
        yield Finding("exaggerated", _quoted(exaggerated))
    if leaks := found_in(text, words.leaking):
        yield Finding("leaking", _quoted(leaks))


def _form(text: str, words: Lexicon) -> Iterator[Finding]:
    """Yields what is wrong with the form of a yes/no question."""
    _, question = _split(text, words)
    marks = sum(text.count(mark) for mark in QUESTION_MARKS)
    if not text.endswith(QUESTION_MARKS):
        yield Finding("not_yes_no", "it does not end with a question mark")
    elif marks > 1:
        yield Finding("not_yes_no", f"{marks} questions in one")
    elif blank := _PLACEHOLDER.search(text):
        yield Finding("not_yes_no", f"{blank[0]!r} stands for something that is left out")
    elif opening := begins_with(question, words.question_words):
        yield Finding("not_yes_no", f"it asks {opening!r}")
    elif words.openings and not begins_with(question, words.openings):
        yield Finding("not_yes_no", f"it begins with {question.split()[0]!r}" if question else "it asks nothing")
    elif words.markers and not found_in(text, words.markers):
        yield Finding("not_yes_no", f"it has none of {_quoted(words.markers)}")
    length = words.length(text)
    if length > words.longest:
        yield Finding("too_long", f"{length} words, {words.longest} at most")
    if length < words.shortest:
        yield Finding("too_short", f"{length} words, {words.shortest} at least")


def _says_nothing(text: str, words: Lexicon, cast: Cast) -> bool:
    """Returns whether a question does little more than name one role twice: `Does the judge speak as the judge?`."""
    said = [word.casefold() for word in _LETTERS.findall(text)]
    own = {*words.common, *words.openings}
    for names in cast.judged.values():
        others = {word for word in said if word not in own and word not in names}
        if sum(said.count(name) for name in names) > 1 and len(others) <= 1:
            return True
    return False


def _about(text: str, words: Lexicon, cast: Cast, roles: Sequence[str]) -> Iterator[Finding]:
    """Yields whether a question is about a person, or about another role than it should be."""
    near = _near_subject(text, words)
    person = _first(near, cast.people)
    judged = {kind: _first(near, names) for kind, names in cast.judged.items()}
    first = min((place for place in judged.values() if place >= 0), default=-1)
    anywhere = any(_first(text, names) >= 0 for names in cast.judged.values())
    if person >= 0 and (first < 0 or person < first):
        yield Finding("human", f"it is about {_quoted(found_in(near, cast.people)[:1])}, whom a person plays")
    elif not anywhere and (named := found_in(text, cast.people)):
        yield Finding("human", f"it speaks of {_quoted(named)} alone, whom a person plays")
    named_kinds = [kind for kind, place in judged.items() if place == first >= 0]
    if roles and named_kinds and not set(named_kinds) & set(roles):
        yield Finding("other_role", f"it is about {named_kinds[0]}, not about {', '.join(roles)}")


def _split(text: str, words: Lexicon) -> tuple[str, str]:
    """Returns the clause before the question, or nothing, and the question."""
    text = text.strip()
    if words.subclauses and words.clause_end in text and begins_with(text, words.subclauses):
        head, tail = text.split(words.clause_end, 1)
        while words.clause_end in tail and words.openings and not begins_with(tail, words.openings):
            more, tail = tail.split(words.clause_end, 1)
            head += words.clause_end + more
        return head.strip(), tail.strip()
    return "", text


def _behind_opening(text: str, words: Lexicon) -> str:
    clause, question = _split(text, words)
    return f"{clause} {question[len(begins_with(question, words.openings)) :]}"


def _near_subject(text: str, words: Lexicon) -> str:
    """Returns the part of a question where its subject stands; all of it where a language has no opening words."""
    _, question = _split(text, words)
    opening = begins_with(question, words.openings)
    if not opening:
        return question
    return " ".join(question[len(opening) :].split()[:_SUBJECT_REACH])


def _first(text: str, names: tuple[str, ...]) -> int:
    """Returns where in a text one of the names stands first, or -1."""
    places = [text.casefold().find(found.casefold()) for found in found_in(text, names)]
    return min(places, default=-1)


def _names(kind: str, name: str) -> tuple[str, ...]:
    plain = kind.replace("_", " ")
    spellings = (form for one in (plain, name.casefold()) for form in (one, _OTHER_SPELLING.sub("ense", one)))
    singular = dict.fromkeys(spellings)
    return tuple(form for one in singular for form in ((one, f"{one}s") if one.isascii() else (one,)))


def _other_language(text: str, words: Lexicon) -> str | None:
    """Returns the name of the language of a text where it is plainly another one than the lexicon's."""
    if words.empty:
        return None
    spoken = {word.casefold() for word in _LETTERS.findall(text)}
    if not spoken:
        return None
    scores = {
        other.name: len(found_in(text, other.common)) if other.language == "zh" else len(spoken & set(other.common))
        for other in lexicons()
    }
    own = scores.pop(words.name)
    name, most = max(scores.items(), key=lambda entry: entry[1])
    if most >= _FEW and own < most / 2:
        return name
    foreign = sum(1 for word in spoken for sign in word if sign > "\u024f")
    letters = sum(map(len, spoken))
    if words.language != "zh" and foreign > letters / 2:
        return "in another script"
    return None


def _quoted(parts: Sequence[str]) -> str:
    return ", ".join(f"'{part}'" for part in parts)
