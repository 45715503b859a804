"""How often `audit bleed` cries leak over a clean file, and how often it finds six persona blocks.

    python bench/bleed.py [--json] [--shuffles N] [--leaks N] [--rows N]

A file of the published shape is invented: 30 % emotions, 60 % decisions that say nothing but yes or no, 10 % questions.
Clean replies name their own character now and then, and names that models like to invent. In a leaking file six
processes answered one after the other, each under the character of its first row.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from dramaturg.judge.audit.bleed import find_bleed
from dramaturg.run.interview.bleed_rows import bleed_rows, persona_names
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview import Item, ItemSet
from dramaturg.stage.interview.item import LABELS
from dramaturg.stage.interview.item_set import ItemSetHead, item_set_of
from figures import Figure, at_least, at_most, show

BLOCKS = 6
FALSE_ALARMS, FOUND, SECONDS = 0.03, 0.95, 10.0
BEGINNINGS = "Bel Cor Dan Er Fal Gor Hal Is Jor Kel Lor Mar Nor Or Pel Quin Ras Sel Tor Ul Ver Wil Yor Zan".split()
ENDINGS = "adra bert cinda dric elle fina goth hild ina jan kar lind mir nack oth prim rida sande tilde vard".split()
LIKED = ("Elara", "Elias", "Marcus", "Lily", "Thorne")
LINES = ("I will not hear of it.", "The harbour can wait.", "What would you have me do?", "My mother said the same.")


def item_set(rows: int) -> ItemSet:
    generator = random.Random(7)
    names = [f"{one}{other}" for one in BEGINNINGS for other in ENDINGS]
    generator.shuffle(names)
    names = names[: max(12, rows // 4)]
    characters = [
        Character(id=f"c{place}", name=name, description=f"You are {name}, who keeps the light of a small harbour.")
        for place, name in enumerate(names)
    ]
    items: list[Item] = []
    for number in range(rows):
        category = generator.choices(("emotion", "decision", "in_character"), (3, 6, 1))[0]
        expected = {"emotion": generator.choice(LABELS), "decision": generator.choice(("yes", "yes", "no"))}
        character = f"c{generator.randrange(len(names))}"
        message = "The boat has come in. What now?"
        items.append(
            Item(id=str(number), character=character, category=category, message=message).model_copy(
                update={"expected": expected.get(category, "")}
            )
        )
    return item_set_of(ItemSetHead(id="invented", title="Invented"), characters, items)


def text(name: str, generator: random.Random, often: float) -> str:
    line = generator.choice(LINES)
    if generator.random() < often:
        line = f"({name} looks up.) {line} They call me {name}."
    if generator.random() < 0.05:
        line += f" Ask {generator.choice(LIKED)} about it."
    return line


def response(item: Item, name: str, lean: str, generator: random.Random) -> str:
    """Returns a reply under a character's name; it leans towards the label of whoever plays."""
    right = item.expected if generator.random() < 0.5 else ""
    match item.category:
        case "emotion":
            label = right or (lean if generator.random() < 0.7 else generator.choice(LABELS))
            return json.dumps({"emotion": label, "text": text(name, generator, 0.1)})
        case "decision":
            says_yes = generator.random() < (0.85 if lean in ("joy", "hope", "love") else 0.45)
            return json.dumps({"decision": right or ("yes" if says_yes else "no")})
        case _:
            return text(name, generator, 0.6)


def write(path: Path, items: ItemSet, *, leaks: bool, seed: int) -> None:
    generator = random.Random(seed)
    order = list(items.items)
    generator.shuffle(order)
    starts = sorted(generator.sample(range(1, len(order)), BLOCKS - 1)) if leaks else []
    with path.open("w", encoding="utf-8") as out:
        playing, lean = order[0].character, generator.choice(LABELS)
        for number, item in enumerate(order):
            if number in starts:
                playing, lean = item.character, generator.choice(LABELS)
            name = items.characters[playing if leaks else item.character].name
            toward = lean if leaks else "determination"
            out.write(json.dumps({"id": int(item.id), "response": response(item, name, toward, generator)}) + "\n")


def verdicts(items: ItemSet, folder: Path, *, leaks: bool, files: int, known: bool) -> Counter[str]:
    names = persona_names(items) if known else None
    found: Counter[str] = Counter()
    for seed in range(files):
        path = folder / "responses.jsonl"
        write(path, items, leaks=leaks, seed=seed)
        runs, _ = bleed_rows(path, items if known else None, on_torn=print)
        found.update(find_bleed(rows, names, seed=seed).verdict for rows in runs.values())
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--shuffles", type=int, default=200)
    parser.add_argument("--leaks", type=int, default=40)
    parser.add_argument("--rows", type=int, default=900)
    asked = parser.parse_args()
    items = item_set(asked.rows)
    figures: list[Figure] = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        for known in (True, False):
            how = "with the item set" if known else "without it"
            clean = verdicts(items, folder, leaks=False, files=asked.shuffles, known=known)
            told = f"{asked.shuffles} clean files of {asked.rows} rows"
            figures.append(at_most(f"false alarms, {how}", clean["leak"] / asked.shuffles, FALSE_ALARMS, told))
            suspected = round(clean["suspect"] / asked.shuffles, 4)
            figures.append(Figure(f"suspicions, {how}", suspected, None, None, "labels that drift by chance"))
            leaking = verdicts(items, folder, leaks=True, files=asked.leaks, known=known)
            told = f"{asked.leaks} files with {BLOCKS} blocks"
            figures.append(at_least(f"leaks found, {how}", leaking["leak"] / asked.leaks, FOUND, told))
        large = item_set(9_018)
        write(folder / "large.jsonl", large, leaks=True, seed=1)
        started = time.perf_counter()
        rows, _ = bleed_rows(folder / "large.jsonl", large, on_torn=print)
        for one in rows.values():
            find_bleed(one, persona_names(large))
        figures.append(at_most("seconds for 9,018 rows", time.perf_counter() - started, SECONDS))
    show(figures, as_json=asked.json)


if __name__ == "__main__":
    main()
