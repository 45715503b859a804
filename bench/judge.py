"""How much better one judge is than others on the same audit: paired differences, with intervals over transcripts.

    python bench/judge.py CARD OTHER… [--json]

Each is the folder of a ``dramaturg audit judge --mode glance --out``, of the same checklist, sample and seed. What both
answered is compared: planted faults, those of kinds that the first never learnt, and natural text. What one alone was
asked is counted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from dramaturg.measure import Estimate, balanced_accuracy, cluster_interval

PARTS = ("planted", "unseen", "natural")

Mark: TypeAlias = "dict[str, Any]"
Key: TypeAlias = tuple[str, str, str]


def marks_in(folder: Path) -> dict[Key, Mark]:
    """Returns the counted answers of an audit that no proof gave, by part, specimen and question."""
    with (folder / "marks.jsonl").open(encoding="utf-8") as lines:
        marks = [json.loads(line) for line in lines]
    return {(mark["part"], mark["specimen"], mark["indicator"]): mark for mark in marks if not mark["by_code"]}


def right(mark: Mark) -> float | None:
    """Returns 1 for a right answer, 0 for a wrong one, None for a missing one."""
    return None if mark["claims_fault"] is None else float(mark["claims_fault"] == (mark["nature"] == "mutant"))


def estimate(values: Iterable[tuple[Mark, float | None]]) -> Estimate:
    """Returns the balanced mean of values over faulty and innocent specimens, with its interval over transcripts."""
    clusters: dict[bool, dict[str, list[float]]] = {True: {}, False: {}}
    planned = {True: 0, False: 0}
    for mark, value in values:
        faulty = mark["nature"] == "mutant"
        planned[faulty] += 1
        if value is not None:
            clusters[faulty].setdefault(mark["base"], []).append(value)
    return balanced_accuracy(*(cluster_interval(clusters[side], n_planned=planned[side]) for side in (True, False)))


def compared(one: Mapping[Key, Mark], other: Mapping[Key, Mark]) -> tuple[Estimate, int]:
    """Returns how much higher one judge's balanced accuracy is on what both were asked, and how many one alone was."""
    both = [key for key in one if key in other and one[key]["nature"] == other[key]["nature"]]
    halves = estimate(  # differences lie between -1 and 1, and shares between 0 and 1
        (one[key], None if (a := right(one[key])) is None or (b := right(other[key])) is None else (a - b + 1) / 2)
        for key in both
    )
    value, low, high = (None if end is None else 2 * end - 1 for end in (halves.value, halves.low, halves.high))
    return replace(halves, value=value, low=low, high=high), len(one.keys() | other.keys()) - len(both)


def part_of(marks: Mapping[Key, Mark], part: str, unseen: set[str]) -> dict[Key, Mark]:
    """Returns the marks of planted faults, of those of kinds that were never learnt, or of natural text."""
    within = "natural" if part == "natural" else "planted"
    return {key: mark for key, mark in marks.items() if key[0] == within and (part != "unseen" or _about(mark, unseen))}


def main() -> None:
    """Prints the accuracy of the first, and its lead over each of the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("card", type=Path)
    parser.add_argument("others", type=Path, nargs="*")
    parser.add_argument("--unseen", default="", help="kinds of faults that the first never learnt, between commas")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    own = marks_in(options.card)
    others = {folder: marks_in(folder) for folder in options.others}
    unseen = set(filter(None, options.unseen.split(",")))
    found: dict[str, dict[str, str]] = {}
    for part in PARTS:
        mine = part_of(own, part, unseen)
        if mine:
            found[part] = {options.card.name: _told(estimate((mark, right(mark)) for mark in mine.values()))}
            for folder, marks in others.items():
                lead, alone = compared(mine, part_of(marks, part, unseen))
                beside = f", {alone} not in both" if alone else ""
                found[part][f"over {folder.name}"] = _told(lead) + beside
    if options.json:
        print(json.dumps(found))
        return
    for part, rows in found.items():
        for name, told in rows.items():
            print(f"{part:8}  {name:28}  {told}")


def _about(mark: Mark, kinds: set[str]) -> bool:
    return mark["kind"] in kinds if mark["nature"] == "mutant" else not kinds.isdisjoint(mark["detects"])


def _told(one: Estimate) -> str:
    if one.value is None or one.low is None or one.high is None:
        return f"{one.value} ({one.reason})"
    return f"{one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f}), n {one.n_used}"


if __name__ == "__main__":
    main()
