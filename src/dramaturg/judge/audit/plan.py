"""The plan of an audit: which specimens a judge reads, and which questions about each are counted.

Mutants are sampled over kinds, severities and base transcripts in turn. The clean transcript of each base and one
harmless edit of it are asked the same questions as its mutants, so that every question has both kinds of answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, get_args

from dramaturg.judge.audit.clean import Base
from dramaturg.judge.audit.draft import Draft
from dramaturg.judge.audit.mutation import Mutation, Severity, Specimen
from dramaturg.judge.audit.operators import BY_KIND, mutate
from dramaturg.judge.audit.shams import SHAMS, disguise
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.text import sha256

Part = Literal["main", "instructed", "again"]
"""What an assignment is for.

main: the figures. instructed: a mutant of `main` once more, with instructions to the judge in another turn. again: a
specimen of `main` asked twice more, at the temperature of votes.
"""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)

INSTRUCTIONS = "planted_instructions"

INSTRUCTED_SHARE = 6
"""One of so many mutants is asked about once more with instructions in it."""

AGAIN_SHARE = 10
"""One of so many specimens is asked about again."""

FEWEST_EXTRA = 4
"""Of either, where there are so many."""

TRIES = 4
"""Draws after which an operator that finds no place has none."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One specimen before the judge.

    Attributes:
        specimen: What it reads.
        indicators: Ids of the indicators whose answers count.
        part: What it is for.
        twin: Id of the specimen in `main` that it is compared with; empty in `main`.
    """

    specimen: Specimen
    indicators: tuple[str, ...]
    part: Part = "main"
    twin: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an audit asks.

    Attributes:
        checklist: By which is judged.
        assignments: In the order in which they are carried out: mixed, so that a part of them says something of all.
        kinds: Faults that the checklist says it detects and that an operator exists for.
        without_operator: Faults that it says it detects and that nothing plants.
        skipped: Fault kind → how many wanted mutants have no place in their base, or no hook there.
        seed: Of all choices.
    """

    checklist: Checklist
    assignments: tuple[Assignment, ...]
    kinds: tuple[str, ...]
    without_operator: tuple[str, ...]
    skipped: Mapping[str, int]
    seed: int

    def of(self, part: Part) -> list[Assignment]:
        """Returns the assignments of one part."""
        return [one for one in self.assignments if one.part == part]


def detecting(checklist: Checklist, mutation: Mutation) -> tuple[Indicator, ...]:
    """Returns the indicators that must answer badly where the fault is planted."""
    return tuple(
        one
        for one in checklist.indicators
        if mutation.kind in one.detects and (not one.roles or mutation.role in one.roles)
    )


