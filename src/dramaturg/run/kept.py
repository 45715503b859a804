"""What is known of a run's models, kept in the ledger, so that a report can be made without opening any."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, TypeAdapter

from dramaturg.ledger import Ledger
from dramaturg.model import ModelFacts, parse_spec
from dramaturg.model.opening import Models
from dramaturg.run.material import Material
from dramaturg.text import canonical_json

PART = Literal["subject", "judge", "fixed"]
"""What a model is in a study: measured, judging, or playing a fixed part."""

NAME = "models"
SECONDS = "seconds"


class KeptModel(BaseModel):
    """One model of a run.

    Attributes:
        parts: What it is in the study.
        provider: Of its identity.
        name: Of its identity.
        digest: Of its identity.
        parameters: Number of weights.
        quantisation: For example ``Q4_K_M``.
        licence: As the model file says.
        context_tokens: What it can hold.
        file_bytes: Size of a local file.
        runtime: What runs it, with version.
        bases: Names of the models that it was made from, as its file says.
        settings: Options of its spec string that differ from their defaults.
        peak_memory_bytes: Most bytes its process held in any session.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    parts: tuple[PART, ...]
    provider: str
    name: str
    digest: str
    parameters: int | None = None
    quantisation: str = ""
    licence: str = ""
    context_tokens: int | None = None
    file_bytes: int | None = None
    runtime: str = ""
    bases: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    peak_memory_bytes: int | None = None


_KEPT = TypeAdapter(dict[str, KeptModel])


def kept_models(ledger: Ledger) -> dict[str, KeptModel]:
    """Returns every model of the ledger's runs by spec string."""
    text = ledger.meta(NAME)
    return _KEPT.validate_json(text) if text else {}


def keep_models(ledger: Ledger, models: Models, parts: Mapping[str, tuple[PART, ...]]) -> None:
    """Adds what is known of the models of a run, after they were released.

    Args:
        ledger: Where it is kept.
        models: The models of the process.
        parts: Spec string → what the model is in the study.
    """
    kept = kept_models(ledger)
    for spec, (identity, facts) in models.seen.items():
        if spec not in parts:  # another run of this process opened it
            continue
        before = kept.get(spec)
        peaks = [models.peak_memory.get(spec), before.peak_memory_bytes if before is not None else None]
        kept[spec] = KeptModel(
            parts=tuple(sorted({*parts[spec], *(before.parts if before is not None else ())})),
            provider=identity.provider,
            name=identity.name,
            digest=identity.digest,
            parameters=facts.parameters,
            quantisation=facts.quantisation,
            licence=facts.licence,
            context_tokens=facts.context_tokens,
            file_bytes=facts.file_bytes,
            runtime=facts.runtime,
            bases=_bases(facts),
            settings=_settings(spec),
            peak_memory_bytes=max((peak for peak in peaks if peak is not None), default=None),
        )
    ledger.set_meta(NAME, canonical_json(json.loads(_KEPT.dump_json(kept))))


def kept_seconds(ledger: Ledger) -> float | None:
    """Returns the seconds that all sessions of a run took together; None where none was kept."""
    text = ledger.meta(SECONDS)
    return float(text) if text else None


class Session(Protocol):
    """What a session of a run took."""

    @property
    def calls(self) -> int:
        """New calls."""
        ...

    @property
    def seconds(self) -> float:
        """How long it took."""
        ...


def keep_seconds(ledger: Ledger, result: Session) -> None:
    """Adds the seconds of a session that asked something; a mere replay is no part of the run."""
    if result.calls:
        ledger.set_meta(SECONDS, repr((kept_seconds(ledger) or 0.0) + result.seconds))


def _bases(facts: ModelFacts) -> tuple[str, ...]:
    names = facts.extra.get("bases")
    return tuple(map(str, names)) if isinstance(names, list) else ()


def _settings(spec: str) -> dict[str, str]:
    options = parse_spec(spec).options
    given = {name: getattr(options, name) for name in type(options).__dataclass_fields__}
    defaults = type(options)()
    return {name: str(value) for name, value in given.items() if value != getattr(defaults, name)}


def parts_of(material: Material) -> dict[str, tuple[PART, ...]]:
    """Returns what each model is in a study, by spec string."""
    parts: dict[str, list[PART]] = {}
    for subject in material.subjects:
        parts.setdefault(subject.spec.text, []).append("subject")
    for bench in material.judges:
        parts.setdefault(bench.model.spec.text, []).append("judge")
    for staging in material.stagings:
        for player in staging.players:
            parts.setdefault(player.spec.text, []).append("fixed")
    return {spec: tuple(sorted(set(of_spec))) for spec, of_spec in parts.items()}
