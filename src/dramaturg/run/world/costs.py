"""What a play cost: calls, tokens, price and the longest chain, by round, by role and by purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from dramaturg.ledger import Ledger
from dramaturg.model import Identity, Usage
from dramaturg.model.prices import price_of
from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.acts import acts_of
from dramaturg.stage.world.chain import Made
from dramaturg.stage.world.play import round_calls
from dramaturg.stage.world.setting import WorldProtocol
from dramaturg.text import Json


@dataclass(frozen=True, slots=True)
class Cost:
    """What some calls cost.

    Attributes:
        calls: How many.
        input_tokens: Read, cached ones included; what a server does not report counts as none.
        cached_tokens: Of these, those that a server had computed before.
        output_tokens: Written.
        usd: US dollars; None where a price is unknown.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Returns what both cost."""
        return Cost(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
        )

    def as_json(self) -> dict[str, Json]:
        """Returns the cost as plain data."""
        return {
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd,
        }


@dataclass(frozen=True, slots=True)
class RoundCost:
    """What one round cost.

    Attributes:
        round: Which, from 1.
        characters: Who is there.
        turns: Acts that were nobody's answer (A).
        hits: Those that affected somebody else (k).
        cost: Its calls.
        chain: Calls that stand one after the other.
        by_formula: Calls that the protocol takes where everything can be read.
        longest_by_formula: Calls that stand one after the other then, at most.
        published: Calls that the published code would take: 2n + 3 + 6A + 9k, all one after the other.
    """

    round: int
    characters: int
    turns: int
    hits: int
    cost: Cost
    chain: int
    by_formula: int
    longest_by_formula: int
    published: int


@dataclass(frozen=True, slots=True)
class PlayCost:
    """What one play cost.

    Attributes:
        protocol: How a round went.
        rounds: By round.
        by_role: By kind of role.
        by_purpose: By role and purpose, joined by a slash.
    """

    protocol: WorldProtocol
    rounds: tuple[RoundCost, ...]
    by_role: Mapping[str, Cost]
    by_purpose: Mapping[str, Cost]

    @property
    def total(self) -> Cost:
        """All of it."""
        return sum((one.cost for one in self.rounds), Cost())

    def mean(self, value: Callable[[RoundCost], float]) -> float:
        """Returns a mean over rounds."""
        return fmean(map(value, self.rounds)) if self.rounds else 0.0

    def as_json(self) -> dict[str, Json]:
        """Returns the cost as plain data."""
        return {
            "protocol": self.protocol,
            "total": self.total.as_json(),
            "rounds": [
                {
                    "round": one.round,
                    "characters": one.characters,
                    "turns": one.turns,
                    "hits": one.hits,
                    "chain": one.chain,
                    "by_formula": one.by_formula,
                    "longest_by_formula": one.longest_by_formula,
                    "published": one.published,
                    **one.cost.as_json(),
                }
                for one in self.rounds
            ],
            "by_role": {role: cost.as_json() for role, cost in self.by_role.items()},
            "by_purpose": {purpose: cost.as_json() for purpose, cost in self.by_purpose.items()},
        }


def play_cost(
    transcript: Transcript, protocol: WorldProtocol, made: Iterable[Made], costs: Mapping[str, Cost]
) -> PlayCost:
    """Returns what a play cost.

    Args:
        transcript: The play.
        protocol: How a round went.
        made: Its calls, in order.
        costs: What each call cost, by its key; see `call_costs`.
    """
    kinds = {role.id: role.kind for role in transcript.roles}
    characters = sum(kind == "character" for kind in kinds.values())
    directed = any(kind == "director" for kind in kinds.values())
    by_round: dict[int, list[Made]] = {}
    by_role: dict[str, Cost] = {}
    by_purpose: dict[str, Cost] = {}
    for call in made:
        cost, kind = costs[call.key], kinds[call.role]
        by_round.setdefault(call.round, []).append(call)
        by_role[kind] = by_role.get(kind, Cost()) + cost
        purpose = f"{kind}/{call.purpose}"
        by_purpose[purpose] = by_purpose.get(purpose, Cost()) + cost
    rounds: list[RoundCost] = []
    done = acts_of(transcript)
    before = 0
    for number, calls in sorted(by_round.items()):
        acts = [act for act in done if act.round == number]
        hits = sum(bool(act.target) for act in acts)
        formula = round_calls(protocol, characters, len(acts), hits, directed=directed)
        deepest = max(call.depth for call in calls)
        rounds.append(
            RoundCost(
                round=number,
                characters=characters,
                turns=len(acts),
                hits=hits,
                cost=sum((costs[call.key] for call in calls), Cost()),
                chain=deepest - before,
                by_formula=formula.calls,
                longest_by_formula=formula.chain,
                published=2 * characters + 3 + 6 * len(acts) + 9 * hits,
            )
        )
        before = deepest
    return PlayCost(protocol, tuple(rounds), by_role, by_purpose)


def call_costs(ledger: Ledger, keys: Iterable[str]) -> dict[str, Cost]:
    """Returns what each of the calls cost, by its key, as the ledger has it."""
    wanted = set(keys)
    identities = {key: Identity(row.provider, row.name, row.digest) for key, row in ledger.identities().items()}
    prices = {key: price_of(identity) for key, identity in identities.items()}
    found: dict[str, Cost] = {}
    for row in ledger.call_rows():
        if row.key in wanted:
            usage = Usage(row.input_tokens, row.cached_tokens, row.output_tokens, row.reasoning_tokens)
            price = prices[row.model]
            found[row.key] = Cost(
                1,
                usage.input_tokens or 0,
                usage.cached_tokens or 0,
                usage.output_tokens or 0,
                None if price is None else price.cost(usage),
            )
    return found
