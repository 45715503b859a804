"""What a model is to the rest of the project: an identity, and one method that sends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dramaturg.model.reply import Reply
from dramaturg.model.request import Request
from dramaturg.model.spec import Options
from dramaturg.text import Json, canonical_json

OnText = Callable[[str], None]
"""Receives streamed text, piece by piece; provisional until the reply is committed."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which model answered, independent of host and port.

    Attributes:
        provider: ``embedded``, ``gguf``, ``openai``, ``http``, ``script``, ``human`` …
        name: The model's name at the provider.
        digest: SHA-256 of a local file (and its adapter), empty for a remote model.
    """

    provider: str
    name: str
    digest: str = ""

    @property
    def key(self) -> str:
        """Canonical JSON: the file's hash for a local model, provider and name otherwise."""
        if self.digest:
            return canonical_json({"digest": self.digest})
        return canonical_json({"name": self.name, "provider": self.provider})


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model, for reports.

    Attributes:
        parameters: Number of weights, or None.
        quantisation: For example ``Q4_K_M``; empty when unknown.
        licence: As the model file says; empty when unknown.
        context_tokens: What the model or its server can hold, or None.
        file_bytes: Size of a local file, or None.
        runtime: What runs it, with version.
        extra: Anything else worth showing.
    """

    parameters: int | None = None
    quantisation: str = ""
    licence: str = ""
    context_tokens: int | None = None
    file_bytes: int | None = None
    runtime: str = ""
    extra: dict[str, Json] = field(default_factory=dict[str, Json])


class Model(Protocol):
    """A model that is open and can be asked."""

    @property
    def identity(self) -> Identity:
        """Which model this is."""
        ...

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        ...

    @property
    def options(self) -> Options:
        """What its spec string says; sampling options override what a purpose would take."""
        ...

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Returns the answer; never raises for what an endpoint or model does.

        Args:
            request: The logical request.
            on_text: Where a person watches: called with each piece of visible text.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Returns one vector per text, or None where the model has no embeddings."""
        ...

    async def close(self) -> None:
        """Lets go of connections and processes."""
        ...
