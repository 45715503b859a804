"""What a judge is given, read back from the messages: for judges that are made of rules and not of a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.model import Message

_FRAME = r"<{0}>\n(.*?)\n</{0}>"
_TURN = re.compile(r"^\[(T\d+)\] (.*)$")
_SPEAKER = re.compile(
    r"^(?P<kind>[^:\[(]+?)(?: \((?P<name>[^\[:]*)\))?(?: \[(?P<notes>[^\]]*)\])?: ?(?P<text>.*)$", re.DOTALL
)
_ROLE = re.compile(r"^- (?P<kind>[^:\[(]+?) \((?P<name>.*?)\), ")
_CONTINUED = re.compile(r"^ {4}\| ")
_RECORD = re.compile(r"^\(record\) (.*)$")
_CONTEXT = "context only"


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """A turn as a judge reads it.

    Attributes:
        id: Its id.
        kind: Kind of the role that speaks, in lower case; `procedure` for a note.
        name: The speaker's name.
        judged: Whether a model plays it.
        text: What is said.
    """

    id: str
    kind: str
    name: str
    judged: bool
    text: str


@dataclass(frozen=True, slots=True)
class Material:
    """What a judge is given.

    Attributes:
        reference: The reference text, or what of it is shown.
        roles: Kind, in lower case, and name of each role.
        turns: The turns, in order.
        record: What is known of the end.
    """

    reference: str
    roles: tuple[tuple[str, str], ...]
    turns: tuple[ReadTurn, ...]
    record: tuple[str, ...]


def read_material(messages: Sequence[Message]) -> Material:
    """Returns what the messages show; what they do not show is empty."""
    shown = "\n".join(message.text for message in messages if message.role == "user")
    lines = _frame("transcript", shown).splitlines()
    turns: list[ReadTurn] = []
    head, body = "", list[str]()
    for line in [*lines, "[T0] "]:
        begun = _TURN.match(line)
        if begun is None:
            if _CONTINUED.match(line):
                body.append(_CONTINUED.sub("", line))
            continue
        if head:
            turns.append(_turn(head, "\n".join(body)))
        head, body = begun[1], [begun[2]]
    roles = tuple(
        (found["kind"].casefold(), found["name"])
        for line in _frame("roles", shown).splitlines()
        if (found := _ROLE.match(line))
    )
    record = tuple(found[1] for line in lines if (found := _RECORD.match(line)))
    return Material(_frame("reference", shown), roles, tuple(turns), record)


def _frame(tag: str, text: str) -> str:
    found = re.search(_FRAME.format(tag), text, re.DOTALL)
    return found[1] if found else ""


def _turn(name: str, entry: str) -> ReadTurn:
    if entry.startswith("(procedure)"):
        return ReadTurn(name, "procedure", "", False, entry.removeprefix("(procedure)").strip())
    found = _SPEAKER.match(entry)
    if found is None:
        return ReadTurn(name, "", "", False, entry)
    judged = _CONTEXT not in (found["notes"] or "")
    return ReadTurn(name, found["kind"].casefold(), found["name"] or "", judged, found["text"])
