"""``dramaturg checklist``: write a benchmark, build a checklist of it, see what was done, find what is doubtful."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, console, say, say_json, show
from dramaturg.cli.run import MaxCalls, MaxCost, MaxTokens, ReplayOnly

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from contextlib import AbstractContextManager

    from dramaturg.judge.checklist import Checklist
    from dramaturg.judge.checklist.benchmark import Benchmark
    from dramaturg.judge.checklist.build import Account, Built, Change, Entry, Lint
    from dramaturg.model import Model
    from dramaturg.model.embeddings import Embedder
    from dramaturg.text import Json

app = typer.Typer(
    help="Build a checklist from a benchmark, lint it, and see what each stage did.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Compare(StrEnum):
    """What tells which questions mean the same."""

    AUTO = "auto"
    NONE = "none"


EMBEDDER = "What compares questions: the model's server or the bundled embedder where there is one, or words alone."
FILE = "A checklist: a shipped name or a path."
STAGE_TITLES = {
    "augmentation": "unfit",
    "rules": "rules",
    "alike": "alike",
    "model": "model",
    "limit": "limit",
    "person": "person",
}


@app.command()
def new(file: Annotated[Path, typer.Argument(help="Where to write it.")]) -> None:
    """Write a commented benchmark file to start from."""
    from dramaturg.errors import UserError
    from dramaturg.files import read_text, shipped
    from dramaturg.text import write_atomically

    if file.exists():
        raise UserError("lies there already", where=str(file), allowed="a new file")
    write_atomically(file, read_text(shipped("starters")["benchmark"]))
    say(f"{file}: replace every value, then: dramaturg checklist build {file} --model SPEC --out CHECKLIST.yaml")


@app.command()
def build(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="A benchmark: a shipped name or a path.")],
    model: Annotated[str, typer.Option("--model", metavar="SPEC", help="The model that writes and filters.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the checklist is written (.yaml).")],
    most: Annotated[int, typer.Option("--most", min=3, help="Most indicators of a sub-dimension.")] = 8,
    embedder: Annotated[Compare, typer.Option("--embedder", help=EMBEDDER)] = Compare.AUTO,
    ledger: Annotated[
        str, typer.Option("--ledger", metavar="PATH|URL", help="Where answers are kept; beside FILE by default.")
    ] = "",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a checklist that a person wrote or changed.")
    ] = False,
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
) -> None:
    """Make a checklist of a benchmark's seeds: augment, filter, write it with the account of every removal.

    Run it again to resume, or after writing `keep` or `remove` into FILE's account.
    """
    import asyncio

    from dramaturg.files import find, load_yaml
    from dramaturg.judge.checklist.benchmark import Benchmark
    from dramaturg.judge.checklist.build import build_checklist, expected_calls, lint, read_before, write_built
    from dramaturg.ledger import Budget, Ledger
    from dramaturg.model.opening import Models

    stage_1 = load_yaml(find("benchmarks", benchmark, where="BENCHMARK"), Benchmark)
    before = read_before(out, stage_1, overwrite=overwrite)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    kept_at = ledger or out.with_name(f"{out.stem}.ledger.db")

    async def work(store: Ledger) -> tuple[Built, list[Lint]]:
        async with Models() as models:
            writer = await models.open(model)
            budget.check_prices({model: writer.identity})
            comparer = await _embedder(embedder, writer)
            with _progress(f"{stage_1.id}: at least {expected_calls(stage_1)} calls") as on_progress:
                built = await build_checklist(
                    stage_1,
                    writer,
                    comparer,
                    lambda unit: store.calls(unit=unit, seed=0, budget=budget),
                    most=most,
                    before=before,
                    on_progress=on_progress,
                )
            return built, await lint(built.checklist, comparer, benchmark=stage_1)

    with Ledger.open(kept_at, replay_only=replay_only) as store:
        built, doubtful = asyncio.run(work(store))
    write_built(out, built)
    if as_json:
        say_json(
            {
                "checklist": str(out),
                "version": built.checklist.version,
                "hash": built.checklist.hash,
                **_account_json(built.account),
                "lint": [_lint_json(one) for one in doubtful],
                "calls": budget.calls,
                "replayed": budget.replayed,
            }
        )
        return
    _show_account(built.account)
    _show_lint(doubtful)
    say(f"{out}: {len(built.checklist.indicators)} indicators, version {built.checklist.version}")
    say(f"{budget.calls} new calls, {budget.replayed} replayed")


@app.command()
def lint(
    checklist: Annotated[str, typer.Argument(metavar="FILE|NAME", help=FILE)],
    benchmark: Annotated[
        str,
        typer.Option(
            "--benchmark", metavar="FILE|NAME", help="Says which roles people play; found by name by default."
        ),
    ] = "",
    embedder: Annotated[Compare, typer.Option("--embedder", help=EMBEDDER)] = Compare.AUTO,
    as_json: AsJson = False,
) -> None:
    """Find indicators that are doubtful. Errors end with exit code 1, warnings with 0."""
    import asyncio

    from dramaturg.files import find, load_yaml
    from dramaturg.judge.checklist import Checklist
    from dramaturg.judge.checklist.build import lint as lint_checklist

    path = find("checklists", checklist, where="FILE|NAME")
    loaded = load_yaml(path, Checklist)

    async def work() -> list[Lint]:
        return await lint_checklist(
            loaded,
            await _embedder(embedder, None),
            benchmark=_benchmark(benchmark, loaded),
            source=_source(loaded, path),
        )

    found = asyncio.run(work())
    errors = sum(one.severity == "error" for one in found)
    if as_json:
        counted = {"errors": errors, "warnings": len(found) - errors}
        say_json({"checklist": str(path), **counted, "findings": [_lint_json(one) for one in found]})
    else:
        _show_lint(found)
        say(f"{loaded.id}: {len(loaded.indicators)} indicators, {errors} errors, {len(found) - errors} warnings")
    if errors:
        raise Finished(1)


@app.command()
def diff(
    checklist: Annotated[Path, typer.Argument(metavar="FILE", help="A checklist that was built.")],
    other: Annotated[
        str | None, typer.Argument(metavar="[OTHER]", help="A second checklist, to compare FILE with.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what each stage of a build did to every question; or what differs between two checklists."""
    from dramaturg.errors import UserError
    from dramaturg.files import find, load_yaml
    from dramaturg.judge.checklist import Checklist
    from dramaturg.judge.checklist.build import account_path, compare, read_account

    if other is not None:
        old = load_yaml(find("checklists", str(checklist), where="FILE"), Checklist)
        changes = compare(old, load_yaml(find("checklists", other, where="OTHER"), Checklist))
        if as_json:
            say_json({"changes": [_change_json(change) for change in changes]})
        else:
            _show_changes(changes)
        return
    account = read_account(checklist)
    if account is None:
        raise UserError(
            f"no account lies beside it ({account_path(checklist).name})",
            where=str(checklist),
            allowed="a checklist that `dramaturg checklist build` wrote, or two checklists to compare",
        )
    if as_json:
        say_json(_account_json(account))
    else:
        _show_account(account)


