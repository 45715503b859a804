"""Small studies on scripted models, for the tests of the run room."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dramaturg.ledger import Budget, Ledger
from dramaturg.model.opening import Models
from dramaturg.run.court import House
from dramaturg.run.engine import run_study
from dramaturg.run.material import read_material
from dramaturg.run.progress import Progress, Silent
from dramaturg.run.result import RunResult
from dramaturg.stage.cast import Reader

FILES = ("transcripts.jsonl", "judgements.jsonl", "units.jsonl")

ACTOR = '''
"""Plays every role of a court as the protocol "paper" wants it, and fails while the file DOWN lies beside it."""
import re
from pathlib import Path
from dramaturg.model import Reply

DOWN = Path(__file__).with_suffix(".down")

def reply(request):
    if DOWN.exists() and DOWN.read_text(encoding="utf-8") in request.messages[0].text:
        return Reply("failed", failure="connect", detail="cannot reach the server")
    note = request.messages[-1].text
    said = f"Zoë 山田 says {request.seed % 9973}."
    names = re.search(r"You may address: ([^,;.]+?)(?:[,;]| and | or |\\.)", note)
    if names:
        said = f"{names[1]}, {said} <NextSpeaker: {names[1]}>"
    if "<Questions: N>" in note:
        said += " <Questions: 1>"
    if "<Verdict: WIN>" in note:
        said += " <Verdict: WIN>"
    return said
'''

CRITIC = '''
"""Answers every question with yes, and fails while the file DOWN lies beside it."""
import json
from pathlib import Path
from dramaturg.model import Reply

DOWN = Path(__file__).with_suffix(".down")

def reply(request):
    if DOWN.exists():
        return Reply("failed", failure="connect", detail="cannot reach the server")
    return json.dumps({"reasoning": f"Seen {request.seed % 997}.", "answer": "yes", "evidence": ["T2"]})
'''

CHECKLIST = """\
id: short
version: 1
title: Three questions
domain: court
dimensions:
  - {id: SHORT, name: Short, definition: Whether a trial was played at all.}
indicators:
  - {id: SHORT-1, dimension: SHORT, text: Does the judge open the trial?, roles: [judge]}
  - {id: SHORT-2, dimension: SHORT, text: Does the prosecutor state a thesis?, roles: [prosecutor]}
  - {id: SHORT-3, dimension: SHORT, text: Is there an outcome?, proof: outcome_present}
"""

STUDY: Mapping[str, Any] = {
    "study": "small",
    "subjects": ["script:actor.py"],
    "cases": ["summit-ridge", "dukes-yard"],
    "limits": {"questions": 1, "restarts": 0},
    "judges": [{"model": "script:critic.py", "checklist": "short.yaml"}],
}


def write_study(folder: Path, **changes: Any) -> Path:
    """Writes the small study with some keys changed, and its scripts; returns the study file."""
    folder.mkdir(parents=True, exist_ok=True)
    second = ACTOR + "# another model\n"
    for name, text in {"actor.py": ACTOR, "second.py": second, "critic.py": CRITIC, "short.yaml": CHECKLIST}.items():
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
    content = {key: value for key, value in {**STUDY, **changes}.items() if value is not None}
    path = folder / "study.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


async def carry_out(
    path: Path,
    out: Path,
    *,
    replay_only: bool = False,
    accept_changes: bool = False,
    progress: Progress | None = None,
    read: Reader | None = None,
    ledger: Path | None = None,
) -> RunResult:
    """Runs a study file as the command does."""
    material = read_material(path)
    budget = Budget(**material.study.budgets.model_dump())
    with Ledger.open(ledger or out / "ledger.db", replay_only=replay_only) as store:
        async with Models() as models:
            return await run_study(
                material,
                out=out,
                ledger=store,
                models=models,
                budget=budget,
                progress=progress or Silent(),
                accept_changes=accept_changes,
                replay_only=replay_only,
                house=House(read=read),
            )


def contents(out: Path) -> dict[str, bytes]:
    """Returns the run's files."""
    return {name: (out / name).read_bytes() for name in FILES}


def records(out: Path, name: str = "units.jsonl") -> list[dict[str, Any]]:
    """Returns the records of one of the run's files."""
    return [json.loads(line) for line in (out / name).read_text(encoding="utf-8").splitlines()]
