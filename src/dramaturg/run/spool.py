"""Spools: records of finished units, on disk as they come, and in plan order in the end.

Units finish in any order. Their lines are appended to ``NAME.part`` at once, and only where they lie is kept in
memory; the file itself is written in plan order and replaced in one step. So it is the same, byte by byte,
whatever the concurrency, and a reader never sees half of it.

The part file is no checkpoint: a rerun gets every answer from the ledger and spools anew.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from dramaturg.errors import UserError


class Spool:
    """The spool of one JSON Lines file.

    Attributes:
        path: The file that `finish` writes.
    """

    def __init__(self, path: Path) -> None:
        """Opens the spool; its folder is made where it is missing.

        Raises:
            UserError: The folder or the file cannot be written.
        """
        self.path = path
        self._part = path.with_name(path.name + ".part")
        self._places: dict[int, tuple[int, int]] = {}
        self._end = 0
        with writing(self._part):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("w+b", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, position: int, lines: Iterable[str]) -> None:
        """Appends the lines of one unit; they are on disk when this returns, though not yet synced.

        Args:
            position: The unit's place in the plan.
            lines: JSON, one record each, without line ends.

        Raises:
            UserError: The disk is full or the file cannot be written.
        """
        data = "".join(f"{line}\n" for line in lines).encode("utf-8")
        with writing(self._part):
            self._file.seek(self._end)
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) :]
        self._places[position] = (self._end, len(data))
        self._end += len(data)

    def lines(self, position: int) -> list[str]:
        """Returns the lines of one unit.

        Raises:
            KeyError: Nothing was added at this position.
        """
        start, length = self._places[position]
        return self._read(start, length).decode("utf-8").split("\n")[:-1]

    def finish(self) -> None:
        """Writes the file in plan order; the old one stays until the new one is whole and synced.

        Raises:
            UserError: The disk is full or the file cannot be written; the old file is untouched.
        """
        new = self.path.with_name(self.path.name + ".new")
        with writing(self.path):
            try:
                with new.open("wb") as file:
                    for chunk in self._in_order():
                        file.write(chunk)
                    file.flush()
                    os.fsync(file.fileno())
                new.replace(self.path)
            finally:
                new.unlink(missing_ok=True)

    def close(self) -> None:
        """Removes the part file."""
        self._file.close()
        self._part.unlink(missing_ok=True)

    def _in_order(self) -> Iterator[bytes]:
        for _, (start, length) in sorted(self._places.items()):
            yield self._read(start, length)

    def _read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        data = b""
        while len(data) < length:
            piece = self._file.read(length - len(data))
            if not piece:
                raise UserError("was cut by another program", where=str(self._part), allowed="run the command again")
            data += piece
        return data


def copy_file(source: Path, target: Path) -> None:
    """Copies a file so that a reader sees the old one or the new one, never a part.

    Raises:
        UserError: The disk is full or the target cannot be written.
    """
    new = target.with_name(target.name + ".new")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source, new)
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Turns what the file system refuses into one clear line."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            allowed="make room or choose another --out, then run the same command again: "
            "every answer so far is in the ledger",
        ) from None
