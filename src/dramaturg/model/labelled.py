"""Reads answers that a model wrote as labelled lines: the form that small models manage when JSON fails them.

One answer: ``reasoning: …``, ``answer: yes``, ``evidence: T3``, each on its line or all on one with ``|`` between.
Many: the same behind the id of what is answered, or the id with a bare answer: ``FC-2: yes — because …``.
Bullets, bold marks, quotes, tables and full-width colons do not matter. Of two lines with one label the last counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.relaxed import INVISIBLE
from dramaturg.model.tolerant import plain_key
from dramaturg.model.vocabulary import read_yes_no_field

_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE))
_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58"), "-")
_LEAD = r"[\s>#*_`\"'|(\[【「•·–—-]{0,20}(?:\d{1,3}[.)]\s{1,4})?[*_`\"'(\[【「]{0,6}"
_KIND = r"(?:(?:id|item|question|indicator)\b\s*[:：#]?\s*)?"
_LABEL = re.compile(
    rf"\A{_LEAD}(?P<label>[^\W\d][\w \-]{{0,60}}?)[*_`\"'\])]{{0,6}}\s{{0,4}}[:：=](?P<value>.*)\Z", re.DOTALL
)
_BARE = re.compile(r"[*_`\"'\])】」]*(?:\s*[:|=)\].】」]|\s[->]+\s|->|→)+[\s*_|]*")
_ONE_ANSWER = re.compile(r"[*_`\"'\])】」]*[^\S\n]+(?P<answer>[^\n]{1,40})(?=\n|\Z)")
_BREAK = re.compile(r"\s+[-–—]+\s+|\s*[,;(|]\s*|\.\s+|\s+(?=because\b)|\n", re.IGNORECASE)
_BEHIND_ID = re.compile(r"[:：(（|]|\s[-–—]\s(?=\S+\s+\S)")
_LONGEST = 200_000


def read_lines(text: str, fields: Sequence[str]) -> dict[str, str] | None:
    """Returns the value of each labelled line by field, or None where there is no such line.

    A line without a label belongs to the value before it.

    Args:
        text: What a model wrote.
        fields: The labels; case, blanks, hyphens and underscores do not matter.
    """
    return _labelled(split_reasoning(text)[0][-_LONGEST:].translate(_INVISIBLE), fields) or None


@dataclass(frozen=True, slots=True)
class Record:
    """What was written to one id.

    Attributes:
        id: The id as it was asked.
        fields: Value by label.
        behind: What stands behind the answer and under no label, from the answer's line on: it may take the answer
            back.
    """

    id: str
    fields: dict[str, str]
    behind: str


def read_records(
    text: str, ids: Sequence[str], fields: Sequence[str], *, bare: tuple[str, str] | None = None
) -> list[Record]:
    """Returns the records in order; an id may come twice, an unknown one is no record.

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
    heads = list(head.finditer(fold_text(visible)))
    records: list[Record] = []
    for number, found in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(visible)
        record = _record(by_folded[found["id"]], visible[found.end("id") : end], fields, bare)
        if record is not None:
            records.append(record)
    return records


def lines_behind(text: str, field: str, fields: Sequence[str]) -> str:
    """Returns the lines behind the last one with a field's label that have no label themselves.

    Args:
        text: What a model wrote.
        field: The label; one of `fields`.
        fields: All labels.
    """
    kept: list[str] = []
    for line in split_reasoning(text)[0][-_LONGEST:].translate(_INVISIBLE).splitlines():
        labelled = _labelled(line, fields)
        if field in labelled:
            kept = []
        elif not labelled:
            kept.append(line)
    return "\n".join(kept)


def fold_id(name: str) -> str:
    """Returns an id for comparison: without case, width, kinds of hyphen, blanks around it, brackets and the like."""
    plain = unicodedata.normalize("NFKC", name.translate(_INVISIBLE)).translate(_HYPHENS).casefold()
    return plain.strip(" \t\r\n\"'`*[](){}<>【】「」.,;:#")


def id_reader(ids: Sequence[str]) -> Callable[[str], str | None]:
    """Returns what says which of the ids a text names, or None.

    Hyphens, underscores and blanks inside an id are one, and the question may stand behind it: ``BRF_RA_1``,
    ``BRF - RA - 1``, ``BRF-RA-1: Does the judge …``. An id that is written exactly goes before one that is not.

    Args:
        ids: What may be named; distinct.
    """
    exact = {fold_id(name): name for name in ids}
    joined: dict[str, list[str]] = {}
    for name in ids:
        joined.setdefault(_joined(name), []).append(name)

    def read(text: str) -> str | None:
        found = exact.get(fold_id(text))
        if found is not None:
            return found
        for part in (text, _BEHIND_ID.split(text, maxsplit=1)[0]):
            if len(named := joined.get(_joined(part), [])) == 1:
                return named[0]
        return None

    return read


def _joined(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", fold_id(name))


def fold_text(text: str) -> str:
    """Returns the text without case, width and kinds of hyphen, at the same length, so that positions stay."""
    if text.isascii():
        return text.lower()
    folds = {character: _folded(character) for character in set(text)}
    return "".join(folds[character] for character in text)


def _folded(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character).translate(_HYPHENS).lower()
    return folded if len(folded) == 1 else character


def _record(name: str, rest: str, fields: Sequence[str], bare: tuple[str, str] | None) -> Record | None:
    labelled = _labelled(rest.lstrip(" \t:：|=.)]-–—*_`\"'"), fields)
    if labelled or bare is None:
        behind = "\n" + lines_behind(rest, bare[0], fields) if bare is not None else ""
        return Record(name, labelled, behind) if labelled else None
    answer, explanation = bare
    folded = fold_text(rest)
    separator = _BARE.match(folded)
    if separator is None:
        alone = _ONE_ANSWER.match(folded)
        if alone is None or read_yes_no_field(alone["answer"]) is None:
            return None
        behind = rest[alone.end() :]
        said = rest[alone.start("answer") : alone.end()].strip()
        return Record(name, {answer: said, explanation: behind.strip()}, behind)
    written = rest[separator.end() :]
    cells = [cell.strip() for cell in written.split("|") if cell.strip()]
    if len(cells) == len(fields):
        return Record(name, dict(zip(fields, cells, strict=True)), "")
    parts = _BREAK.split(written.strip(), maxsplit=1)
    behind = written.lstrip()[len(parts[0]) :]
    return Record(name, {answer: parts[0].strip(), explanation: parts[1].strip(" )\n") if parts[1:] else ""}, behind)


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
