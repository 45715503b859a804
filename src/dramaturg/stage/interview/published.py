"""Read the published schema (RPEval): JSON Lines with ``id``, ``type``, ``context`` and ``checks``.

A row is ``{"id": 7, "type": "emotion" | "decision" | "in‐character", "context": [messages], "checks": [{"args": …}]}``.
The character is the system message inside the context. ``args`` is a list in today's files and was bare text in older
ones; both are read. The hyphen of the type is U+2010 in the published file; any dash will do. The schema has one type
for decision and moral items, so that all of them are read as decisions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, StrictFloat, StrictInt, StrictStr, ValidationError

from dramaturg.errors import ContentError
from dramaturg.facts import Fact
from dramaturg.files import is_torn, read_lines
from dramaturg.stage.cast.character import Character
from dramaturg.stage.interview.item import Category, Item, Said
from dramaturg.text import sha256, storable

TYPES: dict[str, Category] = {"emotion": "emotion", "decision": "decision", "in-character": "in_character"}
"""Category by the published type, its dash made ASCII."""

NOBODY = "nobody"
"""Character of a row without a system message; there is no such character, which makes the item invalid."""

_DASHES = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d_\s]+")

_Text = StrictStr | StrictInt | StrictFloat


class ItemProblem(BaseModel):
    """What keeps an item, a row or a character from being used.

    Attributes:
        item: Id of the item; empty for a character, and for a row that has none.
        character: Id of the character; empty where it is not known.
        where: ``FILE:LINE``, where it stands in a file.
        what: One line for people.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str = ""
    character: str = ""
    where: str = ""
    what: str

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{f'item {self.item!r}: ' if self.item else ''}{self.what}"


@dataclass(frozen=True, slots=True)
class Published:
    """What a file of the published schema holds.

    Attributes:
        characters: One for each system message, in the order in which they come.
        items: Every row that is an item, those with a problem too.
        problems: Rows that are none, and what is wrong with items that the schema itself shows.
        lines: Item's id → line.
    """

    characters: tuple[Character, ...]
    items: tuple[Item, ...]
    problems: tuple[ItemProblem, ...]
    lines: dict[str, int]


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "user", "assistant"] = "user"
    content: str | None = None


class _Check(BaseModel):
    model_config = ConfigDict(extra="ignore")

    args: list[_Text] | _Text | None = None


class _Row(BaseModel):
    """A row, as loosely as published files are written; keys that are not known are passed over."""

    model_config = ConfigDict(extra="ignore")

    id: StrictInt | StrictStr | None = None
    type: str | None = None
    context: list[_Message] | str | None = None
    checks: list[_Check] | None = None

    @property
    def category(self) -> Category | None:
        """The category, or None where the type is missing or not known."""
        return TYPES.get(_DASHES.sub("-", (self.type or "").strip().lower()))

    @property
    def arguments(self) -> list[str]:
        """What stands in ``args`` of the first check, the only one that the published runner reads."""
        args = self.checks[0].args if self.checks else None
        listed = args if isinstance(args, list) else [] if args is None else [args]
        return [str(argument) for argument in listed]

    @property
    def messages(self) -> list[_Message]:
        """The chat."""
        return [_Message(content=self.context)] if isinstance(self.context, str) else self.context or []


def is_published(path: Path) -> bool:
    """Returns whether the first line of a file looks like a row of the published schema.

    Raises:
        ContentError: The file cannot be opened.
    """
    for _, line in read_lines(path):
        try:
            row: object = json.loads(line)
        except (ValueError, RecursionError):
            return False
        return isinstance(row, dict) and "category" not in row and bool({"context", "checks"} & row.keys())
    return False


def read_published(path: Path) -> Published:
    """Returns what a file of the published schema holds; a row that is wrong is a problem, not the end.

    Raises:
        ContentError: A line is no JSON object, or an id stands twice; the message names the line.
    """
    characters: dict[str, Character] = {}
    items: list[Item] = []
    problems: list[ItemProblem] = []
    lines: dict[str, int] = {}
    for number, values in _objects(path):
        where = f"{path}:{number}"
        if not _is_writable(values):
            name = storable(str(values.get("id") or ""))
            problems.append(
                ItemProblem(item=name, where=where, what="it holds half of a surrogate pair, which is no sign")
            )
            continue
        try:
            row = _Row.model_validate(values)
        except ValidationError as wrong:
            first = wrong.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"] if "[" not in str(part))
            name = values.get("id")
            what = f"{key}: {first['msg']}"
            problems.append(ItemProblem(item="" if name is None else str(name), where=where, what=what))
            continue
        if row.id is None or not str(row.id).strip():
            problems.append(ItemProblem(where=where, what="the row has no id"))
            continue
        name, category = str(row.id).strip(), row.category
        if name in lines:
            raise ContentError(
                f"id {name!r} stands twice", where=where, allowed=f"every id once; the first is in line {lines[name]}"
            )
        lines[name] = number
        if category is None:
            what = f"the type {row.type!r} is none of {', '.join(TYPES)}" if row.type else "the row has no type"
            problems.append(ItemProblem(item=name, where=where, what=what))
            continue
        character = _character_of(row)
        if character is not None:
            characters.setdefault(character.id, character)
        item, what = _item_of(row, name, category, character)
        items.append(item)
        if what:
            problems.append(ItemProblem(item=name, character=item.character, where=where, what=what))
    return Published(tuple(characters.values()), tuple(items), tuple(problems), lines)


def _objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in read_lines(path):
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            torn = "the last line is torn: it ends in the middle of a row" if is_torn(line) else "is no JSON"
            raise ContentError(torn, where=f"{path}:{number}", allowed="one JSON object per line") from None
        if not isinstance(value, dict):
            raise ContentError("is no JSON object", where=f"{path}:{number}", allowed="one JSON object per line")
        yield number, cast("dict[str, object]", value)


def _is_writable(values: dict[str, object]) -> bool:
    """Returns whether a row can be written as UTF-8; half of a surrogate pair is JSON, but no text."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _character_of(row: _Row) -> Character | None:
    texts = [message.content or "" for message in row.messages if message.role == "system"]
    if not texts or not texts[0].strip():
        return None
    name = f"c-{sha256(texts[0])[:12]}"
    return Character(id=name, name=name, description=texts[0])


def _item_of(row: _Row, name: str, category: Category, character: Character | None) -> tuple[Item, str]:
    """Returns the item of a row, and what is wrong with it where only the row shows it."""
    said = [message for message in row.messages if message.role != "system"]
    asks = bool(said) and said[-1].role == "user"
    arguments = row.arguments
    keywords = tuple(dict.fromkeys(word for word in arguments if word.strip()))
    is_fact = category == "in_character"
    item = Item(
        id=name,
        character=character.id if character is not None else NOBODY,
        category=category,
        message=(said[-1].content or "") if asks else "",
        expected="" if is_fact or not arguments else arguments[0],
        facts=tuple(Fact(text=word, forms={"": (word,)}) for word in keywords) if is_fact else (),
        history=tuple(
            Said(role="assistant" if message.role == "assistant" else "user", content=message.content or "")
            for message in said[:-1]
        ),
    )
    systems = sum(message.role == "system" for message in row.messages)
    if character is None:
        return item, "the row has no system message, so that the item has no character"
    if systems > 1:
        return item, f"the row has {systems} system messages, so that its character is not clear"
    if not asks:
        return item, "the row's last message is no user's"
    if is_fact and len(keywords) < len(set(arguments)):
        return item.model_copy(update={"facts": ()}), "a keyword is empty, so that every reply would hold it"
    return item, ""
