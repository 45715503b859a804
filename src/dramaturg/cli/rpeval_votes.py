"""``dramaturg rpeval votes``: the items of a set that people agree on, and what the rules that say so hide."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dramaturg.cli.console import AsJson, figures_table, say, say_json, show

if TYPE_CHECKING:
    from rich.table import Table

    from dramaturg.report.layouts import Layout
    from dramaturg.run.interview.votes import Ground

REPORT, PAGE = "votes.json", "votes.html"
LISTED = 20
"""Rows of a table that the terminal shows; page and JSON have more."""

Share = Annotated[str, typer.Option(metavar="SHARE", help="The share of the votes that an answer must exceed.")]


def votes(
    votes: Annotated[Path, typer.Argument(metavar="VOTES", help="JSON Lines of an annotation campaign.")],
    items: Annotated[str, typer.Option("--items", metavar="SET", help="The item set that was voted on.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the filtered set and the report.")],
    min_votes: Annotated[int, typer.Option("--min-votes", min=1, help="Votes that an item needs.")] = 3,
    emotion_above: Share = "0.55",
    yes_no_above: Share = "0.70",
    weigh: Annotated[
        Literal["none", "dawid-skene"], typer.Option("--weigh", help="Weigh votes by how well their raters answer.")
    ] = "none",
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            "--leave-out",
            metavar="GROUND",
            help="Leave out answers: fast, given too fast; honeypots, by raters who failed one; at-random, by raters "
            "who cannot be told from random. Give it once for each.",
        ),
    ] = None,
    words_per_minute: Annotated[
        float | None,
        typer.Option(
            "--words-per-minute",
            min=1.0,
            help="Reading speed above which an answer came too fast; twice a practised reader's by default.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of intervals and of the check of raters.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Keep the items that people agree on, with their votes; say how many coin-flippers would have kept."""
    from dramaturg.errors import UserError
    from dramaturg.report.html import tables_page
    from dramaturg.report.votes import vote_card, vote_layouts, vote_lines, vote_record
    from dramaturg.run.interview.vote_filter import Rules, filter_by_votes
    from dramaturg.run.interview.votes import READING_SPEED, read_votes
    from dramaturg.stage.interview.item_set import read_item_set, write_item_set
    from dramaturg.text import canonical_json, write_atomically

    rules = Rules(
        min_votes,
        _share(emotion_above, "--emotion-above"),
        _share(yes_no_above, "--yes-no-above"),
        weigh,
    )
    if out.exists() and not (out / REPORT).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise UserError("is in use", where=f"--out {out}", allowed="a new folder, or one that this command wrote")
    item_set = read_item_set(items)
    given = read_votes(
        votes,
        item_set,
        leave_out=_grounds(leave_out or ()),
        words_per_minute=words_per_minute or READING_SPEED,
        seed=seed,
    )
    if weigh == "dawid-skene" and any(not vote.rater for vote in given.votes):
        raise UserError(
            "names no rater in some rows", where=str(votes), allowed="--weigh none, or a rater in every row"
        )
    filtered = filter_by_votes(item_set, given, rules, seed=seed)
    layouts = vote_layouts(given, filtered, rules)
    record = vote_record(given, filtered, rules)
    write_atomically(out / REPORT, canonical_json(record) + "\n")
    write_atomically(out / PAGE, tables_page(layouts))
    write_item_set(out, filtered.item_set, card=vote_card(given, filtered, rules))
    if as_json:
        say_json({**record, "out": str(out)})
        return
    for line in vote_lines(given, filtered, rules):
        say(line)
    for layout in layouts:
        show(_table(layout))
    say(f"the filtered set is in {out}; {out / PAGE} and {out / REPORT} hold the report")


def _grounds(named: Sequence[str]) -> set[Ground]:
    from dramaturg.errors import UserError, did_you_mean
    from dramaturg.run.interview.votes import GROUNDS

    wrong = next((name for name in named if name not in GROUNDS), None)
    if wrong is not None:
        raise UserError(f"--leave-out is {wrong!r}", allowed=did_you_mean(wrong, GROUNDS))
    return {ground for ground in GROUNDS if ground in named}


def _share(written: str, option: str) -> Fraction:
    """Returns a share as it is written, exactly: 0.55 is 11/20 and no binary neighbour of it."""
    from dramaturg.errors import UserError

    try:
        value = Fraction(written)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if not 0 <= value < 1:
        raise UserError(f"{option} is {written!r}", allowed="a number from 0 up to, but not at, 1, such as 0.55")
    return value


def _table(layout: Layout) -> Table:
    from rich.text import Text

    from dramaturg.report.exports import with_interval
    from dramaturg.report.figures import plain

    table = figures_table(*(column.name for column in layout.columns))
    table.title, table.title_justify = Text(plain(layout.title)), "left"
    for row in layout.rows[:LISTED]:
        table.add_row(*(Text(plain(with_interval(cell))) for cell in row))
    if len(layout.rows) > LISTED:
        table.caption = f"{len(layout.rows) - LISTED:,} more are in {PAGE}"
    return table
