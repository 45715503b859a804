"""The plan of a rater's audit: which specimens are rated, and for whom.

Of each clean scene every character is rated three times: as it was played, harmlessly edited, and with one planted
fault at a time. What a fault does to a rating is read against the clean scene's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

from dramaturg.judge.audit.clean import Edit
from dramaturg.judge.audit.mutation import Severity
from dramaturg.judge.audit.world.faults import FaultKind
from dramaturg.judge.audit.world.scenes import RaterBase
from dramaturg.stage.transcript import Transcript
from dramaturg.text import sha256

Nature = Literal["clean", "sham", "mutant"]

SHAMS = ("rename", "quotes")
"""Harmless edits: another name throughout, or other quotation marks and dashes of the same meaning."""

_QUOTES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (("\u2019", "'"), ("\u2014", "-"), ("...", "\u2026")),
    "zh": (("\u201c", "「"), ("\u201d", "」"), ("……", "…")),
}


@dataclass(frozen=True, slots=True)
class RaterAssignment:
    """One specimen before the rater.

    Attributes:
        transcript: What it reads; its id tells nothing of the edits.
        base: Id of the clean scene: the cluster of all intervals.
        role: Who is rated.
        nature: What was done to it.
        kind: The planted fault; empty where there is none.
        severity: How plain it is; empty where there is none.
        turn: Id of the turn at fault; empty where there is none.
    """

    transcript: Transcript
    base: str
    role: str
    nature: Nature
    kind: FaultKind | Literal[""] = ""
    severity: Severity | Literal[""] = ""
    turn: str = ""


@dataclass(frozen=True, slots=True)
class RaterPlan:
    """What an audit of a rater asks.

    Attributes:
        assignments: Mixed, so that a part of them says something of all.
        seed: Of all choices.
    """

    assignments: tuple[RaterAssignment, ...]
    seed: int


def plan_rater_audit(bases: Sequence[RaterBase], *, sample: int | None = None, seed: int = 1) -> RaterPlan:
    """Returns which specimens are rated.

    Args:
        bases: Clean scenes with different ids.
        sample: Most mutants, over kinds, severities and scenes in turn; None for all.
        seed: Of all choices: equal arguments give equal plans.

    Raises:
        ValueError: The sample is below 1, or two scenes share an id.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"the sample is {sample}; at least 1 is needed")
    if len({base.id for base in bases}) < len(bases):
        raise ValueError("two clean scenes share an id")
    rng = Random(f"rater-audit/{seed}")
    mutants = list(_mutants(bases, rng))[:sample]
    by_id = {base.id: base for base in bases}
    innocent = [
        one
        for base, role in dict.fromkeys((mutant.base, mutant.role) for mutant in mutants)
        for one in _innocent(by_id[base], role, rng)
    ]
    made = [*mutants, *innocent]
    rng.shuffle(made)
    return RaterPlan(tuple(made), seed)


def planted_text(base: RaterBase, turn: str, edit: Edit) -> str:
    """Returns the text of a turn with a fault in it."""
    return edit.of(next(one.text for one in base.transcript.turns if one.id == turn))


def _mutants(bases: Sequence[RaterBase], rng: Random) -> Iterator[RaterAssignment]:
    """Yields all mutants, so that every beginning is spread over kinds, severities and scenes."""
    strata: dict[tuple[str, str], list[RaterAssignment]] = {}
    for base in bases:
        for kind, hooks in base.hooks.items():
            for hook in hooks:
                for severity in get_args(Severity):
                    edit = hook.mild if severity == "mild" else hook.severe
                    text = planted_text(base, hook.turn, edit)
                    made = _specimen(base, {hook.turn: text}, rng)
                    assignment = RaterAssignment(
                        made, base.id, base.role_of(hook.turn), "mutant", kind, severity, hook.turn
                    )
                    strata.setdefault((kind, severity), []).append(assignment)
    order = list(strata)
    rng.shuffle(order)
    for key in order:
        rng.shuffle(strata[key])
    while any(strata.values()):
        for key in order:
            if strata[key]:
                yield strata[key].pop()


def _innocent(base: RaterBase, role: str, rng: Random) -> Iterator[RaterAssignment]:
    """Yields the clean scene, and one harmless edit of it."""
    yield RaterAssignment(_specimen(base, {}, rng), base.id, role, "clean")
    for name in rng.sample(SHAMS, len(SHAMS)):
        edited = _renamed(base) if name == "rename" else _requoted(base)
        if edited != base.transcript:
            yield RaterAssignment(_named(edited, rng), base.id, role, "sham")
            return


def _renamed(base: RaterBase) -> Transcript:
    def text(old: str) -> str:
        for name, other in base.renamed.items():
            pattern = rf"\b{re.escape(name)}\b" if name.isascii() else re.escape(name)
            old = re.sub(pattern, other, old)
        return old

    whole = base.transcript
    scenario = whole.scenario.model_copy(update={"reference": text(whole.scenario.reference)})
    roles = tuple(
        role.model_copy(update={"name": text(role.name), "description": text(role.description)}) for role in whole.roles
    )
    turns = tuple(
        turn.model_copy(update={"speaker": text(turn.speaker), "text": text(turn.text)}) for turn in whole.turns
    )
    return whole.model_copy(update={"scenario": scenario, "roles": roles, "turns": turns})


def _requoted(base: RaterBase) -> Transcript:
    whole = base.transcript
    pairs = _QUOTES.get(whole.scenario.language, ())

    def text(old: str) -> str:
        for one, other in pairs:
            old = old.replace(one, other)
        return old

    turns = tuple(turn.model_copy(update={"text": text(turn.text)}) for turn in whole.turns)
    return whole.model_copy(update={"turns": turns})


def _specimen(base: RaterBase, texts: Mapping[str, str], rng: Random) -> Transcript:
    turns = tuple(
        turn.model_copy(update={"text": texts[turn.id]}) if turn.id in texts else turn for turn in base.transcript.turns
    )
    return _named(base.transcript.model_copy(update={"turns": turns}), rng)


def _named(transcript: Transcript, rng: Random) -> Transcript:
    return transcript.model_copy(update={"id": sha256(f"{rng.random()}/{transcript.digest}")[:12]})
