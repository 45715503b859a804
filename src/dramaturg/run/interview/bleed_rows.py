"""Any file of replies as the audit of persona leakage reads it: rows of a run, or a published response file."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from dramaturg.errors import ContentError
from dramaturg.files import OnTorn, read_jsonl
from dramaturg.judge.audit.bleed import Answered
from dramaturg.judge.audit.persona_names import name_in
from dramaturg.run.interview.reply_row import PublishedId, Written
from dramaturg.stage.interview import Item, ItemSet

_TAG = re.compile(r"\s*\[\s*([^\W\d_]{2,20})\s*\]\s*(.*)", re.DOTALL)
_BARE = re.compile(r"\W*(yes|no)\W*", re.IGNORECASE)
_LABEL_KEYS = ("emotion", "decision", "answer")


class _Row(BaseModel):
    """A row of either shape; keys that say nothing here are passed over."""

    model_config = ConfigDict(extra="ignore")

    item: PublishedId = Field(validation_alias=AliasChoices("item", "id"))
    text: Written = Field(default=None, validation_alias=AliasChoices("text", "response"))
    character: str = ""
    asked_as: str = ""
    condition: str = "own"
    category: str = ""
    subject: str = ""
    strategy: str = ""
    form: str = ""
    repeat: int = 1

    @property
    def run(self) -> str:
        """Rows of the same run were asked one after the other."""
        parts = (self.subject, self.strategy, self.form, "" if self.condition == "own" else self.condition)
        return ", ".join([*filter(None, parts), *([f"repeat {self.repeat}"] if self.repeat > 1 else [])])


def bleed_rows(path: Path, item_set: ItemSet | None, *, on_torn: OnTorn) -> tuple[dict[str, list[Answered]], int]:
    """Returns the rows of a file by run, in the order of the file, and how many answer no item of the set.

    Args:
        path: ``replies.jsonl`` of a run, or lines ``{"id": …, "response": …}``.
        item_set: What the replies answer; None where it is not at hand.
        on_torn: Is told of a torn last line, which is left out.

    Raises:
        ContentError: A line is no row, the file holds none, or no row answers an item of the set.
    """
    items = {item.id: item for item in item_set.items} if item_set is not None else {}
    runs: dict[str, list[Answered]] = defaultdict(list)
    elsewhere = 0
    first = ""
    for number, row in read_jsonl(path, _Row, on_torn=on_torn):
        name = str(row.item).strip()
        if item_set is not None and name not in items:
            elsewhere += 1
            first = first or name
            continue
        found = _answered(number, row, items.get(name), item_set)
        if found is not None:
            runs[row.run or path.stem].append(found)
    if not runs:
        what = f"no row answers an item of {item_set.id}; the first: {first!r}" if item_set and first else "no reply"
        raise ContentError(what, where=str(path), allowed="the item set that was asked, or no --items at all")
    return runs, elsewhere


def persona_names(item_set: ItemSet) -> dict[str, str]:
    """Returns character's id → name, of all whose name is known.

    An imported character has its id for a name; then the name is what its description says first.
    """
    names = {
        character.id: character.name if character.name != character.id else name_in(character.description)
        for character in item_set.characters.values()
    }
    return {character: name for character, name in names.items() if name}


def _answered(number: int, row: _Row, item: Item | None, item_set: ItemSet | None) -> Answered | None:
    if row.text is None:
        return None
    label, text = _read(row.text)
    if item is None or item_set is None:
        character = row.character if row.condition == "own" else row.asked_as
        return Answered(number, text, label, row.category, character)
    asked = row.asked_as if row.condition != "own" else item.character
    character = item_set.characters.get(asked)
    known = [character.name, character.description] if character is not None else []
    return Answered(
        row=number,
        text=text,
        label=label,
        stratum=f"{item.category} {item.expected}",
        character=asked or "nobody",
        known="\n".join([*known, item.message, *(said.content for said in item.history)]),
    )


def _read(written: str | dict[str, object]) -> tuple[str, str]:
    """Returns the label that a reply gives, empty where it gives none in a form, and the rest of its text."""
    value = written if isinstance(written, dict) else _object(written)
    if value is not None:
        labels = (value[key] for key in _LABEL_KEYS if key in value)
        label = next((one.strip().lower() for one in labels if isinstance(one, str)), "")
        return label, "\n".join(_texts(value))
    text = str(written)
    tag = _TAG.match(text)
    if tag is not None:
        return tag[1].lower(), tag[2]
    bare = _BARE.fullmatch(text)
    return (bare[1].lower(), "") if bare is not None else ("", text)


def _object(text: str) -> Mapping[str, object] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _texts(value: Mapping[str, object]) -> Iterator[str]:
    for key, one in value.items():
        if isinstance(one, str) and key not in _LABEL_KEYS:
            yield one
