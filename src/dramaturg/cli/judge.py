"""``dramaturg judge``: judge transcripts that lie in a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, complain, complain_of_torn
from dramaturg.cli.run import AcceptChanges, LedgerAt, MaxCalls, MaxCost, MaxTokens, Out, ReplayOnly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dramaturg.run.result import RunResult


class Mode(StrEnum):
    """How the judge is asked."""

    PAPER = "paper"
    JOINT = "joint"
    GROUPED = "grouped"
    SINGLE = "single"
    PROBABILITY = "probability"
    WINDOWED = "windowed"
    GLANCE = "glance"


class Long(StrEnum):
    """What becomes of a transcript beyond the judge's context."""

    REFUSE = "refuse"
    CUT = "cut"


class Wording(StrEnum):
    """What is put to the judge."""

    PRESENCE = "presence"
    TEXT = "text"


MODES = (
    "paper: one call per dimension, in the form of RPA-Check's appendix. joint: all questions in one call. "
    "grouped: one call per sub-dimension. single: one call per question. probability: the same, and the probability "
    "of yes is read. windowed: what one turn can show is asked of each turn with its neighbours, the "
    "rest as in single. glance: every question is asked of each turn with the one before it, and the probability "
    "of yes is read."
)
OF_THE_JUDGE = "single, or what the judge was made for"
MOST_VOTES = 99
LONG = "Where a transcript is longer than the judge's context: refuse it, or cut its middle and say so."
ASK = "Put the short question of presence to the judge where an indicator has one, or always the indicator's text."


def judge(
    transcripts: Annotated[Path, typer.Argument(metavar="TRANSCRIPTS", help="Transcripts, one JSON object a line.")],
    judge: Annotated[
        list[str], typer.Option("--judge", metavar="SPEC", help="A model that judges; may be given several times.")
    ],
    out: Out,
    checklist: Annotated[str, typer.Option("--checklist", metavar="NAME|FILE", help="By what is judged.")] = "court",
    mode: Annotated[Mode | None, typer.Option("--mode", help=MODES, show_default=OF_THE_JUDGE)] = None,
    votes: Annotated[int, typer.Option("--votes", min=1, max=MOST_VOTES, help="How often each question is asked.")] = 1,
    long: Annotated[Long, typer.Option("--long", help=LONG)] = Long.REFUSE,
    ask: Annotated[Wording, typer.Option("--ask", help=ASK)] = Wording.PRESENCE,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Most transcripts judged at once.")] = 2,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Judge transcripts by a checklist, whoever made them, and report. Run it again to resume."""
    import asyncio

    from dramaturg.cli.run import finish, open_ledger, progress_display
    from dramaturg.ledger import Budget
    from dramaturg.model.opening import Models
    from dramaturg.run.judging import benches_of, docket_of
    from dramaturg.run.kept import keep_models
    from dramaturg.run.sitting import Sitting

    benches = benches_of(
        judge,
        checklist=checklist,
        mode=None if mode is None else mode.value,
        votes=votes,
        long=long.value,
        ask=ask.value,
    )
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    budget.check_prices({bench.model.written: bench.model.identity for bench in benches})
    docket = docket_of(out, transcripts=transcripts, benches=benches, accept_changes=accept_changes)
    with open_ledger(out, ledger, replay_only=replay_only) as store:

        async def work() -> RunResult:
            models = Models()
            try:
                async with models:
                    sitting = Sitting(docket, models, store, budget, replay_only)
                    return await sitting.carry_out(out, concurrency=concurrency, progress=progress_display())
            finally:
                keep_models(store, models, {bench.model.spec.text: ("judge",) for bench in benches})

        result = asyncio.run(work())
        for line in _overlong_lines(out):
            complain(line)
        judges = " ".join(f"--judge {spec}" for spec in judge)
        chosen = "".join(
            f" --{name} {value}"
            for name, value, default in (
                ("votes", votes, 1),
                ("long", long, Long.REFUSE),
                ("ask", ask, Wording.PRESENCE),
            )
            if value != default
        )
        asked = f"{judges} --mode {benches[0].mode}{chosen}"
        command = f"dramaturg judge {transcripts} --checklist {checklist} {asked} --out {out}"
        finish(result, store, as_json=as_json, command=command)


def _overlong_lines(out: Path) -> Iterator[str]:
    """Yields, for each judge, how many answers are missing because its context was found too small only on asking."""
    from dramaturg.files import read_jsonl
    from dramaturg.judge.judgement import Judgement

    found: dict[str, list[str]] = {}
    for _, one in read_jsonl(out / "judgements.jsonl", Judgement, on_torn=complain_of_torn):
        if one.reason == "context_overflow" and "?context_tokens=" in one.detail:
            found.setdefault(one.judge, []).append(one.detail)
    for judge, details in found.items():
        yield f"{judge}: {len(details)} answers are missing, and nothing could be cut: {details[0]}"
