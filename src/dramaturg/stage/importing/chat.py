"""What a chat log holds before anyone says who plays what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dramaturg.stage.transcript import PlayerKind, TurnKind


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a chat.

    Attributes:
        speaker: As the log names it; empty where the log gives it to nobody.
        text: Its words, its lines joined by newlines.
        place: Where it begins, such as ``line 7``.
        label: What stands in brackets behind the speaker's name, such as ``witness``.
        kind: Speech, an action such as the call of a tool, or a procedure's note.
        player: Who speaks, where the log's shape tells.
        flags: What was left out of it.
    """

    speaker: str
    text: str
    place: str
    label: str = ""
    kind: TurnKind = "speech"
    player: PlayerKind | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation.

    Attributes:
        messages: In order; at least one.
        place: Which one it is, such as ``conversation 2``; empty where the file is one conversation.
    """

    messages: tuple[Said, ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class ChatLog:
    """What one file holds.

    Attributes:
        name: The file's stem.
        format: The shape in which it was read.
        chats: At least one.
        notes: What was not taken as it stands, and how often.
    """

    name: str
    format: str
    chats: tuple[Chat, ...]
    notes: Mapping[str, int] = field(default_factory=Counter[str])


def by_speaker(chats: Iterable[Chat]) -> dict[str, list[Said]]:
    """Returns all messages of each speaker, by the speaker's name, in the order in which the speakers appear."""
    found: dict[str, list[Said]] = {}
    for chat in chats:
        for said in chat.messages:
            if said.speaker:
                found.setdefault(said.speaker, []).append(said)
    return found
