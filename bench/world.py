"""Measures a play: calls, the longest chain and input tokens per round under the three protocols, and memory.

    python bench/world.py [--scenes N] [--rounds N] [--many N]

A scripted model plays every scene; its narrator names somebody for every second act, so that the protocols are
compared on the same number of hits. Budgets: `fast` takes at most n + 3A + k + 1 calls, of which at most 3 + 2A + k
stand one after the other, and at most 60 % of the input tokens of `paper`; many scenes take no more memory than few.
Input tokens are a fourth of the characters sent: a script has no tokenizer.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import fmean

from dramaturg.ledger import Ledger
from dramaturg.model.model import Identity, ModelFacts, OnText
from dramaturg.model.reply import Reply
from dramaturg.model.request import Request
from dramaturg.model.script import scripted_reply
from dramaturg.model.spec import Options
from dramaturg.run.world.costs import PlayCost, call_costs, play_cost
from dramaturg.stage.cast import Cast, ModelSeat
from dramaturg.stage.world.chain import Made
from dramaturg.stage.world.limits import WorldLimits
from dramaturg.stage.world.play import play_scene
from dramaturg.stage.world.reading import shipped_scenes
from dramaturg.stage.world.scene import Scene
from dramaturg.stage.world.setting import WorldProtocol
from dramaturg.text import canonical_json

PROTOCOLS: tuple[WorldProtocol, ...] = ("paper", "released", "fast")
MOST_SHARE = 0.60
"""Input tokens of `fast`, of those of `paper`."""

MOST_GROWTH_MB = 30.0
"""What the second half of many plays may add to the memory that the first half took."""

WORDS = [one + other for one in "ba ke li mo nu ra se ti vo zu".split() for other in "dan fel gor hin lup mir".split()]


class Steady:
    """A model that answers each purpose with a text of a stated length, different each time."""

    identity = Identity("script", "bench-world")
    facts = ModelFacts(runtime="script")
    options = Options()

    def __init__(self, scene: Scene) -> None:
        self._ids = {character.name: character.id for character in scene.characters}
        self._acts = 0

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Returns the answer to a purpose."""
        return scripted_reply(request, self._answer(request))

    async def embed(self, texts: Sequence[str]) -> None:
        """Returns None: a script has no embeddings."""

    async def close(self) -> None:
        """Does nothing."""

    def _answer(self, request: Request) -> str:
        purpose, number = request.labels["purpose"], request.seed
        form = request.schema is not None
        match purpose:
            case "beliefs":
                return canonical_json({"self_belief": text(number, 45), "environment_belief": text(number + 1, 45)})
            case "self-belief" | "environment-belief":
                return text(number, 45)
            case "act":
                return canonical_json({"action": text(number, 30), "speech": text(number + 1, 20)})
            case "action" | "reaction":
                return text(number, 30)
            case "speech":
                return text(number, 20)
            case "influence":
                return self._influence(request, form=form)
            case "result":
                return self._result(request) if form else text(number, 25)
            case "update":
                return canonical_json({"position": text(number, 7), "state": text(number + 1, 9)})
            case "environment":
                return canonical_json({"time": "", "place": "", "description": text(number, 25), "concluded": False})
            case _:
                return "\n".join(f"{name}: {text(number, 12)}" for name in self._ids)

    def _influence(self, request: Request, *, form: bool) -> str:
        self._acts += 1
        asked = request.messages[-1].text
        others = [(name, one) for name, one in self._ids.items() if name not in asked.split("\n", 1)[0]]
        hit = self._acts % 2 == 0 and bool(others)
        name, target = others[0] if hit else ("none", "none")
        influence = text(request.seed, 20) if hit else ""
        if not form:
            return f"[x];;[{name}];;[{influence or 'nothing'}]"
        update = {"position": text(request.seed, 7), "state": text(request.seed + 1, 9)}
        both = update if not hit and "position" in str(request.schema) else {"position": "", "state": ""}
        return canonical_json({"target": target, "influence": influence, **both})

    def _result(self, request: Request) -> str:
        asked = request.messages[-1].text.rpartition("JSON")[2]
        named = [one for one in self._ids.values() if f"“{one}”" in asked or f'"{one}"' in asked]
        updates = [
            {"who": one, "position": text(request.seed, 7), "state": text(request.seed + 1, 9)} for one in named[:2]
        ]
        return canonical_json({"result": text(request.seed, 25), "updates": updates})


