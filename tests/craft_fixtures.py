"""Scripted crews that craft scenes, and a book to take them from."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Reply, Request
from dramaturg.model.script import ScriptModel, scripted_reply
from dramaturg.stage.world.crafting import Collection, CraftingPlan, Crew, make_scenes, split

Answer = dict[str, Any]
SYLLABLES = "ba ce di fo gu la me ni po ru sa te vi wo ze".split()


def sentence(rng: random.Random, words: int = 10) -> str:
    """Returns words that no other sentence has."""
    return " ".join("".join(rng.choices(SYLLABLES, k=3)) for _ in range(words)).capitalize() + "."


def book(chapters: int) -> str:
    """Returns a text in which Anna and Bo meet in every chapter."""
    rng = random.Random(3)
    return "\n\n".join(
        f"Chapter {number}. " + " ".join(f"Anna told Bo: {sentence(rng, 8)}" for _ in range(20))
        for number in range(chapters)
    )


def scene_draft(rng: random.Random, **change: Any) -> Answer:
    """Returns a sound scene of Anna and Bo."""
    people: list[Answer] = [
        {
            "name": name,
            "aliases": [],
            "gender": "female",
            "profile": sentence(rng, 20),
            "position": sentence(rng, 4),
            "state": sentence(rng, 4),
            "action": sentence(rng, 5),
            "speech": sentence(rng, 5),
        }
        for name in ("Anna", "Bo")
    ]
    made: Answer = {
        "title": sentence(rng, 3),
        "event": sentence(rng),
        "time": "Now",
        "place": sentence(rng, 3),
        "description": sentence(rng),
        "characters": people,
        "plot": sentence(rng),
    }
    return {**made, **change}


def marks(creativity: int = 4, coherence: int = 4, conformity: int = 4, detail: int = 4, critique: str = "") -> Answer:
    """Returns an evaluator's answer."""
    return {
        "critique": critique or "The end is closed.",
        "creativity": creativity,
        "coherence": coherence,
        "conformity": conformity,
        "detail": detail,
    }


def good(request: Request) -> Answer:
    """Returns what a good crew answers."""
    rng = random.Random(request.seed)
    match request.labels["purpose"]:
        case "craft-events":
            return {"events": [{"event": sentence(rng), "people": ["Anna", "Bo"]}]}
        case "craft-evaluate":
            return marks()
        case _:
            return scene_draft(rng)


def scripted(answer: Callable[[Request], Answer | str] = good) -> ScriptModel:
    """Returns a model that answers as told."""

    def reply(request: Request) -> tuple[Reply, float]:
        said = answer(request)
        return scripted_reply(request, said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)), 0.0

    return ScriptModel(Path("crew"), "crew", reply)


def plan(count: int = 1, *, text: str = "", **change: Any) -> CraftingPlan:
    """Returns the plan of a small collection."""
    chunks = split(text, 200) if text else ()
    made = CraftingPlan(
        count=count,
        seed=1,
        language="en",
        stages="three",
        threshold=3.5,
        rounds=3,
        screenwriter="script:crew",
        director="script:crew",
        evaluator="script:crew",
        work="The Ferry" if text else "",
        chunks=chunks,
        chunk_tokens=200 if text else 0,
    )
    return replace(made, **change)


async def crafted(
    folder: Path,
    planned: CraftingPlan,
    model: ScriptModel | None = None,
    *,
    budget: Budget | None = None,
    concurrency: int = 8,
    ledger: Path | None = None,
) -> Collection:
    """Returns a collection by a scripted crew."""
    model = model or scripted()
    with Ledger.open(ledger or folder / "ledger.db") as store:
        crew = Crew(
            screenwriter=model,
            director=model,
            evaluator=model if planned.evaluator else None,
            ledger=store,
            budget=budget or Budget(),
            language=planned.language,
            stages=planned.stages,
            threshold=planned.threshold,
            rounds=planned.rounds,
            seed=planned.seed,
        )
        return await make_scenes(planned, folder, crew, concurrency=concurrency)


def files(folder: Path) -> dict[str, str]:
    """Returns everything that was written, but for the ledger."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".yaml", ".json"}
    }
