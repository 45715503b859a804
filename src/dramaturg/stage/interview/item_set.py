"""The item set: characters, items and the labels that answers may have, read and checked before anything is asked.

A set is a folder: ``set.yaml``, ``characters.jsonl``, ``items.jsonl``, and ``card.md`` for people; in an imported set
``left-out.jsonl`` says what could not be used. A single file of the published schema (RPEval) is read as a set too, see
`dramaturg.stage.interview.published`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dramaturg.errors import ContentError, did_you_mean
from dramaturg.files import dump_yaml, load_yaml, read_jsonl
from dramaturg.stage.cast.character import Character, CharacterId
from dramaturg.stage.interview.item import CATEGORIES, LABELS, Category, Item, Text
from dramaturg.stage.interview.published import ItemProblem, Published, is_published, read_published
from dramaturg.text import sha256, write_atomically

HEAD_FILE = "set.yaml"
CHARACTERS_FILE = "characters.jsonl"
ITEMS_FILE = "items.jsonl"
LEFT_OUT_FILE = "left-out.jsonl"
CARD_FILE = "card.md"

ModelT = TypeVar("ModelT", bound=BaseModel)


class ItemSetHead(BaseModel):
    """The file ``set.yaml``: what holds for all items of a set.

    Attributes:
        id: Lower-case letters, digits and hyphens.
        title: For people.
        version: Counted up whenever an item changes.
        language: ISO 639-1, of most items.
        labels: What an emotion may be.
        licence: Under which the items may be used, for example ``CC-BY-4.0``.
        description: What the set is for, in a paragraph.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: CharacterId
    title: Text
    version: Annotated[int, Field(ge=1, strict=True)] = 1
    language: str = "en"
    labels: Annotated[tuple[Text, ...], Field(min_length=2)] = LABELS
    licence: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class ItemSet:
    """A set of items with their characters.

    Attributes:
        head: What holds for all of them.
        characters: Character by id, in the order of the file.
        items: Every item, those with a problem too, in the order of the file.
        problems: What keeps items, rows or characters from being used; such an item is never asked and never scored.
        digest: Hash of all of it; another order of items is another set.
    """

    head: ItemSetHead
    characters: Mapping[str, Character]
    items: tuple[Item, ...]
    problems: tuple[ItemProblem, ...]
    digest: str

    @property
    def id(self) -> str:
        """Its id."""
        return self.head.id

    @property
    def title(self) -> str:
        """What people call it."""
        return self.head.title

    @property
    def version(self) -> int:
        """Its version."""
        return self.head.version

    @property
    def labels(self) -> tuple[str, ...]:
        """What an emotion may be."""
        return self.head.labels

    def sound_items(self) -> tuple[Item, ...]:
        """Returns the items that can be asked and scored."""
        broken = {problem.item for problem in self.problems}
        return tuple(item for item in self.items if item.id not in broken)

    def counts(self) -> dict[Category, int]:
        """Returns how many items of each category can be asked and scored."""
        found = Counter(item.category for item in self.sound_items())
        return {category: found[category] for category in CATEGORIES}


def shipped_sets() -> dict[str, Path]:
    """Returns the folders of the shipped item sets by name."""
    shelf = Path(str(resources.files("dramaturg"))) / "content" / "items"
    return {path.parent.name: path.parent for path in sorted(shelf.glob(f"*/{HEAD_FILE}"))}


def find_item_set(name: str, *, beside: Path | None = None) -> Path:
    """Returns the folder or file that a name or a path means: a shipped set by name, else one on disk.

    Args:
        name: Name of a shipped set, a folder, or a file of the published schema.
        beside: Folder that relative paths start from; the working folder by default.

    Raises:
        ContentError: There is no such set; the message lists the names.
    """
    shipped = shipped_sets()
    if name in shipped:
        return shipped[name]
    path = (beside or Path()) / name
    try:
        if path.is_file() or (path / HEAD_FILE).is_file():
            return path
        is_folder = path.is_dir()
    except OSError:
        is_folder = False
    if is_folder:
        raise ContentError(f"holds no {HEAD_FILE}", where=str(path), allowed="the folder of an item set")
    hint = f", or {did_you_mean(name, shipped)}" if shipped else ""
    raise ContentError(
        f"unknown item set {name!r}", allowed=f"the folder of a set, a JSONL file of the published schema{hint}"
    )


def read_item_set(name_or_path: str | Path, *, beside: Path | None = None) -> ItemSet:
    """Returns an item set, read and checked; items that cannot be scored are kept, and listed as problems.

    Args:
        name_or_path: See `find_item_set`.
        beside: See `find_item_set`.

    Raises:
        ContentError: There is no such set, or it is none: no JSON, an unknown key, an id that stands twice. The
            message names file and line.
    """
    path = find_item_set(str(name_or_path), beside=beside)
    if path.is_file():
        return import_published(path)
    head = load_yaml(path / HEAD_FILE, ItemSetHead)
    characters = _read_distinct(path / CHARACTERS_FILE, Character)
    items = _read_distinct(path / ITEMS_FILE, Item)
    places = {item: f"{path / ITEMS_FILE}:{line}" for item, (line, _) in items.items()}
    left_out = path / LEFT_OUT_FILE
    noted = [problem for _, problem in read_jsonl(left_out, ItemProblem)] if left_out.is_file() else []
    homes = {character: f"{path / CHARACTERS_FILE}:{line}" for character, (line, _) in characters.items()}
    return item_set_of(
        head,
        (character for _, character in characters.values()),
        (item for _, item in items.values()),
        places=places,
        homes=homes,
        noted=noted,
    )


