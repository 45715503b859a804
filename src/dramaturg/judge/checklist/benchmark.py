"""The benchmark file: what a domain wants from its role players, before there are questions.

Source: RPA-Check, section 3.1, stage 1: dimensions with definitions, and the seed questions from which stage 2
makes a checklist.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dramaturg.judge.checklist.checklist import (
    QUESTION_MARKS,
    Dimension,
    EvidenceRule,
    FaultKind,
    Label,
    Role,
    Sign,
    Text,
)
from dramaturg.text import canonical_json, sha256

Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
"""ISO 639-1."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BenchmarkRole(_Frozen):
    """A role of the domain.

    Attributes:
        id: Its kind, as transcripts name it.
        name: For people and for the models that write questions.
        played_by: A model's turns are judged; a person's are context.
        duties: What the role does and leaves to others.
    """

    id: Role
    name: Text
    played_by: Literal["model", "human"]
    duties: Text


class Seed(_Frozen):
    """A seed question: a person's first wording of what matters.

    Attributes:
        id: Unique in its benchmark.
        text: A yes/no question.
        dimension: Id of its dimension.
        subdimension: Id of its sub-dimension; None only where the dimension has none.
        language: Of the text; None is the benchmark's. A seed in another language is translated.
        roles: Whom it is about; empty means all roles that a model plays.
        sign: `positive` when a yes is good.
        not_applicable_when: When it has no answer.
        evidence: Which answers must name turns.
        detects: Faults that turn its good answer into the bad one.
    """

    id: Label
    text: Text
    dimension: Label
    subdimension: Label | None = None
    language: Language | None = None
    roles: tuple[Role, ...] = ()
    sign: Sign = "positive"
    not_applicable_when: str = ""
    evidence: EvidenceRule = "for_no"
    detects: tuple[FaultKind, ...] = ()


class Benchmark(_Frozen):
    """Stage 1 of RPA-Check for one domain.

    Attributes:
        id: Its name.
        version: Raised with every change.
        title: For people.
        domain: What kind of performance it is about, in a few words.
        language: Of the checklist that is built.
        roles: Who takes part.
        ground_truth: What counts as true: what the reference text of a transcript holds.
        dimensions: What is measured.
        seeds: First questions, at least one for each sub-dimension.
        examples: Good and bad conduct in the domain, one sentence each, for the models that write questions.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    version: Annotated[int, Field(ge=1, strict=True)]
    title: Text
    domain: Text
    language: Language = "en"
    roles: Annotated[tuple[BenchmarkRole, ...], Field(min_length=1)]
    ground_truth: Text
    dimensions: Annotated[tuple[Dimension, ...], Field(min_length=1)]
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1)]
    examples: tuple[Text, ...] = ()

    @property
    def hash(self) -> str:
        """Returns the sha256, in hex, of the canonical JSON form."""
        return sha256(canonical_json(self.model_dump(mode="json")))

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        problems = list(self._problems())
        if problems:
            raise ValueError("\n".join(f"benchmark {self.id}, {problem}" for problem in problems))
        return self

    def _problems(self) -> Iterator[str]:
        places = {dimension.id: [part.id for part in dimension.subdimensions] for dimension in self.dimensions}
        lists = {
            "roles": [role.id for role in self.roles],
            "dimensions": list(places),
            "subdimensions": [part for parts in places.values() for part in parts],
            "seeds": [seed.id for seed in self.seeds],
        }
        for name, ids in lists.items():
            for twice in sorted({one for one in ids if ids.count(one) > 1}):
                yield f"{name}: the id {twice!r} is used more than once; every id is used once"
        if not any(role.played_by == "model" for role in self.roles):
            yield "roles: no role is played by a model, so there is nobody to judge"
        for seed in self.seeds:
            yield from (f"seed {seed.id}: {problem}" for problem in self._problems_of(seed, places))
        filled = {(seed.dimension, seed.subdimension) for seed in self.seeds}
        for dimension, parts in places.items():
            for part in parts or [None]:
                if (dimension, part) not in filled:
                    yield f"{'.'.join(filter(None, (dimension, part)))}: has no seed question; at least one is needed"

    def _problems_of(self, seed: Seed, places: dict[str, list[str]]) -> Iterator[str]:
        if not seed.text.endswith(QUESTION_MARKS):
            yield f"the text ends with {seed.text[-1]!r}; a seed is a yes/no question that ends with '?'"
        if seed.dimension not in places:
            yield f"no dimension {seed.dimension!r}; allowed: {', '.join(places)}"
        elif (seed.subdimension or "") not in (places[seed.dimension] or [""]):
            allowed = ", ".join(places[seed.dimension]) or "none, leave the key out"
            yield f"no subdimension {seed.subdimension!r} in {seed.dimension}; allowed: {allowed}"
        by_id = {role.id: role for role in self.roles}
        for name in seed.roles:
            if name not in by_id:
                yield f"no role {name!r}; allowed: {', '.join(by_id)}"
            elif by_id[name].played_by == "human":
                yield f"the role {name!r} is played by a person; only model-played roles are judged"