async def _embedder(wanted: Compare, model: Model | None) -> Embedder:
    from dramaturg.model.embeddings import WordsOnly, open_embedder

    return WordsOnly() if wanted is Compare.NONE else await open_embedder(model)


def _benchmark(named: str, checklist: Checklist) -> Benchmark | None:
    """Returns the benchmark that is named, else the shipped one that a checklist comes from; None where none is."""
    from dramaturg.files import find, load_yaml, shipped
    from dramaturg.judge.checklist.benchmark import Benchmark

    if named:
        return load_yaml(find("benchmarks", named, where="--benchmark"), Benchmark)
    source = checklist.translation.source if checklist.translation else checklist.id
    path = shipped("benchmarks").get(checklist.benchmark.partition("@")[0] or source)
    return load_yaml(path, Benchmark) if path is not None else None


def _source(checklist: Checklist, path: Path) -> Checklist | None:
    """Returns the checklist that one was translated from: the file beside it, or the shipped one."""
    from dramaturg.errors import ContentError
    from dramaturg.files import find, load_yaml
    from dramaturg.judge.checklist import Checklist

    if checklist.translation is None:
        return None
    name = checklist.translation.source
    beside = path.with_name(f"{name}.yaml")
    try:
        return load_yaml(beside if beside.is_file() else find("checklists", name), Checklist)
    except ContentError:
        return None


