"""What each model of a run did, taken from the ledger: every call is counted once, whatever specs a folder has seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from dramaturg.ledger import Ledger, Use
from dramaturg.model import Identity, Usage, parse_spec
from dramaturg.model.prices import price_of
from dramaturg.report.data import ModelRecord, ModelUse
from dramaturg.run.kept import PART, KeptModel
from dramaturg.run.records import UnitRecord


def model_records(
    kept: Mapping[str, KeptModel], records: Sequence[UnitRecord], ledger: Ledger
) -> Iterator[ModelRecord]:
    """Yields a record for each model and part of a run as it is now.

    A folder keeps the models of all its runs. Those that no unit names any more (the same model under other options,
    or at another address) did what now counts for the spec that the units name.

    Args:
        kept: What is known of the models, by spec string.
        records: The units.
        ledger: What was used for each unit.
    """
    for (spec, part), units in _units_of_parts(kept, records).items():
        model = kept[spec]
        identity = _identity(model)
        uses = [use for use in ledger.uses(units) if _same(use, identity)]
        if not uses:
            continue
        price = price_of(identity)
        yield ModelRecord(
            study_role=part,
            spec=spec,
            identity=f"{model.provider}:{model.name}",
            digest=model.digest,
            parameters=model.parameters,
            quantisation=model.quantisation,
            licence=model.licence,
            file_bytes=model.file_bytes,
            runtime=model.runtime,
            context_tokens=model.context_tokens,
            served_by=tuple(sorted({name for use in uses for name in use.served_by})),
            peak_memory_bytes=model.peak_memory_bytes,
            price_date=price.source if price is not None else "",
            settings=model.settings,
            uses=tuple(_model_use(use, identity) for use in uses),
        )


def _units_of_parts(kept: Mapping[str, KeptModel], records: Sequence[UnitRecord]) -> dict[tuple[str, PART], set[str]]:
    """Returns the units in which each model has its part; no model has two parts in one unit."""
    found: dict[tuple[str, PART], set[str]] = defaultdict(set)
    subjects: dict[str, set[Identity]] = defaultdict(set)
    for record in records:
        part: PART = "judge" if record.kind == "judge" else "subject"
        written = record.judge if record.kind == "judge" else record.subject_model
        for spec in (spec for spec, model in kept.items() if part in model.parts and _means(written, spec)):
            found[spec, part].add(record.unit)
            subjects[record.unit].add(_identity(kept[spec]))
    fixed = {_identity(model): spec for spec, model in kept.items() if "fixed" in model.parts}
    for identity, spec in fixed.items():
        found[spec, "fixed"] = {
            record.unit for record in records if record.kind == "stage" and identity not in subjects[record.unit]
        }
    return found


def _means(written: str, spec: str) -> bool:
    """Returns whether a spec string as a study writes it became this one, in which a path starts from the root."""
    if written.strip() == spec:
        return True
    one, other = parse_spec(written), parse_spec(spec)
    return (
        one.provider == other.provider
        and one.provider in {"gguf", "script"}
        and one.options == other.options
        and PurePath(one.name).name == PurePath(other.name).name
    )


def _identity(model: KeptModel) -> Identity:
    return Identity(model.provider, model.name, model.digest)


def _same(use: Use, identity: Identity) -> bool:
    if identity.digest:
        return use.digest == identity.digest
    return (use.provider, use.name) == (identity.provider, identity.name)


def _model_use(use: Use, identity: Identity) -> ModelUse:
    price = price_of(identity)
    known = use.unknown_usage < use.calls
    usage = Usage(use.input_tokens, use.cached_tokens, use.output_tokens, use.reasoning_tokens)
    return ModelUse(
        purpose=use.purpose,
        calls=use.calls,
        input_tokens=use.input_tokens if known else None,
        cached_tokens=use.cached_tokens if known else None,
        output_tokens=use.output_tokens if known else None,
        reasoning_tokens=use.reasoning_tokens if known else None,
        seconds=use.seconds,
        tokens_per_s=use.output_tokens / use.seconds if known and use.seconds else None,
        first_token_s=use.first_token_s,
        cost_usd=price.cost(usage) if price is not None and known else None,
    )
