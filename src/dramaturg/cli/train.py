"""``dramaturg train``: data sets from finished runs, the proof that their splits leak nothing, and trained models."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from dramaturg.cli.console import AsJson, Finished, complain, figures_table, say, say_json, show
from dramaturg.cli.run import MaxCalls, MaxCost, MaxTokens, Out
from dramaturg.errors import UserError

if TYPE_CHECKING:
    from dramaturg.ledger import Budget
    from dramaturg.train.card import DataCard
    from dramaturg.train.example import Gathered
    from dramaturg.train.reading import Runs

SHOWN = 10
"""Most leaks that are told."""

SHARE = 0.1
"""Of the examples for validation, and for the test, where nothing else is said."""

REFLECTIONS = "reflections.jsonl"

app = typer.Typer(
    name="train",
    help="Train models on what was played and judged: data, proof, training, export.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class DataKind(StrEnum):
    """What a model is to learn."""

    GUIDED = "guided"
    REFLECTIVE = "reflective"
    NARRATOR = "narrator"
    REWARD = "reward"
    JUDGE = "judge"


class DataForm(StrEnum):
    """Form of a training file."""

    TRL = "trl"
    ALPACA = "alpaca"
    SHAREGPT = "sharegpt"
    PARQUET = "parquet"


@app.command("data")
def data(
    kind: Annotated[
        DataKind,
        typer.Argument(
            help="guided: what was rated well enough. reflective: own trajectories, rewritten and rated better. "
            "narrator: its four tasks. reward: critiques and ratings. judge: yes or no about planted faults."
        ),
    ],
    out: Out,
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUNS…", help="Folders of finished runs and of ratings of them; judge: of audits."),
    ] = None,
    excerpts: Annotated[
        list[Path] | None,
        typer.Option(
            "--excerpts",
            metavar="PATH",
            help="judge: files or folders of excerpts, `shipped` for those that ship, as without RUNS.",
        ),
    ] = None,
    is_first_lesson: Annotated[
        bool,
        typer.Option(
            "--first-lesson",
            help="judge: only what excerpts ask of presence, each turn alone: to learn from before the whole set.",
        ),
    ] = False,
    is_plain: Annotated[
        bool, typer.Option("--plain", help="judge: of excerpts only what they ask of presence; faults are an audit's.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="KIND",
            help="judge: a kind of fault that stands nowhere in the set, to see later what a judge makes of it.",
        ),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            "--at-least", min=1, max=5, metavar="X", help="guided: least lower end of a trajectory's mean rating."
        ),
    ] = None,
    best: Annotated[
        int | None, typer.Option("--best", min=1, metavar="N", help="guided: only the N models with the best mean.")
    ] = None,
    beliefs: Annotated[
        bool, typer.Option("--beliefs/--no-beliefs", help="guided: learn what characters believe, too.")
    ] = True,
    rater: Annotated[
        str, typer.Option("--rater", metavar="SPEC", help="reflective: who rates originals and rewrites.")
    ] = "",
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", metavar="SPEC", help="reflective: who rewrites what it played; by default whoever played."
        ),
    ] = None,
    validation: Annotated[
        float | None,
        typer.Option("--validation", min=0, max=0.9, metavar="X", help="Share of the examples; 0.1, and 0 for none."),
    ] = None,
    test: Annotated[
        float | None,
        typer.Option("--test", min=0, max=0.9, metavar="X", help="Share of the examples; 0.1, and 0 for none."),
    ] = None,
    split_as: Annotated[
        Path | None,
        typer.Option("--split-as", metavar="SET", help="Each scene in the split in which another set has it."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Of splits and calls.")] = 0,
    forms: Annotated[
        list[DataForm] | None,
        typer.Option("--format", help="A form beside train.jsonl, with its configuration; several times."),
    ] = None,
    base: Annotated[
        str,
        typer.Option("--base", metavar="ID|DIR|GGUF", help="The model to be trained: its tokenizer counts the tokens."),
    ] = "",
    ledger: Annotated[
        str, typer.Option("--ledger", metavar="PATH|URL", help="The ledger that all runs share; their own by default.")
    ] = "",
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="reflective: most trajectories at once.")
    ] = 2,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    as_json: AsJson = False,
) -> None:
    """Make a data set of what runs hold. A reflective set asks models; run it again to resume."""
    from dramaturg.ledger import Budget
    from dramaturg.train.guided import guided
    from dramaturg.train.narrator import narrator
    from dramaturg.train.reading import read_runs
    from dramaturg.train.reward import reward
    from dramaturg.train.writing import Layout, check_out, write_set

    _check_options(
        kind,
        at_least=at_least,
        best=best,
        rater=rater,
        model=model,
        excerpts=excerpts,
        is_first_lesson=is_first_lesson,
        without=without,
        is_plain=is_plain,
    )
    _refuse_shares(split_as, {"--validation": validation, "--test": test})
    check_out(out, kind.value)
    folders = sorted(set(runs or []))  # the set is the same in whatever order they are named
    if not folders and kind is not DataKind.JUDGE:
        raise UserError(f"a {kind.value} set is made of runs", where="RUNS", allowed="folders of finished runs")
    read = read_runs(folders if kind is not DataKind.JUDGE else [], ledger=ledger)
    gathered: Gathered
    match kind:
        case DataKind.JUDGE:
            gathered = _judge(folders, excerpts, seed, is_first_lesson, frozenset(without or ()), is_plain)
        case DataKind.GUIDED:
            gathered = guided(read, at_least=at_least, best=best, beliefs=beliefs)
        case DataKind.NARRATOR:
            gathered = narrator(read)
        case DataKind.REWARD:
            gathered = reward(read)
        case DataKind.REFLECTIVE:
            budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
            gathered = _reflect(
                read,
                out,
                players=model or _players(read),
                rater=rater,
                seed=seed,
                concurrency=concurrency,
                budget=budget,
            )
        case _:
            assert_never(kind)
    layout = Layout(
        SHARE if validation is None else validation,
        SHARE if test is None else test,
        seed,
        tuple(form.value for form in forms or ()),
        base,
        like=split_as,
    )
    card = write_set(out, kind.value, gathered, layout, sources=[*folders, *(excerpts or ())])
    if as_json:
        say_json({"out": str(out), **card.model_dump(mode="json")})
        return
    _show(card)
    if card.changed_prompts:
        complain(
            f"{len(card.changed_prompts)} prompts of these runs are in other words by now, for example"
            f" {card.changed_prompts[0]}: a model trained on this set learns the older ones"
        )
    say(f"the set and its card are in {out}; prove it again: dramaturg train check {out}")


@app.command("check")
def check(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATHS…", help="Folders of data sets, or files (chat, Alpaca, ShareGPT): each a split."),
    ],
    as_json: AsJson = False,
) -> None:
    """Prove that no scene, character, duplicate or long run of words stands in two splits."""
    from dramaturg.train.checking import check_files

    checked = check_files(paths)
    if as_json:
        say_json(
            {
                "examples": checked.examples,
                "named": checked.named,
                "leaks": [
                    {"kind": one.kind, "what": one.what, "splits": list(one.splits), "places": list(one.places)}
                    for one in checked.leaks
                ],
            }
        )
    else:
        say(", ".join(f"{name}: {count} examples" for name, count in checked.examples.items()))
        unnamed = sum(checked.examples.values()) - checked.named
        if unnamed:
            say(f"{unnamed} examples name no scene: of these, texts alone are compared")
        if not checked.leaks:
            say("nothing stands in two splits")
    for leak in checked.leaks[:SHOWN]:
        complain(f"leak: {leak}")
    if checked.leaks:
        complain(f"{len(checked.leaks)} leaks" + (f", the first {SHOWN} above" if len(checked.leaks) > SHOWN else ""))
        raise Finished(1)


def _check_options(
    kind: DataKind,
    *,
    at_least: float | None,
    best: int | None,
    rater: str,
    model: list[str] | None,
    excerpts: list[Path] | None,
    is_first_lesson: bool,
    without: list[str] | None,
    is_plain: bool,
) -> None:
    if kind is DataKind.REFLECTIVE and not rater:
        raise UserError("a reflective set needs a rater", where="--rater", allowed="a model spec")
    given = {
        "--at-least": (at_least is not None, DataKind.GUIDED),
        "--best": (best is not None, DataKind.GUIDED),
        "--rater": (bool(rater), DataKind.REFLECTIVE),
        "--model": (bool(model), DataKind.REFLECTIVE),
        "--excerpts": (bool(excerpts), DataKind.JUDGE),
        "--first-lesson": (is_first_lesson, DataKind.JUDGE),
        "--without": (bool(without), DataKind.JUDGE),
        "--plain": (is_plain, DataKind.JUDGE),
    }
    for option, (is_given, of_kind) in given.items():
        if is_given and kind is not of_kind:
            raise UserError(f"goes with the kind {of_kind.value} alone", where=option)


def _refuse_shares(split_as: Path | None, shares: Mapping[str, float | None]) -> None:
    given = [option for option, share in shares.items() if share is not None]
    if split_as is not None and given:
        raise UserError(
            "the splits are those of another set, whose sizes are given",
            where=given[0],
            allowed="leave it out, or --split-as",
        )


def _judge(
    audits: list[Path],
    excerpts: list[Path] | None,
    seed: int,
    is_first_lesson: bool,
    without: frozenset[str],
    is_plain: bool,
) -> Gathered:
    from dramaturg.train.judge import excerpts_in, first_lesson, judge_examples, shipped_excerpts, shipped_questions

    if is_first_lesson and audits:
        raise UserError("is made of excerpts alone", where="--first-lesson", allowed="--excerpts, or neither")
    if is_first_lesson and without:
        raise UserError("a first lesson asks about no fault", where="--without", allowed="leave it out")
    chosen = excerpts_in(excerpts) if excerpts else () if audits else shipped_excerpts()
    if is_first_lesson:
        return first_lesson(chosen)
    return judge_examples(chosen, audits, shipped_questions(), seed=seed, without=without, plain=is_plain)


def _players(runs: Runs) -> list[str]:
    """Returns the specs of the models that were measured, as their runs name them."""
    specs = {unit.subject_model for source in runs.sources for unit in source.units if unit.kind == "stage"}
    if not specs:
        raise UserError("no run says who played", where="RUNS", allowed="name who rewrites with --model SPEC")
    return sorted(specs)


def _reflect(
    runs: Runs, out: Path, *, players: list[str], rater: str, seed: int, concurrency: int, budget: Budget
) -> Gathered:
    import asyncio

    from dramaturg.cli.run import open_ledger
    from dramaturg.model.opening import Models
    from dramaturg.text import write_atomically
    from dramaturg.train.reflective import Asking, Reflection, reflective

    with open_ledger(out, "") as store:
        asking = Asking(
            players=tuple(players),
            rater=rater,
            rubric="character",
            calls_of=lambda unit: store.calls(unit=unit, seed=seed, budget=budget),
            concurrency=concurrency,
        )

        async def work() -> tuple[Gathered, list[Reflection]]:
            async with Models() as models:
                return await reflective(runs, models, asking)

        gathered, reflections = asyncio.run(work())
    write_atomically(out / REFLECTIONS, "".join(f"{one.model_dump_json()}\n" for one in reflections))
    complain(
        f"{budget.calls} new calls, {budget.replayed} replayed; what became of each trajectory: {out / REFLECTIONS}"
    )
    return gathered


def _show(card: DataCard) -> None:
    table = figures_table(card.kind, "examples", "scenes", "people", "tokens", "answers", "longest", "> 8192")
    for name, facts in card.splits.items():
        tokens = facts.tokens
        figures = (
            facts.examples,
            len(facts.scenes),
            len(facts.characters),
            tokens.total,
            tokens.answers,
            tokens.most,
            tokens.over_cutoff,
        )
        table.add_row(name, *(f"{figure:,}" for figure in figures))
    show(table)
    say("answers: tokens of the answers alone; > 8192: examples longer than the published cutoff")
    say(f"tokens are {card.tokenizer}")
    for why, count in card.left_out.items():
        say(f"left out: {count} {why}")


def _mount() -> None:
    """Adds the commands that train and compare; they live beside this file."""
    from dramaturg.cli import train_compare, train_run

    app.command("run")(train_run.run)
    app.command("export")(train_run.export)
    app.command("compare")(train_compare.compare)


_mount()
