"""``dramaturg doctor``: prove on the live endpoint what a study will rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, say, say_json, show

if TYPE_CHECKING:
    from dramaturg.model.doctor import Diagnosis

MARKS = {"ok": "ok", "warn": "warning", "fail": "FAILED", "skipped": "–"}


def doctor(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="The model to examine.")],
    planned_tokens: Annotated[int, typer.Option("--tokens", min=64, help="Longest prompt that you plan.")] = 4000,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Calls in flight that you plan.")] = 4,
    as_json: AsJson = False,
) -> None:
    """Examine a model: do prompts leak, does the context hold, are schemas, seeds and log-probabilities real."""
    import asyncio
    from dataclasses import asdict

    from dramaturg.model.doctor import examine
    from dramaturg.model.opening import Models

    async def work() -> Diagnosis:
        async with Models() as models:
            return await examine(await models.open(spec), planned_tokens=planned_tokens, concurrency=concurrency)

    diagnosis = asyncio.run(work())
    if as_json:
        say_json({"spec": spec, **asdict(diagnosis)})
    else:
        from rich.table import Table

        table = Table("check", "", "what was seen", title=spec)
        for check in diagnosis.checks:
            table.add_row(check.id, MARKS[check.status], check.line)
        show(table)
    if any(check.status == "fail" for check in diagnosis.checks):
        if not as_json:
            say("at least one check failed: a study would measure the endpoint, not the model")
        raise Finished(2)
