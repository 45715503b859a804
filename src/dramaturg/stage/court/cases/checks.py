"""Checks of a case that need no model.

They are rules over words: they find what is surely wrong and point to what is doubtful, and they may be mistaken in
both. An error means that the case should not be played so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from dramaturg.errors import ContentError
from dramaturg.stage.court.case import AnyCase, read_case
from dramaturg.stage.court.cases.checks_content import check_evidence, check_goal, check_knowledge, check_verdict
from dramaturg.stage.court.cases.checks_people import check_people
from dramaturg.stage.court.cases.checks_text import check_texts
from dramaturg.stage.court.cases.finding import Finding
from dramaturg.stage.finding import by_severity

Check = Callable[[AnyCase], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (check_texts, check_people, check_knowledge, check_evidence, check_goal, check_verdict)


def check_case(case: AnyCase) -> tuple[Finding, ...]:
    """Returns what is doubtful about a case, the worst first."""
    return by_severity([finding for check in CHECKS for finding in check(case)])


def check_file(path: Path) -> tuple[AnyCase | None, tuple[Finding, ...]]:
    """Returns the case of a file and what is doubtful about it; a file that holds none gives findings alone."""
    try:
        case = read_case(path)
    except ContentError as error:
        lines = str(error).splitlines()
        return None, tuple(_form(line, str(path)) for line in lines)
    return case, check_case(case)


def _form(line: str, path: str) -> Finding:
    place, _, what = line.removeprefix(path).partition(": ")
    return Finding("form", "error", f"line {place[1:]}" if place.startswith(":") else "file", what or line)
