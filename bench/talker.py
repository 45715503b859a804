"""A script for benches: plays every role of a court in new words each time, as long as a small model's turns are."""

from __future__ import annotations

import json
import random
import re

from dramaturg.model import Reply, Request

WORDS = (
    "the a one this that court case day night door hall record letter witness question answer doubt "
    "reason hour minute room table paper hand light sound step street window morning evening saw heard "
    "read said took left found kept gave asked knew wrote opened closed moved carried stood waited turned "
    "called and or but because when while before after near behind under with without from into over "
    "again never always often only quite rather clear small long old new plain dark quiet early late "
    "first last other same own certain honest careful "
).split()

LINE_WORDS = (35, 65)
"""Fewest and most words of a turn."""


def reply(request: Request) -> str | Reply:
    """Returns a turn, a verdict or what a form wants; never what a fault would be."""
    rng = random.Random(request.seed)
    purpose = request.labels.get("purpose", "")
    if request.schema is not None:
        return json.dumps(_form(purpose, request, rng))
    said = " ".join(_sentence(rng) for _ in range(4)) if purpose == "summary" else _line(rng)
    addressed = re.search(r"You may address: ([^;.]+?)[;.]", request.messages[-1].text.rsplit("\n\n", 1)[-1])
    if addressed is not None and purpose == "question":
        said = f"{addressed[1]}, {said}"
    if purpose == "grant":
        said = f"I grant 3 questions to each side. {said}"
    if purpose == "ruling":
        said = f"Overruled. {said}"
    return said


def _form(purpose: str, request: Request, rng: random.Random) -> dict[str, object]:
    match purpose:
        case "verdict":
            return {"announcement": _line(rng), "outcome": "undecided"}
        case "route":
            names = re.search(r"Choose one of: ([^;.]+)", request.messages[-1].text)
            return {"addressee": names[1] if names else ""}
        case "count":
            return {"count": 3}
        case "strength-rating":
            return {"strength": rng.randint(0, 10)}
        case "witness-check":
            return {"statement": "", "invented": "no"}
        case _:
            return {"ruling": "overruled"}


def _line(rng: random.Random) -> str:
    length, words = rng.randint(*LINE_WORDS), list[str]()
    while len(words) < length:
        words += _sentence(rng).split()
    return " ".join(words)


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(8, 16))).capitalize() + "."
