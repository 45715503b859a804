"""``dramaturg annotate``: people answer the items of a set in their browsers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, complain, figures_table, say, say_json, show
from dramaturg.cli.raters import say_link, say_raters

if TYPE_CHECKING:
    from dramaturg.web.annotation.store import Store

DEFAULT_PORT = 8643
SHORTEST_PASSWORD = 10

app = typer.Typer(
    help="Let people answer the items of a set: serve the pages, watch the progress, export the votes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
raters = typer.Typer(help="Named raters, each with a personal link.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(raters, name="rater")

Db = Annotated[
    str, typer.Option("--db", metavar="PATH|URL", help="The campaign's SQLite file, or postgresql://USER@HOST/NAME.")
]
DEFAULT_DB = "annotation.db"


@app.command()
def serve(
    item_set: Annotated[str, typer.Argument(metavar="SET", help="Item set: a shipped name, a folder, or a file.")],
    db: Db = DEFAULT_DB,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = DEFAULT_PORT,
    owner_password_file: Annotated[
        Path | None,
        typer.Option("--owner-password-file", metavar="FILE", help="Password of the progress page, or its hash."),
    ] = None,
    honeypots: Annotated[
        Path | None, typer.Option("--honeypots", metavar="FILE", help="Items whose answer is beyond doubt, as JSONL.")
    ] = None,
    honeypot_every: Annotated[
        int, typer.Option("--honeypot-every", min=1, metavar="N", help="One item in N is a honeypot.")
    ] = 8,
    guideline: Annotated[
        Path | None, typer.Option("--guideline", metavar="FILE", help="Your own text for raters.")
    ] = None,
    minimum_seconds: Annotated[
        float, typer.Option("--minimum-seconds", min=0.0, metavar="S", help="Faster answers are marked.")
    ] = 3.0,
    enough: Annotated[
        int,
        typer.Option("--enough", min=0, metavar="N", help="An item with N answers is not shown any more; 0: always."),
    ] = 0,
    raters_only: Annotated[bool, typer.Option("--raters-only", help="Only named raters may answer.")] = False,
    per_browser: Annotated[
        int, typer.Option("--per-browser", min=0, metavar="N", help="Answers a minute from one browser; 0: any number.")
    ] = 40,
    per_address: Annotated[
        int, typer.Option("--per-address", min=0, metavar="N", help="Answers a minute from one address; 0: any number.")
    ] = 400,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="A proxy on this machine stands in front and says who asks.")
    ] = False,
) -> None:
    """Serve the annotation pages until Ctrl-C."""
    import importlib.util

    from dramaturg.errors import MissingExtraError
    from dramaturg.files import read_text
    from dramaturg.stage.interview.item_set import read_item_set

    if any(importlib.util.find_spec(needed) is None for needed in ("starlette", "uvicorn", "argon2")):
        raise MissingExtraError("dramaturg annotate serve", "web")
    from dramaturg.web.annotation.campaign import Rules, campaign_of
    from dramaturg.web.annotation.serving import serve as serve_on
    from dramaturg.web.annotation.store import Store
    from dramaturg.web.guard import is_loopback
    from dramaturg.web.listening import address_of, listen
    from dramaturg.web.survey.door import read_password

    rules = Rules(
        minimum_s=minimum_seconds,
        enough=enough,
        honeypot_every=honeypot_every,
        most_by_browser=per_browser,
        most_by_address=per_address,
        raters_only=raters_only,
    )
    text = read_text(guideline) if guideline is not None else ""
    campaign = campaign_of(read_item_set(item_set), rules, honeypots=honeypots, guideline=text)
    owner = read_password(owner_password_file) if owner_password_file is not None else ""
    with closing(Store.open(db, create=True)) as store, listen(host, port) as sock:
        store.begin(campaign)
        address = address_of(sock)
        here = is_loopback(sock.getsockname()[0])
        say(f"{address}  ({'this machine alone can open it; ' if here and not proxy else ''}Ctrl-C ends)")
        say(f"{address}progress  ({'for the owner' if owner else 'off: no --owner-password-file'})")
        if not here and not proxy:
            complain("warning: without a proxy that speaks HTTPS, answers and personal links travel in the clear")
        serve_on(sock, campaign, store, owner=owner, proxy=proxy)


@app.command()
def progress(db: Db = DEFAULT_DB, as_json: AsJson = False) -> None:
    """Show how far a campaign is, and who answers how."""
    from dataclasses import asdict

    from dramaturg.web.annotation.progress import progress_of

    with closing(_open(db)) as store:
        found = progress_of(store)
    if as_json:
        say_json(asdict(found))
        return
    table = figures_table("category", "items", "answers", "1+", "3+", "5+")
    for part in found.categories:
        counts = (part.items, part.answers, *(part.with_at_least(count) for count in (1, 3, 5)))
        table.add_row(part.category, *(f"{count:,}" for count in counts))
    show(table)
    people = figures_table("rater", "answers", "skipped", "reported", "too fast", "honeypots failed", "mean s")
    for rater in found.raters:
        mean = "–" if rater.mean_s is None else f"{rater.mean_s:.1f}"
        counts = (rater.answers, rater.skipped, rater.reported, rater.hasty)
        people.add_row(rater.rater, *(f"{count:,}" for count in counts), f"{rater.failed}/{rater.honeypots}", mean)
    if found.raters:
        show(people)
    for report in found.reports:
        say(f"reported: {report.item} by {report.rater}: {report.justification or '–'}")
    shown = f" (the {len(found.raters)} with most answers are shown)" if found.rater_count > len(found.raters) else ""
    say(f"{found.total.answers:,} answers by {found.rater_count:,} people{shown}")


@app.command()
def export(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="JSON Lines to write.")],
    db: Db = DEFAULT_DB,
    as_json: AsJson = False,
) -> None:
    """Write every vote as a row of a votes file, for `dramaturg rpeval votes`."""
    from dramaturg.web.annotation.progress import votes_of

    count = 0
    part = out.with_name(f"{out.name}.part")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(_open(db)) as store, part.open("w", encoding="utf-8", newline="\n") as file:
            for row in votes_of(store):
                file.write(row.model_dump_json() + "\n")
                count += 1
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    if as_json:
        say_json({"votes": count, "file": str(out)})
    else:
        say(f"{out}: {count:,} votes")


@app.command()
def password(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the hash is written; only you may read it.")],
) -> None:
    """Ask for the owner's password, and write its argon2 hash."""
    from dramaturg.errors import UserError
    from dramaturg.web.survey.door import password_hash

    given: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    if len(given) < SHORTEST_PASSWORD:
        raise UserError("the password is too short", allowed=f"at least {SHORTEST_PASSWORD} characters")
    file.touch(mode=0o600)
    file.write_text(password_hash(given) + "\n", encoding="utf-8")
    say(f"{file}: for --owner-password-file")


