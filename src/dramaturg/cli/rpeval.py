"""``dramaturg rpeval``: items whose answers are known, put to models and scored."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, say, say_json
from dramaturg.cli.run import AcceptChanges, LedgerAt, MaxCalls, MaxCost, MaxTokens, Out, ReplayOnly

if TYPE_CHECKING:
    from dramaturg.stage.interview import Category, ItemSet
    from dramaturg.text import Json

app = typer.Typer(name="rpeval", help="Ask models items whose answers are known, and score them.", no_args_is_help=True)

HEAD = "# Written by `dramaturg rpeval run`. Go on with it, or change it, by: dramaturg run STUDY --out DIR\n"

UNBALANCED = 0.6
"""Share of one expected answer in a category above which a constant answer scores well."""


class Form(StrEnum):
    """How an answer is to be given."""

    TAG = "tag"
    JSON = "json"
    FREE = "free"


class Condition(StrEnum):
    """To whom an item is put."""

    OWN = "own"
    MESSAGE_ONLY = "message-only"
    SHUFFLED = "shuffled"


class Matcher(StrEnum):
    """Which rule reads replies."""

    ROBUST = "robust"
    COMPAT = "compat"


FORMS = 'tag: "[fear] …"; json: an object, by schema; free: nothing is said of a form.'
CONDITIONS = "own character; or as a control: the message alone, or another character of the set."
MATCHERS = "robust: what a reply means, with a status; compat: the published rule, bit by bit."

SetNamed = Annotated[
    str, typer.Option("--items", metavar="SET", help="A shipped set, its folder, or a JSONL file as published.")
]


@app.command("run")
def run(
    model: Annotated[
        list[str], typer.Option("--model", metavar="SPEC", help="A model to measure; may be given several times.")
    ],
    out: Out,
    items: SetNamed = "crossroads",
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            metavar="NAME|FILE",
            help="How characters are put: bare, period, as-is, or a prompt file; may be given several times.",
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--form", help=FORMS)] = Form.TAG,
    repeats: Annotated[int, typer.Option("--repeats", min=1, max=1000, help="How often every item is asked.")] = 1,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="Ask so many items alone, drawn by category.")
    ] = None,
    condition: Annotated[Condition, typer.Option("--condition", help=CONDITIONS)] = Condition.OWN,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the calls and of the sample.")] = 0,
    max_reply_tokens: Annotated[int, typer.Option("--max-reply-tokens", min=1, help="Most tokens of a reply.")] = 300,
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency", min=1, max=1024, help="Most calls in flight; a spec's ?concurrency= limits them too."
        ),
    ] = 16,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Ask models the items of a set, and report. The study is kept as OUT/study.yaml; run it again to resume."""
    from dramaturg.cli.court_run import subject_of_spec
    from dramaturg.cli.interview import run_interview_study
    from dramaturg.files import dump_yaml
    from dramaturg.stage.interview import STRATEGIES, read_strategy, shipped_sets
    from dramaturg.stage.interview.item_set import find_item_set
    from dramaturg.text import write_atomically

    strategies = strategy or ["bare"]
    with _option("--items"):
        find_item_set(items)
    with _option("--strategy"):
        for name in strategies:
            read_strategy(name)
    study: dict[str, object] = {
        "study": "rpeval",
        "suite": "interview",
        "seed": seed,
        "subjects": [subject_of_spec(spec) for spec in model],
        "items": _absolute(items, shipped_sets()),
        "strategies": [_absolute(name, dict.fromkeys(STRATEGIES, Path())) for name in strategies],
        "form": form.value,
        "condition": condition.value,
        "repeats": repeats,
        "max_tokens": max_reply_tokens,
        "concurrency": concurrency,
    }
    if sample is not None:
        study["sample"] = sample
    with tempfile.TemporaryDirectory(prefix="dramaturg-") as folder:
        path = Path(folder) / "study.yaml"  # the run copies it to OUT once it is sure that OUT is this study's
        write_atomically(path, HEAD + dump_yaml(study))
        run_interview_study(
            path,
            out,
            ledger,
            (max_calls, max_tokens, max_cost),
            as_json=as_json,
            replay_only=replay_only,
            accept_changes=accept_changes,
            command=f"dramaturg run {out / 'study.yaml'} --out {out}",
        )


