"""``dramaturg audit reliability``: whether ratings repeat, whether others give the same, and what alpha hides."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dramaturg.cli.console import AsJson, complain, complain_of_torn, say_json
from dramaturg.cli.rate import Format, print_layouts


def reliability(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="DIR…", help="Folders of dramaturg rate; two of one judge are test and retest."),
    ],
    people: Annotated[
        Path | None,
        typer.Option("--people", metavar="FILE", help="CSV or JSON Lines: transcript, role, metric, person, rating."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the resampling of intervals.")] = 0,
    form: Annotated[Format, typer.Option("--format", help="Form of the tables.")] = Format.TERMINAL,
    as_json: AsJson = False,
) -> None:
    """Show Cronbach's alpha with its unit and n, beside test-retest, other judges, halo and people."""
    from dramaturg.errors import UserError
    from dramaturg.report import exports
    from dramaturg.report.rating.reliability import reliability_layouts, reliability_of, tables_in
    from dramaturg.run.person_ratings import by_person, read_person_ratings

    folders = [run.resolve() for run in runs]
    if twice := next((run for run, at in zip(runs, folders, strict=True) if folders.count(at) > 1), None):
        raise UserError("stands twice; ratings are no retest of themselves", where=str(twice), allowed="each once")
    named = tables_in(runs, on_torn=complain_of_torn)
    if not named:
        raise UserError("holds no ratings", where=", ".join(map(str, runs)))
    given = read_person_ratings(people, metrics=named[0].table.metrics) if people is not None else ()
    rated = {row.key for one in named for row in one.table.rows}
    known = sum((one.transcript, one.role) in rated for one in given)
    if given and not known:
        raise UserError("rates nothing that was rated here", where=str(people), allowed=", ".join(min(rated)))
    if known < len(given):
        complain(f"{people}: {len(given) - known} of {len(given)} ratings are of what was not rated here")
    found = reliability_of(named, by_person(given), seed=seed)
    layouts = reliability_layouts(found)
    if as_json:
        say_json(
            {
                "alpha": {title: [asdict(one) for one in alphas] for title, alphas in found.alphas.items()},
                "halo": [asdict(one) for one in found.halos],
                "compared": [asdict(one) for one in found.compared],
                "people": asdict(found.people) if found.people is not None else None,
                "tables": exports.as_json(layouts),
            }
        )
        return
    print_layouts(layouts, form)