@raters.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Stands in the export.")],
    db: Db = DEFAULT_DB,
    address: Annotated[
        str, typer.Option("--address", metavar="URL", help="Where the pages are, for the link.")
    ] = f"http://127.0.0.1:{DEFAULT_PORT}/",
    as_json: AsJson = False,
) -> None:
    """Make a named rater, and print the personal link; it is shown this once."""
    from dramaturg.web.annotation.store import Store
    from dramaturg.web.survey.raters import add_rater

    with closing(Store.open(db, create=True)) as store:
        key = add_rater(store, name)
    say_link(name, key, address=address, as_json=as_json)


@raters.command("remove")
def remove(name: Annotated[str, typer.Argument(metavar="NAME", help="A rater.")], db: Db = DEFAULT_DB) -> None:
    """Make a rater's link good no more; the votes stay."""
    from dramaturg.web.survey.raters import remove_rater

    with closing(_open(db)) as store:
        remove_rater(store, name)
    say(f"{name}: removed")


@raters.command("list")
def list_all(db: Db = DEFAULT_DB, as_json: AsJson = False) -> None:
    """List the named raters."""
    from dramaturg.web.survey.raters import list_raters

    with closing(_open(db)) as store:
        found = list_raters(store)
    say_raters(
        found, gave="votes", nobody="no named rater yet; `dramaturg annotate rater add NAME` makes one", as_json=as_json
    )


def _open(db: str) -> Store:
    from dramaturg.web.annotation.store import Store

    return Store.open(db)
