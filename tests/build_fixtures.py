"""A small benchmark and scripted writers, for the tests of building."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.model import Reply, Request
from dramaturg.model.script import ScriptModel
from dramaturg.text import sha256

SHOP: dict[str, Any] = {
    "id": "shop",
    "version": 1,
    "title": "Shop",
    "domain": "a shop",
    "roles": [
        {"id": "agent", "name": "agent", "played_by": "model", "duties": "Answers."},
        {"id": "customer", "name": "customer", "played_by": "human", "duties": "Asks."},
    ],
    "ground_truth": "The order.",
    "dimensions": [
        {
            "id": "POL",
            "name": "Policy",
            "definition": "What the agent grants is allowed.",
            "subdimensions": [{"id": "AUT", "name": "Authority", "definition": "The agent keeps to the rules."}],
        },
        {"id": "LNG", "name": "Language", "definition": "The agent writes plain words."},
    ],
    "seeds": [
        {
            "id": "AUT-S1",
            "text": "Does the agent name the rule behind a refusal?",
            "dimension": "POL",
            "subdimension": "AUT",
            "roles": ["agent"],
            "detects": ["promises_refused"],
        },
        {"id": "LNG-S1", "text": "Does the agent write short sentences?", "dimension": "LNG", "roles": ["agent"]},
    ],
}

SIDES = ["Does the agent quote a clause?", "Is the policy named by the agent?", "Does the agent give a number?"]
PARTS = ["Does the agent begin with a greeting?", "Does the agent repeat the request?", "Does the agent state a date?"]


def shop(**changes: Any) -> Benchmark:
    """Returns the small benchmark, with other values for some keys."""
    return Benchmark.model_validate({**SHOP, **changes})


def writer(
    *,
    sides: Sequence[Any] = SIDES,
    parts: Sequence[Any] = PARTS,
    remove: Sequence[tuple[Any, str]] = (),
    translation: str = "Does the agent write short sentences?",
    asked: list[Request] | None = None,
    fails: Callable[[Request], bool] = lambda request: False,
) -> ScriptModel:
    """Returns a model that writes these questions for any seed, and removes these numbers in any place.

    Args:
        sides: What it writes for a diversification.
        parts: What it writes for an elaboration; a text gets a number.
        remove: Number and reason.
        translation: What it makes of a seed in another language.
        asked: Gets every request.
        fails: Which requests its endpoint fails at.
    """

    def answer(request: Request) -> tuple[Reply, float]:
        if asked is not None:
            asked.append(request)
        if fails(request):
            return Reply("failed", failure="http", detail="down"), 0.0
        told: Any
        match request.labels["purpose"]:
            case "diversification":
                told = {"questions": [_in_place(side, request) for side in sides]}
            case "elaboration":
                numbered = [
                    {"number": str(at), "question": _in_place(part, request)} if isinstance(part, str) else part
                    for at, part in enumerate(parts, start=1)
                ]
                told = {"questions": numbered}
            case "translation":
                told = {"question": translation}
            case _:
                told = {"remove": [{"number": number, "reason": reason} for number, reason in remove]}
        return Reply("ok", text=json.dumps(told, ensure_ascii=False)), 0.0

    return ScriptModel(Path("writer.py"), sha256(repr((sides, parts, remove, translation))), answer)


def _in_place(written: Any, request: Request) -> Any:
    """Returns what is written of a seed about language, which is something else than what is written of the other."""
    about_language = "now: Language." in request.messages[-1].text
    return (
        written.replace("the agent", "each line of the letter")
        if about_language and isinstance(written, str)
        else written
    )