@app.command("list")
def list_sets(
    sets: Annotated[
        list[str] | None, typer.Argument(metavar="SET...", help="Sets to list; the shipped ones by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List item sets: how many items of each category, how many characters, which labels."""
    from dramaturg.stage.interview import CATEGORIES, read_item_set, shipped_sets

    found = [read_item_set(name) for name in sets or shipped_sets()]
    if as_json:
        together = {category: sum(one.counts()[category] for one in found) for category in CATEGORIES}
        say_json({"counts": together, "sets": [_set_json(one) for one in found]})
        return
    for one in found:
        say(f"{one.id} v{one.version}: {one.title}")
        say(f"  {_counted(one)}; {len(one.labels)} labels")


@app.command("check")
def check(
    items: Annotated[str, typer.Argument(metavar="SET", help="A shipped set, its folder, or a file as published.")],
    as_json: AsJson = False,
) -> None:
    """Check an item set: what cannot be used, and whether one answer alone would score well. Exit code 2 if so."""
    from dramaturg.stage.interview import read_item_set

    item_set = read_item_set(items)
    shares = _most_expected(item_set)
    lopsided = {category: found for category, found in shares.items() if found[1] > UNBALANCED}
    if as_json:
        say_json(
            {
                **_set_json(item_set),
                "most_expected": {
                    category: {"answer": answer, "share": share} for category, (answer, share) in shares.items()
                },
                "sound": not (item_set.problems or lopsided),
            }
        )
    else:
        for problem in item_set.problems:
            say(str(problem))
        for category, (answer, share) in lopsided.items():
            say(f"{category}: {answer!r} is expected of {share:.0%} of the items; at most {UNBALANCED:.0%} is balanced")
        say(f"{item_set.id} v{item_set.version}: {_counted(item_set)}")
    if item_set.problems or lopsided:
        raise Finished(2)


@app.command("import")
def import_set(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSONL of the published RPEval schema.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the item set; made where missing.")],
    name: Annotated[str, typer.Option("--id", metavar="ID", help="Id of the set; the file's name by default.")] = "",
    as_json: AsJson = False,
) -> None:
    """Import a file of the published schema as an item set. What cannot be used is listed, and kept in the folder."""
    from dramaturg.errors import UserError
    from dramaturg.run.spool import writing
    from dramaturg.stage.interview import import_published, write_item_set

    if not file.is_file():
        raise UserError("is no file", where=str(file))
    if out.is_dir() and any(out.iterdir()):
        raise UserError("the folder is not empty", where=str(out), allowed="a new folder")
    item_set = import_published(file, name=name)
    with writing(out):
        write_item_set(out, item_set, card=_card(item_set, file))
    if as_json:
        say_json({"out": str(out), **_set_json(item_set)})
        return
    for problem in item_set.problems:
        say(str(problem))
    say(f"{out}: {_counted(item_set)}")
    say("decision holds the moral items too: the published schema does not tell them apart")


@app.command("score")
def score(
    responses: Annotated[
        Path, typer.Argument(metavar="RESPONSES", help="replies.jsonl of a run, or a published response file.")
    ],
    items: SetNamed,
    matcher: Annotated[Matcher, typer.Option("--matcher", help=MATCHERS)] = Matcher.ROBUST,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out replies to items that the set does not have.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write report.html and scores.csv there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score replies that lie in a file; no model is needed."""
    from dramaturg.cli.interview import PAGE, show_interview_report, write_interview_pages
    from dramaturg.report.interview import to_json
    from dramaturg.report.interview.folder import report_of_replies
    from dramaturg.stage.interview import read_item_set

    report = report_of_replies(
        responses,
        read_item_set(items),
        command=f"dramaturg rpeval score {responses} --items {items}",
        matcher=matcher.value,
        skip_unknown=skip_unknown,
    )
    if out is not None:
        write_interview_pages(report, out)
    if as_json:
        say_json(to_json(report))
    else:
        show_interview_report(report, None if out is None else out / PAGE)


@contextmanager
def _option(option: str) -> Generator[None]:
    """Names the option, and not the study that is made of it, where its value means nothing."""
    from dramaturg.errors import ContentError

    try:
        yield
    except ContentError as error:
        raise ContentError(error.what, where=error.where or option, allowed=error.allowed) from None


def _absolute(name: str, known: Mapping[str, Path]) -> str:
    """Returns a name as it is, and a path so that it means the same from every folder."""
    return name if name in known or not Path(name).exists() else str(Path(name).resolve())


def _counted(item_set: ItemSet) -> str:
    """Returns how many items, characters and problems a set has, for people."""
    items = ", ".join(f"{count} {category}" for category, count in item_set.counts().items() if count) or "no item"
    return f"{items}; {len(item_set.characters)} characters; {len(item_set.problems)} cannot be used"


def _set_json(item_set: ItemSet) -> dict[str, Json]:
    return {
        "id": item_set.id,
        "title": item_set.title,
        "version": item_set.version,
        "language": item_set.head.language,
        "licence": item_set.head.licence,
        "counts": {category: count for category, count in item_set.counts().items()},
        "characters": len(item_set.characters),
        "labels": list(item_set.labels),
        "problems": [problem.model_dump() for problem in item_set.problems],
        "digest": item_set.digest,
    }


def _most_expected(item_set: ItemSet) -> dict[Category, tuple[str, float]]:
    """Returns the answer that is expected most in each category that has one, with its share."""
    from collections import Counter, defaultdict

    expected: dict[Category, Counter[str]] = defaultdict(Counter)
    for item in item_set.sound_items():
        if item.expected:
            expected[item.category][item.expected] += 1
    shares: dict[Category, tuple[str, float]] = {}
    for category, answers in expected.items():
        ((answer, count),) = answers.most_common(1)
        shares[category] = (answer, count / answers.total())
    return shares


def _card(item_set: ItemSet, file: Path) -> str:
    """Returns the card of an imported set: what it is, and what of it cannot be used."""
    counts = "\n".join(f"- {category}: {count}" for category, count in item_set.counts().items())
    problems = "\n".join(f"- {problem}" for problem in item_set.problems) or "Nothing."
    return (
        f"# {item_set.title}\n\nImported from `{file.name}`, a file of the published RPEval schema. Its licence and "
        "the origin of its labels are not in the file. Characters are the system messages, word for word; decision "
        f"holds the moral items too.\n\n{counts}\n- characters: {len(item_set.characters)}\n\n"
        f"## What cannot be used\n\n{problems}\n"
    )
