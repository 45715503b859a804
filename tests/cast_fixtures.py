"""Scripted writers of descriptions and scenarios, and a cast to write for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Reply, Request
from dramaturg.model.script import ScriptModel, scripted_reply
from dramaturg.stage.cast.character import Character
from dramaturg.stage.cast.describing import described_by_pattern
from dramaturg.stage.cast.generator import generate
from dramaturg.stage.interview.item import Category
from dramaturg.stage.interview.making import Making, MakingPlan, make_set, model_author, plan_counts, set_head

Answer = dict[str, Any]


def writer(answer: Callable[[Request], Answer | str]) -> ScriptModel:
    """Returns a model that answers as told."""

    def reply(request: Request) -> tuple[Reply, float]:
        said = answer(request)
        return scripted_reply(request, said if isinstance(said, str) else json.dumps(said)), 0.0

    return ScriptModel(Path("writer"), "writer", reply)


def people(count: int, *, setting: str = "tang") -> list[Character]:
    """Returns described characters of one time and place."""
    made = [described_by_pattern(sketch).character for sketch in generate(count, 5, setting_ids=[setting])]
    return [character for character in made if character is not None]


def scenario(purpose: str, number: int, name: str) -> Answer:
    """Returns a scenario without a fault."""
    match purpose:
        case "items-emotion":
            return {"reason": "It lost much.", "message": f"{name}, the roof number {number} burns!", "answer": "fear"}
        case "items-decision" | "items-moral":
            message = f"There is a cart number {number} on the road. Will you, {name}, hide it for me?"
            return {"reason": "It keeps the law.", "message": message, "answer": "yes" if number % 2 else "no"}
        case _:
            late = purpose == "items-in_character"
            fact: Answer = {"fact": f"It was Zorblatt {number}.", "forms": [f"Zorblatt {number}"], "translations": []}
            since = 1969 + number if late else 700
            message = f"{name}, who rowed the boat number {number}?"
            return {"reason": "Its time.", "message": message, **fact, "date": "", "since": since}


def good(request: Request) -> Answer:
    """Returns what a good writer answers to each form, and a critic who finds nothing."""
    purpose = request.labels["purpose"]
    if purpose == "items-critique":
        return {"problems": []}
    first = request.messages[0].text
    wanted = re.search(r"Write (\d+) ", first)
    assert wanted is not None
    used = first.partition("<used>")[2].partition("</used>")[0].count("number")
    name = first.partition("<character>\n")[2].partition("\n")[0]
    return {"scenarios": [scenario(purpose, used + at, name) for at in range(1, int(wanted[1]) + 1)]}


def plan(counts: dict[Category, int] | None = None, *, seed: int = 1, repairs: int = 1) -> MakingPlan:
    head = set_head(
        "trial", title="Trial", language="en", licence="CC-BY-4.0", model="script:writer", critic="", seed=seed
    )
    return MakingPlan(head, counts or plan_counts(), seed, "script:writer", "script:writer", repairs)


async def made(
    folder: Path,
    planned: MakingPlan,
    characters: Sequence[Character],
    model: ScriptModel,
    *,
    budget: Budget | None = None,
    concurrency: int = 8,
) -> Making:
    """Returns a set by a scripted writer."""
    with Ledger.open(folder / "ledger.db") as store:
        author = model_author(model, model, store, budget or Budget(), seed=planned.seed, repairs=planned.repairs)
        return await make_set(planned, characters, folder, author, concurrency=concurrency)
