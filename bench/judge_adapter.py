"""What the adapter of the shipped judge costs: questions per second in mode `glance`, against its base alone.

Budget: ≥ 0.9. Both models are open at once and take turns, the order changing from round to round. The rules before
the adapter are left out: they would answer in no time. Pulls the base where it is not there yet.

    python bench/judge_adapter.py [--json] [--base SPEC] [--tuned SPEC] [--questions 6] [--rounds 4]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from dramaturg.errors import UserError
from dramaturg.judge.checklist import judge_transcript
from dramaturg.ledger import Ledger
from dramaturg.model import parse_spec
from dramaturg.model.composed import COMPOSED, base_name
from dramaturg.model.opening import Models
from dramaturg.model.pull import pull
from dramaturg.text import sha256
from figures import Figure, at_least, show
from judge_prefix import court_questions, synthetic_trial

NAME = "questions per second, adapter / base"
BUDGET = 0.9
TURNS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="embedded:smollm2-135m")
    parser.add_argument("--tuned", default=f"embedded:smollm2-135m+{COMPOSED['dramaturg-judge'].adapter_path}")
    parser.add_argument("--questions", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        seconds, calls = asyncio.run(measure((options.base, options.tuned), options.questions, options.rounds))
    except UserError as problem:  # no weights to be had, or no runtime for them
        show([Figure(NAME, None, BUDGET, None, f"not measured: {problem}")], as_json=options.json)
        return
    detail = f"{calls[0]} and {calls[1]} questions, in {options.rounds} rounds"
    ratio = (calls[1] / seconds[1]) / (calls[0] / seconds[0])
    show([at_least(NAME, ratio, BUDGET, detail)], as_json=options.json)


async def measure(specs: tuple[str, str], questions: int, rounds: int) -> tuple[list[float], list[int]]:
    """Returns the seconds that each model took, and how often it was asked."""
    trial, checklist = synthetic_trial(), court_questions(questions)
    trial = trial.model_copy(update={"turns": trial.turns[:TURNS]})
    for spec in map(parse_spec, specs):
        if spec.provider == "embedded":
            pull(base_name(spec.name))
    seconds, calls = [0.0, 0.0], [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        async with Models() as models:
            judges = [await models.open(spec) for spec in specs]
            for number in range(rounds + 1):  # the first warms up
                for side in (0, 1) if number % 2 else (1, 0):
                    with Ledger.open(Path(folder) / sha256(f"{number}/{side}")) as ledger:
                        started = time.perf_counter()
                        asking = ledger.calls(unit="judging", seed=number)
                        await judge_transcript(trial, checklist, judge=judges[side], calls=asking, mode="glance")
                        if number:
                            seconds[side] += time.perf_counter() - started
                            calls[side] += sum(use.calls for use in ledger.uses())
    return seconds, calls


if __name__ == "__main__":
    main()
