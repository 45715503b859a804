"""What every bench prints: figures against their budgets, as lines for people or as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    `ok` is None where the figure has no budget or could not be measured; `detail` says which.
    """

    name: str
    value: float | None
    budget: float | None
    ok: bool | None
    detail: str = ""


def at_most(name: str, value: float, budget: float, detail: str = "") -> Figure:
    return Figure(name, round(value, 4), budget, value <= budget, detail)


def at_least(name: str, value: float, budget: float, detail: str = "") -> Figure:
    return Figure(name, round(value, 4), budget, value >= budget, detail)


def show(figures: list[Figure], *, as_json: bool) -> None:
    """Prints the figures and ends the process: 0 when every budget is met, 2 otherwise."""
    if as_json:
        print(json.dumps([asdict(figure) for figure in figures], ensure_ascii=False, indent=1))
    else:
        for figure in figures:
            mark = {True: "ok", False: "OVER BUDGET", None: "–"}[figure.ok]
            budget = "" if figure.budget is None else f" (budget {figure.budget})"
            print(f"{figure.name}: {figure.value}{budget} {mark} {figure.detail}".rstrip())
    sys.exit(2 if any(figure.ok is False for figure in figures) else 0)