def plan_audit(checklist: Checklist, bases: Sequence[Base], *, sample: int | None, seed: int) -> Plan:
    """Returns which specimens are asked about, and what.

    Args:
        checklist: Its indicators say what they detect.
        bases: Clean transcripts with different ids.
        sample: Most mutants; None plants every kind at both severities in every base.
        seed: Of all choices: equal arguments give equal plans.

    Raises:
        ValueError: The sample is below 1, or two bases share an id.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"the sample is {sample}; at least 1 is needed")
    if len({base.id for base in bases}) < len(bases):
        raise ValueError("two clean transcripts share an id")
    rng = Random(f"audit/{seed}/{checklist.id}")
    wanted = tuple(dict.fromkeys(kind for one in checklist.indicators for kind in one.detects))
    kinds = tuple(kind for kind in wanted if kind in BY_KIND)
    skipped: Counter[str] = Counter()
    mutants: list[Assignment] = []
    for kind, severity, base in _order(kinds, bases, rng):
        if sample is not None and len(mutants) == sample:
            break
        mutant = _mutant(checklist, base, ((kind, severity),), rng)
        if mutant is None:
            skipped[kind] += 1
        else:
            mutants.append(mutant)
    innocent = [one for base in bases for one in _innocent(base, mutants, rng)]
    main = [*mutants, *innocent]
    rng.shuffle(main)
    extra = [*_instructed(bases, main, rng), *_again(main, rng)]
    return Plan(
        checklist, (*main, *extra), kinds, tuple(kind for kind in wanted if kind not in BY_KIND), dict(skipped), seed
    )


def _order(kinds: Sequence[str], bases: Sequence[Base], rng: Random) -> Iterator[tuple[str, Severity, Base]]:
    """Yields kind, severity and base, so that every beginning is spread evenly over all three."""
    strata: list[tuple[str, Severity]] = [(kind, severity) for severity in SEVERITIES for kind in kinds]
    rng.shuffle(strata)
    shuffled = rng.sample(list(bases), len(bases))
    for lap in range(len(bases)):
        for place, (kind, severity) in enumerate(strata):
            yield kind, severity, shuffled[(place + lap) % len(bases)]


def _mutant(checklist: Checklist, base: Base, faults: Sequence[tuple[str, Severity]], rng: Random) -> Assignment | None:
    """Returns a specimen with the faults, and what is asked about the first; None where one has no place."""
    about = [one for one in checklist.indicators if faults[0][0] in one.detects]
    roles = None if any(not one.roles for one in about) else frozenset(role for one in about for role in one.roles)
    for _ in range(TRIES):
        made = mutate(base, faults, rng, roles=roles)
        if made is not None and (indicators := detecting(checklist, made[1][0])):
            return Assignment(_specimen(base, *made, rng), tuple(one.id for one in indicators))
    return None


def _innocent(base: Base, mutants: Sequence[Assignment], rng: Random) -> Iterator[Assignment]:
    """Yields the clean specimen of a base and a harmlessly edited one, asked what its mutants are asked."""
    asked = dict.fromkeys(name for one in mutants if one.specimen.base == base.id for name in one.indicators)
    if not asked:
        return
    yield Assignment(_specimen(base, Draft.of(base), (), rng), tuple(asked))
    for name in rng.sample(list(SHAMS), len(SHAMS)):
        disguised = disguise(base, name, rng)
        if disguised is not None:
            yield Assignment(_specimen(base, *disguised, rng), tuple(asked))
            return


def _instructed(bases: Sequence[Base], main: Sequence[Assignment], rng: Random) -> Iterator[Assignment]:
    """Yields some mutants once more, with instructions to the judge in a turn that is not at fault."""
    by_id = {base.id: base for base in bases}
    mutants = [one for one in main if one.specimen.faults and one.specimen.faults[0].kind != INSTRUCTIONS]
    left = max(FEWEST_EXTRA, len(mutants) // INSTRUCTED_SHARE)
    for one in rng.sample(mutants, len(mutants)):
        if left == 0:
            return
        specimen = one.specimen
        fault = specimen.faults[0]
        draft = Draft(specimen.transcript, {}, touched=frozenset(fault.turns))
        planted = BY_KIND[INSTRUCTIONS].plant(draft, "severe", rng)
        if planted is not None:
            told, turns, role, done = planted
            mutations = (*specimen.mutations, Mutation(INSTRUCTIONS, INSTRUCTIONS, "severe", turns, role, done))
            left -= 1
            yield Assignment(
                _specimen(by_id[specimen.base], told, mutations, rng),
                one.indicators,
                "instructed",
                specimen.transcript.id,
            )


def _again(main: Sequence[Assignment], rng: Random) -> Iterator[Assignment]:
    count = min(len(main), max(FEWEST_EXTRA, len(main) // AGAIN_SHARE))
    for one in rng.sample(list(main), count):
        yield replace(one, part="again", twin=one.specimen.transcript.id)


def _specimen(base: Base, draft: Draft, mutations: tuple[Mutation, ...], rng: Random) -> Specimen:
    name = sha256(f"{rng.random()}/{draft.transcript.digest}")[:12]
    return Specimen(draft.transcript.model_copy(update={"id": name}), base.id, mutations)
