"""``dramaturg court cases``: list, show, check, generate, import and export court cases."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, console, say, say_json
from dramaturg.cli.run import MaxCalls, MaxCost, MaxTokens, ReplayOnly

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from dramaturg.ledger import Budget, Ledger
    from dramaturg.stage.court.case import AnyCase
    from dramaturg.stage.court.cases import Corpus, CorpusPlan, Entry

app = typer.Typer(
    help="List, show, check, generate, import and export cases.", no_args_is_help=True, rich_markup_mode=None
)

CaseName = Annotated[str, typer.Argument(metavar="FILE|NAME", help="A case: a shipped name or a path.")]


@app.command("list")
def list_cases(
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[FOLDER]…", help="Folders with cases; the shipped ones by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List cases: name, language, kind, people, title; and how different they are."""
    from dramaturg.files import shipped
    from dramaturg.stage.court.case import read_case
    from dramaturg.stage.court.cases import diversity

    paths = list(shipped("cases").values()) if folders is None else [p for folder in folders for p in _cases_in(folder)]
    cases = [read_case(path) for path in paths]
    spread = diversity(cases)
    if as_json:
        listed = [{**_summary(case), "file": str(path)} for case, path in zip(cases, paths, strict=True)]
        say_json({"cases": listed, "diversity": spread.as_json("cases")})
        return
    for case in cases:
        say(f"{case.id}  {case.language}  {case.made_for}  {len(case.everybody)} people  {case.title}")
    say(spread.in_words("cases"))


@app.command()
def show(case: CaseName, as_json: AsJson = False) -> None:
    """Show a case whole, with what witnesses know and hide."""
    from dramaturg.files import find
    from dramaturg.stage.court import load_procedure
    from dramaturg.stage.court.case import read_case
    from dramaturg.stage.court.record import reference

    found = read_case(find("cases", case, where="FILE|NAME"))
    if as_json:
        say_json(found.model_dump(mode="json"))
        return
    say(reference(found, load_procedure(found.made_for)))


@app.command()
def check(
    cases: Annotated[list[str], typer.Argument(metavar="FILE|NAME…", help="Cases: shipped names, paths or folders.")],
    as_json: AsJson = False,
) -> None:
    """Check cases without a model. Errors end with exit code 1, warnings with 0."""
    from dramaturg.stage.court.cases import check_file, has_errors

    paths = [path for name in cases for path in _paths(name)]
    checked = [(path, *check_file(path)) for path in paths]
    if as_json:
        say_json(
            [
                {
                    "file": str(path),
                    "id": case.id if case is not None else "",
                    "findings": [finding.as_json() for finding in findings],
                }
                for path, case, findings in checked
            ]
        )
    else:
        for path, case, findings in checked:
            name = case.id if case is not None else str(path)
            say(f"{name}: {_count(len(findings), 'finding')}" if findings else f"{name}: nothing found")
            for finding in findings:
                say(f"  {finding}")
    if any(has_errors(findings) for _, _, findings in checked):
        raise Finished(1)


