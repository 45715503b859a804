"""Reads the answers to many questions out of one reply, each under its id. Pure functions.

Read are objects with an id, objects keyed by id, lines that begin with an id, and, to one open question, an answer
without an id. Every entry counts, wherever it stands: of two that differ, neither is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from dramaturg.model.corrections import Correction, corrections
from dramaturg.model.labelled import fold_id, id_reader, read_records
from dramaturg.model.one_answer import Written, find_answer
from dramaturg.model.tolerant import Broken, Found, json_line, plain_key, read_json, read_values
from dramaturg.text import Json


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands under one id.

    Attributes:
        id: The id as it was written.
        fields: Value by key.
        behind: What stands behind them and may take them back.
        repaired: Whether the text was more than JSON.
    """

    id: str
    fields: dict[str, Json]
    behind: str = ""
    repaired: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """How one answer looks.

    Attributes:
        id_field: Its key for the id.
        decisive: Its key for the answer itself.
        labels: All its keys but that for the id.
    """

    id_field: str
    decisive: str
    labels: tuple[str, ...]


def read_many(
    text: str, form: Form, ids: Sequence[str], open_ids: Sequence[str], *, cut: bool
) -> tuple[list[Entry], list[Correction]]:
    """Returns every entry of a text in order, and the answers that the text around them gives anew.

    Args:
        text: What a model wrote.
        form: How one answer looks.
        ids: All ids that were ever asked.
        open_ids: Those that this text answers.
        cut: Whether the text was cut at a limit; its complete entries count.
    """
    found = _in_values(text, form, open_ids)
    if found is not None:
        return found
    match read_json(text, keys=(form.id_field, "answers", *open_ids), cut=cut):
        case Broken():
            return [], []
        case Found(value) if entries := list(_inside(value, form, open_ids)):
            return entries, []
        case _:
            pass
    in_lines = _in_lines(text, form, ids)
    if in_lines[0] or len(open_ids) != 1:
        return in_lines
    match find_answer(text, form.labels, form.decisive, cut=cut):
        case Written(dict() as fields, behind, repaired):
            return [Entry(open_ids[0], dict(fields), behind, repaired)], []
        case _:
            return [], []


def _in_values(text: str, form: Form, open_ids: Sequence[str]) -> tuple[list[Entry], list[Correction]] | None:
    """Returns the entries in JSON with what stands around them, or None where there are none."""
    read = read_values(text)
    entries: list[Entry] = []
    between: list[str] = []
    position = 0
    for standing in read.values:
        inside = [replace(entry, repaired=not read.whole) for entry in _inside(standing.value, form, open_ids)]
        if inside:
            between += [read.text[position : standing.start]] if entries else []
            entries += inside
            position = standing.end
    if not entries:
        return None
    behind = read.text[position:]
    named = [one for part in between for one in corrections(part, open_ids) if one.ids]
    known = {fold_id(entry.id) for entry in entries}
    id_key = re.compile(rf"[\"'“]{re.escape(form.id_field)}[\"'”]\s*[:：]\s*[\"'“]([^\"'”\n]+)", re.IGNORECASE)
    begun = [name for part in (*between, behind) for name in id_key.findall(part) if fold_id(name) in known]
    broken = [Entry(name, {}) for name in begun]
    return [*entries, *broken], [*named, *corrections(behind.partition("{")[0], open_ids)]


def _in_lines(text: str, form: Form, ids: Sequence[str]) -> tuple[list[Entry], list[Correction]]:
    """Returns the entries in lines, which end where a line begins like JSON, with what stands behind each.

    What names no id is about the entry whose line it is on; below the last entry it may be about any.
    """
    at = form.labels.index(form.decisive) if form.decisive in form.labels else 0
    bare = (form.decisive, form.labels[at - 1]) if at else None
    records = read_records(text[: json_line(text)], ids, form.labels, bare=bare)
    around: list[Correction] = []
    for number, record in enumerate(records, start=1):
        beside, _, below = record.behind.partition("\n")
        own = () if number == len(records) else (record.id,)
        around += (replace(one, ids=one.ids or (record.id,)) for one in corrections(beside, ids))
        around += (replace(one, ids=one.ids or own) for one in corrections(below, ids))
    return [Entry(one.id, cast("dict[str, Json]", one.fields)) for one in records], around


def _inside(value: Json, form: Form, open_ids: Sequence[str]) -> Iterator[Entry]:
    """Yields the entries inside a value, in order."""
    if isinstance(value, list):
        for part in value:
            yield from _inside(part, form, open_ids)
    if not isinstance(value, dict):
        return
    own = next((part for key, part in value.items() if plain_key(key) == plain_key(form.id_field)), None)
    if own is not None and not isinstance(own, dict | list):
        yield Entry(str(own), value)
        return
    named = id_reader(open_ids)
    keyed = any(named(key) is not None for key in value)
    for key, part in value.items():
        if named(key) is None and isinstance(part, dict | list):
            yield from _inside(part, form, open_ids)
        elif keyed:
            yield Entry(key, dict(part) if isinstance(part, dict) else {form.decisive: part})
