"""The judge that ships, `embedded:dramaturg-judge`: rules for what code can see, and an adapter for the rest.

In mode `glance` a question of a shipped checklist about faults that a rule sees is answered by the rule; where a rule
sees some forms of a fault, it answers when it finds one. Everything else is put to a small model with an adapter that
learnt from planted faults. The model's odds are corrected by two numbers that were fitted on held-out excerpts, see
`content/judges/dramaturg-judge.yaml`.

Source: the recipe is Dramaturg's own; the correction is that of Platt (1999), with equal weights for yes and no.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.files import load_yaml
from dramaturg.judge.audit.reading import read_material
from dramaturg.judge.audit.rules import SEES, SEES_PARTLY
from dramaturg.judge.audit.scripted import SURE, faulty_turns, question_in
from dramaturg.model import Identity, Model, ModelFacts, Reply, Request, TokenLogprob
from dramaturg.model.answer_masses import answer_masses
from dramaturg.model.model import OnText
from dramaturg.model.script import scripted_reply
from dramaturg.model.spec import Options
from dramaturg.model.vocabulary import yes_no_synonyms

LEAST = 1e-6
"""A probability is kept so far from 0 and from 1."""

_TURN = re.compile(r"\bT\d+\b")
_WORDS = yes_no_synonyms("en", "it", "zh")


class Correction(BaseModel):
    """How the odds of the adapter are corrected: log-odds of yes become ``scale`` · log-odds + ``shift``.

    Attributes:
        scale: 1 leaves them as they are.
        shift: Above 0 makes a yes likelier.
        fitted_on: Which answers it was fitted on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    scale: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    shift: Annotated[float, Field(allow_inf_nan=False)]
    fitted_on: str


class Recipe(BaseModel):
    """What the adapter is, and how it was made.

    Attributes:
        title: For people.
        licence: SPDX identifier.
        base: The embedded model that it was trained on.
        seed: Of data and training.
        data: Commands that make the data.
        training: Configurations, in order.
        command: Commands that train and export.
        unseen: Kinds of faults that stand nowhere in the data.
        correction: Of its odds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    licence: str
    base: str
    seed: int
    data: tuple[str, ...]
    training: tuple[dict[str, object], ...]
    command: tuple[str, ...]
    unseen: tuple[str, ...]
    correction: Correction


@functools.cache
def shipped_recipe() -> Recipe:
    """Returns the recipe of the shipped judge.

    Raises:
        ContentError: Its file is wrong.
    """
    return load_yaml(Path(str(resources.files("dramaturg"))) / "content" / "judges" / "dramaturg-judge.yaml", Recipe)


def composed(model: Model, digest: str) -> ShippedJudge:
    """Returns the shipped judge over its base and adapter.

    Args:
        model: The base with the adapter, open.
        digest: Of weights, rules and correction together.
    """
    return ShippedJudge(model, digest, shipped_recipe().correction)


class ShippedJudge:
    """A model with rules before it.

    Attributes:
        identity: Of the whole.
        facts: Of the model below, with the faults that rules see.
    """

    def __init__(self, model: Model, digest: str, correction: Correction) -> None:
        self._model = model
        self._correction = correction
        self.identity = Identity("embedded", model.identity.name, digest)
        seen = {"sees": list(SEES), "sees_partly": list(SEES_PARTLY)}
        self.facts: ModelFacts = replace(model.facts, extra={**model.facts.extra, **seen})

    @property
    def options(self) -> Options:
        """What the spec string says."""
        return self._model.options

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Returns the answer of a rule where one knows it, else the model's, its odds corrected."""
        if not request.sampling.top_logprobs:
            return await self._model.send(request, on_text)
        known = by_rule(request)
        if known is not None:
            return probable_reply(request, known)
        return corrected(request, await self._model.send(request, on_text), self._correction)

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Returns the model's embeddings."""
        return await self._model.embed(texts)

    async def close(self) -> None:
        """Lets go of the model."""
        await self._model.close()


def by_rule(request: Request) -> float | None:
    """Returns the probability of yes where rules know the answer to a question about one turn, or None."""
    asked = request.messages[-1].text
    question, turn = question_in(asked), _TURN.search(asked)
    if turn is None or not question.detects:
        return None
    if turn[0] in faulty_turns(question, read_material(request.messages), alone=True):
        said = question.bad
    elif SEES.keys() >= set(question.detects):
        said = question.good
    else:
        return None
    return SURE if said == "yes" else 1 - SURE


def corrected(request: Request, reply: Reply, correction: Correction) -> Reply:
    """Returns a reply with the corrected odds of yes; as it is where it does not tell them.

    Args:
        request: What was asked.
        reply: Of the model.
        correction: Of its log-odds.
    """
    masses = answer_masses(reply.logprobs, _WORDS)
    yes, no = masses.get("yes", 0.0), masses.get("no", 0.0)
    if yes <= 0 or no <= 0:
        return reply
    odds = correction.scale * math.log(yes / no) + correction.shift
    answer = probable_reply(request, 1 / (1 + math.exp(-odds)))
    return replace(reply, text=answer.text, logprobs=answer.logprobs)


def probable_reply(request: Request, yes: float) -> Reply:
    """Returns a reply of one word with its log-probability and that of the other answer."""
    yes = min(max(yes, LEAST), 1 - LEAST)
    both = (("yes", math.log(yes)), ("no", math.log1p(-yes)))
    word, chance = max(both, key=lambda one: one[1])
    return scripted_reply(request, word, logprobs=(TokenLogprob(word, chance, both),))