@app.command()
def generate(
    model: Annotated[
        str, typer.Option("--model", metavar="SPEC|template", help="Who writes: a model, or `template` for none.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the corpus is written.")],
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", metavar="TEXT", help="What a case is about; several are taken by turns."),
    ] = None,
    count: Annotated[int, typer.Option("-n", min=1, max=100_000, metavar="N", help="How many cases.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, metavar="S", help="Of the corpus.")] = 1,
    language: Annotated[str, typer.Option("--language", metavar="CODE", help="en, it or zh.")] = "en",
    repairs: Annotated[
        int, typer.Option("--repairs", min=0, max=10, metavar="K", help="Most rounds of critique and repair of a case.")
    ] = 1,
    critic: Annotated[
        str, typer.Option("--critic", metavar="SPEC", help="Who reads; the model itself by default.")
    ] = "",
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=1024, metavar="N", help="Most cases at once.")
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
    """Write a corpus of cases: generated, checked, criticised, repaired, without near-duplicates.

    Run it again to resume; with a larger -n to make it grow.
    """
    import asyncio

    from dramaturg.errors import UserError
    from dramaturg.ledger import Budget, Ledger
    from dramaturg.stage.court.cases import CorpusPlan, known_language, make_corpus, template_author
    from dramaturg.stage.court.cases.generating import checked_prior
    from dramaturg.stage.court.cases.template import NAME

    by_template = model == NAME
    try:
        priors = tuple(map(checked_prior, prior or ()))
    except ValueError as error:
        raise UserError(str(error), where="--prior") from None
    if not priors and not by_template:
        raise UserError("says not what the cases are about", where="--prior", allowed='for example "a theft in a shop"')
    known = known_language(language, where="--language")
    reader = "" if by_template or not repairs else critic or model
    plan = CorpusPlan(priors, count, seed, known, model, reader, 0 if by_template else repairs)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    if by_template:
        with _progress(count) as on_entry:
            corpus = asyncio.run(make_corpus(plan, out, template_author, on_entry=on_entry))
    else:
        with Ledger.open(ledger or out / "ledger.db", replay_only=replay_only) as store, _progress(count) as on_entry:
            corpus = asyncio.run(_by_model(plan, out, store, budget, concurrency, on_entry))
    _tell(corpus, out, budget, as_json=as_json)


async def _by_model(
    plan: CorpusPlan, out: Path, store: Ledger, budget: Budget, concurrency: int, on_entry: Callable[[Entry], None]
) -> Corpus:
    from dramaturg.model.opening import Models
    from dramaturg.stage.court.cases import make_corpus, model_author

    async with Models() as models:
        writer = await models.open(plan.model)
        reader = await models.open(plan.critic or plan.model)
        budget.check_prices({plan.model: writer.identity, plan.critic or plan.model: reader.identity})
        author = model_author(writer, reader, store, budget, seed=plan.seed, repairs=plan.repairs)
        return await make_corpus(plan, out, author, concurrency=concurrency, on_entry=on_entry)


def _tell(corpus: Corpus, out: Path, budget: Budget, *, as_json: bool) -> None:
    figures = corpus.figures()
    if as_json:
        say_json({"out": str(out), **corpus.as_json(), "calls": budget.calls, "replayed": budget.replayed})
    else:
        say(
            f"{out}: {figures['kept']} of {figures['planned']} cases kept "
            f"({figures['passed_at_once']} passed the checks at once, {figures['passed_by_repair']} after repair); "
            f"{figures['rejected']} rejected, {figures['duplicate']} near-duplicates, {figures['failed']} failed, "
            f"{figures['stopped']} stopped"
        )
        say(corpus.spread.figures().in_words("cases"))
        say(f"{budget.calls} new calls, {budget.replayed} replayed")
        failed = next((entry for entry in corpus.entries if entry.status == "failed"), None)
        if failed is not None:
            say(f"case {failed.number} failed: {failed.detail}")
        first = next((entry for entry in corpus.entries if entry.status == "stopped"), None)
        if first is not None:
            say(f"case {first.number} stopped: {first.detail}; run the same command again to go on")
    if figures["stopped"] or not figures["kept"]:
        raise Finished(2)


@app.command("import")
def import_cases(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A case file of LLM Court (JSON).")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the cases are written.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace cases that lie there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Import LLM Court's own JSON; what our form has no place for is kept in `origin`."""
    from dramaturg.errors import UserError
    from dramaturg.stage.court.cases import case_yaml, check_case, read_llm_court
    from dramaturg.text import write_atomically

    cases = read_llm_court(file)
    written = [(case, out / f"{case.id}.yaml") for case in cases]
    for _, path in written:
        if path.exists() and not overwrite:
            raise UserError("lies there already", where=str(path), allowed="--overwrite, or another --out")
    for case, path in written:
        write_atomically(path, case_yaml(case))
    if as_json:
        say_json(
            [
                {**_summary(case), "file": str(path), "findings": [found.as_json() for found in check_case(case)]}
                for case, path in written
            ]
        )
        return
    for case, path in written:
        findings = check_case(case)
        say(f"{path}: {case.title} ({_count(len(findings), 'finding')})")
        for finding in findings:
            say(f"  {finding}")


@app.command("export")
def export_cases(
    cases: Annotated[list[str], typer.Argument(metavar="FILE|NAME…", help="Court cases: shipped names or paths.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the JSON is written; printed by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Export cases as LLM Court's JSON, in one list; an imported case comes out as it came in."""
    import json

    from dramaturg.errors import UserError
    from dramaturg.files import find
    from dramaturg.stage.court.case import Case, read_case
    from dramaturg.stage.court.cases import to_llm_court
    from dramaturg.text import write_atomically

    objects: list[dict[str, object]] = []
    for name in cases:
        path = find("cases", name, where="FILE|NAME")
        case = read_case(path)
        if not isinstance(case, Case):
            raise UserError("is no court case; LLM Court has no other", where=str(path))
        objects.append(dict(to_llm_court(case)))
    text = json.dumps(objects, ensure_ascii=False, indent=2)
    if out is None:
        say(text)
        return
    write_atomically(out, f"{text}\n")
    if as_json:
        say_json({"file": str(out), "cases": len(objects)})
    else:
        say(f"{out}: {_count(len(objects), 'case')}")


def _cases_in(folder: Path) -> list[Path]:
    """Returns the YAML files of a folder, or of its ``cases`` where it holds a corpus.

    Raises:
        UserError: There is none.
    """
    from dramaturg.errors import UserError

    inside = folder / "cases"
    paths = sorted((inside if inside.is_dir() else folder).glob("*.yaml")) if folder.is_dir() else []
    if not paths:
        raise UserError("holds no cases", where=str(folder), allowed="a folder with .yaml files, or that of a corpus")
    return paths


def _paths(name: str) -> list[Path]:
    from dramaturg.files import find

    return _cases_in(Path(name)) if Path(name).is_dir() else [find("cases", name, where="FILE|NAME")]


@contextmanager
def _progress(count: int) -> Generator[Callable[[Entry], None], None, None]:
    """Shows on a terminal how far a corpus is."""
    with console(stderr=True).status(f"case 0 of {count}") as status:
        yield lambda entry: status.update(f"case {entry.number} of {count}: {entry.id or entry.status}")


def _summary(case: AnyCase) -> dict[str, str | int]:
    return {
        "id": case.id,
        "title": case.title,
        "language": case.language,
        "made_for": case.made_for,
        "people": len(case.everybody),
        "evidence": len(case.evidence),
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
