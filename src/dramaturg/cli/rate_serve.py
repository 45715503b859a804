"""``dramaturg rate serve``: people rate played roles in their browsers, on the scales that judges use."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, complain, say, say_json
from dramaturg.cli.raters import say_link, say_raters

if TYPE_CHECKING:
    from dramaturg.report.rating.reliability import NamedTable
    from dramaturg.web.rating.store import RatingStore

DEFAULT_PORT = 8644

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the campaign: the --out of `rate serve`.")]
Ratings = Annotated[
    list[Path] | None,
    typer.Option("--ratings", metavar="DIR", help="A rating of the same transcripts by a judge, to compare with."),
]

raters = typer.Typer(
    help="People who rate by name, each with a personal link.", no_args_is_help=True, rich_markup_mode=None
)


def serve(
    sources: Annotated[
        list[Path], typer.Argument(metavar="RUN|TRANSCRIPTS…", help="Folders of runs, or files of transcripts.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the campaign; serve again to go on.")],
    rubric: Annotated[
        str, typer.Option("--rubric", metavar="NAME|FILE", help="What is rated: character, narrator, or a file.")
    ] = "character",
    people: Annotated[
        int, typer.Option("--people", min=0, metavar="N", help="Each role is rated by N people; 0: by all who come.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the order in which each person sees roles.")] = 0,
    ratings: Ratings = None,
    raters_only: Annotated[bool, typer.Option("--raters-only", help="Only people with a link may rate.")] = False,
    owner_password_file: Annotated[
        Path | None,
        typer.Option("--owner-password-file", metavar="FILE", help="Password of the progress page, or its hash."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = DEFAULT_PORT,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="A proxy on this machine stands in front and says who asks.")
    ] = False,
) -> None:
    """Let people rate played roles in their browsers until Ctrl-C."""
    import importlib.util

    from dramaturg.errors import MissingExtraError

    if any(importlib.util.find_spec(needed) is None for needed in ("starlette", "uvicorn", "argon2")):
        raise MissingExtraError("dramaturg rate serve", "web")
    from dramaturg.web.guard import is_loopback
    from dramaturg.web.listening import address_of, listen
    from dramaturg.web.rating.agreement import judges_of
    from dramaturg.web.rating.app import rating_app
    from dramaturg.web.rating.campaign import RatingRules, rating_campaign
    from dramaturg.web.rating.store import RatingStore
    from dramaturg.web.survey.door import read_password
    from dramaturg.web.survey.serving import is_only_here
    from dramaturg.web.survey.serving import serve as serve_app

    rules = RatingRules(people=people, seed=seed, raters_only=raters_only)
    campaign = rating_campaign(sources, rules, rubric=rubric)
    judges = judges_of(ratings or (), {role.key: role.digest for role in campaign.roles.values()})
    owner = read_password(owner_password_file) if owner_password_file is not None else ""
    with closing(RatingStore.in_folder(out, create=True)) as store, listen(host, port) as sock:
        store.begin(campaign)
        address = address_of(sock)
        here = is_loopback(sock.getsockname()[0])
        say(f"{address}  ({'this machine alone can open it; ' if here and not proxy else ''}Ctrl-C ends)")
        say(f"{address}progress  ({'for the owner' if owner else 'off: no --owner-password-file'})")
        if not here and not proxy:
            complain("warning: without a proxy that speaks HTTPS, ratings and personal links travel in the clear")
        only_here = is_only_here(sock, proxy=proxy)
        app = rating_app(campaign, store, owner=owner, judges=judges, only_here=only_here)
        serve_app(sock, app, proxy=proxy)


def export(
    folder: Folder,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="JSON Lines where its name ends in .jsonl, else CSV.")
    ],
    as_json: AsJson = False,
) -> None:
    """Write people's ratings, for `audit reliability --people`."""
    from dramaturg.web.rating.export import ratings_csv, ratings_jsonl, rows_of
    from dramaturg.web.rating.progress import sheets_of

    with closing(_open(folder)) as store:
        sheets = sheets_of(store)
    text = ratings_jsonl(sheets) if out.suffix.lower() == ".jsonl" else ratings_csv(sheets)
    part = out.with_name(f"{out.name}.part")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    rows = list(rows_of(sheets))
    rated = sum(row["rating"] is not None for row in rows)
    if as_json:
        say_json({"file": str(out), "ratings": rated, "missing": len(rows) - rated})
    else:
        say(f"{out}: {rated:,} ratings, {len(rows) - rated:,} missing")


def agreement(
    folder: Folder,
    ratings: Ratings = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the resampling of intervals.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Show how far people agree with each other, and judges with them."""
    from dataclasses import asdict

    from dramaturg.cli.rate import Format, print_layouts
    from dramaturg.errors import UserError
    from dramaturg.report import exports
    from dramaturg.web.rating.agreement import agreement_layouts, agreement_of, judges_of
    from dramaturg.web.rating.progress import digests_of, sheets_of, values_by_person

    with closing(_open(folder)) as store:
        sheets, digests, rubrics = sheets_of(store), digests_of(store), store.rubrics()
    people = values_by_person(sheets)
    if not people:
        raise UserError("nobody has handed in a rating yet", where=str(folder))
    rubric = next(iter(rubrics.values()))
    judges: tuple[NamedTable, ...] = judges_of(ratings or (), digests)
    scenes = {sheet.key: sheet.scene for sheet in sheets}
    metrics = [metric.id for metric in rubric.metrics]
    found = agreement_of(people, metrics=metrics, scenes=scenes, judges=judges, seed=seed)
    layouts = agreement_layouts(found, rubric)
    if as_json:
        say_json({**asdict(found), "tables": exports.as_json(layouts)})
    else:
        print_layouts(layouts, Format.TERMINAL)


@raters.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Stands in the export.")],
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the campaign.")],
    address: Annotated[
        str, typer.Option("--address", metavar="URL", help="Where the pages are, for the link.")
    ] = f"http://127.0.0.1:{DEFAULT_PORT}/",
    as_json: AsJson = False,
) -> None:
    """Make a person who rates by name, and print the personal link; it is shown this once."""
    from dramaturg.web.rating.store import RatingStore
    from dramaturg.web.survey.raters import add_rater

    with closing(RatingStore.in_folder(folder, create=True)) as store:
        key = add_rater(store, name)
    say_link(name, key, address=address, as_json=as_json)


@raters.command("remove")
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who rates.")],
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the campaign.")],
) -> None:
    """Make a personal link good no more; the ratings stay."""
    from dramaturg.web.survey.raters import remove_rater

    with closing(_open(folder)) as store:
        remove_rater(store, name)
    say(f"{name}: removed")


@raters.command("list")
def list_all(
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the campaign.")],
    as_json: AsJson = False,
) -> None:
    """List the people who rate by name."""
    from dramaturg.web.survey.raters import list_raters

    with closing(_open(folder)) as store:
        found = list_raters(store)
    say_raters(
        found,
        gave="sheets",
        nobody="nobody yet; `dramaturg rate rater add NAME` makes a personal link",
        as_json=as_json,
    )


def _open(folder: Path) -> RatingStore:
    from dramaturg.web.rating.store import RatingStore

    return RatingStore.in_folder(folder)
