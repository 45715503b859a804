"""``dramaturg judge``: judge transcripts that lie in a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson
from dramaturg.cli.run import LedgerAt, MaxCalls, MaxCost, MaxTokens, Out, ReplayOnly

if TYPE_CHECKING:
    from dramaturg.run.result import RunResult


class Mode(StrEnum):
    """How the judge is asked."""

    SINGLE = "single"
    JOINT = "joint"


def judge(
    transcripts: Annotated[Path, typer.Argument(metavar="TRANSCRIPTS", help="Transcripts, one JSON object a line.")],
    judge: Annotated[str, typer.Option("--judge", metavar="SPEC", help="The model that judges.")],
    out: Out,
    checklist: Annotated[str, typer.Option("--checklist", metavar="NAME|FILE", help="By what is judged.")] = "court",
    mode: Annotated[Mode, typer.Option("--mode", help="One question per call, or all at once.")] = Mode.SINGLE,
    votes: Annotated[int, typer.Option("--votes", min=1, help="How often each question is asked.")] = 1,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Most transcripts judged at once.")] = 2,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
) -> None:
    """Judge transcripts by a checklist, whoever made them, and report. Run it again to resume."""
    import asyncio

    from dramaturg.cli.run import finish, open_ledger, progress_display
    from dramaturg.files import find, load_yaml
    from dramaturg.judge.checklist.checklist import Checklist
    from dramaturg.ledger import Budget
    from dramaturg.model.opening import Models
    from dramaturg.run.board import Board
    from dramaturg.run.judging import FileJudging, keep_judging
    from dramaturg.run.kept import keep_models

    path = find("checklists", checklist, where="--checklist")
    by = load_yaml(path, Checklist)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    with open_ledger(out, ledger, replay_only=replay_only) as store:

        async def work() -> RunResult:
            models = Models()
            try:
                async with models:
                    model = await models.open(judge)
                    budget.check_prices({judge: model.identity})
                    keep_judging(out, transcripts=transcripts, checklist=path, by=by, judge=model, mode=mode.value)
                    judging = FileJudging(
                        transcripts,
                        checklist=by,
                        written=judge,
                        judge=model,
                        mode=mode.value,
                        votes=votes,
                        ledger=store,
                        board=Board(0, budget, models),
                        budget=budget,
                    )
                    return await judging.carry_out(out, concurrency=concurrency, progress=progress_display())
            finally:
                keep_models(store, models, {judge: ("judge",)})

        result = asyncio.run(work())
        command = (
            f"dramaturg judge {transcripts} --checklist {checklist} --judge {judge} --mode {mode.value} --out {out}"
        )
        finish(result, store, as_json=as_json, command=command)
