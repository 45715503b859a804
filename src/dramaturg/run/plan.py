"""The plan: what a study will ask, before anything is asked and without any model.

Calls are exact where the protocol fixes them and bounds elsewhere. Tokens and cost are upper bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dramaturg.model import Usage
from dramaturg.model.prices import Price, price_of
from dramaturg.run.load import Load, load_of
from dramaturg.run.material import Material
from dramaturg.run.units import StageUnit, Unit, units_of
from dramaturg.text import Json


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """One unit with what it will ask.

    Attributes:
        unit: The unit.
        load: Calls and tokens.
        cost_usd: At most, in US dollars; None where a price is unknown.
    """

    unit: Unit
    load: Load
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """All units of a study, in the order in which they are carried out.

    Attributes:
        study: Name of the study.
        units: The units.
        unpriced: Spec strings of models whose price is unknown.
        price_source: Where prices come from; empty where none was needed.
    """

    study: str
    units: tuple[PlannedUnit, ...]
    unpriced: tuple[str, ...]
    price_source: str

    @property
    def load(self) -> Load:
        """What all units will ask together."""
        return sum((planned.load for planned in self.units), Load())

    @property
    def cost_usd(self) -> float | None:
        """What all units cost at most, in US dollars; None where a price is unknown."""
        return total_cost([planned.cost_usd for planned in self.units])

    @property
    def lines(self) -> tuple[tuple[str, Load], ...]:
        """What is asked, line by line, for a table."""
        return tuple((planned.unit.description, planned.load) for planned in self.units)

    def as_json(self) -> dict[str, Json]:
        """Returns the plan as plain data, for ``dramaturg plan --json``."""
        stages = [planned for planned in self.units if isinstance(planned.unit, StageUnit)]
        return {
            "study": self.study,
            "performances": len(stages),
            "judgings": len(self.units) - len(stages),
            **load_json(self.load, self.cost_usd),
            "unpriced": list(self.unpriced),
            "price_source": self.price_source,
            "units": [_unit_json(planned) for planned in self.units],
        }


def plan(material: Material) -> Plan:
    """Returns what a study will ask; nothing is called and no model is loaded."""
    prices = {spec: price_of(model.identity) for spec, model in material.models().items()}
    planned: list[PlannedUnit] = []
    for unit in units_of(material):
        load = load_of(unit, material.study)
        planned.append(PlannedUnit(unit, load, most_cost(load, [prices[spec] for spec in unit.models])))
    return Plan(material.study.study, tuple(planned), unpriced(prices), price_source(prices))


def total_cost(costs: Sequence[float | None]) -> float | None:
    """Returns the sum of costs; None where one of them is unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def unpriced(prices: Mapping[str, Price | None]) -> tuple[str, ...]:
    """Returns the spec strings of models whose price is unknown."""
    return tuple(spec for spec, price in prices.items() if price is None)


def price_source(prices: Mapping[str, Price | None]) -> str:
    """Returns where prices come from; empty where none was needed."""
    return ", ".join(sorted({price.source for price in prices.values() if price is not None and price.source}))


def most_cost(load: Load, prices: Sequence[Price | None]) -> float | None:
    """Returns the cost at most, in US dollars: as if the dearest model of the unit answered every call."""
    calls = max(load.most_calls, 1)
    usage = Usage(input_tokens=-(-load.input_tokens // calls), output_tokens=-(-load.output_tokens // calls))
    costs = [None if price is None else price.cost(usage) * load.most_calls for price in prices]
    known = [cost for cost in costs if cost is not None]
    return max(known, default=0.0) if len(known) == len(costs) else None


def load_json(load: Load, cost_usd: float | None) -> dict[str, Json]:
    """Returns a load as plain data."""
    return {
        "calls": {"least": load.least_calls, "most": load.most_calls},
        "most_input_tokens": load.input_tokens,
        "most_output_tokens": load.output_tokens,
        "most_cost_usd": cost_usd,
    }


def _unit_json(planned: PlannedUnit) -> dict[str, Json]:
    unit = planned.unit
    stage = unit if isinstance(unit, StageUnit) else unit.stage
    return {
        "id": unit.id,
        "kind": "stage" if isinstance(unit, StageUnit) else "judge",
        "subject": stage.subject.label,
        "prompts": stage.variant.name,
        "case": stage.case.case.id,
        "seed": stage.seed,
        "judge": "" if isinstance(unit, StageUnit) else unit.bench.label,
        **load_json(planned.load, planned.cost_usd),
    }
