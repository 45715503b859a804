"""All answers of a file as a table of small numbers: a row for each transcript, a column for each indicator.

The file is read once, line by line, and only the fields that the table needs are checked: a study of thousands of
transcripts takes seconds and a few bytes for each answer.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

from dramaturg.errors import ContentError
from dramaturg.files import is_torn, read_lines

YES: Final = 1
NO: Final = 0
MISSING: Final = -1
NOT_APPLICABLE: Final = -2
NOT_ASKED: Final = -3

_CODES: Mapping[object, int] = {"yes": YES, "no": NO, "missing": MISSING, "not_applicable": NOT_APPLICABLE}
_TEXTS = ("transcript", "transcript_digest", "indicator", "dimension", "judge", "mode", "checklist", "checklist_digest")


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """The answers of one judge by one checklist and one way of asking.

    Attributes:
        judge: Identity of the judge as text.
        mode: How it was asked.
        checklist: Id and version of the checklist.
        checklist_digest: Its hash.
        transcripts: Ids of the rows.
        digests: Hash of each row's transcript as it was read.
        indicators: Ids of the columns.
        dimensions: Dimension of each column.
        answers: Rows × columns: `YES`, `NO`, `MISSING`, `NOT_APPLICABLE` or `NOT_ASKED`.
        probabilities: Rows × columns: P(yes), NaN where there is none.
        proven: Rows × columns: whether the transcript itself proves the answer.
    """

    judge: str
    mode: str
    checklist: str
    checklist_digest: str
    transcripts: tuple[str, ...]
    digests: tuple[str, ...]
    indicators: tuple[str, ...]
    dimensions: tuple[str, ...]
    answers: NDArray[np.int8]
    probabilities: NDArray[np.float32]
    proven: NDArray[np.bool_]

    @property
    def title(self) -> str:
        """Who judged, by what and how."""
        return f"{self.judge}, checklist {self.checklist}, mode {self.mode}"


def read_answers(path: Path) -> tuple[AnswerTable, ...]:
    """Returns the answers of a file of judgements, one table for each judge, checklist and way of asking.

    Of two answers to one question the last one counts. A torn last line is left out, as everywhere.

    Raises:
        ContentError: A line is no judgement; the message names the line.
    """
    tables: dict[tuple[str, str, str], _Growing] = {}
    for where, record in _records(path):
        judge, mode, digest = record["judge"], record["mode"], record["checklist_digest"]
        key = (cast("str", digest), cast("str", judge), cast("str", mode))
        growing = tables.get(key)
        if growing is None:
            growing = tables.setdefault(key, _Growing(cast("str", record["checklist"])))
        growing.add(where, record)
    return tuple(growing.table(judge, mode, digest) for (digest, judge, mode), growing in tables.items())


@dataclass(slots=True)
class _Growing:
    """A table in the making: one short entry for each answer."""

    checklist: str
    rows: dict[str, int] = field(default_factory=dict[str, int])
    digests: list[str] = field(default_factory=list[str])
    columns: dict[str, int] = field(default_factory=dict[str, int])
    dimensions: list[str] = field(default_factory=list[str])
    at_row: array[int] = field(default_factory=lambda: array("I"))
    at_column: array[int] = field(default_factory=lambda: array("I"))
    codes: array[int] = field(default_factory=lambda: array("b"))
    chances: array[float] = field(default_factory=lambda: array("f"))
    proofs: array[int] = field(default_factory=lambda: array("b"))

    def add(self, where: str, record: Mapping[str, object]) -> None:
        transcript, indicator = cast("str", record["transcript"]), cast("str", record["indicator"])
        digest = cast("str", record["transcript_digest"])
        row = self.rows.setdefault(transcript, len(self.rows))
        if row == len(self.digests):
            self.digests.append(digest)
        else:
            self.digests[row] = digest
        column = self.columns.setdefault(indicator, len(self.columns))
        if column == len(self.dimensions):
            self.dimensions.append(cast("str", record["dimension"]))
        self.at_row.append(row)
        self.at_column.append(column)
        self.codes.append(_CODES[record["answer"]])
        self.chances.append(_chance(where, record.get("probability")))
        self.proofs.append(record.get("source") == "transcript")

    def table(self, judge: str, mode: str, digest: str) -> AnswerTable:
        place = (np.asarray(self.at_row), np.asarray(self.at_column))
        shape = (len(self.rows), len(self.columns))
        answers = np.full(shape, NOT_ASKED, np.int8)
        chances = np.full(shape, np.nan, np.float32)
        proven = np.zeros(shape, np.bool_)
        # With a place twice, numpy keeps the last value.
        answers[place] = np.asarray(self.codes)
        chances[place] = np.asarray(self.chances)
        proven[place] = np.asarray(self.proofs)
        return AnswerTable(
            judge=judge,
            mode=mode,
            checklist=self.checklist,
            checklist_digest=digest,
            transcripts=tuple(self.rows),
            digests=tuple(self.digests),
            indicators=tuple(self.columns),
            dimensions=tuple(self.dimensions),
            answers=answers,
            probabilities=chances,
            proven=proven,
        )


def _records(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yields the place and the fields of each line that is a judgement."""
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        try:
            record = cast("object", from_json(line))
        except ValueError as error:
            if is_torn(line):
                return
            raise ContentError(f"is no JSON: {error}", where=where) from None
        yield where, _checked(where, record)


def _checked(where: str, record: object) -> dict[str, object]:
    if not isinstance(record, dict):
        raise ContentError("is no judgement", where=where, allowed="a JSON object a line")
    fields = cast("dict[str, object]", record)
    for name in _TEXTS:
        if not isinstance(fields.get(name), str):
            raise ContentError(f"is no judgement: key {name!r} is missing or no text", where=where)
    answer = fields.get("answer")
    if not isinstance(answer, str) or answer not in _CODES:
        raise ContentError(f"answer is {answer!r}", where=where, allowed=", ".join(map(str, _CODES)))
    return fields


def _chance(where: str, value: object) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ContentError(f"probability is {value!r}", where=where, allowed="a number from 0 to 1")
    return float(value)
