"""What lambda does to a prosecutor's sycophancy: equation 7 over several lambdas, with intervals.

    python bench/sycophancy.py [--json] [--model embedded:qwen2.5-coder-1.5b] [--seeds 20] [--candidates 4]
                               [--lambdas 0,1,4,16] [--strength lexical] [--similarity embedding] [--case NAME ...]

Sycophancy is the share of the prosecutor's turns in which a phrase gives the case away, by the rules of the judges'
audit (`dramaturg.judge.audit.patterns.CONCEDES`). It is not the similarity that lambda weighs: that is the likeness of
the whole draft to the player's goal. Without `--model` a script drafts; it gives way in varying degree. The first row
is one candidate without lambda, the prompts alone.

Intervals: Student's t over trials, at 95 %. A trial is a case with a seed, and every row has the same trials.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dramaturg.files import find
from dramaturg.judge.audit.patterns import CONCEDES
from dramaturg.ledger import Ledger
from dramaturg.measure import Estimate, t_interval
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.stage.cast import Cast, ModelSeat, Seat
from dramaturg.stage.court import AnyCase, StagingOptions, TrialLimits, play_trial, read_case
from dramaturg.stage.transcript import Transcript

SCRIPT = Path(__file__).with_name("conceding.py")


@dataclass(frozen=True)
class Row:
    """What one setting gave.

    Attributes:
        candidates: Drafts of each turn.
        weight: Lambda.
        concedes: Share of the prosecutor's turns that give the case away.
        similarity: Mean likeness of the chosen drafts to the goal; None where nothing was weighed.
        strength: Mean strength of the chosen drafts; None where nothing was weighed.
        turns: The prosecutor's turns.
        measured_by: What strength and similarity were measured by.
    """

    candidates: int
    weight: float
    concedes: Estimate
    similarity: float | None
    strength: float | None
    turns: int
    measured_by: str


async def row_of(cases: Sequence[AnyCase], model: Model, options: StagingOptions, seeds: int, path: Path) -> Row:
    clusters: dict[str, list[float]] = {}
    chosen: list[tuple[float, float]] = []
    by: set[str] = set()
    for case in cases:
        for seed in range(1, seeds + 1):
            measured = ModelSeat(model, subject=True)
            seats: dict[str, Seat] = dict.fromkeys(("judge", "prosecutor", "witness"), measured)
            seats["defence"] = ModelSeat(model)
            with Ledger.open(path) as ledger:
                transcript = await play_trial(
                    case,
                    cast=Cast(seats, analyst=model),
                    calls=ledger.calls(unit=f"{case.id}/{seed}", seed=seed),
                    seed=seed,
                    protocol="guarded",
                    limits=TrialLimits(questions=3),
                    staging=options,
                )
            turns = [turn for turn in transcript.turns if turn.role == "prosecutor"]
            clusters[f"{case.id}/{seed}"] = [float(CONCEDES.search(turn.text) is not None) for turn in turns]
            numbers, names = weighed(transcript)
            chosen += numbers
            by |= names
    return Row(
        options.candidates,
        options.weight,
        t_interval(clusters),
        statistics.fmean(similarity for _, similarity in chosen) if chosen else None,
        statistics.fmean(strength for strength, _ in chosen) if chosen else None,
        sum(map(len, clusters.values())),
        "; ".join(sorted(by)),
    )


def weighed(transcript: Transcript) -> tuple[list[tuple[float, float]], set[str]]:
    """Returns strength and similarity of each chosen draft, and by what they were measured."""
    numbers: list[tuple[float, float]] = []
    by: set[str] = set()
    candidates: dict[str, dict[str, object]] = {}
    for state in transcript.states:
        if re.fullmatch(r"candidate:\d+", state.name):
            candidates[state.name] = json.loads(state.value)
        elif state.name == "candidate":
            measures = json.loads(state.value)
            best = candidates[f"candidate:{measures['chosen']}"]
            if "score" in best:
                numbers.append((float(str(best["strength"])), float(str(best["similarity"]))))
                by.add(f"strength by {measures['strength_by']}, similarity by {measures['similarity_by']}")
            candidates = {}
    return numbers, by


async def rows(arguments: argparse.Namespace) -> list[Row]:
    cases = [read_case(find("cases", name)) for name in arguments.case]
    settings = [StagingOptions()]
    for weight in (float(text) for text in arguments.lambdas.split(",")):
        options = {"candidates": arguments.candidates, "lambda": weight}
        measures = {"strength": arguments.strength, "similarity": arguments.similarity}
        settings.append(StagingOptions.model_validate({**options, **measures}))
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        async with Models() as models:
            model = await models.open(arguments.model or f"script:{SCRIPT}")
            for options in settings:
                # One ledger for all rows: drafts that rows have in common are asked for once.
                path = Path(folder) / "ledger.db"
                found.append(await row_of(cases, model, options, arguments.seeds, path))
    return found


def show(found: Sequence[Row], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(row) for row in found], indent=1))
        return
    print("candidates  lambda  concedes (95 %)        similarity  strength  turns")
    for row in found:
        estimate = row.concedes
        interval = f"{shown(estimate.value)} [{shown(estimate.low)}, {shown(estimate.high)}]"
        numbers = f"{shown(row.similarity):>10}  {shown(row.strength):>8}  {row.turns:>5}"
        print(f"{row.candidates:>10}  {row.weight:>6g}  {interval:<21}  {numbers}")
    print("measured by:", "; ".join(sorted({row.measured_by for row in found if row.measured_by})))


def shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model", default="", help="plays every role; without one a script drafts")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--candidates", type=int, default=4)
    parser.add_argument("--lambdas", default="0,1,4,16")
    parser.add_argument("--strength", choices=["logprob", "rating", "lexical"], default="lexical")
    parser.add_argument("--similarity", choices=["embedding", "lexical"], default="embedding")
    parser.add_argument("--case", nargs="+", default=["summit-ridge"])
    arguments = parser.parse_args()
    show(asyncio.run(rows(arguments)), as_json=arguments.json)


if __name__ == "__main__":
    main()