def text(number: int, words: int) -> str:
    """Returns so many words, another text for another number."""
    return " ".join(Random(number).choices(WORDS, k=words)) + "."


async def played(scenes: Sequence[Scene], protocol: WorldProtocol, rounds: int, folder: Path) -> list[PlayCost]:
    """Returns what the play of every scene cost."""
    found: list[PlayCost] = []
    with Ledger.open(folder / f"{protocol}.db") as ledger:

        async def one(number: int, scene: Scene) -> None:
            model, made = Steady(scene), list[Made]()
            transcript = await play_scene(
                scene,
                cast=Cast({"character": ModelSeat(model, subject=True), "narrator": ModelSeat(model)}),
                calls=ledger.calls(unit=f"{number}/{scene.id}", seed=1),
                seed=1,
                protocol=protocol,
                limits=WorldLimits(rounds=rounds),
                on_call=made.append,
            )
            found.append(play_cost(transcript, protocol, made, call_costs(ledger, [call.key for call in made])))

        await asyncio.gather(*(one(number, scene) for number, scene in enumerate(scenes)))
    return found


def compare(scenes: Sequence[Scene], rounds: int, folder: Path) -> bool:
    """Prints the three protocols beside each other; returns whether `fast` holds its budgets."""
    head = ("protocol", "calls", "formula", "published", "chain", "chain at most", "input tokens", "share of paper")
    print(" | ".join(head))
    per_round: dict[str, float] = {}
    fine = True
    for protocol in PROTOCOLS:
        costs = asyncio.run(played(scenes, protocol, rounds, folder))
        of_rounds = [one for cost in costs for one in cost.rounds]
        per_round[protocol] = fmean(one.cost.input_tokens for one in of_rounds)
        share = per_round[protocol] / per_round["paper"]
        figures = (
            fmean(one.cost.calls for one in of_rounds),
            fmean(one.by_formula for one in of_rounds),
            fmean(one.published for one in of_rounds),
            fmean(one.chain for one in of_rounds),
            fmean(one.longest_by_formula for one in of_rounds),
        )
        print(
            protocol, *(f"{figure:.1f}" for figure in figures), f"{per_round[protocol]:,.0f}", f"{share:.2f}", sep=" | "
        )
        if protocol == "fast":
            fine = share <= MOST_SHARE and all(
                one.cost.calls <= one.characters + 3 * one.turns + one.hits + 1 and one.chain <= one.longest_by_formula
                for one in of_rounds
            )
    return fine


async def flat(scenes: Sequence[Scene], many: int, rounds: int, folder: Path) -> float:
    """Returns by how many MB the peak of memory grew over the second half of many plays, eight at a time."""
    half = 0.0
    with Ledger.open(folder / "many.db") as ledger:
        work = iter(enumerate(islice(cycle(scenes), many)))

        async def worker() -> None:
            nonlocal half
            for number, scene in work:
                model = Steady(scene)
                await play_scene(
                    scene,
                    cast=Cast({"character": ModelSeat(model, subject=True), "narrator": ModelSeat(model)}),
                    calls=ledger.calls(unit=f"{number}/{scene.id}", seed=1),
                    seed=1,
                    protocol="fast",
                    limits=WorldLimits(rounds=rounds),
                )
                if number == many // 2:
                    half = peak_mb()

        await asyncio.gather(*(worker() for _ in range(8)))
    return peak_mb() - half


def peak_mb() -> float:
    """Returns the most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measures, prints, and ends with 1 where a budget is not held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--many", type=int, default=100)
    chosen = parser.parse_args()
    scenes = shipped_scenes()[: chosen.scenes]
    with tempfile.TemporaryDirectory() as folder:
        fine = compare(scenes, chosen.rounds, Path(folder))
        growth = asyncio.run(flat(scenes, chosen.many, chosen.rounds, Path(folder)))
    print(f"{chosen.many} scenes × {chosen.rounds} rounds: peak of memory grew by {growth:.1f} MB in the second half")
    if not fine or growth > MOST_GROWTH_MB:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
