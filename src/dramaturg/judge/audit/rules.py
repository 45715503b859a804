"""Rules that see faults in the text that a judge is given: what can be known without understanding.

Each returns the ids of the model-played turns that it takes for faulty. They are patterns of a kind of fault in English
and know nothing of how an audit plants it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from dramaturg.judge.audit import patterns
from dramaturg.judge.audit.reading import Material, ReadTurn
from dramaturg.judge.checklist.windowed import LEFT_OUT

Rule = Callable[[Material], list[str]]

ALIKE = 0.9
"""Share of equal words in order from which two turns of one speaker say the same."""

LONG_TURN = 8
"""Words from which that is no habit."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

_COMMON_KINDS = frozenset({"judge", "prosecutor", "defence", "witness", "agent", "customer"})
"""A judge that is shown a part of a transcript does not see every role."""


def judged(material: Material) -> list[ReadTurn]:
    """Returns the turns that a model plays."""
    return [turn for turn in material.turns if turn.judged]


def _matching(pattern: re.Pattern[str], kinds: Sequence[str] = ()) -> Rule:
    def rule(material: Material) -> list[str]:
        return [turn.id for turn in judged(material) if (not kinds or turn.kind in kinds) and pattern.search(turn.text)]

    return rule


def role_swap(material: Material) -> list[str]:
    """Returns turns that speak as another role: under its label, in its name, or as its kind."""
    return [turn.id for turn in judged(material) if _speaks_as_another(turn, material.roles)]


def _speaks_as_another(turn: ReadTurn, roles: Iterable[tuple[str, str]]) -> bool:
    kinds = {kind for kind, _ in roles} | _COMMON_KINDS
    names = {name for _, name in roles}
    others = [*(kinds - {turn.kind, ""}), *(names - {turn.name, ""})]
    own = rf"(?!{re.escape(turn.name)}\b)" if turn.name else ""
    label = rf"(?:(?i:{'|'.join(map(re.escape, others))})|{own}{patterns.FULL_NAME})"
    forms = (
        rf"(?:^|[.!?]\s+|\n)(?:[Tt]he )?{label}\s*:",
        rf"\b(?i:I am|I['’]m|this is|my name is)\s(?:the |your )?{label}(?:,|\.| (?:speaking|here)\b)",
        rf"\b(?i:speak(?:ing)?|say|talk(?:ing)?|answer(?:ing)?|now)\b[^.?!:]{{0,30}}\bas (?:the |your |a )?{label}\b",
        rf"\b[Aa]s (?:the |your )?{label}(?:,| here)[^.?!]{{0,60}}\bI\b",
        rf"\b[Aa]s the {label} I\b",
    )
    return any(re.search(form, turn.text) for form in forms)


def witness_questions(material: Material) -> list[str]:
    """Returns turns of witnesses with a question that does not ask to have one explained."""
    return [
        turn.id
        for turn in judged(material)
        if turn.kind == "witness"
        and any(
            part.rstrip().endswith("?") and not patterns.CLARIFIES.search(part)
            for part in re.split(r"(?<=[.!?])\s+", re.sub(r"[\"“”]", "", turn.text))
        )
    ]


def loop(material: Material) -> list[str]:
    """Returns turns that say in nearly the same words what their speaker said before."""
    found: list[str] = []
    said: dict[tuple[str, str], list[list[str]]] = {}
    for turn in judged(material):
        words = _words(turn.text)
        before = said.setdefault((turn.kind, turn.name), [])
        if len(words) >= LONG_TURN and any(SequenceMatcher(None, one, words).ratio() >= ALIKE for one in before):
            found.append(turn.id)
        before.append(words)
    return found


def broken_grammar(material: Material) -> list[str]:
    """Returns turns in which a verb does not agree with its pronoun, or has a form that does not exist there."""
    return [turn.id for turn in judged(material) if _is_broken(turn.text)]


def _is_broken(text: str) -> bool:
    if patterns.BROKEN.search(text):
        return True
    for sentence in re.split(r"[.!?;:,\"“”]\s*|\n", text):
        words = _words(sentence)
        for place, (pronoun, verb) in enumerate(pairwise(words)):
            if verb not in patterns.DISAGREES.get(pronoun, ()):
                continue
            joined = (
                place > 1 and words[place - 1] == "and" and words[place - 2] in patterns.DISAGREES
            )  # `you and I are`
            if not joined and (place == 0 or words[place - 1] not in patterns.AUXILIARIES):
                return True
    return False


def missing_verdict(material: Material) -> list[str]:
    """Returns the judge's last turn where it decides nothing; the record is there where the end is shown."""
    spoken = [turn for turn in judged(material) if turn.kind == "judge"]
    if not spoken or not material.record or patterns.DECIDES.search(spoken[-1].text):
        return []
    return [spoken[-1].id]


def judge_opines(material: Material) -> list[str]:
    """Returns turns of the judge that say who is guilty, but for the verdict.

    The verdict is the last of them, or where less than the whole is shown, one that gives its grounds.
    """
    spoken = [turn for turn in judged(material) if turn.kind == "judge"]
    verdict = spoken[-1:] if material.record or len(spoken) > 1 else []
    verdict = [turn for turn in verdict if material.record or patterns.WEIGHS.search(turn.text)]
    return [
        name for name in _matching(patterns.OPINES, ("judge",))(material) if name not in {one.id for one in verdict}
    ]


def announces_verdict(text: str) -> bool:
    """Returns whether a turn of the judge says how the case ends."""
    return bool(patterns.ANNOUNCES.search(text))


def invented_evidence(material: Material) -> list[str]:
    """Returns turns that cite a number which the reference does not have.

    It must number such things, and be shown whole: what is left out of it may be what is cited.
    """
    if LEFT_OUT in material.reference.splitlines():
        return []
    known = set(_numbers(material.reference))
    families = {family for family, _ in known}
    told = {number for turn in material.turns if not turn.judged for number in _numbers(turn.text)}
    return [
        turn.id
        for turn in judged(material)
        if any(number not in known | told and number[0] in families for number in _numbers(turn.text))
    ]


def _numbers(text: str) -> Iterable[tuple[str, str]]:
    for found in patterns.NUMBERED.finditer(text):
        exhibit, numbered, order = found.groups()
        if order:
            yield "order", order.casefold()
        elif exhibit:
            yield "exhibit", exhibit
        else:
            yield ("clause" if "clause" in found[0].casefold() else "exhibit"), numbered


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


SEES: dict[str, Rule] = {
    "role_swap": role_swap,
    "witness_questions": witness_questions,
    "loop": loop,
    "slang": _matching(patterns.SLANG),
    "broken_grammar": broken_grammar,
    "as_an_ai": _matching(patterns.AS_AN_AI),
    "missing_verdict": missing_verdict,
    "planted_instructions": _matching(patterns.TO_THE_GRADER),
}
"""Faults that rules see."""

SEES_PARTLY: dict[str, Rule] = {
    "judge_opines_guilt": judge_opines,
    "prosecutor_concedes": _matching(patterns.CONCEDES, ("prosecutor",)),
    "invented_evidence": invented_evidence,
    "dismissive": _matching(patterns.DISMISSES, ("agent",)),
}
"""Faults of which rules see some forms: stock phrases, and numbers that the reference does not have."""

ABSENCES: dict[str, Callable[[str], bool]] = {"missing_verdict": announces_verdict}
"""Faults of the whole that consist in an absence → whether a turn has what may be missing, where turns stand alone."""
