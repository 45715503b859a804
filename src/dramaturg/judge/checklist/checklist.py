"""The checklist: yes/no questions about a transcript, each under a dimension.

Source: RPA-Check, sections 3.1 and 3.2: dimensions, sub-dimensions and boolean indicators. Weight, sign,
evidence, detected faults and mechanical proof are added here, so that a checklist can be audited and so
that no model is asked what the transcript itself proves.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank."""

Label = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*$")]
"""An id in capitals, parts joined by hyphens: `BRF`, `RA`, `BRF-RA-1`."""

FaultKind = Annotated[str, StringConstraints(pattern=r"^[a-z]+(_[a-z]+)*$")]
"""The name of a fault that an audit can plant: `role_swap`, `loop`."""

Role = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")]
"""A kind of role, as transcripts name it (`Role.kind`): `witness`, `agent`."""

Sign = Literal["positive", "negative"]
"""Whether a yes speaks for the performance or against it."""

EvidenceRule = Literal["required", "for_no", "none"]
"""Which answers must name turns: a yes and a no alike, a no only, or neither."""

Proof = Literal[
    "end_reached",
    "outcome_present",
    "no_restart",
    "no_loop",
    "final_theses_given",
    "no_empty_turn",
    "names_known",
    "evidence_known",
    "labels_present",
]
"""A mechanical fact of a transcript that answers an indicator without a model.

Some see only the fault (`names_known`, `evidence_known`): where they find none, a model is asked.
"""

Scope = Literal["transcript", "turn"]
"""What a fault can be seen in: the whole transcript, or one turn with its neighbours."""

Strategy = Literal["seed", "diversification", "elaboration", "hand"]
"""Where an indicator comes from: the benchmark's seed, one of the two augmentations, or a person's pen."""


QUESTION_MARKS = ("?", "？")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(_Frozen):
    """Where an indicator comes from; no model sees it.

    Attributes:
        seed: Id of the seed question.
        strategy: How it was made of the seed.
        number: Its place in the hierarchy of an elaboration, such as `2.1`; empty for others.
        parent: Id or number of the question that it was made of; empty for a seed.
        model: Identity of the model that wrote it; empty for a person.
        translated_from: Language of the seed, where it was translated.
        merged: Texts of questions of the same meaning that were merged into this one.
        kept: Why it stayed where a rule would have removed it: `last_in_subdimension`, or `person`.
    """

    seed: str
    strategy: Strategy
    number: str = ""
    parent: str = ""
    model: str = ""
    translated_from: str = ""
    merged: tuple[str, ...] = ()
    kept: Literal["", "last_in_subdimension", "person"] = ""


class Translation(_Frozen):
    """What a translated checklist was made of.

    Attributes:
        source: Id of the checklist in its first language.
        version: Its version.
        source_hash: Its hash then; another hash today means that the translation may be stale.
    """

    source: str
    version: Annotated[int, Field(ge=1, strict=True)]
    source_hash: str


class Indicator(_Frozen):
    """One yes/no question about a transcript.

    Attributes:
        id: Unique in its checklist, such as `BRF-RA-1`.
        text: The question; it ends with a question mark.
        dimension: Id of the dimension it counts towards.
        subdimension: Id of the sub-dimension; `None` only where the dimension has none.
        roles: The roles that it is about; empty means all roles that a model plays.
        weight: Share in a weighted score, above zero.
        sign: `positive` when a yes to `text` is good.
        ask: A short plain question of presence that is put to a judge instead of `text`; empty where `text` is asked.
        ask_sign: `negative` when a yes to `ask` is a no to `text`.
        scope: Whether the fault can be seen in one turn with its neighbours; mode `windowed` asks so.
        uses_reference: Whether the reference text is needed to answer.
        not_applicable_when: When it has no answer; empty means that it has one in any transcript.
        evidence: Which answers must name the turns they rest on.
        detects: Faults that, planted in a turn of one of `roles`, turn the good answer into the bad one.
        proof: The mechanical fact that answers it; `None` when a model must read.
        note: For people; no model sees it.
        provenance: Where it comes from, where it was built.
    """

    id: Label
    text: Text
    dimension: Label
    subdimension: Label | None = None
    roles: tuple[Role, ...] = ()
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)] = 1.0
    sign: Sign = "positive"
    ask: str = ""
    ask_sign: Sign = "negative"
    scope: Scope = "transcript"
    uses_reference: bool = True
    not_applicable_when: str = ""
    evidence: EvidenceRule = "for_no"
    detects: tuple[FaultKind, ...] = ()
    proof: Proof | None = None
    note: str = ""
    provenance: Provenance | None = None

    @model_validator(mode="after")
    def _asks_a_question(self) -> Self:
        for key, text in (("text", self.text), ("ask", self.ask)):
            if text and not text.endswith(QUESTION_MARKS):
                raise ValueError(
                    f"indicator {self.id}: the {key} ends with {text[-1]!r}; "
                    "an indicator is a yes/no question that ends with '?'"
                )
        return self

    @property
    def question(self) -> str:
        """What is put to a judge."""
        return self.ask or self.text

    @property
    def turned(self) -> bool:
        """Whether a yes to `question` is a no to `text`."""
        return bool(self.ask) and self.ask_sign == "negative"

    @model_validator(mode="after")
    def _lists_name_a_thing_once(self) -> Self:
        lists: dict[str, tuple[str, ...]] = {"roles": self.roles, "detects": self.detects}
        for key, values in lists.items():
            for value in _repeated(values):
                raise ValueError(f"indicator {self.id}: {key} lists {value!r} twice; once is allowed")
        return self


