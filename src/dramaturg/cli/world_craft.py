"""``dramaturg world craft``: scenes by a model, from a text or from a few words."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, console, say, say_json
from dramaturg.cli.run import MaxCalls, MaxCost, MaxTokens, ReplayOnly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dramaturg.ledger import Budget, Ledger
    from dramaturg.stage.world.crafting import Chunk, Collection, CraftingPlan, Entry


class Stages(StrEnum):
    """How many work on a scene."""

    ONE = "one"
    THREE = "three"


def craft(
    model: Annotated[str, typer.Option("--model", metavar="SPEC", help="Who works on the scenes.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the scenes are written.")],
    text: Annotated[
        Path | None, typer.Option("--text", metavar="FILE", help="A text of any length to take scenes from (UTF-8).")
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", metavar="TEXT", help="What an invented scene is about; several are taken by turns."),
    ] = None,
    work: Annotated[
        str,
        typer.Option(
            "--work", metavar="TITLE", help="The text's title (its file name by default); or whose world to invent in."
        ),
    ] = "",
    count: Annotated[int, typer.Option("-n", min=1, max=100_000, metavar="N", help="How many scenes are tried.")] = 1,
    language: Annotated[
        str, typer.Option("--language", metavar="CODE", help="en or zh; that of the text by default, else en.")
    ] = "",
    stages: Annotated[
        Stages, typer.Option("--stages", help="one: the screenwriter alone. three: with director and evaluator.")
    ] = Stages.THREE,
    threshold: Annotated[
        float, typer.Option("--threshold", min=1, max=5, metavar="X", help="Least mean mark of an accepted scene.")
    ] = 3.5,
    rounds: Annotated[
        int,
        typer.Option("--rounds", min=1, max=10, metavar="K", help="Most rounds of refining (one stage: of repair)."),
    ] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, metavar="S", help="Of the scenes.")] = 1,
    director: Annotated[
        str, typer.Option("--director", metavar="SPEC", help="Who refines; the model itself by default.")
    ] = "",
    evaluator: Annotated[
        str,
        typer.Option(
            "--evaluator", metavar="SPEC", help="Who marks; the model itself by default, in one stage nobody."
        ),
    ] = "",
    chunk_tokens: Annotated[
        int, typer.Option("--chunk-tokens", min=64, max=100_000, metavar="N", help="Tokens of a piece, about.")
    ] = 1500,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=1024, metavar="N", help="Most scenes at once.")
    ] = 8,
    ledger: Annotated[
        str, typer.Option("--ledger", metavar="PATH|URL", help="Where answers are kept; FOLDER/ledger.db by default.")
    ] = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
) -> None:
    """Craft scenes from a text or from ideas: drafted, refined, marked, checked. Run it again to resume."""
    import asyncio

    from dramaturg.errors import UserError
    from dramaturg.ledger import Budget, Ledger
    from dramaturg.stage.world.crafting import CraftingPlan, known_language, language_of

    if text is not None and prior:
        raise UserError("a scene is taken from a text or invented, not both", where="--prior", allowed="one of the two")
    chunks = _chunks(text, chunk_tokens) if text is not None else ()
    code = language or (language_of("".join(chunk.text for chunk in chunks[:3])) if chunks else "en")
    is_one = stages is Stages.ONE
    if is_one and director:
        raise UserError("one stage has no director", where="--director", allowed="--stages three")
    plan = CraftingPlan(
        count=count,
        seed=seed,
        language=known_language(code, where="--language"),
        stages=stages.value,
        threshold=threshold,
        rounds=rounds,
        screenwriter=model,
        director="" if is_one else director or model,
        evaluator=evaluator if is_one else evaluator or model,
        priors=_priors(prior or ()),
        work=" ".join(work.split()) or (text.stem if text is not None else ""),
        chunks=chunks,
        chunk_tokens=chunk_tokens if chunks else 0,
    )
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    with Ledger.open(ledger or out / "ledger.db", replay_only=replay_only) as store:
        collection = asyncio.run(_make(plan, out, store, budget, concurrency))
    _tell(collection, out, budget, as_json=as_json)


def _chunks(path: Path, tokens: int) -> tuple[Chunk, ...]:
    from dramaturg.errors import ContentError
    from dramaturg.files import read_text
    from dramaturg.stage.world.crafting import split
    from dramaturg.text import storable

    chunks = split(storable(read_text(path).replace("\r\n", "\n")), tokens)
    if not chunks:
        raise ContentError("holds no text", where=str(path))
    return chunks


def _priors(given: Sequence[str]) -> tuple[str, ...]:
    from dramaturg.errors import UserError
    from dramaturg.stage.world.crafting import checked_prior

    try:
        return tuple(map(checked_prior, given))
    except ValueError as error:
        raise UserError(str(error), where="--prior") from None


async def _make(plan: CraftingPlan, out: Path, store: Ledger, budget: Budget, concurrency: int) -> Collection:
    from dramaturg.model.opening import Models
    from dramaturg.stage.world.crafting import Crew, make_scenes

    async with Models() as models:
        opened = {
            spec: await models.open(spec)
            for spec in dict.fromkeys((plan.screenwriter, plan.director, plan.evaluator))
            if spec
        }
        budget.check_prices({spec: one.identity for spec, one in opened.items()})
        crew = Crew(
            screenwriter=opened[plan.screenwriter],
            director=opened[plan.director or plan.screenwriter],
            evaluator=opened.get(plan.evaluator),
            ledger=store,
            budget=budget,
            language=plan.language,
            stages=plan.stages,
            threshold=plan.threshold,
            rounds=plan.rounds,
            seed=plan.seed,
        )
        with console(stderr=True).status("scene 1") as status:

            def on_entry(entry: Entry) -> None:
                status.update(f"scene {entry.number}: {entry.status} {entry.id}")

            return await make_scenes(plan, out, crew, concurrency=concurrency, on_entry=on_entry)


def _tell(collection: Collection, out: Path, budget: Budget, *, as_json: bool) -> None:
    figures = collection.figures()
    if as_json:
        say_json({"out": str(out), **collection.as_json(), "calls": budget.calls, "replayed": budget.replayed})
    else:
        say(
            f"{out}: {figures['kept']} scenes kept, {figures['not_accepted']} not accepted, "
            f"{figures['rejected']} rejected, {figures['duplicate']} near-duplicates, "
            f"{figures['failed']} failed, {figures['stopped']} stopped"
        )
        if figures["chunks"]:
            say(f"{figures['chunks_read']} of {figures['chunks']} pieces read, {figures['empty']} without an event")
        for entry in collection.entries:
            marks = entry.marks
            told = f", mean mark {marks.mean:.2f}" if marks is not None else ""
            more = f": {entry.detail}" if entry.detail else ""
            say(f"  {entry.number}. {entry.status.replace('_', ' ')}  {entry.file or entry.id}{told}{more}")
        say(collection.spread.figures().in_words("scenes"))
        say(f"{budget.calls} new calls, {budget.replayed} replayed")
        if figures["stopped"]:
            say("run the same command again to go on")
    if figures["stopped"] or not figures["kept"]:
        raise Finished(2)
