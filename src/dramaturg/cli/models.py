"""``dramaturg models``: what is embedded, and where its weights are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, complain, console, say, say_json, show

app = typer.Typer(help="List, pull and find embedded models.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="Name of an embedded model, for example smollm2-135m.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the embedded models, with size, licence and whether they are here."""
    from dramaturg.model.composed import COMPOSED
    from dramaturg.model.registry import file_digest, list_models

    listed = list_models()
    if as_json:
        say_json(
            [
                {
                    "name": entry.model.name,
                    "bytes": entry.model.size_bytes,
                    "licence": entry.model.licence,
                    "sha256": entry.model.sha256,
                    "path": None if entry.path is None else str(entry.path),
                }
                for entry in listed
            ]
            + [
                {
                    "name": made.name,
                    "bytes": made.adapter_path.stat().st_size,
                    "licence": made.licence,
                    "sha256": file_digest(made.adapter_path),
                    "path": str(made.adapter_path),
                    "base": made.base,
                }
                for made in COMPOSED.values()
            ]
        )
        return
    from rich.table import Table

    table = Table("model", "size", "licence", "here")
    for entry in listed:
        size = f"{entry.model.size_bytes / 1e6:,.0f} MB"
        table.add_row(f"embedded:{entry.model.name}", size, entry.model.licence, str(entry.path or "no"))
    for made in COMPOSED.values():
        size = f"{made.adapter_path.stat().st_size / 1e6:,.0f} MB"
        table.add_row(f"embedded:{made.name}", f"{size} beside {made.base}", made.licence, str(made.adapter_path))
    show(table)


@app.command()
def pull(name: Name) -> None:
    """Fetch an embedded model; an interrupted pull goes on where it stopped."""
    say(str(pull_with_progress(name)))


@app.command()
def path(name: Name) -> None:
    """Print where an embedded model's file is; fails when it was not pulled."""
    from dramaturg.model.composed import base_name
    from dramaturg.model.registry import model_path

    found = model_path(base_name(name))
    if found is None:
        complain(f"{name} is not here (dramaturg models pull {name})")
        raise Finished(1)
    say(str(found))


def pull_with_progress(name: str) -> Path:
    """Returns the file of an embedded model, or of its base, fetched with a progress bar where it is missing."""
    from dramaturg.model.composed import base_name
    from dramaturg.model.registry import model_path

    name = base_name(name)
    found = model_path(name)
    if found is not None:
        return found
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from dramaturg.model.pull import pull as fetch

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console(stderr=True)) as progress:
        task = progress.add_task(f"pulling {name}", total=None)

        def watch(done_bytes: int, total_bytes: int, what: str) -> None:
            progress.update(task, completed=done_bytes, total=total_bytes or None, description=what)

        return fetch(name, watch)
