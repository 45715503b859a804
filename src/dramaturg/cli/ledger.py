"""``dramaturg ledger``: look into a ledger and prove it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, complain, say, say_json, show

if TYPE_CHECKING:
    from dramaturg.ledger import Ledger

app = typer.Typer(help="Verify a ledger, or show what is in it.", no_args_is_help=True, rich_markup_mode=None)

Place = Annotated[str, typer.Argument(metavar="DIR|PATH|URL", help="Output folder, ledger file, or database URL.")]


@app.command()
def verify(place: Place, as_json: AsJson = False) -> None:
    """Derive every hash again: messages, keys, seeds, replies. Fails where one does not agree."""
    from dramaturg.ledger import verify as verify_ledger

    with _open(place) as ledger:
        found = verify_ledger(ledger)
    if as_json:
        say_json({"messages": found.messages, "calls": found.calls, "problems": list(found.problems)})
    else:
        for problem in found.problems:
            complain(problem)
        say(f"{found.calls} calls, {found.messages} messages: {len(found.problems) or 'no'} problems")
    if found.problems:
        raise Finished(1)


@app.command()
def stats(place: Place, as_json: AsJson = False) -> None:
    """Show calls, tokens and seconds for each model, role and purpose."""
    with _open(place) as ledger:
        counts = ledger.counts()
        uses = ledger.uses(by_role=True)
    if as_json:
        say_json({**counts, "uses": [{**asdict(use), "served_by": list(use.served_by)} for use in uses]})
        return
    from rich.table import Table

    table = Table("model", "role", "purpose", "calls", "failures", "in", "cached", "out", "seconds", "first token")
    for use in uses:
        first = "–" if use.first_token_s is None else f"{use.first_token_s:.2f} s"
        numbers = [use.calls, use.failures, use.input_tokens, use.cached_tokens, use.output_tokens]
        table.add_row(
            f"{use.provider}:{use.name}",
            use.role,
            use.purpose,
            *(f"{number:,}" for number in numbers),
            f"{use.seconds:.1f}",
            first,
        )
    show(table)
    say(", ".join(f"{count:,} {name}" for name, count in counts.items()))


def _open(place: str) -> Ledger:
    from dramaturg.errors import UserError
    from dramaturg.ledger import Ledger

    if "://" in place:
        return Ledger.open(place)
    path = Path(place) / "ledger.db" if Path(place).is_dir() else Path(place)
    if not path.is_file():
        raise UserError("there is no ledger", where=str(path), allowed="the --out folder of a run, or a ledger.db")
    return Ledger.open(path)
