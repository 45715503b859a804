"""The plan of a study of worlds: what it will ask, before anything is asked and without any model."""

from __future__ import annotations

from dataclasses import dataclass

from dramaturg.model.prices import price_of
from dramaturg.run.load import Load, most_tokens
from dramaturg.run.plan import load_json, most_cost, price_source, total_cost, unpriced
from dramaturg.run.world.material import WorldMaterial
from dramaturg.run.world.units import WorldUnit, world_units
from dramaturg.stage.world.play import expected_calls
from dramaturg.stage.world.setting import DIRECTOR
from dramaturg.text import Json


@dataclass(frozen=True, slots=True)
class PlannedPlay:
    """One play with what it will ask.

    Attributes:
        unit: The play.
        load: Calls and tokens.
        cost_usd: At most, in US dollars; None where a price is unknown.
    """

    unit: WorldUnit
    load: Load
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """What a study of worlds will ask.

    Attributes:
        study: Name of the study.
        plays: All plays, in the order in which they are carried out.
        unpriced: Spec strings of models whose price is unknown.
        price_source: Where prices come from; empty where none was needed.
    """

    study: str
    plays: tuple[PlannedPlay, ...]
    unpriced: tuple[str, ...]
    price_source: str

    @property
    def load(self) -> Load:
        """What all plays will ask together."""
        return sum((planned.load for planned in self.plays), Load())

    @property
    def cost_usd(self) -> float | None:
        """What all plays cost at most, in US dollars; None where a price is unknown."""
        return total_cost([planned.cost_usd for planned in self.plays])

    @property
    def lines(self) -> tuple[tuple[str, Load], ...]:
        """What is asked, line by line, for a table."""
        return tuple((planned.unit.description, planned.load) for planned in self.plays)

    def as_json(self) -> dict[str, Json]:
        """Returns the plan as plain data, for ``dramaturg plan --json``."""
        return {
            "study": self.study,
            "performances": len(self.plays),
            **load_json(self.load, self.cost_usd),
            "unpriced": list(self.unpriced),
            "price_source": self.price_source,
            "units": [
                {
                    "id": planned.unit.id,
                    "kind": "stage",
                    "subject": planned.unit.subject.label,
                    "scene": planned.unit.scene.id,
                    "seed": planned.unit.seed,
                    **load_json(planned.load, planned.cost_usd),
                }
                for planned in self.plays
            ],
        }


def plan_world(material: WorldMaterial) -> WorldPlan:
    """Returns what a study will ask; nothing is called and no model is loaded.

    Calls are bounds: a story may be over early, and how many acts affect somebody is the narrator's to say. Tokens are
    upper bounds: every call as if it read a chat of the greatest length and wrote the longest answer.
    """
    prices = {spec: price_of(model.identity) for spec, model in material.models().items()}
    planned: list[PlannedPlay] = []
    for unit in world_units(material):
        load = _load(unit, material)
        cost = most_cost(load, [prices[spec] for spec in unit.models])
        planned.append(PlannedPlay(unit, load, cost))
    return WorldPlan(material.study.study, tuple(planned), unpriced(prices), price_source(prices))


def _load(unit: WorldUnit, material: WorldMaterial) -> Load:
    study, limits = material.study, material.study.play_limits
    least, most = expected_calls(unit.scene, study.protocol, limits, directed=DIRECTOR in unit.cast)
    written = max(2 * limits.belief_tokens, 2 * limits.act_tokens, 3 * limits.narrator_tokens, limits.plan_tokens)
    scene = most_tokens(unit.scene.model_dump_json(exclude={"origin"}))
    read = limits.chat_tokens + scene + limits.memory_tokens + 2 * written  # a message may pass the limit of a chat
    return Load(least, most, most * read, most * 2 * written)
