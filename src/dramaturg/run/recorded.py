"""A model that is only known from the ledger: it stands where a run may not call, and where none may be there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.ledger import Ledger
from dramaturg.model import Identity, Model, ModelFacts, OnText, Reply, Request
from dramaturg.model.opening import Models
from dramaturg.model.spec import Options
from dramaturg.run.kept import kept_models
from dramaturg.run.material import NamedModel


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


def recorded(model: NamedModel, ledger: Ledger) -> RecordedModel:
    """Returns the model as the ledger knows it; it answers nothing that is not in the ledger."""
    kept = kept_models(ledger).get(model.spec.text)
    facts = ModelFacts() if kept is None else ModelFacts(context_tokens=kept.context_tokens)
    return RecordedModel(model.identity, facts, model.spec.options)


async def open_judge(model: NamedModel, models: Models, ledger: Ledger, *, replay_only: bool) -> Model:
    """Returns a judge, open; where nothing new may be asked, what the ledger knows of it will do.

    Args:
        model: The judge; a script is opened in any case.
        models: Opens it.
        ledger: Where its answers are kept.
        replay_only: Whether the ledger refuses new calls.

    Raises:
        UserError: It cannot be opened.
    """
    if replay_only and model.spec.provider != "script":
        return recorded(model, ledger)
    return await models.open(model.spec.text)
