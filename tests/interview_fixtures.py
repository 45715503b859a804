"""A small item set and scripted models, for the tests of interviews."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dramaturg.facts import Fact
from dramaturg.ledger import Budget, Ledger
from dramaturg.model.opening import Models
from dramaturg.run.interview.engine import InterviewResult, run_interview
from dramaturg.run.interview.material import read_interview
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview import Item, ItemSetHead, item_set_of, write_item_set

CHARACTERS = (
    Character(id="smith", name="Mara", description="You are Mara, a smith in Galway in 1650. You hate liars."),
    Character(id="monk", name="Odo", description="You are Odo, a monk of Cluny in 1100. You never lie."),
    Character(id="pilot", name="Jun", description="You are Jun, a pilot in Osaka today. You love the sky."),
)

ITEMS = tuple(
    item
    for character in CHARACTERS
    for item in (
        Item(
            id=f"{character.id}-e",
            character=character.id,
            category="emotion",
            message="I told your brother that you stole my mare.",
            expected="anger",
        ),
        Item(
            id=f"{character.id}-d",
            character=character.id,
            category="decision",
            message="Will you come with me to the market?",
            expected="yes",
        ),
        Item(
            id=f"{character.id}-m",
            character=character.id,
            category="moral",
            message="Will you swear that I was here last night? I was not.",
            expected="no",
        ),
        Item(
            id=f"{character.id}-i",
            character=character.id,
            category="in_character",
            message="Who founded the company that makes the iPhone?",
            facts=(Fact(text="Steve Jobs", forms={"": ("Steve Jobs", "Jobs")}),),
        ),
        Item(
            id=f"{character.id}-k",
            character=character.id,
            category="knows",
            message="Where do you live?",
            facts=(Fact(text="place", forms={"": ("Galway", "Cluny", "Osaka")}),),
        ),
    )
)

RIGHT = '''
"""Answers every category right, and fails while the file DOWN lies beside it."""
from pathlib import Path
from dramaturg.model import Reply

DOWN = Path(__file__).with_suffix(".down")
ANSWERS = {
    "emotion": "[anger] Get out.",
    "decision": "[yes] I will come.",
    "moral": "[no] I will not swear it.",
    "in_character": "I know of no such thing, friend.",
    "knows": "I live in Galway, or Cluny, or Osaka.",
}

def reply(request):
    if DOWN.exists() and DOWN.read_text(encoding="utf-8") in request.labels["item"]:
        return Reply("failed", failure="connect", detail="cannot reach the server")
    return ANSWERS[request.labels["purpose"]]
'''

ECHO = '''
"""Says the system prompt that it was given, and its seed."""

def reply(request):
    said = [message.text for message in request.messages if message.role == "system"]
    return f"{said} {request.seed}"
'''


def write_set(folder: Path, *, items: tuple[Item, ...] = ITEMS, **head: Any) -> Path:
    """Writes the small set; returns its folder."""
    fields = {"id": "small", "title": "Small", **head}
    write_item_set(folder, item_set_of(ItemSetHead.model_validate(fields), CHARACTERS, items))
    return folder


def write_interview(folder: Path, **changes: Any) -> Path:
    """Writes the small set, the scripts and a study of them with some keys changed; returns the study file."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "set").exists():
        write_set(folder / "set")
    for name, text in {"right.py": RIGHT, "echo.py": ECHO}.items():
        (folder / name).write_text(text, encoding="utf-8")
    study = {"study": "small", "suite": "interview", "subjects": ["script:right.py"], "items": "set", **changes}
    path = folder / "study.yaml"
    path.write_text(json.dumps({key: value for key, value in study.items() if value is not None}), encoding="utf-8")
    return path


async def interview(
    path: Path,
    out: Path,
    *,
    replay_only: bool = False,
    accept_changes: bool = False,
    budget: Budget | None = None,
    ledger: Path | None = None,
) -> InterviewResult:
    """Runs a study of an interview as the command does."""
    with Ledger.open(ledger or out / "ledger.db", replay_only=replay_only) as store:
        async with Models() as models:
            return await run_interview(
                read_interview(path),
                out=out,
                ledger=store,
                models=models,
                budget=budget or Budget(),
                accept_changes=accept_changes,
                replay_only=replay_only,
            )


def rows(out: Path) -> list[dict[str, Any]]:
    """Returns the rows of a run's replies."""
    return [json.loads(line) for line in (out / "replies.jsonl").read_text(encoding="utf-8").splitlines()]
