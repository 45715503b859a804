"""How different cases are: those of the templates beside those written by hand, and those of any folders.

    python bench/case_diversity.py [--json] [--cases N] [FOLDER ...]

The templates must score lower than the cases by hand: a generator between the two is worth its calls, one below is not.
A folder is one of YAML files, or of a corpus. The figure is the mean distance of the word sets of two cases.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dramaturg.files import shipped
from dramaturg.stage.court.case import AnyCase, Case, read_case
from dramaturg.stage.court.cases import CorpusPlan, Diversity, diversity, make_corpus, template_author
from figures import Figure, at_most, show

MARGIN = 0.05
"""How much less the templates must score."""


def by_template(count: int) -> list[Case]:
    plan = CorpusPlan((), count, 1, "en", "template", "", 0)
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(make_corpus(plan, Path(folder), template_author)).cases


def of_folder(folder: Path) -> list[AnyCase]:
    inside = folder / "cases"
    return [read_case(path) for path in sorted((inside if inside.is_dir() else folder).glob("*.yaml"))]


def told(spread: Diversity) -> str:
    return f"{spread.cases} cases, {spread.distinct_names:.0%} distinct names, {spread.distinct_pairs:.0%} word pairs"


def figures(count: int, folders: Sequence[Path]) -> list[Figure]:
    by_hand = diversity(case for path in shipped("cases").values() if isinstance(case := read_case(path), Case))
    templates = diversity(by_template(count))
    of_folders = [(str(folder), diversity(of_folder(folder))) for folder in folders]
    if by_hand.distance is None or templates.distance is None:
        raise SystemExit("two cases at least are needed")
    found = [
        Figure("cases by hand", round(by_hand.distance, 4), None, None, told(by_hand)),
        at_most("templates", templates.distance, round(by_hand.distance - MARGIN, 4), told(templates)),
    ]
    for name, spread in of_folders:
        distance = None if spread.distance is None else round(spread.distance, 4)
        found.append(Figure(name, distance, None, None, told(spread)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cases", type=int, default=100, help="cases by templates")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    show(figures(max(options.cases, 2), options.folders), as_json=options.json)


if __name__ == "__main__":
    main()
