"""Read what a study file refers to, and gather what is wrong with it, each problem with its line."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TypeVar

from dramaturg.errors import StudyError, UserError
from dramaturg.files import place_of

ItemT = TypeVar("ItemT")
ReadT = TypeVar("ReadT")


class StudyReading:
    """The reading of one study file.

    Attributes:
        folder: Where relative paths in it start.
    """

    def __init__(self, path: Path) -> None:
        """Begins with a study file."""
        self.folder = path.parent
        self._path = path
        self._problems: list[str] = []

    def report(self) -> None:
        """Ends the reading.

        Raises:
            StudyError: Something was wrong; the message has a line for each problem.
        """
        if self._problems:
            raise StudyError("\n".join(self._problems))

    def each(
        self, name: str, values: Sequence[ItemT], read: Callable[[ItemT], ReadT], *, key: Callable[[ReadT], Hashable]
    ) -> tuple[ReadT, ...]:
        """Returns what was read of a list; two entries that mean the same are a problem.

        Args:
            name: The list's key in the file.
            values: Its entries.
            read: Reads one of them; a `UserError` becomes a problem.
            key: What an entry means.
        """
        found: dict[Hashable, ReadT] = {}
        for index, value in enumerate(values):
            try:
                item = read(value)
            except UserError as error:
                self.note(str(error), name, index)
                continue
            if key(item) in found:
                self.note(f"means the same as an entry above; each of the {name} may stand once", name, index)
            found.setdefault(key(item), item)
        return tuple(found.values())

    def distinct(self, name: str, values: Sequence[Hashable], what: str) -> None:
        """Notes every value of a list that stands twice; `what` names a value in the message."""
        for index, value in enumerate(values):
            if value in values[:index]:
                self.note(f"the {what} {value!r} stands twice", name, index)

    def note(self, problem: str, *location: str | int) -> None:
        """Notes a problem at a place of the file: keys and indices, outermost first."""
        noted = f"{place_of(self._path, *location)}: {problem}"
        if noted not in self._problems:
            self._problems.append(noted)
