"""Which files a local model's spec string means, and how they are served."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import ModelFileError, SpecError
from dramaturg.model.composed import COMPOSED, Composed
from dramaturg.model.gguf import GgufFacts, read_gguf
from dramaturg.model.hub import OnProgress, download, no_progress, split_hub_name
from dramaturg.model.model import Identity, ModelFacts
from dramaturg.model.registry import file_digest, model_path, pinned_model
from dramaturg.model.serve_gguf import ServePlan
from dramaturg.model.spec import ModelSpec
from dramaturg.text import sha256

_MIB = 1 << 20
DEFAULT_SLOTS = 8
DEFAULT_CONTEXT_TOKENS = 8192
"""Of one sequence, where neither the model nor the spec string sets fewer or more."""

KV_BYTES = 384 * _MIB
"""For the key-value cache of all sequences together, where one sequence alone does not need more."""

CACHE_MIB = 512
_RUNTIME_BYTES = 128 * _MIB
_RUNTIME_SHARE = 0.1
"""What the runtime takes beside weights and caches: a constant, and a share of the weights."""

_GRANULE = 256
"""llama.cpp's unit of context."""


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The files that a spec string means, and which model they make.

    Attributes:
        model: The GGUF file.
        adapter: A LoRA adapter for it, or None.
        identity: Digest of the file, or of both.
    """

    model: Path
    adapter: Path | None
    identity: Identity


def find_local(spec: ModelSpec, on_progress: OnProgress = no_progress) -> LocalFiles:
    """Returns the files that a spec string means; of a hub's, the first call fetches them. Blocks.

    Raises:
        SpecError: The name is wrong.
        MissingExtraError: A hub's file needs huggingface_hub, which is not installed.
        ModelFileError: A file is not there, cannot be had, or is not the pinned one.
    """
    name, adapter = _split_adapter(spec)
    match spec.provider:
        case "embedded":
            found = model_path(name)
            if found is None:
                raise ModelFileError(f"{name} is not here yet", allowed=f"dramaturg models pull {name}")
            if file_digest(found) != pinned_model(name).sha256:
                raise ModelFileError(
                    "is not the pinned file", where=str(found), allowed=f"remove it, then: dramaturg models pull {name}"
                )
            return LocalFiles(found, adapter, local_identity(spec))
        case "hf":
            path = download(*split_hub_name(name), on_progress=on_progress)
            return LocalFiles(path, adapter, _identity("hf", name, file_digest(path), adapter))
        case _:
            return LocalFiles(Path(name).expanduser(), adapter, local_identity(spec))


def local_identity(spec: ModelSpec) -> Identity:
    """Returns which model an ``embedded`` or ``gguf`` spec means; a pinned model need not have been pulled.

    Raises:
        SpecError: The name is wrong.
        ModelFileError: A file cannot be read.
    """
    name, adapter = _split_adapter(spec)
    if (composed := composed_of(spec)) is not None:
        weights = _identity(spec.provider, name, pinned_model(name).sha256, adapter)
        return Identity(spec.provider, composed.name, sha256(f"{weights.digest}+{composed.digest}"))
    if spec.provider == "embedded":
        return _identity(spec.provider, name, pinned_model(name).sha256, adapter)
    path = Path(name).expanduser()
    return _identity(spec.provider, path.stem, file_digest(path), adapter)


def composed_of(spec: ModelSpec) -> Composed | None:
    """Returns the composed model that a spec means, or None."""
    return COMPOSED.get(spec.name) if spec.provider == "embedded" else None


def adapter_trained_on(spec: ModelSpec) -> tuple[str, ...]:
    """Returns the ids that a local model's adapter lists as trained on; none for any other model.

    Raises:
        SpecError: The name is wrong.
        ModelFileError: The adapter cannot be read.
    """
    adapter = _split_adapter(spec)[1] if spec.local else None
    return () if adapter is None else read_gguf(adapter).trained_on


def _identity(provider: str, name: str, digest: str, adapter: Path | None) -> Identity:
    if adapter is None:
        return Identity(provider, name, digest)
    return Identity(provider, f"{name}+{adapter.stem}", sha256(f"{digest}+{file_digest(adapter)}"))


def _split_adapter(spec: ModelSpec) -> tuple[str, Path | None]:
    """Returns name and adapter; in a path, ``+`` divides only behind ``.gguf``."""
    if (composed := composed_of(spec)) is not None:
        return composed.base, composed.adapter_path
    mark = "+" if spec.provider == "embedded" else ".gguf+"
    name, divided, adapter = spec.name.partition(mark)
    if not divided:
        return name, None
    if not adapter:
        raise SpecError(f"{spec.text!r} names no adapter behind '+'", allowed="NAME+PATH of a GGUF LoRA adapter")
    return name + mark[:-1], Path(adapter).expanduser()


def read_facts(files: LocalFiles) -> GgufFacts:
    """Returns what the model's file says of itself.

    Raises:
        ModelFileError: A file is torn or of the wrong kind, or the adapter is for another architecture or base.
    """
    facts = read_gguf(files.model)
    if facts.kind != "model":
        raise ModelFileError("is an adapter, no model", where=str(files.model), allowed="embedded:NAME+ADAPTER")
    if files.adapter is not None:
        adapter = read_gguf(files.adapter)
        if adapter.kind != "adapter":
            raise ModelFileError("is no adapter", where=str(files.adapter), allowed="a LoRA adapter as GGUF")
        if adapter.architecture != facts.architecture:
            what = f"is an adapter for {adapter.architecture!r}, the model is {facts.architecture!r}"
            raise ModelFileError(what, where=str(files.adapter))
        digest = file_digest(files.model)
        if adapter.base_digests and digest not in adapter.base_digests:
            was = " or ".join(f"{base[:12]}…" for base in adapter.base_digests)
            what = f"is an adapter for another base: made for the file {was}, {files.model.name} is {digest[:12]}…"
            raise ModelFileError(what, where=str(files.adapter), allowed="the file that it was made for")
    return facts


def plan_serving(files: LocalFiles, facts: GgufFacts, spec: ModelSpec) -> ServePlan:
    """Returns how a model is served: by its own numbers and the spec's, never by the state of the machine.

    Raises:
        SpecError: The spec asks for a longer context than the model was trained for.
    """
    options = spec.options
    trained = facts.context_tokens or None
    sequence = options.context_tokens or min(trained or DEFAULT_CONTEXT_TOKENS, DEFAULT_CONTEXT_TOKENS)
    if trained is not None and sequence > trained:
        raise SpecError(
            f"context_tokens={sequence} of {spec.text!r} is more than the model was trained for",
            allowed=f"at most {trained}",
        )
    slots = options.slots or DEFAULT_SLOTS
    affordable = KV_BYTES // facts.kv_bytes_per_token if facts.kv_bytes_per_token else sequence * slots
    context = max(sequence, min(sequence * slots, affordable // _GRANULE * _GRANULE))
    return ServePlan(
        name=files.identity.name,
        model=str(files.model),
        adapter=str(files.adapter or ""),
        context_tokens=context,
        slots=slots,
        threads=options.threads,
        cache_mib=CACHE_MIB,
    )


def needed_bytes(files: LocalFiles, facts: GgufFacts, plan: ServePlan) -> int:
    """Returns about how much memory the child will hold at most."""
    weights = facts.file_bytes + (files.adapter.stat().st_size if files.adapter is not None else 0)
    caches = (facts.kv_bytes_per_token or 0) * plan.context_tokens + plan.cache_mib * _MIB
    return round(weights * (1 + _RUNTIME_SHARE)) + caches + _RUNTIME_BYTES


def model_facts(spec: ModelSpec, files: LocalFiles, facts: GgufFacts, plan: ServePlan) -> ModelFacts:
    """Returns what a report says of the model; the registry's licence where the file is silent."""
    adapter = None if files.adapter is None else read_gguf(files.adapter)
    licence, base = facts.licence, _split_adapter(spec)[0]
    if not licence and spec.provider == "embedded":
        licence = pinned_model(base).licence
    return ModelFacts(
        parameters=facts.parameters,
        quantisation=facts.quantisation,
        licence=licence,
        context_tokens=min(plan.context_tokens, facts.context_tokens or plan.context_tokens),
        file_bytes=facts.file_bytes,
        runtime=f"xllamacpp {importlib.metadata.version('xllamacpp')}",
        extra={
            "architecture": facts.architecture,
            "bases": [*facts.bases, *([base] if files.adapter is not None else [])],
            "chat_template": facts.has_chat_template,
            "context_tokens_all_slots": plan.context_tokens,
            "slots": plan.slots,
            **({"trained_on": list(adapter.trained_on)} if adapter and adapter.trained_on else {}),
            **({"trained_for": list(adapter.trained_for)} if adapter and adapter.trained_for else {}),
        },
    )
