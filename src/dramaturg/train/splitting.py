"""Splits that leak nothing: what shares a scene or a character stands in the same split, whatever else it is.

The parts that cannot be torn are the connected components of examples over scenes and characters. Sizes are by
examples, and as near to what is wanted as these parts allow.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from dramaturg.errors import ContentError, UserError
from dramaturg.files import read_jsonl
from dramaturg.text import sha256
from dramaturg.train.example import Example, ExampleRow

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

_ORDERS = 200
"""Seeded orders of which the best is taken."""


def components(examples: Sequence[Example]) -> list[list[Example]]:
    """Returns the parts that no split may tear, in the order in which they come.

    Args:
        examples: Of any kind.
    """
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while (parent := parents.setdefault(name, name)) != name:
            parents[name] = name = parents[parent]
        return name

    for example in examples:
        scene = root(_scene_key(example))
        for character in example.characters:
            parents[root(_character_key(character))] = root(scene)
    found: dict[str, list[Example]] = {}
    for example in examples:
        found.setdefault(root(_scene_key(example)), []).append(example)
    return list(found.values())


def split_examples(
    examples: Sequence[Example], *, validation: float, test: float, seed: int
) -> dict[Split, list[Example]]:
    """Returns the examples by split, in their order; each split that is wanted has some.

    Args:
        examples: What is split.
        validation: Share of the examples for validation; 0 for none.
        test: Share for the test; 0 for none.
        seed: Of the choice among splits.

    Raises:
        UserError: There is nothing to split, or there are fewer parts than splits; the message names what holds them
            together.
    """
    if not examples:
        raise UserError("the set is empty: no example is left")
    if validation + test >= 1:
        raise UserError("validation and test take everything", allowed="shares that together stay below 1")
    shares: dict[Split, float] = {"train": 1 - validation - test, "validation": validation, "test": test}
    wanted: dict[Split, float] = {name: share * len(examples) for name, share in shares.items() if share > 0}
    parts = components(examples)
    if len(parts) < len(wanted):
        raise UserError(
            _cannot(examples, parts, len(wanted)), allowed="runs of more scenes, or fewer splits (--test 0)"
        )
    ordered = sorted(parts, key=lambda part: sha256(f"{seed}\n{part[0].scene}"))
    chosen = _nearest([len(part) for part in ordered], wanted, random.Random(sha256(f"split\n{seed}")))
    of_part: dict[int, Split] = {
        id(example): name for part, name in zip(ordered, chosen, strict=True) for example in part
    }
    found: dict[Split, list[Example]] = {name: [] for name in wanted}
    for example in examples:
        found[of_part[id(example)]].append(example)
    return found


def read_set(folder: Path) -> dict[Split, list[Example]]:
    """Returns the splits of a set.

    Raises:
        ContentError: It is no set, or a file of it is wrong.
    """
    found: dict[Split, list[Example]] = {}
    for name in SPLITS:
        path = folder / f"{name}.jsonl"
        if path.is_file():
            found[name] = [row.example for _, row in read_jsonl(path, ExampleRow)]
    if not found:
        raise ContentError("holds no data set", where=str(folder), allowed="a folder of dramaturg train data")
    return found


def split_as(
    examples: Sequence[Example], other: Mapping[Split, Sequence[Example]], left_out: Counter[str], where: str
) -> dict[Split, list[Example]]:
    """Returns the examples by split, each where another set has its scene; what it does not have is left out.

    Args:
        examples: What is split.
        other: The splits of the other set.
        left_out: Is told what was left out.
        where: Of the other set, for errors.

    Raises:
        ContentError: The other set has none of the scenes, has one in two splits, or has them all held out.
    """
    of_scene: dict[str, Split] = {}
    for name, split in other.items():
        for scene in sorted({example.scene for example in split}):
            if of_scene.setdefault(scene, name) != name:
                raise ContentError(f"has the scene {scene!r} in {of_scene[scene]} and in {name}", where=where)
    found: dict[Split, list[Example]] = {}
    for example in examples:
        if example.scene in of_scene:
            found.setdefault(of_scene[example.scene], []).append(example)
        else:
            left_out["its scene is not in the other set"] += 1
    if not found:
        raise ContentError(f"does not have the scene {examples[0].scene!r}, nor any other of this set", where=where)
    if "train" not in found:
        raise ContentError("has every scene of this set held out: nothing is left to learn from", where=where)
    return {name: found[name] for name in SPLITS if name in found}


def refuse_one_class(labels: Mapping[str, int], what: str) -> None:
    """Refuses a set in which every answer is the same: there is nothing to learn, and nothing to measure.

    Args:
        labels: Class → how many.
        what: What an answer is, for example ``rating``.

    Raises:
        UserError: There is one class alone.
    """
    if len(labels) == 1:
        only, count = next(iter(labels.items()))
        raise UserError(
            f"the set has one class: each of {count} answers is the {what} {only}",
            allowed="runs, or a teacher, whose answers differ",
        )


def _scene_key(example: Example) -> str:
    return f"scene:{example.scene}"


def _character_key(name: str) -> str:
    return f"character:{' '.join(name.casefold().split())}"


def _cannot(examples: Sequence[Example], parts: Sequence[Sequence[Example]], wanted: int) -> str:
    scenes = {example.scene for example in examples}
    if len(scenes) < wanted:
        return f"a split into {wanted} cannot be made of {len(scenes)} scene{'s' * (len(scenes) > 1)}"
    largest = max(parts, key=lambda part: len({example.scene for example in part}))
    of_scenes: Counter[str] = Counter()
    for scene in sorted({example.scene for example in largest}):
        of_scenes.update({name for example in largest if example.scene == scene for name in example.characters})
    shared, count = of_scenes.most_common(1)[0] if of_scenes else ("", 0)
    return (
        f"a split into {wanted} cannot be made: {len(scenes)} scenes are {len(parts)} part"
        f"{'s' * (len(parts) > 1)}, since they share characters ({shared!r} is in {count})"
    )


def _nearest(sizes: Sequence[int], wanted: Mapping[Split, float], draw: random.Random) -> list[Split]:
    """Returns a split for each part: of many orders, filled greedily, the one that is nearest to what is wanted."""
    names: list[Split] = list(wanted)
    best: tuple[float, list[Split]] | None = None
    for _ in range(_ORDERS):
        order = list(range(len(sizes)))
        draw.shuffle(order)
        given: list[Split] = [names[0]] * len(sizes)
        left = dict(wanted)
        empty: list[Split] = list(names)
        for number, part in enumerate(order):
            rest = len(sizes) - number
            open_names: list[Split] = empty if rest == len(empty) else names  # the last parts go where nothing is yet
            name: Split = max(open_names, key=lambda one: left[one])
            given[part] = name
            left[name] -= sizes[part]
            empty = [one for one in empty if one != name]
        distance = sum(abs(rest) for rest in left.values())
        if best is None or distance < best[0]:
            best = (distance, given)
    assert best is not None
    return best[1]
