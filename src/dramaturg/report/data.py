"""What a report needs to know of a run beside its transcripts and judgements: facts that only the ledger has.

Plain values, so that whoever runs a study, or only judges imported transcripts, can fill them. Whatever is
not known is None or empty; a report prints it as unknown, never as zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dramaturg.judge.audit.card import Card

Severity = Literal["serious", "note"]
"""serious: a reader must know it before the first number. note: good to know."""

StudyRole = Literal["subject", "judge", "fixed"]
"""What a model is in the study: measured, judging, or playing a fixed part."""


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that limits how far a report can be trusted, in plain words.

    Attributes:
        kind: Machine-readable, for example ``judge_without_card``.
        text: One or two sentences for people.
        severity: Whether it stands at the head or only among the notes.
    """

    kind: str
    text: str
    severity: Severity = "serious"


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What one model did for one purpose, over the whole run.

    Attributes:
        purpose: What it was asked for: ``speech``, ``route``, ``verdict``, ``indicator`` …
        calls: Answered calls.
        input_tokens: Tokens read; None where a server does not say.
        cached_tokens: Those of them that were not computed again.
        output_tokens: Tokens written, reasoning included.
        reasoning_tokens: Those of them that were reasoning.
        seconds: Sum over the calls, waits included; calls may overlap.
        tokens_per_s: Output tokens by the seconds spent writing them.
        first_token_s: Median time to the first token, where it was measured.
        cost_usd: Cost in US dollars, or None where the price is unknown.
    """

    purpose: str
    calls: int
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    seconds: float | None = None
    tokens_per_s: float | None = None
    first_token_s: float | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """One model of the study.

    Attributes:
        study_role: What it is in the study.
        spec: The spec string as written in the study.
        identity: Its name as transcripts (`Player.model`) and judgements (`Judgement.judge`) write it.
        digest: Hash of a local file.
        parameters: Number of weights.
        quantisation: For example ``Q4_K_M``.
        licence: As the model file says.
        file_bytes: Size of a local file.
        runtime: What runs it, with version.
        context_tokens: What it can hold.
        served_by: Every version that the server reported during the run.
        peak_memory_bytes: Most memory its process held.
        price_date: Date of the price list, ISO 8601; empty where no price is known.
        settings: Parameters of its answers, for example ``temperature: 0.7``.
        uses: What it did, per purpose.
    """

    study_role: StudyRole
    spec: str
    identity: str
    digest: str = ""
    parameters: int | None = None
    quantisation: str = ""
    licence: str = ""
    file_bytes: int | None = None
    runtime: str = ""
    context_tokens: int | None = None
    served_by: tuple[str, ...] = ()
    peak_memory_bytes: int | None = None
    price_date: str = ""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    uses: tuple[ModelUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A unit that failed; it is asked again on the next run and counts against nobody.

    Attributes:
        unit: Id of the unit.
        kind: Machine-readable reason, for example ``connect``.
        detail: One line for people.
    """

    unit: str
    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of a run that transcripts and judgements do not hold.

    Attributes:
        study: Name of the study.
        package_version: Version of Dramaturg that made the report.
        suite: What the study stages; empty where no study did.
        started: Time of the first call, ISO 8601; empty where unknown.
        finished: Time of the last call, ISO 8601; empty where unknown.
        wall_s: Seconds that the run took, all sessions together.
        labels: What tables call the subject of a transcript, by the transcript's id; where an id is missing, the
            models of its subject roles are named.
        planned_trials: How many trials were planned, by label and scenario id; empty where nothing was planned,
            as for imported transcripts.
        models: Every model, with what it did.
        failures: Units that failed.
        unfinished: Ids of units that were not carried out, for example because a budget was used up.
        protocols: What each protocol means, one sentence each.
        prompts: Hash of each prompt by name.
        checklists: Hash of each checklist by id and version.
        rubrics: Hash of each rubric by id.
        versions: Version of each package and runtime by name.
        cards: The cards of judges that are at hand.
        cautions: What limits trust and cannot be seen from transcripts and judgements.
        command: Command that continues or repeats the run.
    """

    study: str
    package_version: str
    suite: str = ""
    started: str = ""
    finished: str = ""
    wall_s: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    planned_trials: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    models: tuple[ModelRecord, ...] = ()
    failures: tuple[Failure, ...] = ()
    unfinished: tuple[str, ...] = ()
    protocols: Mapping[str, str] = field(default_factory=dict[str, str])
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    checklists: Mapping[str, str] = field(default_factory=dict[str, str])
    rubrics: Mapping[str, str] = field(default_factory=dict[str, str])
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    cards: tuple[Card, ...] = ()
    cautions: tuple[Caution, ...] = ()
    command: str = ""
