"""``dramaturg models``: what is embedded, and where its weights are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dramaturg.cli.console import complain, say, say_json, show

if TYPE_CHECKING:
    pass

app = typer.Typer(help="List, pull and find embedded models.", no_args_is_help=True, rich_markup_mode=None)

NAME = typer.Argument(help="Name of an embedded model, for example smollm2-135m.")


@app.command("list")
def list_(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """List the embedded models, with size, licence and whether they are here."""
    from dramaturg.model.registry import list_models

    listed = list_models()
    if as_json:
        say_json(
            [
                {
                    "name": entry.model.name,
                    "bytes": entry.model.size_bytes,
                    "licence": entry.model.licence,
                    "sha256": entry.model.sha256,
                    "path": str(entry.path) if entry.path is not None else None,
                }
                for entry in listed
            ]
        )
        return
    from rich.table import Table

    table = Table("model", "size", "licence", "here")
    for entry in listed:
        table.add_row(
            f"embedded:{entry.model.name}",
            _megabytes(entry.model.size_bytes),
            entry.model.licence,
            str(entry.path or "no"),
        )
    show(table)


@app.command()
def pull(name: str = NAME) -> None:
    """Fetch an embedded model; an interrupted pull goes on where it stopped."""
    say(str(pull_with_progress(name)))


@app.command()
def path(name: str = NAME) -> None:
    """Print where an embedded model's file is; fails when it was not pulled."""
    from dramaturg.cli.console import Finished
    from dramaturg.model.pull import model_path

    found = model_path(name)
    if found is None:
        complain(f"{name} is not here (dramaturg models pull {name})")
        raise Finished(1)
    say(str(found))


def pull_with_progress(name: str) -> Path:
    """Returns the path of an embedded model, pulled with a progress bar where it is missing."""
    from dramaturg.model.pull import model_path, pull
    from dramaturg.model.registry import pinned

    found = model_path(name)
    if found is not None:
        return found
    model = pinned(name)
    return _pull(model, pull)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
