"""Chats in tables: one message a row, with columns for the speaker and the words."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dramaturg.errors import ContentError
from dramaturg.stage.importing.chat import Chat, ChatLog, Said
from dramaturg.stage.importing.messages import SPEAKER_KEYS, TEXT_KEYS

CONVERSATION_KEYS = ("conversation", "conversation_id", "dialogue_id", "chat_id", "session", "session_id")
"""Names of a column that tells conversations apart."""

COLUMN_LEFT_OUT = "columns were left out ({})"

_DELIMITERS = ",;\t"


def is_table(text: str) -> bool:
    """Returns whether the first line names a column of speakers and one of words."""
    columns = _header(text)[1]
    return _place(columns, SPEAKER_KEYS) is not None and _place(columns, TEXT_KEYS) is not None


def read_table(text: str, path: Path) -> ChatLog:
    """Returns the conversations of a table whose first row names its columns.

    Args:
        text: Values apart by commas, semicolons or tabs.
        path: Where it stands, for errors.

    Raises:
        ContentError: A column is missing, or a row has more or fewer values than the first.
    """
    delimiter, columns = _header(text)
    speaker, words = _place(columns, SPEAKER_KEYS), _place(columns, TEXT_KEYS)
    if speaker is None or words is None:
        raise ContentError(
            f"the first row names the columns {', '.join(columns) or 'none'}",
            where=f"{path}:1",
            allowed=f"one of {', '.join(SPEAKER_KEYS)}, and one of {', '.join(TEXT_KEYS)}",
        )
    conversation = _place(columns, CONVERSATION_KEYS)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    chats: dict[str, list[Said]] = {}
    try:
        next(reader)
        begun = reader.line_num
        for row in reader:
            line, begun = begun + 1, reader.line_num
            if not any(value.strip() for value in row):
                continue
            if len(row) != len(columns):
                raise ContentError(
                    f"the row has {len(row)} values, the first row {len(columns)}", where=f"{path}:{line}"
                )
            name = row[conversation].strip() if conversation is not None else ""
            said = Said(
                row[speaker].strip(), row[words], f"line {line}", kind="speech" if row[speaker].strip() else "procedure"
            )
            chats.setdefault(name, []).append(said)
    except csv.Error as problem:
        raise ContentError(f"is no table: {problem}", where=f"{path}:{reader.line_num}") from None
    if not chats:
        raise ContentError("holds no message", where=str(path))
    used = {speaker, words, conversation}
    left = [name for place, name in enumerate(columns) if place not in used]
    notes = Counter({COLUMN_LEFT_OUT.format(", ".join(left)): len(left)} if left else {})
    notes["rows without a speaker became notes of the procedure"] = sum(
        not said.speaker for messages in chats.values() for said in messages
    )
    return ChatLog(
        path.stem,
        "csv",
        tuple(Chat(tuple(messages), f"conversation {name}" if name else "") for name, messages in chats.items()),
        +notes,
    )


def _header(text: str) -> tuple[str, list[str]]:
    """Returns the delimiter and the columns that the first row names."""
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        row = next(csv.reader([first], delimiter=delimiter), None) or []
    except csv.Error:  # a line that is longer than any header
        row = []
    return delimiter, [name.strip() for name in row]


def _place(columns: Sequence[str], names: Sequence[str]) -> int | None:
    found = [column.casefold().replace(" ", "_") for column in columns]
    return next((found.index(name) for name in names if name in found), None)