class Subdimension(_Frozen):
    """A part of a dimension."""

    id: Label
    name: Text
    definition: Text


class Dimension(_Frozen):
    """A quality that a checklist measures, in parts or as a whole."""

    id: Label
    name: Text
    definition: Text
    subdimensions: tuple[Subdimension, ...] = ()


class Checklist(_Frozen):
    """Indicators under their dimensions, consistent with each other.

    Attributes:
        id: Its name.
        version: Raised with every change that may change an answer.
        title: For people.
        language: Of its questions and of the judge's prompts, ISO 639-1.
        domain: What kind of performance it is about.
        benchmark: Id and hash of the benchmark file that it was built from; empty where a person wrote it.
        translation: What it was translated from.
        dimensions: What is measured.
        indicators: The questions.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    version: Annotated[int, Field(ge=1, strict=True)]
    title: Text
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")] = "en"
    domain: Text
    benchmark: str = ""
    translation: Translation | None = None
    dimensions: Annotated[tuple[Dimension, ...], Field(min_length=1)]
    indicators: Annotated[tuple[Indicator, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_distinct(self) -> Self:
        ids: dict[str, list[str]] = {
            "dimensions": [dimension.id for dimension in self.dimensions],
            "subdimensions": [part.id for dimension in self.dimensions for part in dimension.subdimensions],
            "indicators": [indicator.id for indicator in self.indicators],
        }
        _raise_all(
            f"checklist {self.id}, {kind}: the id {twice!r} is used more than once; every id is used once"
            for kind, values in ids.items()
            for twice in _repeated(values)
        )
        return self

    @model_validator(mode="after")
    def _indicators_have_a_place(self) -> Self:
        _raise_all(self._misplaced())
        return self

    @model_validator(mode="after")
    def _no_place_is_empty(self) -> Self:
        _raise_all(self._empty())
        return self

    @property
    def hash(self) -> str:
        """Returns the sha256, in hex, of the canonical JSON form of all that can change an answer or a score.

        Defaults are written out and keys are sorted, so layout, comments and order of keys in the file
        do not change it; notes and provenance do not either. Any change of another value or of the order of
        indicators does.
        """
        for_people = {"benchmark": True, "translation": True, "indicators": {"__all__": {"note", "provenance"}}}
        canonical = json.dumps(
            self.model_dump(mode="json", exclude=for_people),
            ensure_ascii=False,
            allow_nan=False,
            sort_keys=True,
            separators=(",", ":"),
        )
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()

    def by_dimension(self) -> dict[str, tuple[Indicator, ...]]:
        """Returns the indicators of each dimension.

        Returns:
            Dimension id to its indicators, one or more; both in the checklist's order.
        """
        return {
            dimension.id: tuple(i for i in self.indicators if i.dimension == dimension.id)
            for dimension in self.dimensions
        }

    def _misplaced(self) -> Iterator[str]:
        parts = {d.id: [part.id for part in d.subdimensions] for d in self.dimensions}
        for indicator in self.indicators:
            where = f"checklist {self.id}, indicator {indicator.id}"
            if indicator.dimension not in parts:
                yield f"{where}: no dimension {indicator.dimension!r}; allowed: {', '.join(parts)}"
                continue
            allowed = parts[indicator.dimension]
            if indicator.subdimension is None and allowed:
                yield f"{where}: no subdimension given; {indicator.dimension} has: {', '.join(allowed)}"
            elif indicator.subdimension is not None and indicator.subdimension not in allowed:
                yield (
                    f"{where}: no subdimension {indicator.subdimension!r} in {indicator.dimension}; "
                    f"allowed: {', '.join(allowed) or 'none, leave the key out'}"
                )

    def _empty(self) -> Iterator[str]:
        filled = {(indicator.dimension, indicator.subdimension) for indicator in self.indicators}
        for dimension in self.dimensions:
            parts: list[str | None] = [part.id for part in dimension.subdimensions]
            for part in parts or [None]:
                if (dimension.id, part) not in filled:
                    what = f"dimension {dimension.id}" + (f", subdimension {part}" if part else "")
                    yield f"checklist {self.id}, {what}: no indicator; at least one is needed, or remove it"


def _repeated(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def _raise_all(problems: Iterable[str]) -> None:
    found = list(problems)
    if found:
        raise ValueError("\n".join(found))
