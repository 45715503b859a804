"""Reads answers that a model wrote as labelled lines: the form that small models manage when JSON fails them.

One answer: ``reasoning: …``, ``answer: yes``, ``evidence: T3``, each on its line or all on one with ``|`` between.
Many: the same behind the id of what is answered, or the id with a bare answer: ``FC-2: yes — because …``.
Bullets, bold marks, quotes, tables and full-width colons do not matter. Of two lines with one label the last counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.relaxed import INVISIBLE
from dramaturg.model.tolerant import plain_key

_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE))
_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_LEAD = r"[\s>#*_`\"'|(\[•·–—-]{0,20}(?:\d{1,3}[.)]\s{1,4})?[*_`\"'(\[]{0,6}"
_KIND = r"(?:(?:id|item|question|indicator)\b\s*[:：#]?\s*)?"
_LABEL = re.compile(
    rf"\A{_LEAD}(?P<label>[^\W\d][\w \-]{{0,60}}?)[*_`\"'\])]{{0,6}}\s{{0,4}}[:：=](?P<value>.*)\Z", re.DOTALL
)
_BARE = re.compile(r"[*_`\"'\])]*(?:\s*[:：|=)\].]|\s[-–—>]+\s|[-–—]>)+[\s*_|]*")
_BREAK = re.compile(r"\s+[-–—]+\s+|\s*[,;(|]\s*|\.\s+|\s+(?=because\b)|\n", re.IGNORECASE)
_LONGEST = 200_000


def read_lines(text: str, fields: Sequence[str]) -> dict[str, str] | None:
    """Returns the value of each labelled line by field, or None where there is no such line.

    A line without a label belongs to the value before it.

    Args:
        text: What a model wrote.
        fields: The labels; case, blanks, hyphens and underscores do not matter.
    """
    return _labelled(split_reasoning(text)[0][-_LONGEST:].translate(_INVISIBLE), fields) or None


def read_records(
    text: str, ids: Sequence[str], fields: Sequence[str], *, bare: tuple[str, str] | None = None
) -> list[tuple[str, dict[str, str]]]:
    """Returns id and fields of every record, in order; an id may come twice, an unknown one is no record.

    A record reaches from a line that begins with an id to the next such line.

    Args:
        text: What a model wrote.
        ids: Ids of what was asked.
        fields: The labels inside a record.
        bare: The fields that an answer without labels fills: the answer, and what follows it.
    """
    visible = split_reasoning(text)[0][-_LONGEST:].translate(_INVISIBLE)
    longest_first = sorted((re.escape(fold_id(name)) for name in ids), key=len, reverse=True)
    if not longest_first:
        return []
    head = re.compile(rf"^{_LEAD}{_KIND}(?P<id>{'|'.join(longest_first)})(?![\w-])", re.MULTILINE)
    by_folded = {fold_id(name): name for name in ids}
    folded = _fold_lines(visible)
    heads = list(head.finditer(folded))
    records: list[tuple[str, dict[str, str]]] = []
    for number, found in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(visible)
        record = _record(visible[found.end("id") : end], fields, bare)
        if record:
            records.append((by_folded[found["id"]], record))
    return records


def fold_id(name: str) -> str:
    """Returns an id for comparison: without case, width, kinds of hyphen, blanks around it, brackets and the like."""
    plain = unicodedata.normalize("NFKC", name.translate(_INVISIBLE)).translate(_HYPHENS).casefold()
    return plain.strip(" \t\r\n\"'`*[](){}<>.:#")


def _fold_lines(text: str) -> str:
    """Returns the text in lower case at the same length, so that positions stay."""
    folded = text.lower()
    return folded if len(folded) == len(text) else text


def _record(rest: str, fields: Sequence[str], bare: tuple[str, str] | None) -> dict[str, str]:
    labelled = _labelled(rest.lstrip(" \t:：|=.)]-–—*_`\"'"), fields)
    if labelled or bare is None:
        return labelled
    separator = _BARE.match(rest)
    if separator is None:
        return {}
    cells = [cell.strip() for cell in rest[separator.end() :].split("|") if cell.strip()]
    if len(cells) == len(fields):
        return dict(zip(fields, cells, strict=True))
    answer, explanation = bare
    parts = _BREAK.split(rest[separator.end() :].strip(), maxsplit=1)
    return {answer: parts[0].strip(), explanation: parts[1].strip(" )\n") if parts[1:] else ""}


def _labelled(text: str, fields: Sequence[str]) -> dict[str, str]:
    by_label = {plain_key(field): field for field in fields}
    found: dict[str, list[str]] = {}
    current: str | None = None
    for part in _parts(text):
        label = _LABEL.match(part)
        field = by_label.get(plain_key(label["label"])) if label else None
        if label is not None and field is not None:
            found[field] = [label["value"].strip()]
            current = field
        elif current is not None and part.strip():
            found[current].append(part.strip())
    return {field: "\n".join(line for line in lines if line).strip(" *_`") for field, lines in found.items()}


def _parts(text: str) -> Iterator[str]:
    """Yields the lines; one with ``|`` in it part by part."""
    for line in text.splitlines():
        yield from line.replace("｜", "|").split("|")
