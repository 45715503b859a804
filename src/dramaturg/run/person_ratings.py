"""People's ratings of played roles, read from CSV or JSON Lines: what a judge's ratings are held against.

Columns or keys: ``transcript``, ``role``, ``metric``, ``person``, ``rating``; others may stand beside them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from dramaturg.errors import ContentError, did_you_mean
from dramaturg.files import read_jsonl, read_text
from dramaturg.judge.rating.reliability import Values
from dramaturg.judge.rating.scale import read_rating
from dramaturg.judge.rating.table import RowKey

COLUMNS = ("transcript", "role", "metric", "person", "rating")

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True, slots=True)
class PersonRating:
    """One person's rating of one metric of one role, with the line that it stands in."""

    transcript: str
    role: str
    metric: str
    person: str
    rating: int
    line: int


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    transcript: Filled
    role: Filled
    metric: Filled
    person: Filled
    rating: bool | int | float | str | None = None


def read_person_ratings(path: Path, *, metrics: Sequence[str]) -> tuple[PersonRating, ...]:
    """Returns the ratings of a file: JSON Lines where its name ends in ``.jsonl``, else CSV.

    CSV may be parted by commas, semicolons or tabs. A line without a rating is left out: a scale that nobody answered.

    Args:
        path: The file.
        metrics: Ids of those that may be rated.

    Raises:
        ContentError: A column is missing, a rating is off the scale, a metric is unknown, or a person rates one twice;
            with the line.
    """
    lines = _from_jsonl(path) if path.suffix.lower() == ".jsonl" else _from_csv(path)
    found = tuple(_checked(number, line, path, metrics) for number, line in lines if _is_rated(line))
    if not found:
        raise ContentError("holds no ratings", where=str(path), allowed=f"columns {', '.join(COLUMNS)}")
    first: dict[tuple[str, str, str, str], int] = {}
    for one in found:
        line = first.setdefault((one.transcript, one.role, one.metric, one.person), one.line)
        if line != one.line:
            raise ContentError(
                f"{one.person!r} rates {one.metric} of {one.role!r} in {one.transcript!r} twice",
                where=f"{path}:{one.line}",
                allowed=f"once; the first is in line {line}",
            )
    return found


def by_person(ratings: Sequence[PersonRating]) -> dict[str, Values]:
    """Returns the ratings of each person, by transcript, role and metric."""
    found: dict[str, dict[tuple[RowKey, str], float]] = {}
    for one in ratings:
        found.setdefault(one.person, {})[(one.transcript, one.role), one.metric] = float(one.rating)
    return dict(found)


def _from_jsonl(path: Path) -> Iterator[tuple[int, _Line]]:
    yield from read_jsonl(path, _Line)


def _from_csv(path: Path) -> Iterator[tuple[int, _Line]]:
    text = read_text(path)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = [name.strip() for name in reader.fieldnames or ()]
    if missing := [name for name in COLUMNS if name not in names]:
        raise ContentError(f"has no column {missing[0]!r}", where=f"{path}:1", allowed=", ".join(COLUMNS))
    reader.fieldnames = names
    for row in reader:
        values = {name: (row.get(name) or "").strip() for name in COLUMNS}
        if not any(values.values()):
            continue
        if empty := [name for name in COLUMNS if not values[name] and name != "rating"]:
            raise ContentError(f"{empty[0]} is empty", where=f"{path}:{reader.line_num}")
        yield reader.line_num, _Line.model_validate(values)


def _is_rated(line: _Line) -> bool:
    return line.rating is not None and str(line.rating).strip() != ""


def _checked(number: int, line: _Line, path: Path, metrics: Sequence[str]) -> PersonRating:
    where = f"{path}:{number}"
    if line.metric not in metrics:
        raise ContentError(f"unknown metric {line.metric!r}", where=where, allowed=did_you_mean(line.metric, metrics))
    try:
        rating = read_rating(line.rating)
    except ValueError as problem:
        raise ContentError(str(problem), where=where, allowed="1, 2, 3, 4, 5") from None
    return PersonRating(line.transcript, line.role, line.metric, line.person, rating, number)