def _progress(title: str) -> AbstractContextManager[Callable[[str, int, int], None]]:
    """Returns a live display on a terminal, plain lines elsewhere."""
    import sys
    from contextlib import contextmanager, nullcontext

    steps = {"seeds": "augmenting, seed by seed", "filter": "filtering, place by place"}
    if not sys.stderr.isatty():

        def tell(what: str, done: int, total: int) -> None:
            print(f"{title}: {steps[what]}: {done} of {total}", file=sys.stderr, flush=True)

        return nullcontext(tell)

    @contextmanager
    def live() -> Generator[Callable[[str, int, int], None]]:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console(stderr=True)) as progress:
            tasks = {name: progress.add_task(text, total=None, start=False) for name, text in steps.items()}

            def update(what: str, done: int, total: int) -> None:
                progress.start_task(tasks[what])
                progress.update(tasks[what], completed=done, total=total)

            yield update

    return live()


def _show_account(account: Account) -> None:
    from rich.table import Table

    from dramaturg.judge.checklist.build import counts

    table = Table("place", "seeds", "sides", "parts", *STAGE_TITLES.values(), "kept", "seeds", padding=(0, 0))
    for count in counts(account):
        gone = [f"-{count.gone[stage]}" if stage in count.gone else "" for stage in STAGE_TITLES]
        made = (count.seeds, count.diversified, count.elaborated)
        table.add_row(count.place, *map(str, made), *gone, str(count.kept), str(count.kept_seeds))
    for place, entries in _by_place(account).items():
        say(f"\n{place}")
        for entry in entries:
            mark = {"kept": "+", "removed": "-", "merged": "="}[entry.decision]
            origin = entry.provenance.strategy if not entry.provenance.number else f"part {entry.provenance.number}"
            why = f"\n      {entry.stage or ''}: {entry.reason}" if entry.reason else ""
            say(f"  {mark} {entry.id or origin:<14} {entry.text}{why}")
    say("\nwritten: seeds, sides (diversification), parts (elaboration); removed: by stage; kept, and seeds among them")
    show(table)
    say(f"written by {account.model}; compared by {account.compared_by}")
    if account.refused:
        say(f"the model named {account.refused} questions that it was not given: refused")
    for note in account.notes:
        say(f"note: {note}")


def _by_place(account: Account) -> dict[str, list[Entry]]:
    places: dict[str, list[Entry]] = {}
    for entry in account.questions:
        places.setdefault(entry.place, []).append(entry)
    return places


def _show_lint(found: Sequence[Lint]) -> None:
    for one in found:
        say(f"{one.severity}: {one.indicator or 'checklist'}: {one.rule}: {one.detail}")


def _show_changes(changes: Sequence[Change]) -> None:
    marks = {"added": "+", "removed": "-", "changed": "~"}
    for change in changes:
        say(f"{marks[change.kind]} {change.id}: {change.text}")
        for key, (old, new) in change.fields.items():
            say(f"    {key}: {old!r} -> {new!r}")
    say(f"{len(changes)} differences" if changes else "no indicator differs")


def _account_json(account: Account) -> dict[str, Json]:
    from dataclasses import asdict

    from dramaturg.judge.checklist.build import counts

    kept = [entry for entry in account.questions if entry.kept]
    return {
        **account.model_dump(mode="json", exclude={"questions", "checklist"}),
        "indicators": len(kept),
        "seeds": sum(entry.is_seed for entry in kept),
        "places": [asdict(count) for count in counts(account)],
        "questions": [{"place": entry.place, **entry.model_dump(mode="json")} for entry in account.questions],
    }


def _lint_json(one: Lint) -> Json:
    return {"severity": one.severity, "rule": one.rule, "indicator": one.indicator, "detail": one.detail}


def _change_json(change: Change) -> Json:
    fields = {key: {"old": old, "new": new} for key, (old, new) in change.fields.items()}
    return {"kind": change.kind, "id": change.id, "text": change.text, "fields": fields}
