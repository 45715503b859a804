"""People's answers about transcripts, read from CSV or JSON Lines: the half of a judge's test that cards cannot give.

Columns or keys: ``transcript``, ``indicator``, ``person``, ``answer``; ``note`` may stand beside them.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from dramaturg.errors import ContentError
from dramaturg.files import read_jsonl, read_text

LabelAnswer = Literal["yes", "no", "not_applicable"]

WRITTEN: Mapping[str, LabelAnswer] = {
    "yes": "yes",
    "y": "yes",
    "1": "yes",
    "true": "yes",
    "no": "no",
    "n": "no",
    "0": "no",
    "false": "no",
    "not_applicable": "not_applicable",
    "n/a": "not_applicable",
    "na": "not_applicable",
}
"""How people and spreadsheets write an answer, in small letters."""

COLUMNS = ("transcript", "indicator", "person", "answer")
OPTIONAL = ("note",)

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True, slots=True)
class Label:
    """One person's answer to one indicator about one transcript, with the line that it stands in."""

    transcript: str
    indicator: str
    person: str
    answer: LabelAnswer
    line: int


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    transcript: Filled
    indicator: Filled
    person: Filled
    answer: str | int | bool
    note: str = ""


def read_labels(path: Path) -> tuple[Label, ...]:
    """Returns the labels of a file: JSON Lines where its name ends in ``.jsonl``, else CSV.

    CSV may be parted by commas, semicolons or tabs, as spreadsheets write it.

    Raises:
        ContentError: A column is missing, an answer is none, or a person answers a question twice; with the line.
    """
    labels = tuple(_from_jsonl(path) if path.suffix.lower() == ".jsonl" else _from_csv(path))
    if not labels:
        raise ContentError("holds no labels", where=str(path), allowed=f"columns {', '.join(COLUMNS)}")
    first: dict[tuple[str, str, str], int] = {}
    for label in labels:
        line = first.setdefault((label.transcript, label.indicator, label.person), label.line)
        if line != label.line:
            raise ContentError(
                f"{label.person!r} answers {label.indicator} about {label.transcript!r} twice",
                where=f"{path}:{label.line}",
                allowed=f"once; the first is in line {line}",
            )
    return labels


def consensus(labels: Iterable[Label]) -> tuple[dict[tuple[str, str], LabelAnswer], int]:
    """Returns what most people answered by transcript and indicator, and how many questions are tied and left out."""
    answers: dict[tuple[str, str], list[LabelAnswer]] = defaultdict(list)
    for label in labels:
        answers[label.transcript, label.indicator].append(label.answer)
    agreed: dict[tuple[str, str], LabelAnswer] = {}
    for question, given in answers.items():
        (answer, most), *others = Counter(given).most_common()
        if not others or others[0][1] < most:
            agreed[question] = answer
    return agreed, len(answers) - len(agreed)


def check_known(labels: Sequence[Label], path: Path, *, transcripts: Iterable[str], indicators: Iterable[str]) -> int:
    """Returns how many labels are about transcripts that are not there.

    Args:
        labels: The labels.
        path: Their file, for the error.
        transcripts: Ids of the transcripts that were judged.
        indicators: Ids of the indicators that were judged.

    Raises:
        ContentError: An indicator is unknown, or no label is about any of the transcripts; with the line.
    """
    known, asked = set(transcripts), set(indicators)
    for label in labels:
        if label.indicator not in asked:
            raise ContentError(
                f"no judge answered an indicator {label.indicator!r}",
                where=f"{path}:{label.line}",
                allowed=", ".join(sorted(asked)),
            )
    elsewhere = sum(label.transcript not in known for label in labels)
    if elsewhere == len(labels):
        raise ContentError(
            f"no label is about a transcript of this run; the first is about {labels[0].transcript!r}",
            where=f"{path}:{labels[0].line}",
            allowed=f"ids such as {min(known, default='none')!r}",
        )
    return elsewhere


def _from_jsonl(path: Path) -> Iterator[Label]:
    for number, line in read_jsonl(path, _Line):
        yield Label(line.transcript, line.indicator, line.person, _answer(line.answer, path, number), number)


def _from_csv(path: Path) -> Iterator[Label]:
    text = read_text(path)
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        head = next(reader, None) or []
        names = [name.strip().lower() for name in head]
        _check_header(names, path)
        start = reader.line_num + 1
        for row in reader:
            if any(cell.strip() for cell in row):
                yield _from_row(dict(zip(names, row, strict=False)), len(row) - len(names), path, start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise ContentError(f"is no valid CSV: {error}", where=f"{path}:{reader.line_num}") from None


def _check_header(names: Sequence[str], path: Path) -> None:
    where, allowed = f"{path}:1", f"{', '.join(COLUMNS)}, and {', '.join(OPTIONAL)} if you like"
    for name in COLUMNS:
        if name not in names:
            raise ContentError(f"column {name!r} is missing", where=where, allowed=allowed)
    for name in names:
        if name not in {*COLUMNS, *OPTIONAL}:
            raise ContentError(f"unknown column {name!r}", where=where, allowed=allowed)
        if names.count(name) > 1:
            raise ContentError(f"column {name!r} stands twice", where=where, allowed=allowed)


def _from_row(row: Mapping[str, str], surplus: int, path: Path, line: int) -> Label:
    if surplus > 0:
        raise ContentError(f"the line has {surplus} cells too many", where=f"{path}:{line}", allowed="as many as names")
    texts = {name: row.get(name, "").strip() for name in COLUMNS}
    for name, text in texts.items():
        if not text:
            raise ContentError(f"{name} is empty", where=f"{path}:{line}")
    answer = _answer(texts["answer"], path, line)
    return Label(texts["transcript"], texts["indicator"], texts["person"], answer, line)


def _answer(written: str | int | bool, path: Path, line: int) -> LabelAnswer:
    answer = WRITTEN.get(str(written).strip().lower())
    if answer is None:
        raise ContentError(
            f"answer is {str(written)!r}",
            where=f"{path}:{line}",
            allowed="yes, no or not_applicable; also y, n, 1, 0, true, false, n/a",
        )
    return answer
