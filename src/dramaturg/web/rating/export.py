"""People's ratings as files that `dramaturg.run.person_ratings` reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence

from dramaturg.report.exports import csv_text
from dramaturg.run.person_ratings import COLUMNS
from dramaturg.web.rating.progress import Sheet

MORE_COLUMNS = ("missing", "note", "seconds", "created")
"""Columns beside those that every file of people's ratings has."""


def rows_of(sheets: Sequence[Sheet]) -> Iterator[dict[str, str | int | float | None]]:
    """Yields a row for each mark of the sheets that were handed in.

    A mark without a rating says why in ``missing``.
    """
    for sheet in sheets:
        if sheet.state != "done":
            continue
        transcript, role = sheet.key
        for metric, mark in sheet.marks.items():
            yield {
                "transcript": transcript,
                "role": role,
                "metric": metric,
                "person": sheet.person,
                "rating": mark.rating,
                "missing": mark.missing,
                "note": mark.note,
                "seconds": sheet.seconds,
                "created": sheet.changed.isoformat(),
            }


def ratings_csv(sheets: Sequence[Sheet]) -> str:
    """Returns the ratings as CSV; a rating that is missing is empty. No note is taken for a formula."""
    out = io.StringIO()
    columns = (*COLUMNS, *MORE_COLUMNS)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows_of(sheets):
        shown = {**row, "note": csv_text(str(row["note"]))}
        writer.writerow([shown[column] for column in columns])
    return out.getvalue()


def ratings_jsonl(sheets: Sequence[Sheet]) -> str:
    """Returns the ratings as JSON Lines; a rating that is missing is null."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_of(sheets))
