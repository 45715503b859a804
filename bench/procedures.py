"""Random event sequences through shipped and made-up procedures, and what the proof says of broken ones.

    python bench/procedures.py [--json] [--sequences N] [--made N] [--seed S]

Half of the events of a sequence are legal, by rules that do not ask the engine. A sequence ends when its procedure
ends. "Takeable" is a transition that some position can take: the others are there because a proof asks for a way on.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from random import Random

from pydantic import ValidationError

from dramaturg.files import load_yaml, shipped
from dramaturg.stage.court import Procedure
from dramaturg.stage.court.proof import problems
from figures import Figure, at_least, show

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from procedure_making import BREAKS, Data, made, without_one_edge
from procedure_walks import Tally, engine_of, explore, walk

QUESTIONS = (1, 2, 3, 4, 6)
WALKS_OF_MADE = 20


def none(name: str, found: list[str]) -> Figure:
    """Returns a figure that is met when nothing was found."""
    return Figure(name, len(found), 0, not found, "; ".join(found[:3]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Random event sequences through procedures.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sequences", type=int, default=100_000)
    parser.add_argument("--made", type=int, default=500, help="made-up procedures; each is walked 20 times")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random = Random(arguments.seed)
    procedures = {name: load_yaml(path, Procedure) for name, path in shipped("procedures").items()}
    figures: list[Figure] = []
    started = time.monotonic()

    made_tally = Tally()
    made_ones = [made(random) for _ in range(arguments.made)]
    for procedure in made_ones:
        engine = engine_of(procedure, questions=random.choice(QUESTIONS))
        for _ in range(WALKS_OF_MADE):
            walk(engine, random, made_tally)
    each = -(-max(arguments.sequences - made_tally.walks, 0) // len(procedures))
    tallies = {"made-up": made_tally}
    for name, procedure in procedures.items():
        tally = tallies[name] = Tally()
        engines = [engine_of(procedure, questions=most) for most in QUESTIONS]
        for number in range(each):
            walk(engines[number % len(engines)], random, tally)
        takeable = frozenset(taken for most in QUESTIONS for taken in explore(procedure, questions=most).takeable)
        every = sum(len(state.then) for state in procedure.states)
        detail = f"of {len(takeable)} takeable, {every} in all; longest sequence {tally.longest} turns"
        figures.append(at_least(f"{name}: transitions covered", len(tally.taken), len(takeable), detail))

    walks = sum(tally.walks for tally in tallies.values())
    legal = sum(tally.lawful for tally in tallies.values())
    illegal = sum(tally.unlawful for tally in tallies.values())
    share = legal / (legal + illegal)
    spent = f"{legal + illegal:,} events in {time.monotonic() - started:.0f} s"
    figures.insert(0, at_least("sequences", walks, arguments.sequences, spent))
    figures.insert(1, Figure("legal share of events", round(share, 3), 0.5, 0.45 <= share <= 0.55))
    figures.append(
        none(
            "faults (illegal accepted, legal refused, endless, stuck)", [f for t in tallies.values() for f in t.faults]
        )
    )
    figures += broken_ones([*procedures.values()], made_ones, random)
    show(figures, as_json=arguments.json)


def broken_ones(of_shipped: list[Procedure], of_made: list[Procedure], random: Random) -> list[Figure]:
    """Returns how many broken procedures there were, and which of them nobody objected to."""
    broken, missed = 0, list[str]()
    for procedure in [*of_shipped * 20, *of_made]:
        for name, spoil in BREAKS.items():
            data = procedure.model_dump(mode="json")
            if spoil(data, random):
                broken += 1
                if not caught(data):
                    missed.append(f"{procedure.id}: {name}")
    edges, unseen = 0, list[str]()
    for procedure in [*of_shipped, *of_made[:100]]:
        for edge, data in without_one_edge(procedure):
            edges += 1
            if not caught(data) and explore(Procedure.model_validate(data)).faults:
                unseen.append(f"{procedure.id}: {edge}")
    return [
        none(f"broken procedures not caught, of {broken:,}", missed),
        none(f"removed edges that break a procedure and were not caught, of {edges:,} removed", unseen),
    ]


def caught(data: Data) -> bool:
    """Returns whether form or proof say anything against a procedure's data."""
    try:
        return bool(problems(Procedure.model_validate(data)))
    except ValidationError:
        return True


if __name__ == "__main__":
    main()
