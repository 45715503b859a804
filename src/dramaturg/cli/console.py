"""What the commands say and how they end."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.text import Json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
"""The option that every command with a result has."""


class Finished(Exception):
    """A command has ended with an exit code.

    Attributes:
        code: The exit code.
    """

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(code)


def complain(text: str) -> None:
    """Writes an error to standard error."""
    sys.stderr.write(f"dramaturg: {text}\n")


def complain_of_torn(place: str) -> None:
    """Says that a torn last line of a file that Dramaturg itself wrote was left out."""
    complain(f"{place}: the last line is torn and left out; the command that made the file writes it anew")


def say(text: str) -> None:
    """Writes a line to standard output."""
    sys.stdout.write(f"{text}\n")


def say_json(value: Json) -> None:
    """Writes a value as JSON to standard output."""
    say(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False))


def console(*, stderr: bool = False) -> Console:
    """Returns a rich console; it writes plain text where there is no terminal."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=not (sys.stderr if stderr else sys.stdout).isatty())


def show(renderable: RenderableType) -> None:
    """Writes a table or another renderable of rich to standard output."""
    console().print(renderable)


def figures_table(*columns: str) -> Table:
    """Returns an empty table of names and figures: nothing is cut off, whatever the width.

    Args:
        columns: Heads of the columns; the first is of names, the others of figures.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left", overflow="fold", no_wrap=name.startswith("value"))
    return table
