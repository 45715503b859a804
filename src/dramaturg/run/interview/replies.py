"""Read replies from a file: rows of a run, or a published response file, each checked against the item set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ConfigDict

from dramaturg.errors import ContentError
from dramaturg.files import OnTorn, read_jsonl, read_lines
from dramaturg.run.interview.reply_row import FORMAT, PublishedId, ReplyRow, Written
from dramaturg.stage.interview import ItemSet, item_digest
from dramaturg.text import storable

NAMED = 3
"""Most ids that a message names."""


class _Response(BaseModel):
    """A row of a published response file; the answer to an emotion or decision item may stand as an object.

    A row without ``response`` has no reply, like one where it is null. That the file is no other one is seen from its
    first row.
    """

    model_config = ConfigDict(extra="ignore")

    id: PublishedId
    response: Written = None

    @property
    def text(self) -> str | None:
        """The reply as the model wrote it."""
        if self.response is None or isinstance(self.response, str):
            return self.response
        return json.dumps(self.response, ensure_ascii=False)


def read_replies(
    path: Path,
    item_set: ItemSet,
    *,
    on_torn: OnTorn,
    skip_unknown: bool = False,
    subject: str = "",
    empty: bool = False,
) -> Iterator[ReplyRow]:
    """Yields the rows of a file, one at a time; only ids stay in memory.

    Args:
        path: ``replies.jsonl`` of a run, or a response file: ``{"id": …, "response": …}`` a line.
        item_set: What the replies answer.
        on_torn: Is told of a torn last line, which is left out.
        skip_unknown: Whether rows may answer items that the set does not have; they are left out.
        subject: What tables call the model of a response file; the file's name by default.
        empty: Whether the file may hold no reply.

    Raises:
        ContentError: A line is no row, one item is answered twice by the same model in the same repeat, a row answers
            another version of its item, or an item that the set does not have.
    """
    rows = _rows(path, item_set, on_torn=on_torn, subject=subject or path.stem)
    items = {item.id: item for item in item_set.items}
    out_of_set = {problem.item for problem in item_set.problems} - items.keys()
    seen: dict[tuple[str, str, str, str, str, int], int] = {}
    unknown: list[str] = []
    known = 0
    for number, row in rows:
        item = items.get(row.item)
        if item is None:
            if row.item not in out_of_set:
                unknown.append(row.item)
            continue
        known += 1
        place = (row.item, row.subject, row.strategy, row.form, row.condition, row.repeat)
        first = seen.setdefault(place, number)
        if first != number:
            raise ContentError(
                f"item {row.item!r} is answered twice by {row.subject!r}",
                where=f"{path}:{number}",
                allowed=f"one row per repeat; the first is in line {first}",
            )
        if row.item_digest and row.item_digest != item_digest(item, item_set.characters.get(item.character)):
            raise ContentError(
                f"the row answers another version of item {row.item!r}",
                where=f"{path}:{number}",
                allowed="the item set that was asked, or ask again",
            )
        yield row if row.category == item.category else row.model_copy(update={"category": item.category})
    if unknown and not (skip_unknown and known):
        named = ", ".join(map(repr, unknown[:NAMED])) + (", …" if len(unknown) > NAMED else "")
        what = "all rows" if not known else f"{len(unknown)} of {len(unknown) + known} rows"
        hint = "" if not known else "; or score the others with --skip-unknown"
        raise ContentError(
            f"{what} answer items that the set {item_set.id!r} does not have: {named}",
            where=str(path),
            allowed=f"the item set that was asked{hint}",
        )
    if not (known or empty):
        raise ContentError("holds no reply", where=str(path))


def _rows(path: Path, item_set: ItemSet, *, on_torn: OnTorn, subject: str) -> Iterator[tuple[int, ReplyRow]]:
    if _is_ours(path):
        yield from read_jsonl(path, ReplyRow, on_torn=on_torn)
        return
    items = {item.id: item for item in item_set.items}
    for number, response in read_jsonl(path, _Response, on_torn=on_torn):
        name = str(response.id).strip()
        item, text = items.get(name), response.text
        yield (
            number,
            ReplyRow(
                set=item_set.id,
                item=name,
                character=item.character if item is not None else "",
                category=item.category if item is not None else "emotion",
                subject=subject,
                status="ok" if text is not None and text.strip() else "empty",
                text=None if text is None else storable(text),
            ),
        )


def _is_ours(path: Path) -> bool:
    """Returns whether a file holds rows of a run; one without any line does.

    Raises:
        ContentError: The first line is neither such a row nor one of a published response file.
    """
    for number, line in read_lines(path):
        try:
            row: object = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            keys = cast("dict[str, object]", row)
            if keys.get("format") == FORMAT:
                return True
            if {"id", "response"} <= keys.keys():
                return False
        raise ContentError(
            "is no file of replies",
            where=f"{path}:{number}",
            allowed='replies.jsonl of a run, or lines {"id": …, "response": …}',
        )
    return True
