"""The plan of a study of worlds: what it will ask, before anything is asked and without any model."""

from __future__ import annotations

from dataclasses import dataclass

from dramaturg.judge.rating.asking import CRITIQUE_TOKENS, SINGLE_TOKENS, TOKENS_PER_RATING, calls_for
from dramaturg.model.prices import price_of
from dramaturg.run.load import Load, most_tokens
from dramaturg.run.plan import load_json, most_cost, price_source, total_cost, unpriced
from dramaturg.run.rating import RatingBench
from dramaturg.run.world.material import WorldMaterial
from dramaturg.run.world.units import WorldUnit, world_units
from dramaturg.stage.world.play import expected_calls
from dramaturg.stage.world.setting import CHARACTER, DIRECTOR, character_role
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
class PlannedRating:
    """All plays before one rater, with what it will be asked.

    Attributes:
        bench: Who rates, by what, and how.
        load: Calls and tokens.
        cost_usd: At most, in US dollars; None where a price is unknown.
    """

    bench: RatingBench
    load: Load
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """What a study of worlds will ask.

    Attributes:
        study: Name of the study.
        plays: All plays, in the order in which they are carried out.
        ratings: What each rater is asked after them.
        unpriced: Spec strings of models whose price is unknown.
        price_source: Where prices come from; empty where none was needed.
    """

    study: str
    plays: tuple[PlannedPlay, ...]
    ratings: tuple[PlannedRating, ...]
    unpriced: tuple[str, ...]
    price_source: str

    @property
    def load(self) -> Load:
        """What all plays and ratings will ask together."""
        return sum((planned.load for planned in (*self.plays, *self.ratings)), Load())

    @property
    def cost_usd(self) -> float | None:
        """What all of it costs at most, in US dollars; None where a price is unknown."""
        return total_cost([planned.cost_usd for planned in (*self.plays, *self.ratings)])

    @property
    def lines(self) -> tuple[tuple[str, Load], ...]:
        """What is asked, line by line, for a table."""
        plays = ((planned.unit.description, planned.load) for planned in self.plays)
        return (*plays, *((f"rating by {planned.bench.label}", planned.load) for planned in self.ratings))

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
            "ratings": [
                {
                    "judge": planned.bench.model.written,
                    "rubric": planned.bench.rubric,
                    "mode": planned.bench.mode,
                    "votes": planned.bench.votes,
                    **load_json(planned.load, planned.cost_usd),
                }
                for planned in self.ratings
            ],
        }


def plan_world(material: WorldMaterial) -> WorldPlan:
    """Returns what a study will ask; nothing is called and no model is loaded.

    Calls are bounds: a story may be over early, how many acts affect somebody is the narrator's to say, and a role that
    does nothing is not rated. Tokens are upper bounds: every call as if it read a chat, or a story, of the greatest
    length and wrote the longest answer.
    """
    prices = {spec: price_of(model.identity) for spec, model in material.models().items()}
    planned: list[PlannedPlay] = []
    for unit in world_units(material):
        load = _load(unit, material)
        cost = most_cost(load, [prices[spec] for spec in unit.models])
        planned.append(PlannedPlay(unit, load, cost))
    units = [one.unit for one in planned]
    ratings: list[PlannedRating] = []
    for bench in material.raters:
        load = sum((_rating_load(unit, bench, material) for unit in units), Load())
        ratings.append(PlannedRating(bench, load, most_cost(load, [prices[bench.model.spec.text]])))
    return WorldPlan(material.study.study, tuple(planned), tuple(ratings), unpriced(prices), price_source(prices))


def _load(unit: WorldUnit, material: WorldMaterial) -> Load:
    study, limits = material.study, material.study.play_limits
    least, most = expected_calls(unit.scene, study.protocol, limits, directed=DIRECTOR in unit.cast)
    if study.memory.importance_by == "model":  # at most once beside each call of a character
        most *= 2
    written = max(2 * limits.belief_tokens, 2 * limits.act_tokens, 3 * limits.narrator_tokens, limits.plan_tokens)
    scene = most_tokens(unit.scene.model_dump_json(exclude={"origin"}))
    read = limits.chat_tokens + scene + limits.memory_tokens + 2 * written  # a message may pass the limit of a chat
    return Load(least, most, most * read, most * 2 * written)


def _rating_load(unit: WorldUnit, bench: RatingBench, material: WorldMaterial) -> Load:
    """Returns what a rater is asked of one play, at most for every role of the rubric's kind that a model plays."""
    rubric = bench.rubric_for(unit.scene.language)
    limits = material.study.play_limits
    characters = unit.scene.characters
    played = [one for one in characters if unit.cast.get(character_role(one.id), unit.subject) is not None]
    roles = len(played) if rubric.rates == CHARACTER else 1
    _, most = calls_for(rubric, bench.mode, bench.votes)
    told = 3 * limits.act_tokens + 2 * limits.narrator_tokens
    scene = most_tokens(unit.scene.model_dump_json(exclude={"origin"}))
    asked = most_tokens(rubric.model_dump_json()) + 3 * CRITIQUE_TOKENS
    read = scene + limits.rounds * len(characters) * told + asked
    written = max(CRITIQUE_TOKENS, SINGLE_TOKENS, TOKENS_PER_RATING * (len(rubric.metrics) + 1))
    return Load(0, roles * most, roles * most * read, roles * most * 2 * written)
