"""Judges made of rules: they show what an audit says of a judge that sees, of one that never does, and of a coin.

They read what any judge reads, know the shipped checklists' questions, and answer in whatever form is asked for.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from dramaturg.files import load_yaml, shipped
from dramaturg.judge.audit.reading import Material, read_material
from dramaturg.judge.audit.rules import ABSENCES, SEES, SEES_PARTLY, Rule
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.model import Reply, Request, TokenLogprob
from dramaturg.model.script import BuiltIn, scripted_reply
from dramaturg.text import Json, canonical_json

SURE = 0.995
"""Probability that a judge of rules puts on its answer: in mode `glance` one turn has to outweigh many others."""

_RULES: Mapping[str, Rule] = {**SEES, **SEES_PARTLY}
_LISTED = re.compile(r"^([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*): (.+)$", re.MULTILINE)
_NUMBERED = re.compile(r"^Q(\d+) - (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """What is known of a question.

    Attributes:
        good: The answer that speaks for the performance.
        bad: The other one.
        text_says: The answer that is a yes to the indicator's text.
        detects: Faults that make the answer bad.
        roles: Kinds of roles that it is about; none for all.
    """

    good: str
    bad: str
    text_says: str
    detects: tuple[str, ...]
    roles: tuple[str, ...]


UNKNOWN = Question("yes", "no", "yes", (), ())
"""A question of no shipped checklist: its yes is taken for the good answer."""

Answer = tuple[str, tuple[str, ...]]
"""Yes or no, and the ids of the turns that it rests on."""

Answering = Callable[[Question, str, Request, Material], Answer]
"""Answers a question; the text is its id or its words."""


def oracle(question: Question, name: str, request: Request, material: Material) -> Answer:
    """Returns the bad answer where a rule sees a fault that the question is about, else the good one."""
    about = {turn.id for turn in material.turns if not question.roles or turn.kind in question.roles}
    only = request.labels.get("turn", "")
    if only:
        about &= {f"T{only}"}
    hits = faulty_turns(question, material, alone=bool(only))
    hits = [turn for turn in hits if turn in about]
    return (question.bad, tuple(dict.fromkeys(hits))) if hits else (question.good, ())


def faulty_turns(question: Question, material: Material, *, alone: bool) -> list[str]:
    """Returns the ids of the turns in which a rule sees a fault that the question is about.

    Args:
        question: What is asked.
        material: What is shown.
        alone: Whether it is asked about one turn: of what may be missing from the whole, each turn without it counts.
    """
    found: list[str] = []
    for kind in question.detects:
        if alone and (has := ABSENCES.get(kind)) is not None:
            found += [turn.id for turn in material.turns if not has(turn.text)]
        elif kind in _RULES:
            found += _RULES[kind](material)
    return found


def always_yes(question: Question, name: str, request: Request, material: Material) -> Answer:
    """Returns what is a yes to the indicator's text: all is well."""
    return question.text_says, ()


def coin(question: Question, name: str, request: Request, material: Material) -> Answer:
    """Returns one of both answers, by the request's seed alone."""
    drawn = Random(f"{request.seed}/{name}")
    return (question.bad if drawn.random() < 0.5 else question.good), ()


def _built_in(answering: Answering, *, declares: bool = False) -> BuiltIn:
    extra: dict[str, Json] = {"sees": list(SEES), "sees_partly": list(SEES_PARTLY)} if declares else {}
    folder = Path(__file__).parent
    sources = tuple(folder / f"{name}.py" for name in ("scripted", "rules", "patterns", "reading"))
    return BuiltIn(functools.partial(_reply, answering), sources, extra)


def _reply(answering: Answering, request: Request) -> Reply:
    material = read_material(request.messages)
    asked = request.messages[-1].text if request.messages else ""

    def answer(text: str, name: str) -> Answer:
        return answering(question_in(text), name, request, material)

    if request.sampling.top_logprobs:
        return _probable(request, answer(asked, asked)[0])
    if request.schema is None and (numbered := _NUMBERED.findall(asked)):
        first = {number: text for number, text in reversed(numbered)}  # behind the questions stands an example
        lines = [f"Q{number} - {answer(text, number)[0]} (reasoning: by rule)" for number, text in first.items()]
        return scripted_reply(request, "\n".join(lines))
    if _wants_list(request) and (listed := _LISTED.findall(asked)):
        entries = [{"id": name, **_entry(answer(text, name))} for name, text in listed]
        return scripted_reply(request, canonical_json({"answers": entries}))
    return scripted_reply(request, canonical_json(_entry(answer(asked, asked))))


def _entry(answer: Answer) -> dict[str, Json]:
    return {"reasoning": "by rule", "answer": answer[0], "evidence": list(answer[1])}


def _wants_list(request: Request) -> bool:
    properties = request.schema.schema.get("properties") if request.schema is not None else None
    return isinstance(properties, Mapping) and "answers" in properties


def _probable(request: Request, answer: str) -> Reply:
    """Returns a reply of one word with its log-probability and that of the other answer."""
    other = "no" if answer == "yes" else "yes"
    sure, rest = math.log(SURE), math.log(1 - SURE)
    token = TokenLogprob(answer, sure, ((answer, sure), (other, rest)))
    return scripted_reply(request, answer, logprobs=(token,))


@functools.lru_cache(maxsize=4096)
def question_in(text: str) -> Question:
    """Returns what is known of the longest question of a shipped checklist that stands in a text."""
    known = _known()
    found = [question for question in known if question in text]
    return known[max(found, key=len)] if found else UNKNOWN


@functools.cache
def _known() -> Mapping[str, Question]:
    found: dict[str, Question] = {}
    for path in shipped("checklists").values():
        for one in load_yaml(path, Checklist).indicators:
            good, bad = ("yes", "no") if one.sign == "positive" else ("no", "yes")
            found[one.text] = Question(good, bad, "yes", one.detects, one.roles)
            if one.turned:
                found[one.ask] = Question(bad, good, "no", one.detects, one.roles)
            elif one.ask:
                found[one.ask] = found[one.text]
    return found


BUILT_IN: Mapping[str, BuiltIn] = {
    "oracle": _built_in(oracle, declares=True),
    "always-yes": _built_in(always_yes),
    "coin": _built_in(coin),
}
"""Name → script, for `script:NAME`."""
