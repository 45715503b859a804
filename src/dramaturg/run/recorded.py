"""A model that is only known from the ledger: it stands where a run may not call, and where none may be there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.model import Identity, ModelFacts, OnText, Reply, Request
from dramaturg.model.spec import Options


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """A model of a replay-only run.

    Attributes:
        identity: Which model it was.
        facts: What was known of it.
        options: What its spec string says.
    """

    identity: Identity
    facts: ModelFacts
    options: Options

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Returns a failure: nothing is sent."""
        return Reply("failed", failure="connect", detail="a recorded model cannot be asked")

    async def embed(self, texts: Sequence[str]) -> None:
        """Returns None: nothing is sent."""

    async def close(self) -> None:
        """Does nothing: nothing is open."""
