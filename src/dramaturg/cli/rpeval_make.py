"""``dramaturg rpeval make``: an item set by a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, console, say, say_json
from dramaturg.cli.run import MaxCalls, MaxCost, MaxTokens, ReplayOnly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dramaturg.ledger import Budget, Ledger
    from dramaturg.stage.cast.character import Character
    from dramaturg.stage.interview.making import Entry, Making, MakingPlan


def make(
    characters: Annotated[Path, typer.Option("--characters", metavar="FILE", help="Characters, one a line.")],
    model: Annotated[str, typer.Option("--model", metavar="SPEC", help="Who writes.")],
    out: Annotated[Path, typer.Option("--out", metavar="SET", help="Folder of the set.")],
    per_emotion: Annotated[
        int, typer.Option("--per-emotion", min=0, max=1_000, metavar="N", help="Emotion items of a character, at most.")
    ] = 3,
    per_decision: Annotated[
        int, typer.Option("--per-decision", min=0, max=1_000, metavar="N", help="Decision items, at most.")
    ] = 3,
    per_moral: Annotated[
        int, typer.Option("--per-moral", min=0, max=1_000, metavar="N", help="Moral items, at most.")
    ] = 3,
    per_facts: Annotated[
        int,
        typer.Option(
            "--per-facts",
            min=0,
            max=1_000,
            metavar="N",
            help="Fact items, at most: half beyond the character, half known.",
        ),
    ] = 14,
    title: Annotated[str, typer.Option("--title", help="Of the set; the folder's name by default.")] = "",
    licence: Annotated[str, typer.Option("--licence", help="Of the items, for example CC-BY-4.0.")] = "",
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, metavar="S", help="Of the set.")] = 1,
    repairs: Annotated[
        int, typer.Option("--repairs", min=0, max=10, metavar="K", help="Most rounds of critique and repair of a form.")
    ] = 1,
    critic: Annotated[
        str, typer.Option("--critic", metavar="SPEC", help="Who reads; the model itself by default.")
    ] = "",
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=1024, metavar="N", help="Most forms at once.")
    ] = 8,
    ledger: Annotated[
        str, typer.Option("--ledger", metavar="PATH|URL", help="Where answers are kept; SET/ledger.db by default.")
    ] = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
) -> None:
    """Write an item set for characters: drafted, checked, read by a critic, repaired. Run it again to resume.

    The right answers are the model's, until people annotate them.
    """
    import asyncio

    from dramaturg.cli.cast_files import read_characters
    from dramaturg.ledger import Budget, Ledger
    from dramaturg.stage.interview.making import MakingPlan, plan_counts, set_head
    from dramaturg.stage.slug import slug

    people = read_characters(characters)
    reader = (critic or model) if repairs else ""
    name = slug(out.resolve().name) or "set"
    head = set_head(
        name,
        title=title.strip() or out.resolve().name,
        language="en",
        licence=licence.strip(),
        model=model,
        critic=reader,
        seed=seed,
    )
    counts = plan_counts(emotion=per_emotion, decision=per_decision, moral=per_moral, facts=per_facts)
    plan = MakingPlan(head, counts, seed, model, reader, repairs)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    with Ledger.open(ledger or out / "ledger.db", replay_only=replay_only) as store:
        making = asyncio.run(_make(plan, people, out, store, budget, concurrency))
    _tell(making, out, budget, as_json=as_json)


async def _make(
    plan: MakingPlan, people: Sequence[Character], out: Path, store: Ledger, budget: Budget, concurrency: int
) -> Making:
    from dramaturg.model.opening import Models
    from dramaturg.stage.interview.making import make_set, model_author

    total = len(plan.tasks(people))
    async with Models() as models:
        writer = await models.open(plan.model)
        reader = await models.open(plan.critic or plan.model)
        budget.check_prices({plan.model: writer.identity, plan.critic or plan.model: reader.identity})
        author = model_author(writer, reader, store, budget, seed=plan.seed, repairs=plan.repairs)
        with console(stderr=True).status(f"0 of {total}") as status:
            decided = 0

            def on_entry(entry: Entry) -> None:
                nonlocal decided
                decided += 1
                status.update(f"{decided} of {total}: {entry.character}, {entry.category}")

            return await make_set(plan, people, out, author, concurrency=concurrency, on_entry=on_entry)


def _tell(making: Making, out: Path, budget: Budget, *, as_json: bool) -> None:
    figures = making.figures()
    made = making.item_set()
    if as_json:
        say_json(
            {
                "out": str(out),
                "counts": {str(category): count for category, count in made.counts().items()},
                **making.as_json(),
                "calls": budget.calls,
                "replayed": budget.replayed,
            }
        )
    else:
        counts = ", ".join(f"{category} {count}" for category, count in made.counts().items())
        say(f"{out}: {figures['items']} of {figures['wanted']} items for {len(made.characters)} characters ({counts})")
        say(
            f"{figures['dropped']} scenarios dropped, {figures['repeated']} told to another character already; "
            f"{figures['skipped']} tasks skipped, {figures['empty']} without an item, {figures['failed']} failed, "
            f"{figures['stopped']} stopped"
        )
        say(f"{budget.calls} new calls, {budget.replayed} replayed")
        for status in ("failed", "stopped", "skipped"):
            first = next((entry for entry in making.entries if entry.status == status), None)
            if first is not None:
                again = "; run the same command again to go on" if status == "stopped" else ""
                say(f"{first.character}, {first.category}: {status}: {first.detail}{again}")
        say("the answers are the model's: let people annotate them before you publish")
    if figures["stopped"] or figures["failed"] or not figures["items"]:
        raise Finished(2)
