"""``dramaturg audit bleed``: whether replies of a file were answered under another row's character."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, complain_of_torn, figures_table, say, say_json, show

if TYPE_CHECKING:
    from rich.table import Table

    from dramaturg.judge.audit.bleed import Bleed
    from dramaturg.text import Json

LISTED = 10
"""Names all over the file that are listed; ``--json`` has all."""


def bleed(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='replies.jsonl of a run, or lines {"id": …, "response": …}.')
    ],
    items: Annotated[str | None, typer.Option("--items", metavar="SET", help="The item set that was asked.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the dealing that the p-values rest on.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Find persona leakage: names of other rows' characters in blocks of the file, and labels that shift with them."""
    from dramaturg.judge.audit.bleed import find_bleed
    from dramaturg.run.interview.bleed_rows import bleed_rows, persona_names
    from dramaturg.stage.interview import read_item_set

    item_set = read_item_set(items) if items is not None else None
    names = persona_names(item_set) if item_set is not None else None
    runs, elsewhere = bleed_rows(file, item_set, on_torn=complain_of_torn)
    found = {run: find_bleed(rows, names, seed=seed) for run, rows in runs.items()}
    if as_json:
        listed: list[Json] = [{"run": run, **asdict(one)} for run, one in found.items()]
        say_json({"file": str(file), "elsewhere": elsewhere, "runs": listed})
        return
    for run, one in found.items():
        say(f"{run}: {_verdict(one)}")
        for line in _lines(one):
            say(f"  {line}")
        if one.blocks:
            show(_table(one))
    if elsewhere:
        say(f"{elsewhere:,} rows answer no item of the set, and were not looked at")


def _verdict(found: Bleed) -> str:
    match found.verdict:
        case "leak":
            return "leak: replies name other rows' characters as chance would not"
        case "suspect":
            return "suspect: no block of names, but look at what follows"
        case "none seen":
            return "no leakage seen"


def _lines(found: Bleed) -> Iterator[str]:
    from dramaturg.report.figures import plain, share

    own = "" if found.own is None else f", {found.own:,} name their own"
    what = "name another row's character" if found.known_names else "hold a word that looks like another's name"
    yield f"{found.rows:,} rows: {found.other:,} {what}{own}"
    yield "p of a block as dense: " + ("–, too few names" if found.p is None else f"{found.p:.3f}")
    if found.p_edges is not None:
        yield f"p of labels that shift as much at the blocks' edges: {found.p_edges:.3f}"
    if found.drift is not None:
        shift = found.drift.shift
        yield (
            f"labels differ most in rows {found.drift.first:,} to {found.drift.last:,}: {plain(shift.label)} "
            f"{share(shift.inside, 1)}, elsewhere {share(shift.outside, 1)} (p {found.drift.p:.3f})"
        )
    for one in found.spread[:LISTED]:
        yield f"named all over the file: {plain(one.persona)}, in {one.rows:,} rows ({share(one.rows, found.rows)})"
    if not found.known_rows:
        yield "nobody says whose row each is: a file sorted by character hides short blocks; --items makes it sharper"


def _table(found: Bleed) -> Table:
    from rich.text import Text

    from dramaturg.report.figures import plain, share

    table = figures_table("persona", "rows", "naming it", "share", "outside", "characters", "label, inside, outside")
    for block in found.blocks:
        shift = block.shift
        table.add_row(
            Text(plain(", ".join(block.personas))),
            f"{block.first:,}–{block.last:,}",
            f"{block.naming:,}",
            share(block.naming, block.rows),
            f"{block.outside:,}",
            "–" if block.characters is None else f"{block.characters:,}",
            Text("–" if shift is None else plain(f"{shift.label} {shift.inside:.0%}, {shift.outside:.0%}")),
        )
    return table
