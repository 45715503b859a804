"""The plan of an interview: what its study will ask, before anything is asked and without any model."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dramaturg.model.prices import price_of
from dramaturg.run.interview.material import InterviewMaterial
from dramaturg.run.load import Load, most_tokens
from dramaturg.run.plan import load_json, most_cost, price_source, total_cost, unpriced
from dramaturg.stage.interview import Asking, Condition, Item, ItemSet, asked_as
from dramaturg.text import Json

TOKENS_PER_MESSAGE = 16
"""Most tokens that a chat template puts around a message."""


@dataclass(frozen=True, slots=True)
class PlannedSitting:
    """One subject under one strategy.

    Attributes:
        subject: What tables call the model.
        strategy: How characters are put to it.
        load: Calls, which are exact, and tokens, at most.
        cost_usd: At most, in US dollars; None where the price is unknown.
    """

    subject: str
    strategy: str
    load: Load
    cost_usd: float | None

    @property
    def description(self) -> str:
        """One line for people."""
        return f"{self.subject}, {self.strategy}"


@dataclass(frozen=True, slots=True)
class InterviewPlan:
    """What an interview will ask.

    Attributes:
        study: Name of the study.
        items: Items that are asked.
        repeats: How often.
        sittings: One for each subject and strategy.
        unpriced: Spec strings of models whose price is unknown.
        price_source: Where prices come from; empty where none was needed.
    """

    study: str
    items: int
    repeats: int
    sittings: tuple[PlannedSitting, ...]
    unpriced: tuple[str, ...]
    price_source: str

    @property
    def load(self) -> Load:
        """What all of it will ask together."""
        return sum((sitting.load for sitting in self.sittings), Load())

    @property
    def cost_usd(self) -> float | None:
        """What all of it costs at most, in US dollars; None where a price is unknown."""
        return total_cost([sitting.cost_usd for sitting in self.sittings])

    @property
    def lines(self) -> tuple[tuple[str, Load], ...]:
        """What is asked, line by line, for a table."""
        return tuple((sitting.description, sitting.load) for sitting in self.sittings)

    def as_json(self) -> dict[str, Json]:
        """Returns the plan as plain data, for ``dramaturg plan --json``."""
        return {
            "study": self.study,
            "items": self.items,
            "repeats": self.repeats,
            **load_json(self.load, self.cost_usd),
            "unpriced": list(self.unpriced),
            "price_source": self.price_source,
            "sittings": [
                {"subject": one.subject, "strategy": one.strategy, **load_json(one.load, one.cost_usd)}
                for one in self.sittings
            ],
        }


def plan_interview(material: InterviewMaterial) -> InterviewPlan:
    """Returns what a study will ask; nothing is called and no model is loaded."""
    study = material.study
    read = [
        sum(_input_tokens(asking, item, material.item_set, study.condition, study.seed) for item in material.items)
        for asking in material.askings
    ]
    prices = {spec: price_of(model.identity) for spec, model in material.models().items()}
    sittings: list[PlannedSitting] = []
    for subject in material.subjects:
        most = subject.spec.options.max_tokens or study.max_tokens
        for asking, tokens in zip(material.askings, read, strict=True):
            calls = len(material.items) * study.repeats
            load = Load(calls, calls, tokens * study.repeats, calls * most)
            cost = most_cost(load, [prices[subject.spec.text]])
            sittings.append(PlannedSitting(subject.label, asking.strategy.name, load, cost))
    return InterviewPlan(
        study=study.study,
        items=len(material.items),
        repeats=study.repeats,
        sittings=tuple(sittings),
        unpriced=unpriced(prices),
        price_source=price_source(prices),
    )


def _input_tokens(asking: Asking, item: Item, item_set: ItemSet, condition: Condition, seed: int) -> int:
    """Returns the tokens that one call reads, at most, its schema included."""
    messages = asking.messages(item, asked_as(item, item_set.characters, condition, seed))
    schema = asking.schema(item)
    shape = most_tokens(json.dumps(schema.schema)) if schema is not None else 0
    return shape + sum(most_tokens(message.text) + TOKENS_PER_MESSAGE for message in messages)
