"""Logs of lines that begin with who speaks: ``Name: text``, with or without the time, in Markdown or not.

A turn goes on until the next line that begins with a speaker. What stands before the first one belongs to nobody and
becomes a note of the procedure, counted. A line is taken for a speaker's by its form, so that none is lost in the turn
above it; where the form deceives, as in "Note: bring the receipt", the map of roles says that it is text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from dramaturg.errors import ContentError
from dramaturg.stage.importing.chat import Chat, ChatLog, Said
from dramaturg.stage.importing.roles import RoleMap, plain

BEFORE_ANYONE = "lines before the first speaker became a note of the procedure"
NOBODYS = "lines with a time and no speaker became notes of the procedure"
AS_TEXT = "lines that look like a speaker's are text, as --role says"

_CLOCK = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,6})?)?(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
_DATE = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{4}年\d{1,2}月\d{1,2}日)"
_WHEN = rf"(?:{_DATE}(?:(?:,|T)?[ \u00a0\u202f]*{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?)?|{_CLOCK})"
_STAMP = re.compile(rf"(?:[\[(【]\s*{_WHEN}\s*[\])】]|{_WHEN}(?=\s))\s*[-–—|]?\s*")
_WHOLE_STAMP = re.compile(_WHEN)
_LIST_MARKS = re.compile(r"\A(?:[-*+>•]\s+|#{1,6}\s+)+")
_INVISIBLE = str.maketrans("", "", "\u200b\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff")
_COMBINING = "".join(sign for sign in map(chr, range(0x300, 0x1E00)) if unicodedata.category(sign)[0] == "M")
"""Signs inside the words of many scripts that Python does not count as letters, and accents that stand alone."""

_LETTERS = rf"\w{_COMBINING}\u200c\u200d"
_PICTURES = "\u2600-\u27bf\ufe0f\U0001f000-\U0001faff"
_WORD = (
    rf"(?:@?[^\W_](?:[{_LETTERS}{_PICTURES}.'’&@#/+~-]*[{_LETTERS}{_PICTURES}.)])?|[{_PICTURES}][{_PICTURES}\u200d]*)"
)
_PICTURE = re.compile(f"[{_PICTURES}]")
_NAME = rf"{_WORD}(?: {_WORD}){{0,5}}"
_LABEL = r"\s*[(（\[]\s*(?P<label>[^()（）\[\]\n]{1,60}?)\s*[)）\]]"
_HEAD = re.compile(
    rf"(?P<mark>\*\*|__|\*|_)?(?P<name>{_NAME})(?:{_LABEL})?\s*"
    rf"(?(mark)(?:(?P=mark)(?:{_LABEL.replace('label', 'after')})?\s*[:：]|[:：]\s*(?P=mark))|[:：])(?!//)(?P<text>.*)",
    re.DOTALL,
)
_STAMPED_HEAD = re.compile(rf"(?P<name>[^:：\n]{{1,60}}?)(?:{_LABEL})?\s*[:：](?:\s(?P<text>.*)|$)", re.DOTALL)
_LINK_WORDS = frozenset("of the de da di del della la le van von der den bin ibn al e y and".split())
_THOUGHT = re.compile(
    r"<(?P<name>think|thinking|thought|reasoning)>(?:(?!<(?P=name)>).)*?</(?P=name)>", re.IGNORECASE | re.DOTALL
)
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class _Head:
    """The beginning of a line that names a speaker.

    Attributes:
        speaker: Empty for a line with a time alone.
        label: What stands in brackets behind the name.
        text: The rest of the line.
        stamped: Whether a time stands before it.
        is_name: Whether the speaker's words have the form of a name.
    """

    speaker: str
    label: str
    text: str
    stamped: bool
    is_name: bool = True


def is_prefixed(text: str) -> bool:
    """Returns whether at least one line begins with a speaker."""
    return any(head.speaker for head in map(_head, text.split("\n")) if head is not None)


def read_prefixed(text: str, path: Path, roles: RoleMap) -> ChatLog:
    """Returns the one conversation of a log.

    Args:
        text: The log, with plain ends of lines.
        path: Where it stands, for errors.
        roles: Says which words that look like a speaker are text.

    Raises:
        ContentError: No line begins with a speaker.
    """
    lines = text.split("\n")
    heads = _heads(text, lines)
    stamped = _stamped_speakers(heads)
    notes = Counter[str]()
    messages: list[Said] = []
    texts: list[list[str]] = []
    for number, (line, head) in enumerate(zip(lines, heads, strict=True), start=1):
        begins = head is not None and _begins(head, stamped, roles)
        if head is not None and not begins:
            part = roles.find(head.speaker, head.label)
            notes[AS_TEXT] += part is not None and part.kind == "text"
        if head is not None and begins:
            notes[NOBODYS] += not head.speaker
            kind = "speech" if head.speaker else "procedure"
            messages.append(Said(head.speaker, "", f"line {number}", head.label, kind))
            texts.append([head.text])
        elif messages:
            texts[-1].append(line)
        elif line.strip():
            notes[BEFORE_ANYONE] += 1
            messages.append(Said("", "", f"line {number}", kind="procedure"))
            texts.append([line])
    if not any(said.speaker for said in messages):
        raise ContentError("no line begins with a speaker", where=str(path), allowed="lines such as “Name: text”")
    if notes[BEFORE_ANYONE] and len(messages) > 1:
        notes[BEFORE_ANYONE] += sum(bool(line.strip()) for line in texts[0][1:])
    whole = (replace(said, text="\n".join(own).strip()) for said, own in zip(messages, texts, strict=True))
    return ChatLog(path.stem, "prefix", (Chat(tuple(whole)),), +notes)


def _heads(text: str, lines: list[str]) -> list[_Head | None]:
    """Returns the head of each line, or None; what a model thought aloud has no heads."""
    thought: set[int] = set()
    first = position = 0
    for found in _THOUGHT.finditer(text):
        first += text.count("\n", position, found.start())
        position = found.start()
        thought.update(range(first + 1, first + 1 + found[0].count("\n")))
    return [None if number in thought else _head(line) for number, line in enumerate(lines)]


def _head(line: str) -> _Head | None:
    line = _LIST_MARKS.sub("", line.translate(_INVISIBLE).strip(), count=1)
    stamp = _STAMP.match(line)
    rest = line[stamp.end() :] if stamp is not None else line
    found = _HEAD.match(rest)
    is_name = found is not None and _is_name(found["name"], marked=found["mark"] is not None)
    if stamp is not None and found is None:
        found = _STAMPED_HEAD.match(rest)
        if found is None:
            return _Head("", "", rest, stamped=True) if rest else None
    if found is None or not (is_name or stamp is not None):
        return None
    groups = found.groupdict()
    label = " ".join((groups["label"] or groups.get("after") or "").split())
    timed = _WHOLE_STAMP.fullmatch(label) is not None
    text = (groups["text"] or "").strip()
    return _Head(_clean(found["name"]), "" if timed else label, text, stamp is not None or timed, is_name)


def _clean(name: str) -> str:
    return " ".join(name.split()).strip("*_~ ")


def _is_name(name: str, *, marked: bool) -> bool:
    """Returns whether words before a colon may be a name: one word, or several with capitals."""
    words = name.split()
    if len(name) > _LONGEST_NAME or not any(letter.isalpha() or _PICTURE.match(letter) for letter in name):
        return False
    return marked or len(words) == 1 or all(_like_a_name(word) for word in words)


def _like_a_name(word: str) -> bool:
    return not word[0].islower() or word in _LINK_WORDS


def _stamped_speakers(heads: list[_Head | None]) -> frozenset[str]:
    """Returns the speakers of a log in which most heads have a time, in plain form; none for any other log."""
    found = [head for head in heads if head is not None]
    stamped = [head for head in found if head.stamped]
    if len(stamped) < 2 or 2 * len(stamped) < len(found):
        return frozenset()
    return frozenset(plain(head.speaker) for head in stamped if head.speaker)


def _begins(head: _Head, stamped: frozenset[str], roles: RoleMap) -> bool:
    """Returns whether a turn begins here: in a log with times only there, or where a known speaker is named."""
    if not head.speaker:
        return bool(stamped)
    part = roles.find(head.speaker, head.label)
    if part is not None and part.kind == "text":
        return False
    if stamped:
        return head.stamped or plain(head.speaker) in stamped or roles.names(head.speaker)
    return head.is_name
