"""Reads what is written freely: the narrator's line in the published form, a director's plan, and plain sentences.

Models write what they were asked for in other forms too. What is meant is read where it can be told; else nothing is.
Pure text, no model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dramaturg.model.tolerant import Found, read_json
from dramaturg.stage.court.speech import whole_sentences
from dramaturg.text import Json

MOST_CHARACTERS = 2_000
"""A longer text is cut: a server that passes its limit of tokens over must not fill everybody's chat."""

_PARTED = re.compile(r"\s*[;；](?:\s*[;；:：])+\s*")
_BROKEN = re.compile(r"([;；]\s*[;；:：])[ \t]*\n(?=[ \t]*\S)|\n[ \t]*(?=[;；]\s*[;；:：])")
_THREE_BRACKETED = re.compile(
    r"[\s\w.:：*-]*\[([^\[\]]*)\]\s*[;；:：|,，>→=-]+\s*\[([^\[\]]*)\]\s*[;；:：|,，>→=-]+\s*\[(.*)\][\s*`.。]*"
)
_ENTRY = re.compile(r"\A[\s>#|*_\[【-]*(?:\d{1,2}[.)、]\s*)?(?P<text>.*)\Z", re.DOTALL)
_HEAD = re.compile(
    r"\A(?P<head>[^:：|]{1,80}?)[\s*_\]】]*(?:[:：|]|\s[-–—]\s)[\s*_]*(?P<line>.*?)[\s*_|]*\Z", re.DOTALL
)
_FENCED = re.compile(r"```[\w+-]*[ \t]*\n(?P<inside>.*?)\n?```", re.DOTALL)
_SLOT = re.compile(r"\A[\s*_`\"'“”‘’\[【<(-]*(?P<text>.*?)[\s*_`\"'“”‘’\]】>)]*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Written:
    """An influence in the published form ``[actor];;[target];;[influence]``.

    Attributes:
        actor: Who acts, as it is written.
        target: Whom it affects, as it is written.
        influence: How; whatever signs it has stay.
    """

    actor: str
    target: str
    influence: str


def read_influences(text: str) -> tuple[Written, ...]:
    """Returns the influences that a narrator wrote in the published form; none where no line has it.

    The two parting signs may be ``;;`` or ``;:``, of either width and with blanks; the line may be broken at them,
    brackets may be missing, a label or another sentence may stand on other lines. Two parts are a target and its
    influence. Three parts in brackets may be parted by any sign.
    Source: CharacterBox, appendix D.1, writes ``;:`` where its code wants ``;;``.
    """
    whole = _BROKEN.sub(lambda found: found[1] or "", text)
    return tuple(found for line in whole.splitlines() if (found := _written(line)) is not None)


def _written(line: str) -> Written | None:
    match [_bare(part) for part in _PARTED.split(line, maxsplit=2)]:
        case [actor, target, influence] if target:
            return Written(actor, target, _joined(influence))
        case [target, influence] if target and influence:
            return Written("", target, _joined(influence))
        case _:
            bracketed = _THREE_BRACKETED.fullmatch(line)
            if bracketed is None or not bracketed[2].strip():
                return None
            return Written(*(part.strip() for part in bracketed.groups()))


def _joined(influence: str) -> str:
    """Returns an influence in which the parting signs went on, each part told once."""
    return "; ".join(dict.fromkeys(part for part in map(str.strip, _PARTED.split(influence)) if part))


def read_plan(text: str, whose: Callable[[str], str]) -> dict[str, str]:
    """Returns what a plan has for each person, by id; of two lines for one, the first. Who has none is not in it.

    Args:
        text: Lines ``Name: what this one does next``, or a JSON object of the same.
        whose: Returns the id of the one whom a name means; empty where it is nobody.
    """
    found: dict[str, str] = {}
    for head, line in _entries(text):
        if line and (name := whose(head)):
            found.setdefault(name, bounded(line))
    return found


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yields the heads of a plan, each with what stands behind it, or on the next line where nothing does."""
    if (value := _object(text, ())) is not None:
        yield from ((head, line.strip()) for head, line in value.items() if isinstance(line, str))
        return
    waiting = ""
    for line in text.splitlines():
        entry = _ENTRY.match(line)
        found = _HEAD.match(entry["text"]) if entry is not None else None
        if found is not None:
            yield found["head"], found["line"]
        elif waiting:
            yield waiting, line.strip()
        if line.strip():
            waiting = found["head"] if found is not None and not found["line"] else ""


def prose(text: str, keys: tuple[str, ...] = ()) -> str:
    """Returns a free text as it was meant: without a fence around it, or what a JSON object has under one of the keys.

    Args:
        text: What a model wrote where it was asked for plain sentences.
        keys: Under which the sentences may stand; the first that holds a text counts.
    """
    plain = text.strip()
    if (value := _object(plain, keys)) is not None:
        told = (value.get(key) for key in keys)
        return next((one.strip() for one in told if isinstance(one, str)), plain)
    fenced = _FENCED.fullmatch(plain)
    return fenced["inside"].strip() if fenced is not None else plain


def bounded(text: str) -> str:
    """Returns a text up to its last whole sentence within `MOST_CHARACTERS`."""
    return text if len(text) <= MOST_CHARACTERS else whole_sentences(text[:MOST_CHARACTERS])


def _object(text: str, keys: tuple[str, ...]) -> dict[str, Json] | None:
    """Returns the JSON object that a text begins with, in a fence or without; None where it begins otherwise."""
    if not text.lstrip().startswith(("{", "```")):
        return None
    match read_json(text, keys=keys):
        case Found(dict() as value):
            return value
        case _:
            return None


def _bare(text: str) -> str:
    found = _SLOT.match(text)
    return found["text"].strip() if found is not None else text.strip()
