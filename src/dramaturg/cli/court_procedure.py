"""``dramaturg court procedure``: list, draw and prove procedures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, say, say_json, show

if TYPE_CHECKING:
    from dramaturg.stage.court import Procedure
    from dramaturg.text import Json

app = typer.Typer(
    help="List, draw and prove the procedures that cases are held under.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped procedure, or a YAML file.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the shipped procedures."""
    from dramaturg.files import load_yaml, shipped
    from dramaturg.stage.court import Procedure

    listed = [load_yaml(path, Procedure) for path in shipped("procedures").values()]
    if as_json:
        say_json([_facts(procedure) for procedure in listed])
        return
    from rich.table import Table

    table = Table("procedure", "title", "player", "phases", "states")
    for one in listed:
        table.add_row(one.id, one.title, one.player, ", ".join(one.phases), str(len(one.states)))
    show(table)


@app.command("show")
def show_(
    procedure: Name,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid state diagram.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draw a procedure, sound or not."""
    from dramaturg.files import find, load_yaml
    from dramaturg.stage.court import Procedure, drawing

    loaded = load_yaml(find("procedures", procedure), Procedure)
    if as_json:
        say_json({**_facts(loaded), "mermaid": drawing.mermaid(loaded)})
    else:
        say(drawing.mermaid(loaded) if mermaid else drawing.outline(loaded))


@app.command("check")
def check(procedure: Name, as_json: AsJson = False) -> None:
    """Prove a procedure: who speaks is known, it can go on, it ends, its prompts are there. Tells every problem."""
    from dramaturg.files import find

    path = find("procedures", procedure)
    loaded, found = _proved(path)
    if as_json:
        facts = _facts(loaded) if loaded is not None else {}
        say_json({**facts, "path": str(path), "sound": not found, "problems": [*found]})
    else:
        for problem in found:
            say(f"{path}: {problem}" if loaded is not None else problem)
        if loaded is not None and not found:
            transitions = sum(len(state.then) for state in loaded.states)
            say(
                f"{loaded.id} is sound: {len(loaded.states)} states, {transitions} transitions, "
                f"{len(loaded.budgets)} budgets; it always ends."
            )
    if found:
        raise Finished(1)


def _proved(path: Path) -> tuple[Procedure | None, tuple[str, ...]]:
    """Returns the procedure of a file and what is wrong with it; a file that is none has problems alone."""
    from dramaturg.errors import ContentError
    from dramaturg.files import load_yaml
    from dramaturg.stage.court import Procedure
    from dramaturg.stage.court.prompt_proof import prompt_problems
    from dramaturg.stage.court.proof import problems

    try:
        procedure = load_yaml(path, Procedure)
    except ContentError as error:
        return None, tuple(str(error).splitlines())
    return procedure, problems(procedure) or prompt_problems(procedure)


def _facts(procedure: Procedure) -> dict[str, Json]:
    return {
        "id": procedure.id,
        "version": procedure.version,
        "title": procedure.title,
        "player": procedure.player,
        "phases": [*procedure.phases],
        "roles": [*procedure.roles],
        "budgets": [*procedure.budgets],
        "states": [state.id for state in procedure.states],
        "turn_limit": procedure.turn_limit,
    }
