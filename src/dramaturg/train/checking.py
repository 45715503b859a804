"""Checks files of a training set for leaks, whoever made them: each file, or each part of a folder, is one split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import UserError
from dramaturg.train.formats import read_pieces
from dramaturg.train.leaks import Leak, Piece, find_leaks
from dramaturg.train.splitting import SPLITS

ENDINGS = (".jsonl", ".json")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        examples: Split → how many.
        named: How many examples say which scene they are from; of the others, texts alone are compared.
        leaks: What stands in two splits.
    """

    examples: dict[str, int]
    named: int
    leaks: tuple[Leak, ...]


def check_files(paths: Sequence[Path]) -> Checked:
    """Returns what stands in two splits of some files.

    Args:
        paths: Folders with ``train``, ``validation`` and ``test`` as JSON Lines or JSON, or files, each of which is a
            split.

    Raises:
        UserError: There are fewer than two splits, one is empty, or a file stands for two.
        ContentError: A row has no form that is known.
    """
    files = [file for path in paths for file in _files(path)]
    if len(files) < 2:
        raise UserError(
            "one split alone: there is nothing to compare it with",
            where=", ".join(map(str, paths)),
            allowed="a folder with train and validation or test, or several files",
        )
    _refuse_twice(files)
    stems = Counter(file.stem for file in files)
    pieces: list[Piece] = []
    examples: dict[str, int] = {}
    for file in files:
        split = file.stem if stems[file.stem] == 1 else str(file)
        rows = list(read_pieces(file, split))
        if not rows:
            raise UserError("holds no example", where=str(file), allowed="a split with some")
        examples[split] = len(rows)
        pieces += rows
    return Checked(examples, sum(bool(piece.scene) for piece in pieces), tuple(find_leaks(pieces)))


def _refuse_twice(files: Sequence[Path]) -> None:
    for file, count in Counter(file.resolve() for file in files).items():
        if count > 1:
            raise UserError(f"is named {count} times", where=str(file), allowed="each split once")


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [file for split in SPLITS for ending in ENDINGS if (file := path / f"{split}{ending}").is_file()]
    if not found:
        raise UserError(
            "holds no split", where=str(path), allowed="train.jsonl, validation.jsonl, test.jsonl, or .json"
        )
    return found