def item_set_of(
    head: ItemSetHead,
    characters: Iterable[Character],
    items: Iterable[Item],
    *,
    places: Mapping[str, str] | None = None,
    homes: Mapping[str, str] | None = None,
    noted: Iterable[ItemProblem] = (),
) -> ItemSet:
    """Returns the set of these characters and items, checked.

    Args:
        head: What holds for all of them.
        characters: Distinct by id.
        items: Distinct by id.
        places: Item's id → where it stands, for problems.
        homes: Character's id → where it stands, for problems.
        noted: Problems that are known already.
    """
    by_id = {character.id: character for character in characters}
    all_items = tuple(items)
    problems = list(noted)
    known = {problem.item for problem in problems}
    for item in all_items:
        if item.id not in known and (what := _problem_with(item, by_id, head.labels)):
            where = (places or {}).get(item.id, "")
            problems.append(ItemProblem(item=item.id, character=item.character, where=where, what=what))
    used = {item.character for item in all_items}
    problems += (
        ItemProblem(
            character=character, where=(homes or {}).get(character, ""), what=f"the character {character!r} has no item"
        )
        for character in by_id
        if character not in used
    )
    return ItemSet(head, by_id, all_items, tuple(problems), _digest(head, by_id.values(), all_items))


def write_item_set(folder: Path, item_set: ItemSet, *, card: str = "") -> None:
    """Writes a set as a folder that reads back as the same; files that are there are replaced.

    Args:
        folder: Made where it is missing.
        item_set: The set.
        card: Text of its card; none is written where it is empty.

    Raises:
        OSError: The folder cannot be written, or the disk is full.
    """
    seen_again = {item.id for item in item_set.items if _problem_with(item, item_set.characters, item_set.labels)}
    left_out = [one for one in item_set.problems if one.item not in seen_again and not _is_idle(one, item_set)]
    (folder / LEFT_OUT_FILE).unlink(missing_ok=True)
    if left_out:
        write_atomically(folder / LEFT_OUT_FILE, "".join(_lines(left_out)))
    write_atomically(folder / CHARACTERS_FILE, "".join(_lines(item_set.characters.values())))
    write_atomically(folder / ITEMS_FILE, "".join(_lines(item_set.items)))
    if card:
        write_atomically(folder / CARD_FILE, card)
    write_atomically(folder / HEAD_FILE, dump_yaml(item_set.head.model_dump(mode="json"), width=120))


def import_published(path: Path, *, name: str = "") -> ItemSet:
    """Returns the item set of a file of the published schema.

    Args:
        path: The file.
        name: Id of the set; made of the file's name by default.

    Raises:
        ContentError: It is no such file, or the id has other signs than lower-case letters, digits and hyphens.
    """
    if not is_published(path):
        raise ContentError(
            "is no item set",
            where=str(path),
            allowed=f"a folder with {HEAD_FILE}, {CHARACTERS_FILE} and {ITEMS_FILE}, or a JSONL file of the published "
            "schema (id, type, context, checks)",
        )
    read: Published = read_published(path)
    made = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in path.stem.lower()).strip("-")
    fields = {
        "id": name or made or "imported",
        "title": path.stem,
        "description": "Imported from a file of the published RPEval schema. Its decision items hold the moral ones "
        "too: the schema does not tell them apart.",
    }
    try:
        head = ItemSetHead.model_validate(fields)
    except ValidationError:
        raise ContentError(
            f"{fields['id']!r} is no id of a set", allowed="lower-case letters, digits and hyphens"
        ) from None
    places = {item: f"{path}:{line}" for item, line in read.lines.items()}
    return item_set_of(head, read.characters, read.items, places=places, noted=read.problems)


def _read_distinct(path: Path, model: type[ModelT]) -> dict[str, tuple[int, ModelT]]:
    """Returns line and record by id.

    Raises:
        ContentError: A line is no such record, or an id stands twice.
    """
    found: dict[str, tuple[int, ModelT]] = {}
    for number, record in read_jsonl(path, model):
        name = str(getattr(record, "id"))  # noqa: B009 - both models have one, which their common type does not say
        first = found.setdefault(name, (number, record))
        if first[0] != number:
            raise ContentError(
                f"id {name!r} stands twice",
                where=f"{path}:{number}",
                allowed=f"every id once; the first is in line {first[0]}",
            )
    return found


def _is_idle(problem: ItemProblem, item_set: ItemSet) -> bool:
    """Returns whether a problem is that of a character without items, which is seen again in any reading."""
    return not problem.item and problem.character in item_set.characters


def _problem_with(item: Item, characters: Mapping[str, Character], labels: tuple[str, ...]) -> str:
    """Returns why an item can be neither asked nor scored; empty where it can."""
    if not item.message.strip():
        return "the message is empty"
    if item.character not in characters:
        return f"unknown character {item.character!r}"
    match item.category:
        case "emotion" if item.expected not in labels:
            return f"the label {item.expected!r} is none of the set's ({', '.join(labels)})"
        case "decision" | "moral" if item.expected not in ("yes", "no"):
            return f"expected is {item.expected!r}, neither yes nor no"
        case "in_character" | "knows" if not item.facts:
            return "it names no fact, so that every reply would be right"
        case "in_character" | "knows" if not all(fact.forms or fact.date for fact in item.facts):
            return "a fact has neither a form nor a date, so that no reply could state it"
        case _:
            return ""


def _digest(head: ItemSetHead, characters: Iterable[Character], items: Iterable[Item]) -> str:
    return sha256("".join((head.model_dump_json(), *_lines(characters), *_lines(items))))


def _lines(records: Iterable[BaseModel]) -> Iterator[str]:
    """Yields each record as a line; what a record leaves as it is by default is left out."""
    for record in records:
        yield json.dumps(record.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False) + "\n"
