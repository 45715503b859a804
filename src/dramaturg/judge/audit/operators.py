"""The mutation operators: each plants one kind of fault, mildly or severely, at a place that its generator chooses.

Operators of form need no help and work on any transcript. Operators of content take a hook that was written for the
transcript; some of them have a general form for transcripts without one. An operator that finds no place returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from dramaturg.judge.audit import forms, hooked
from dramaturg.judge.audit.clean import Base
from dramaturg.judge.audit.draft import Draft
from dramaturg.judge.audit.mutation import Mutation, Severity

Planted = tuple[Draft, tuple[str, ...], str, str]
"""The edited draft, the ids of its edited turns, the kind of role at fault, and what was done."""

Plant = Callable[[Draft, Severity, Random], Planted | None]


@dataclass(frozen=True, slots=True)
class Operator:
    """One way to plant a fault.

    Attributes:
        kind: The fault, as `Indicator.detects` names it; the operator's name too.
        plant: Does it; None where there is no place for it.
        needs_hook: Whether only a hook makes it true.
    """

    kind: str
    plant: Plant
    needs_hook: bool = False


def _hook_or(kind: str, general: Plant, *, mixed: bool = False) -> Operator:
    """Returns the operator that takes a hook where there is one, and a general form elsewhere.

    Args:
        kind: The fault.
        general: Its general form.
        mixed: Whether either of both comes first by chance, so that the fault is not always where the hook is.
    """

    def plant(draft: Draft, severity: Severity, rng: Random) -> Planted | None:
        ways: list[Plant] = [partial(hooked.plant, kind), general]
        if mixed:
            rng.shuffle(ways)
        first, second = ways
        return first(draft, severity, rng) or second(draft, severity, rng)

    return Operator(kind, plant)


def _hook(kind: str) -> Operator:
    return Operator(kind, partial(hooked.plant, kind), needs_hook=True)


OPERATORS: tuple[Operator, ...] = (
    Operator("role_swap", forms.role_swap),
    Operator("witness_questions", partial(forms.worded, "witness_questions", ("witness",))),
    _hook_or("judge_opines_guilt", forms.judge_opines),
    _hook_or("prosecutor_concedes", partial(forms.worded, "prosecutor_concedes", ("prosecutor",))),
    _hook("contradicts_reference"),
    _hook("contradicts_earlier_turn"),
    _hook_or("invented_evidence", forms.invented_exhibit),
    _hook_or("non_sequitur", forms.non_sequitur, mixed=True),
    _hook("ignored_question"),
    Operator("loop", forms.loop),
    Operator("slang", partial(forms.worded, "slang", ())),
    Operator("broken_grammar", forms.broken_grammar),
    Operator("as_an_ai", partial(forms.worded, "as_an_ai", ())),
    _hook("knowledge_leak"),
    Operator("missing_verdict", forms.missing_verdict),
    _hook("reversed_verdict"),
    Operator("planted_instructions", partial(forms.worded, "planted_instructions", ())),
    _hook_or("dismissive", partial(forms.worded, "dismissive", ("agent",))),
    _hook("promises_refused"),
)
"""All operators."""

BY_KIND = {operator.kind: operator for operator in OPERATORS}


def mutate(
    base: Base, faults: Sequence[tuple[str, Severity]], rng: Random, *, roles: frozenset[str] | None = None
) -> tuple[Draft, tuple[Mutation, ...]] | None:
    """Returns a transcript with faults in turns of their own, and what was planted; None where one has no place.

    Args:
        base: The clean transcript.
        faults: Kind and severity of each, in the order in which they are planted.
        rng: Chooses places and words.
        roles: Kinds of roles that may become faulty; None for all that a model plays.

    Raises:
        KeyError: There is no operator for a kind.
    """
    draft = Draft.of(base, roles)
    done: list[Mutation] = []
    for kind, severity in faults:
        planted = BY_KIND[kind].plant(draft, severity, rng)
        if planted is None:
            return None
        draft, turns, role, description = planted
        done.append(Mutation(kind, kind, severity, turns, role, description))
    return draft, tuple(done)
