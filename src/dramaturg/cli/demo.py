"""``dramaturg demo``: one command from nothing to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dramaturg.cli.console import say

STUDY = """\
# What `dramaturg demo` stages; run it again with: dramaturg run study.yaml --out .
study: demo
suite: court
seed: 1
subjects:
  - {model}
cases: [{case}]
seeds: [1]
protocol: guarded
cast:
  defence: script
limits:
  questions: 1
  tokens_per_turn: 64
judges:
  - model: {judge}
    checklist: court
concurrency: 1
"""


def demo(
    out: Annotated[Path, typer.Option("--out", help="Output folder.")] = Path("dramaturg-demo"),
    model: Annotated[str, typer.Option("--model", help="Who plays.")] = "embedded:smollm2-135m",
    judge: Annotated[str, typer.Option("--judge", help="Who judges.")] = "embedded:dramaturg-judge",
    case: Annotated[str, typer.Option("--case", help="Which case.")] = "museum-intrusion",
) -> None:
    """Watch an embedded model play a court case, be judged by a checklist, and read the report."""
    from dramaturg.cli.models import pull_with_progress
    from dramaturg.cli.run import budget_of, carry_out, finish, open_ledger
    from dramaturg.model import parse_spec
    from dramaturg.run.material import read_material
    from dramaturg.text import write_atomically

    for spec in (parse_spec(model), parse_spec(judge)):
        if spec.provider == "embedded":
            pull_with_progress(spec.name)
    study = out / "study.yaml"
    write_atomically(study, STUDY.format(model=model, judge=judge, case=case))
    material = read_material(study)
    say(f"A trial: {material.cases[0].case.title}. {model} plays judge, prosecutor and witnesses; a script defends.\n")
    with open_ledger(out, "") as ledger:
        budget = budget_of(material.study.budgets, None, None, None)
        result = carry_out(material, out, ledger, budget, accept_changes=True, watch=True)
        finish(result, ledger, as_json=False, command=f"dramaturg demo --out {out}")
