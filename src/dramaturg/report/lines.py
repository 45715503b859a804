"""Any line of a JSON Lines file by its number, without holding the file in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

RecordT = TypeVar("RecordT", bound=BaseModel)


class Lines:
    """The places of a file's lines: eight bytes of memory for each.

    Only numbers that `dramaturg.files.read_jsonl` has yielded may be asked for: those lines are known to be
    valid. Lines appended later do no harm.
    """

    def __init__(self, path: Path) -> None:
        """Finds the lines.

        Raises:
            OSError: The file cannot be read.
        """
        self.path = path
        self._starts = array("Q")
        start = 0
        with path.open("rb") as file:
            for line in file:
                self._starts.append(start)
                start += len(line)

    def records(self, numbers: Iterable[int], model: type[RecordT]) -> Iterator[RecordT]:
        """Yields the records of some lines.

        Args:
            numbers: Line numbers, from 1.
            model: What the lines hold.
        """
        with self.path.open("rb") as file:
            for number in numbers:
                file.seek(self._starts[number - 1])
                yield model.model_validate_json(file.readline().removeprefix(b"\xef\xbb\xbf"))
