"""What a run learns from: the training and validation set in tokens, and what speaks against learning from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import ContentError
from dramaturg.files import read_jsonl
from dramaturg.train.batching import Tokens
from dramaturg.train.example import Example, ExampleRow
from dramaturg.train.leaks import Piece, find_leaks
from dramaturg.train.loading import ChatTokens


@dataclass(frozen=True, slots=True)
class Material:
    """A data set, as one base reads it.

    Attributes:
        train: Examples that are learnt from.
        validation: Examples that the held-out loss is taken on.
        too_long: Examples of both that are longer than the cutoff, and left out.
        trained_on: Ids of the scenes, cases and transcripts of both.
        learnt: Ids of the scenes and cases that are learnt from.
        held_out: The same of those that the held-out loss is taken on.
        kinds: Kinds of data.
        purposes: Of the calls of both, or the kinds of faults that they ask about.
    """

    train: tuple[Tokens, ...]
    validation: tuple[Tokens, ...]
    too_long: int
    trained_on: tuple[str, ...]
    learnt: tuple[str, ...]
    held_out: tuple[str, ...]
    kinds: tuple[str, ...]
    purposes: tuple[str, ...]


def read_splits(folder: Path) -> tuple[list[Example], list[Example]]:
    """Returns the examples to learn from, and those to hold out.

    Raises:
        ContentError: A file is missing, empty or wrong; all answers are the same; or something of
            one stands in the other.
    """
    train, validation = (_read(folder / f"{name}.jsonl") for name in ("train", "validation"))
    for name, split in (("train", train), ("validation", validation)):
        if not split:
            raise ContentError("holds no example", where=str(folder / f"{name}.jsonl"))
    answers = {" ".join(example.answer.split()).casefold() for example in train}
    if len(answers) == 1:
        what = f"all {len(train)} answers are the same ({_short(answers.pop())}): there is nothing to tell apart"
        raise ContentError(what, where=str(folder / "train.jsonl"), allowed="examples of every class")
    _refuse_leak(folder, {"train": train, "validation": validation})
    return train, validation


def in_tokens(
    splits: tuple[Sequence[Example], Sequence[Example]], chat: ChatTokens, cutoff: int, where: str
) -> Material:
    """Returns the examples in tokens; those longer than the cutoff are counted and left out.

    Args:
        splits: To learn from, and to hold out.
        chat: Of the base.
        cutoff: Most tokens of an example.
        where: Of the data, for errors.

    Raises:
        ContentError: All examples of a split are longer than the cutoff, or the base takes no such chat.
    """
    kept: list[tuple[Tokens, ...]] = []
    for examples in splits:
        tokens = [Tokens(chat.prompt(one.messages), chat.answer(one.answer), one.weight) for one in examples]
        fitting = tuple(one for one in tokens if len(one) <= cutoff)
        if not fitting:
            shortest = min(map(len, tokens))
            what = f"all {len(tokens)} examples of a split are longer than the cutoff of {cutoff} tokens"
            raise ContentError(what, where=where, allowed=f"a cutoff of at least {shortest}")
        kept.append(fitting)
    train, validation = kept
    both = [example for split in splits for example in split]
    return Material(
        train=train,
        validation=validation,
        too_long=len(both) - len(train) - len(validation),
        trained_on=ids_of(both),
        learnt=_scenes(splits[0]),
        held_out=_scenes(splits[1]),
        kinds=tuple(sorted({example.kind for example in both})),
        purposes=tuple(sorted({example.purpose for example in both} - {""})),
    )


def ids_of(examples: Sequence[Example]) -> tuple[str, ...]:
    """Returns the ids of the scenes, cases and transcripts of examples, each once; not the places in transcripts."""
    return tuple(sorted({name for example in examples for name in (example.scene, example.transcript)} - {""}))


def _scenes(split: Sequence[Example]) -> tuple[str, ...]:
    return tuple(sorted({example.scene for example in split} - {""}))


def _read(path: Path) -> list[Example]:
    if not path.is_file():
        raise ContentError(f"there is no {path.name}", where=str(path.parent), allowed="dramaturg train data makes one")
    found: list[Example] = []
    for number, row in read_jsonl(path, ExampleRow):
        example = row.example
        if not example.answer.strip():
            raise ContentError("the answer is empty", where=f"{path}:{number}")
        if not (example.weight > 0 and math.isfinite(example.weight)):
            raise ContentError(f"weight: {example.weight} is no weight", where=f"{path}:{number}", allowed="above 0")
        found.append(example)
    return found


def _refuse_leak(folder: Path, splits: Mapping[str, Sequence[Example]]) -> None:
    pieces = [
        Piece(
            name,
            example.id,
            (*(one.text for one in example.messages), example.answer),
            example.scene,
            example.characters,
        )
        for name, examples in splits.items()
        for example in examples
    ]
    leaks = find_leaks(pieces)
    if leaks:
        more = f", and {len(leaks) - 1} more" if len(leaks) > 1 else ""
        allowed = "dramaturg train check names all of them"
        raise ContentError(f"the split leaks: {leaks[0]}{more}", where=str(folder), allowed=allowed)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
